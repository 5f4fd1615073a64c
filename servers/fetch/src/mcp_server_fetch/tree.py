"""The tree of a page: parsed once, without what is no text, and not deeper than anyone can go."""

import re

from lxml import etree  # pyright: ignore[reportAttributeAccessIssue] - compiled, without types
from lxml.html import HtmlElement, HTMLParser, document_fromstring

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
# What may stand in a head.
_HEAD = {"title", "meta", "link", "script", "style", "base", "noscript", "template", "object", "bgsound"}
# Parts of AMP pages that are no text.
_AMP_JUNK = (
    "ad",
    "embed",
    "sidebar",
    "consent",
    "user-notification",
    "sticky-ad",
    "social-share",
    "analytics",
)
_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6", "summary", "dt", "legend")
_ADVERT = re.compile(r"\b(?:ads?|advert\w*|3rd party)\b", re.IGNORECASE)
_EARLY_ENDS = re.compile(r"</(?:body|html)\s*>", re.IGNORECASE)


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
    _close_head(root)
    whole = not any("depth" in entry.message.lower() for entry in parser.error_log.filter_from_fatals())
    return root, whole


def _close_head(root: HtmlElement) -> None:
    """A head ends where something else begins, as in browsers: the parser knows no `main` or `nav`, and goes on."""
    head = root.find("head")
    first = next((child for child in head if child.tag not in _HEAD), None) if head is not None else None
    if head is None or first is None:
        return
    body = root.find("body")
    if body is None:
        body = etree.SubElement(root, "body")
    stray = [first, *first.itersiblings()]
    body.text, stray[-1].tail = None, (stray[-1].tail or "") + (body.text or "")
    for element in reversed(stray):
        body.insert(0, element)


def flat_text(source: str) -> str:
    """A page that no parser can hold: its text alone, a paragraph for each piece."""
    from html import unescape

    bare = re.sub(r"(?is)<(script|style|template|noscript|title)\b.*?(?:</\1\s*>|\Z)", " ", source)
    pieces = (piece.strip() for piece in re.split(r"(?:<[^<>]*>\s*)+", bare))
    return unescape("\n\n".join(piece for piece in pieces if piece))


def clean_body(root: HtmlElement) -> HtmlElement:
    """The body without what is no text, and not deeper than converters can go."""
    body = root.find("body")
    if body is None:
        body = root
    for button in list(body.iter("button")):
        near = button.getparent()
        if near is not None and near.tag in _HEADINGS:
            button.drop_tag()  # the heading of a fold
        else:
            button.drop_tree()
    for entry in list(body.iter("dt", "dd")):
        parent = entry.getparent()
        if parent is not None and parent.tag in ("dt", "dd"):
            parent.addnext(entry)  # the parser does not know that one ends the other
    for template in list(body.iter("template")):
        if template.get("shadowrootmode"):
            template.tag = "div"  # browsers show it in the place where it stands
    for image in body.iter("amp-img", "amp-anim"):
        image.tag = "img"
    for math in list(body.iter("math")):
        _write_formula(math)
    for script in list(body.iter("script")):
        if (script.get("type") or "").lower().startswith("math/tex"):
            script.set("alttext", (script.text or "").strip())
            _write_formula(script)
    for frame in list(body.iter("iframe")):
        _write_link(frame)
    etree.strip_elements(body, *_JUNK, *(f"amp-{name}" for name in _AMP_JUNK), with_tail=False)
    _limit_depth(body)
    return body


def _write_formula(math: HtmlElement) -> None:
    tex = math.xpath("string(.//annotation[contains(@encoding, 'tex')])") or math.get("alttext")
    if tex:
        tail = math.tail
        math.clear()
        math.tag, math.text, math.tail = "span", f"${str(tex).strip()}$", tail


def _write_link(frame: HtmlElement) -> None:
    """A page within the page is not fetched; its name says whether it is worth it. Those without are machinery."""
    name, address, tail = (frame.get("title") or "").strip(), frame.get("src") or "", frame.tail
    if name and address and not _ADVERT.search(name):
        frame.clear()
        frame.tag, frame.tail = "p", tail
        link = etree.SubElement(frame, "a", href=address)
        link.text = name[:200]


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


def remove(element: HtmlElement) -> None:
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
