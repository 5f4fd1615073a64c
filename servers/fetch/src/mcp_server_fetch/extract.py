"""The main content of a page, and how much of the page it is. Falls back in stages, and says which one it was.

1. main      the content the page marks as such, or the part that holds nearly all prose
2. body      all of the page but its frame
3. page      everything a reader sees
4. hidden    also what is hidden, for pages that hide their text until a script has run
5. noscript  what the page has for readers without scripts
6. data      the text of the article from the data for search engines
7. shell     nothing: a script would have to build the page

A page that is nested too deeply for a parser is not its business: conversion.py then takes the text alone.
"""

import re
from dataclasses import dataclass
from typing import Literal

from lxml import etree  # pyright: ignore[reportAttributeAccessIssue] - compiled, without types
from lxml.html import HtmlElement, document_fromstring, fragment_fromstring

from .boilerplate import Frame, is_lone_heading
from .facts import Facts, read_facts
from .hidden import find_hidden, read_rules
from .measures import Measures
from .tree import clean_body, parse, remove

Stage = Literal["main", "body", "page", "hidden", "noscript", "data", "shell"]
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


def extract(source: str) -> tuple[Extract, Facts]:
    """The main content of a page."""
    root, whole = parse(source)
    facts = read_facts(root)
    if not whole:
        raise TooDeep(facts.title)
    body = clean_body(root)
    hidden = _take_out_hidden(body, facts.styles)
    visible = Measures(body).of(body).text
    if visible < _LITTLE and hidden > 2 * visible + _LITTLE:
        return Extract(clean_body(parse(source)[0]), "hidden", 1.0, facts.title, visible), facts
    unscripted = _for_readers_without_scripts(facts)
    length = Measures(unscripted).of(unscripted).text
    if length > 2 * visible + _LITTLE or (length > max(visible, _LITTLE) and _waits_for_script(body)):
        return Extract(unscripted, "noscript", 1.0, facts.title, length), facts
    if visible < _LITTLE and (not visible or (facts.scripts and _waits_for_script(body))):
        return _without_text(body, facts, visible), facts
    return _main(body, facts, visible), facts


def _for_readers_without_scripts(facts: Facts) -> HtmlElement:
    """What stands in `noscript`, as a page of its own; without the request to turn scripts on."""
    root = fragment_fromstring("<div></div>")
    for part in facts.noscript:
        part.tag, part.tail = "div", None
        root.append(part)
    for element in root.xpath(".//p|.//strong|.//div[not(*)]"):
        if _WAITING.fullmatch(" ".join(element.text_content().split())[:300]):
            remove(element)
    return clean_body(root)


def _take_out_hidden(body: HtmlElement, styles: str) -> int:
    """Remove what is hidden; how much text that was."""
    found = find_hidden(body, read_rules(styles))
    total = len(" ".join(body.text_content().split())) if found else 0
    removed = 0
    for element, surely in found:
        length = len(" ".join(element.text_content().split()))
        if element.getparent() is None or (not surely and length > _TOO_MUCH_TO_HIDE * total):
            continue
        remove(element)
        removed += length
    return removed


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
        remove(part)
    for element in body.xpath(".//h2|.//h3|.//h4"):
        if is_lone_heading(element) and not _has_text_behind(element):
            remove(element)
    measures = Measures(body)
    left = measures.of(body).text
    marked = _marked(body, measures)
    if left < 0.1 * visible or left < min(60 if marked is None else 20, visible):
        # Nearly everything looked like frame: a page of links, or a page written in a way not thought of.
        whole = document_fromstring(kept).find("body")
        return Extract(body if whole is None else whole, "page", 1.0, facts.title, visible)
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
