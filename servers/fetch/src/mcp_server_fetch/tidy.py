"""Makes a parsed page fit for conversion: absolute links, real image addresses, tables that are tables."""

import re
from urllib.parse import urljoin, urlsplit

from lxml import etree  # pyright: ignore[reportAttributeAccessIssue] - compiled, without types
from lxml.html import HtmlElement

_ANCHOR_MARKS = {"#", "¶", "§", "🔗", "edit", "[edit]", "permalink", "link"}
_BLOCKS = {
    *(
        "main",
        "header",
        "footer",
        "aside",
        "figure",
        "address",
        "details",
        "hgroup",
        "form",
        "fieldset",
        "center",
    ),
    *("nav", "dialog", "search", "body", "legend", "article", "section"),
}
_MAX_COPIES = 20_000
"""Cells added to the tables of one page. A page can ask for more than anyone can store."""
_LONGEST_COPY = 200
_TABLE_PARTS = {"table", "tbody", "thead", "tfoot", "tr", "td", "th"}
_NO_PAGES = ("javascript:", "data:", "vbscript:", "blob:", "about:", "file:")
_GUTTERS = {"linenos", "lineno", "gutter", "line-numbers", "line-number", "rouge-gutter", "linenodiv"}
_IGNORED = re.compile(r"[\x00-\x1f]")  # as browsers do: `java\nscript:` is a scheme
_FROM_SRCSET = re.compile(r"[^\s,]\S*")


class Links:
    """Turns the addresses of one page into absolute ones."""

    def __init__(self, page: str, base: str | None) -> None:
        self.page = page
        self._base = urljoin(page, base) if base else page
        parts = urlsplit(self._base)
        self._origin = f"{parts.scheme}://{parts.netloc}"
        self._scheme = f"{parts.scheme}:"

    def absolute(self, href: str) -> str | None:
        """Where an address leads; None if it is no page."""
        href = _IGNORED.sub("", href).strip()
        low = href[:12].lower()
        if not href or low.startswith(_NO_PAGES):
            return None
        try:
            if low.startswith(("http://", "https://", "mailto:", "tel:")):
                made = href
            elif href.startswith("//"):
                made = self._scheme + href
            elif href.startswith("/") and ".." not in href:
                made = self._origin + href
            else:
                made = urljoin(self._base, href)
        except ValueError:
            return None
        return made.replace(" ", "%20").replace("(", "%28").replace(")", "%29")


def tidy(root: HtmlElement, links: Links) -> None:
    """Change the tree in place."""
    if root.tag in _TABLE_PARTS:
        root.tag = "div"  # the cell of a layout that holds the whole text
    for element in list(root.iter("td", "div", "span", "pre")):
        if element.get("class") in _GUTTERS and element is not root:
            element.drop_tree()
    room = _MAX_COPIES
    for table in list(root.iter("table")):
        if _is_layout(table):
            _unfold(table)
        else:
            room = _fill_rows(table, room)
    for element in list(root.iter()):
        tag = element.tag
        if tag == "a":
            _tidy_link(element, links)
        elif tag == "img":
            _tidy_image(element, links)
        elif tag in _BLOCKS or "-" in tag:
            element.tag = "div"


def _tidy_link(link: HtmlElement, links: Links) -> None:
    href = link.get("href")
    if href is None:
        return
    words = (link.text or "").strip() if len(link) == 0 else "something"
    if link.getparent() is not None and (
        not words or (href.startswith("#") and words.lower() in _ANCHOR_MARKS)
    ):
        link.drop_tree()
        return
    # A place on this very page: the words are enough.
    made = None if href.startswith("#") else links.absolute(href)
    if made is None:
        del link.attrib["href"]
    else:
        link.set("href", made)
    link.attrib.pop("title", None)


def _tidy_image(image: HtmlElement, links: Links) -> None:
    alt = " ".join((image.get("alt") or "").split())
    made = links.absolute(_source(image))
    tiny = image.get("width") in ("0", "1") or image.get("height") in ("0", "1")
    if image.getparent() is None:
        return
    if tiny or (made is None and not alt):
        image.drop_tree()
        return
    tail = image.tail
    image.attrib.clear()
    image.set("alt", alt)
    if made is not None:
        image.set("src", made)
    image.tail = tail


def _source(image: HtmlElement) -> str:
    """Pages that load images late keep the address elsewhere."""
    for name in ("src", "data-src", "data-original", "data-lazy-src"):
        value = image.get(name) or ""
        if value and not value.startswith("data:"):
            return value
    found = _FROM_SRCSET.search(image.get("srcset") or image.get("data-srcset") or "")
    return found.group().rstrip(",") if found else ""


def _is_layout(table: HtmlElement) -> bool:
    """Whether a table only puts things side by side."""
    if table.get("role") in ("presentation", "none") or table.find(".//table") is not None:
        return True
    if table.find(".//th") is not None or table.find("caption") is not None:
        return False
    rows = list(table.iter("tr"))
    widest = max((sum(1 for cell in row if cell.tag in ("td", "th")) for row in rows), default=0)
    return widest < 2 or _holds_pages(table, rows)


def _holds_pages(table: HtmlElement, rows: list[HtmlElement]) -> bool:
    """One or two rows with headings and paragraphs in them are columns of a page."""
    if len(rows) > 2:
        return False
    return len(table.xpath(".//td//p|.//td//h1|.//td//h2|.//td//ul")) > 2


def _fill_rows(table: HtmlElement, room: int) -> int:
    """A cell that spans rows stands in each of them: Markdown has no other way to say what belongs to what."""
    spans: dict[int, tuple[int, HtmlElement]] = {}
    for row in table.iter("tr"):
        column = 0
        for cell in [*(cell for cell in row if cell.tag in ("td", "th")), None]:
            while column in spans:
                left, spanning = spans.pop(column)
                if room > 0:
                    copy = _copy(spanning)
                    row.append(copy) if cell is None else cell.addprevious(copy)
                    room -= 1
                if left > 1:
                    spans[column] = (left - 1, spanning)
                column += _span(spanning, "colspan")
            if cell is not None:
                if _span(cell, "rowspan") > 1:
                    spans[column] = (_span(cell, "rowspan") - 1, cell)
                column += _span(cell, "colspan")
        for beyond in [place for place in spans if place >= column]:  # a row that is too short
            left, spanning = spans.pop(beyond)
            if left > 1:
                spans[beyond] = (left - 1, spanning)
    return room


def _copy(cell: HtmlElement) -> HtmlElement:
    copy = etree.Element(cell.tag)
    if cell.get("colspan"):
        copy.set("colspan", cell.get("colspan"))
    text = " ".join(cell.text_content().split())
    copy.text = text if len(text) <= _LONGEST_COPY else ""
    return copy


def _span(cell: HtmlElement, name: str) -> int:
    text = cell.get(name) or "1"
    return max(1, min(1000, int(text))) if text.isdecimal() and len(text) < 6 else 1


def _unfold(table: HtmlElement) -> None:
    """A layout table as blocks, without the tables inside it."""
    todo = [table]
    while todo:
        element = todo.pop()
        todo += [child for child in element if child.tag in _TABLE_PARTS and child.tag != "table"]
        element.tag = "div"
