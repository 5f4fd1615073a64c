"""A tidy piece of a page as HTML without anything but structure, or as a list of its links."""

import re

from lxml import etree  # pyright: ignore[reportAttributeAccessIssue] - compiled, without types
from lxml.html import HtmlElement

_KEPT_ATTRIBUTES = {
    "href",
    "src",
    "alt",
    "colspan",
    "rowspan",
    "start",
    "type",
    "value",
    "reversed",
    "datetime",
    "lang",
    "dir",
}


def to_html(root: HtmlElement) -> str:
    """A tidy tree as HTML, without anything but structure."""
    for element in root.iter():
        for name in [name for name in element.attrib if name not in _KEPT_ATTRIBUTES]:
            del element.attrib[name]
    text = etree.tostring(root, encoding="unicode", method="html", with_tail=False)
    return re.sub(r"\s*\n\s*\n\s*", "\n", text).strip()


def to_links(root: HtmlElement) -> str:
    """Every link in a tidy tree, once, in order."""
    found: dict[str, str] = {}
    for link in root.iter("a"):
        href = link.get("href")
        if href:
            words = (
                " ".join(link.text_content().split())[:200] or str(link.xpath("string(.//img/@alt)"))[:200]
            )
            if not found.get(href):
                found[href] = words
    return "\n".join(f"- [{words}]({href})" if words else f"- <{href}>" for href, words in found.items())
