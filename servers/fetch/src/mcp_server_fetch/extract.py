"""The main content of a page, and how much of the page it is. Falls back in stages, and says which one it was.

1. main      the content the page marks as such, or the part that holds nearly all prose
2. body      all of the page but its frame
3. page      everything a reader sees
4. hidden    also what is hidden, for pages that hide their text until a script has run
5. data      the text of the article from the data for search engines
6. shell     nothing: a script would have to build the page

A page that is nested too deeply or too large for a parser is read by `flat_text`, without its structure.
"""

import json
import re
from dataclasses import dataclass
from typing import Any, Literal

from lxml import etree  # pyright: ignore[reportAttributeAccessIssue] - compiled, without types
from lxml.html import HtmlElement, HTMLParser, document_fromstring, fragment_fromstring

from .boilerplate import Frame, is_lone_heading
from .hidden import find_hidden, read_rules
from .measures import Measures

Stage = Literal["main", "body", "page", "hidden", "data", "shell"]
MAX_DEPTH = 120
_JUNK = (
    *(
        "script",
        "style",
        "template",
        "noscript",
        "iframe",
        "svg",
        "canvas",
        "object",
        "embed",
        "audio",
        "map",
    ),
    *(
        "input",
        "select",
        "textarea",
        "option",
        "datalist",
        "link",
        "meta",
        "head",
        "applet",
        "frame",
        "frameset",
    ),
)
_EARLY_ENDS = re.compile(r"</(?:body|html)\s*>", re.IGNORECASE)
_WAITING = re.compile(
    r"\W*(?:loading|please wait|.{0,80}(?:enable|requires?|needs?) javascript.{0,80})\W*", re.IGNORECASE
)
_TOO_MUCH_TO_HIDE = 0.3
"""A part this large that a style hides is what the page is about, and fades in later."""
_LITTLE = 200
"""Characters below which a page says next to nothing."""


class TooDeep(Exception):
    """The parser gave up on a page with this title."""


@dataclass(slots=True)
class Extract:
    """What is left of a page, and how it came about."""

    root: HtmlElement
    stage: Stage
    coverage: float
    title: str
    visible: int


@dataclass(slots=True)
class Facts:
    """What has to be read before the tree is cleaned."""

    title: str
    description: str
    base: str | None
    styles: str
    article: str
    noscript: str
    scripts: int


def parse(source: str) -> tuple[HtmlElement, bool]:
    """The tree of a page, and whether it is whole: the parser gives up where tags are nested too deeply."""
    # Encoded here, so that no declaration in the page can contradict what charset.py found out.
    parser = HTMLParser(encoding="utf-8", huge_tree=True, remove_comments=True, remove_pis=True)
    # What follows an end that came too early would be dropped; readers see it all the same.
    data = _EARLY_ENDS.sub("", source).encode("utf-8", "replace")
    try:
        root = document_fromstring(data or b"<html></html>", parser=parser)
    except (etree.ParserError, etree.XMLSyntaxError):
        if any(entry.type_name == "ERR_NO_MEMORY" for entry in parser.error_log):
            raise MemoryError from None  # libxml2 would call the page empty
        root = document_fromstring(b"<html><body></body></html>")
    whole = not any("depth" in entry.message.lower() for entry in parser.error_log.filter_from_fatals())
    return root, whole


def flat_text(source: str) -> str:
    """A page that no parser can hold: its text alone, a paragraph for each piece."""
    from html import unescape

    bare = re.sub(r"(?is)<(script|style|template|noscript|title)\b.*?(?:</\1\s*>|\Z)", " ", source)
    pieces = (piece.strip() for piece in re.split(r"(?:<[^>]*>\s*)+", bare))
    return unescape("\n\n".join(piece for piece in pieces if piece))


def extract(source: str) -> tuple[Extract, Facts]:
    """The main content of a page."""
    root, whole = parse(source)
    facts = read_facts(root)
    if not whole:
        raise TooDeep(facts.title)
    body = _clean(root)
    hidden = _take_out_hidden(body, facts.styles)
    visible = Measures(body).of(body).text
    hidden_text = sum(length for _, length in hidden)
    if visible < _LITTLE and hidden_text > 2 * visible + _LITTLE:
        _put_back(hidden)
        return Extract(body, "hidden", 1.0, facts.title, visible), facts
    if visible < _LITTLE and (not visible or (facts.scripts and _waits_for_script(body))):
        return _without_text(body, facts, visible), facts
    return _main(body, facts, visible), facts


def read_facts(root: HtmlElement) -> Facts:
    """Title, base, styles and data of a page."""
    title = " ".join((root.findtext(".//title") or "").split())[:300]
    described = root.xpath("string(//meta[@name='description' or @property='og:description']/@content)")
    return Facts(
        title=title
        or " ".join(str(root.xpath("string(//meta[@property='og:title']/@content)")).split())[:300],
        description=" ".join(str(described).split())[:1000],
        base=root.xpath("string(//base/@href)") or None,
        styles="\n".join(style.text or "" for style in root.iter("style")),
        article=_article_body(root),
        noscript=" ".join(" ".join(part.text_content().split()) for part in root.iter("noscript"))[:1000],
        scripts=sum(1 for _ in root.iter("script")),
    )


def _article_body(root: HtmlElement) -> str:
    for script in root.iter("script"):
        if (script.get("type") or "").lower() == "application/ld+json" and "articleBody" in (
            script.text or ""
        ):
            try:
                found = _find_article(json.loads(script.text or "", strict=False), 0)
            except (ValueError, RecursionError):
                continue
            if found:
                return found
    return ""


def _find_article(value: Any, depth: int) -> str:
    if depth > 6:
        return ""
    if isinstance(value, dict):
        body = value.get("articleBody")
        if isinstance(body, str):
            return body
        value = list(value.values())
    if isinstance(value, list):
        for item in value[:100]:
            found = _find_article(item, depth + 1)
            if found:
                return found
    return ""


def _clean(root: HtmlElement) -> HtmlElement:
    """The body without what is no text, and not deeper than converters can go."""
    body = root.find("body")
    if body is None:
        body = root
    for name in ("button",):
        for element in list(body.iter(name)):
            near = element.getparent()
            if near is not None and near.tag in (
                "h1",
                "h2",
                "h3",
                "h4",
                "h5",
                "h6",
                "summary",
                "dt",
                "legend",
            ):
                element.drop_tag()
            else:
                element.drop_tree()
    for math in list(body.iter("math")):
        _write_formula(math)
    etree.strip_elements(body, *_JUNK, with_tail=False)
    _limit_depth(body)
    return body


def _write_formula(math: HtmlElement) -> None:
    tex = math.xpath("string(.//annotation[contains(@encoding, 'tex')])") or math.get("alttext")
    if tex:
        tail = math.tail
        math.clear()
        math.tag, math.text, math.tail = "span", f"${str(tex).strip()}$", tail


def _limit_depth(body: HtmlElement) -> None:
    """Below the limit only text is kept, as a reader of the page would see it anyhow."""
    depths = {body: 0}
    deep: list[HtmlElement] = []
    for element in body.iterdescendants():
        parent = element.getparent()
        depth = depths.get(parent, MAX_DEPTH + 1) + 1
        if depth <= MAX_DEPTH:
            depths[element] = depth
        if depth == MAX_DEPTH:
            deep.append(element)
    for element in deep:
        text, tail = " ".join(element.itertext()), element.tail
        for child in list(element):
            element.remove(child)
        element.text, element.tail = text, tail


Removed = list[tuple[tuple[HtmlElement, HtmlElement, int], int]]


def _take_out_hidden(body: HtmlElement, styles: str) -> Removed:
    """Remove what is hidden; remembered with its place, for pages that hide everything."""
    removed: Removed = []
    found = find_hidden(body, read_rules(styles))
    total = len(" ".join(body.text_content().split())) if found else 0
    for element, surely in found:
        parent = element.getparent()
        length = len(" ".join(element.text_content().split()))
        if parent is None or (not surely and length > _TOO_MUCH_TO_HIDE * total):
            continue
        place = (parent, element, parent.index(element))
        _remove(element)
        removed.append((place, length))
    return removed


def _put_back(removed: Removed) -> None:
    for (parent, element, index), _ in reversed(removed):
        parent.insert(min(index, len(parent)), element)


def _remove(element: HtmlElement) -> None:
    """Take an element out and leave the text behind it."""
    parent = element.getparent()
    if parent is None:
        return
    tail, element.tail = element.tail, None
    before = element.getprevious()
    if tail:
        if before is not None:
            before.tail = (before.tail or "") + tail
        else:
            parent.text = (parent.text or "") + tail
    parent.remove(element)


def _waits_for_script(body: HtmlElement) -> bool:
    """Whether there is an empty place for a script to fill, or nothing but a request to wait."""
    if _WAITING.fullmatch(" ".join(body.text_content().split())):
        return True
    places = body.xpath(
        ".//*[@id='root' or @id='app' or @id='__next' or @id='__nuxt' or @id='main-app' or @id='svelte' or @ng-app]"
        "|.//app-root"
    )
    return any(not place.text_content().strip() for place in places)


def _without_text(body: HtmlElement, facts: Facts, visible: int) -> Extract:
    """A page that says nothing by itself: the text for search engines, or what little there is."""
    if len(facts.article) > _LITTLE:
        root = fragment_fromstring("<article></article>")
        for paragraph in re.split(r"\n\s*\n|\r\n|\n", facts.article):
            if paragraph.strip():
                etree.SubElement(root, "p").text = re.sub(
                    r"[\x00-\x08\x0b\x0c\x0e-\x1f]", "", paragraph.strip()
                )
        return Extract(root, "data", 1.0, facts.title, visible)
    return Extract(body, "shell" if facts.scripts else "page", 1.0, facts.title, visible)


def _main(body: HtmlElement, facts: Facts, visible: int) -> Extract:
    """The content without the frame; more of the page if that would leave too little of it."""
    heading = body.find(".//h1")
    kept = etree.tostring(body, encoding="unicode", method="html")
    for part in Frame(body, Measures(body)).parts(body):
        _remove(part)
    for element in body.xpath(".//h2|.//h3|.//h4"):
        if is_lone_heading(element) and not _has_text_behind(element):
            _remove(element)
    measures = Measures(body)
    left = measures.of(body).text
    if left < 0.1 * visible or left < min(60, visible):
        # Nearly everything looked like frame: a page of links, or a page written in a way not thought of.
        whole = document_fromstring(kept).find("body")
        return Extract(body if whole is None else whole, "page", 1.0, facts.title, visible)
    marked = _marked(body, measures)
    chosen = _densest(body, measures) if marked is None else marked
    stage: Stage = "body" if chosen is body else "main"
    size = measures.of(chosen).text
    _add_heading(chosen, heading, facts.title)
    return Extract(chosen, stage, size / max(1, visible), facts.title, visible)


def _has_text_behind(heading: HtmlElement) -> bool:
    after = heading.getnext()
    return (
        after is not None and after.tag not in ("h1", "h2", "h3", "h4") and bool(after.text_content().strip())
    )


def _marked(body: HtmlElement, measures: Measures) -> HtmlElement | None:
    """The element that the page itself calls its content, if most of the prose is in there."""
    prose = max(1, measures.of(body).prose)
    for query in (".//main|.//*[@role='main']", ".//article", ".//*[@itemprop='articleBody']"):
        found = body.xpath(query)
        if not found:
            continue
        best = max(found, key=measures.prose)
        if measures.of(best).prose >= 0.7 * prose:
            inner = _sole_article(best, measures)
            return inner if inner is not None else best
    return None


def _sole_article(main: HtmlElement, measures: Measures) -> HtmlElement | None:
    """The article in the main part, if there is but one and it holds nearly everything."""
    articles = list(main.iterdescendants("article"))
    if len(articles) == 1 and measures.of(articles[0]).prose >= 0.9 * measures.of(main).prose:
        return articles[0]
    return None


def _densest(body: HtmlElement, measures: Measures) -> HtmlElement:
    """The smallest element that holds nearly all of the prose."""
    prose = measures.of(body).prose
    chosen, element = body, body
    while True:
        step: HtmlElement | None = max(element, key=measures.prose, default=None)
        if step is None or measures.of(step).prose < 0.97 * prose:
            return chosen
        element = step
        if element.tag in ("div", "section", "article", "main", "td", "center", "form"):
            chosen = element


def _add_heading(chosen: HtmlElement, heading: HtmlElement | None, title: str) -> None:
    """The page's main heading, where it stands outside of the content."""
    if heading is None or chosen.find(".//h1") is not None or chosen.tag == "h1":
        return
    text = " ".join(heading.text_content().split())
    if text and len(text) < 300 and (text in title or title.startswith(text[:20]) or not title):
        first = etree.Element("h1")
        first.text, first.tail = text, chosen.text
        chosen.text = None
        chosen.insert(0, first)
