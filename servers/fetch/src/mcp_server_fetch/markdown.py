"""A tidy piece of a page as Markdown or plain text. The tree comes in, text goes out."""
# lxml is compiled and markdownify untyped: what they give cannot be checked.
# pyright: reportAttributeAccessIssue=false, reportUntypedBaseClass=false

import re
from typing import Any

from bs4.element import PageElement, PreformattedString, Tag
from lxml.html import HtmlElement
from markdownify import ATX, MarkdownConverter

from .soup import plant

Tags = frozenset[str]
_LANGUAGE = re.compile(r"(?:^|[\s-])(?:language|lang|highlight-source|brush:?)[-: ]\s*([A-Za-z0-9+#.]{1,20})")
_LIST_STYLE = re.compile(r"list-style(?:-type)?\s*:\s*(lower|upper)-(alpha|latin|roman)", re.IGNORECASE)
_HEADING = re.compile(r"h[1-6]")
_CELLS = {"td", "th"}
_ROW_GROUPS = ("thead", "tbody", "tfoot")
_VERBATIM = {"pre", "code", "kbd", "samp"}
# What makes a line of its own inside a block of code.
_LINES = {"div", "p", "li", "tr", "br"}
_BROKEN_LABEL = re.compile(r"\s*\n\s*(?:#+ )?")
_BLANK_LINES = re.compile(r"\n[ \t]*(?:\n[ \t]*){2,}")
_SPACES = re.compile(r"[ \t\r\n]+")
_OUTER_SPACE = frozenset(
    {
        *("p", "blockquote", "article", "div", "section", "ol", "ul", "li", "dl", "dt", "dd", "pre"),
        *("table", "thead", "tbody", "tfoot", "tr", "td", "th", "h1", "h2", "h3", "h4", "h5", "h6"),
    }
)
_INNER_SPACE = _OUTER_SPACE - {"pre"}


class Converter(MarkdownConverter):
    """markdownify for models: nothing escaped, code with its language, links on one line.

    Its walk is written anew: the original asks every tag for all its ancestors and every list item for all the
    items before it, which costs the square of a long page.
    """

    class Options(MarkdownConverter.DefaultOptions):
        """What differs from markdownify's own choices."""

        heading_style = ATX
        bullets = "-"
        escape_asterisks = False
        escape_underscores = False
        keep_inline_images_in = ("td", "th", "a")

    def __init__(self) -> None:
        super().__init__()
        self._numbers: dict[int, int] = {}
        self._inside: dict[tuple[Tags, str], Tags] = {}

    def process_tag(self, node: Tag, parent_tags: Any = None) -> str:
        """The text of an element and everything in it."""
        tags: Tags = parent_tags or frozenset()
        name = node.name
        inside = self._inside.get((tags, name))
        if inside is None:
            inside = self._inside[tags, name] = _enter(tags, name)
        parts: list[str] = []
        for child in node.contents:
            if isinstance(child, Tag):
                text = self.process_tag(child, inside)
            elif isinstance(child, PreformattedString):
                continue  # comments, doctypes
            else:
                text = self.process_text(child, inside)
            if text:
                parts.append(text)
        joined = "".join(parts) if "pre" in inside else _join(parts)
        if "pre" in tags and name in _LINES:
            return joined if joined.endswith("\n") else f"{joined}\n"
        convert = self.get_conv_fn_cached(name)
        return joined if convert is None else convert(node, joined, parent_tags=tags)

    def process_text(self, el: Any, parent_tags: Any = None) -> str:
        """A piece of text, without the space around blocks that only lays out the source."""
        text = str(el)
        if "pre" in parent_tags:
            return text
        before, after = el.previous_sibling, el.next_sibling
        text = _SPACES.sub(" ", text)
        if text[:1] == " " and _at_edge(before, el.parent):
            text = text[1:]
        if text[-1:] == " " and _at_edge(after, el.parent):
            text = text[:-1]
        return text

    def convert_a(self, el: Tag, text: str, parent_tags: Tags) -> str:
        """A link; one that wraps whole blocks becomes one line."""
        if "\n" in text:
            text = f" {_BROKEN_LABEL.sub(' ', text.strip()).lstrip('# ')} "
        return super().convert_a(el, text, parent_tags)

    def convert_img(self, el: Tag, text: str, parent_tags: Tags) -> str:
        """An image with its alternative text; the text alone where there is no address."""
        return super().convert_img(el, text, parent_tags) if el.get("src") else str(el.get("alt") or "")

    def convert_li(self, el: Tag, text: str, parent_tags: Tags) -> str:
        """An item of a list. Numbers are counted on, instead of counting the items before."""
        text = text.strip()
        if not text:
            return "\n"
        mark = "- "
        if el.parent is not None and el.parent.name == "ol":
            mark = f"{_numeral(self._next_number(el.parent, el), el.parent)}. "
        lines = text.split("\n")
        indent = " " * len(mark)
        return mark + "\n".join([lines[0], *(indent + line if line else "" for line in lines[1:])]) + "\n"

    def _next_number(self, parent: Tag, item: Tag) -> int:
        number = self._numbers.get(id(parent))
        if number is None:
            number = _number(parent.get("start"), _length(parent) if parent.has_attr("reversed") else 1)
        number = _number(item.get("value"), number)
        self._numbers[id(parent)] = number - 1 if parent.has_attr("reversed") else number + 1
        return number

    def convert_pre(self, el: Tag, text: str, parent_tags: Tags) -> str:
        """A block of code, with its language and a fence longer than any inside."""
        if not text.strip():
            return ""
        if "_inline" in parent_tags:
            lines = [f"`{line.rstrip()}`" for line in text.strip("\n").split("\n") if line.strip()]
            return f" {'<br>'.join(lines)} " if parent_tags & _CELLS else f" `{' '.join(text.split())}` "
        ticks = max((len(run) for run in re.findall("`+", text)), default=0)
        fence = "`" * max(3, ticks + 1)
        return f"\n\n{fence}{_language(el)}\n{text.strip(chr(10)).rstrip()}\n{fence}\n\n"

    def convert_sup(self, el: Tag, text: str, parent_tags: Tags) -> str:
        """An exponent keeps its meaning; a note in brackets needs no sign."""
        text = text.strip()
        return f"^{text}" if text and text[0] not in "[(^" and "[" not in text else text

    def convert_summary(self, el: Tag, text: str, parent_tags: Tags) -> str:
        """The line of a fold that is always seen."""
        text = text.strip().lstrip("# ")
        return f"\n\n**{text}**\n\n" if text and "_inline" not in parent_tags else text

    def convert_td(self, el: Tag, text: str, parent_tags: Tags) -> str:
        """A cell; a bar inside it would be read as its end."""
        return " " + text.strip().replace("|", "\\|").replace("\n", " ") + " |" * _width(el)

    convert_th = convert_td

    def convert_tr(self, el: Tag, text: str, parent_tags: Tags) -> str:
        """A row; the first one is the heading, for Markdown has no table without."""
        cells = [child for child in el.contents if isinstance(child, Tag) and child.name in _CELLS]
        if not cells:
            return ""
        line = f"|{text}\n"
        return line + "| --- " * sum(map(_width, cells)) + "|\n" if _is_first_row(el) else line

    def convert_video(self, el: Tag, text: str, parent_tags: Tags) -> str:
        """What is said in place of a film."""
        return text


class PlainConverter(Converter):
    """The same without any mark: words, lines and tables."""

    def convert_a(self, el: Tag, text: str, parent_tags: Tags) -> str:
        """The words of a link."""
        return _BROKEN_LABEL.sub(" ", text)

    def convert_img(self, el: Tag, text: str, parent_tags: Tags) -> str:
        """The words for an image."""
        return str(el.get("alt") or "")

    def convert_pre(self, el: Tag, text: str, parent_tags: Tags) -> str:
        """Code as it stands."""
        return f"\n\n{text.strip(chr(10)).rstrip()}\n\n"

    def convert_hN(self, n: int, el: Tag, text: str, parent_tags: Tags) -> str:  # noqa: N802 - markdownify's name
        """A heading is a paragraph."""
        return f"\n\n{text.strip()}\n\n" if "_inline" not in parent_tags else text

    def convert_b(self, el: Tag, text: str, parent_tags: Tags) -> str:
        """Words without a mark."""
        return text

    convert_strong = convert_em = convert_i = convert_code = convert_kbd = convert_samp = convert_b  # pyright: ignore[reportAssignmentType] - markdownify assigns them the same way
    convert_del = convert_s = convert_summary = convert_b  # pyright: ignore[reportAssignmentType]


def _enter(tags: Tags, name: str) -> Tags:
    """What the children of an element are inside of."""
    more = {name}
    if _HEADING.fullmatch(name) or name in _CELLS:
        more.add("_inline")
    if name in _VERBATIM:
        more.add("_noformat")
    return tags | more


def _at_edge(neighbour: PageElement | None, parent: Tag | None) -> bool:
    """Whether a space stands next to the edge of a block, where nobody sees it."""
    if neighbour is None:
        return parent is not None and parent.name in _INNER_SPACE
    return isinstance(neighbour, Tag) and (neighbour.name in _OUTER_SPACE or neighbour.name == "br")


def _join(parts: list[str]) -> str:
    """Texts in a row; where two of them ask for new lines, the larger wish counts, and never more than two."""
    if len(parts) == 1:
        return parts[0]
    joined: list[str] = []
    gap = 0
    for part in parts:
        inner = part.lstrip("\n")
        gap = max(gap, len(part) - len(inner))
        if not inner:
            continue
        joined.append("\n" * min(gap, 2))
        text = inner.rstrip("\n")
        joined.append(text)
        gap = len(inner) - len(text)
    joined.append("\n" * min(gap, 2))
    return "".join(joined)


def _number(text: object, default: int) -> int:
    digits = str(text or "")
    return int(digits) if digits.isdecimal() and len(digits) < 9 else default


def _length(items: Tag) -> int:
    return sum(1 for child in items.contents if isinstance(child, Tag) and child.name == "li")


def _numeral(number: int, items: Tag) -> str:
    """A number as the list writes it: laws are quoted by such letters."""
    kind = str(items.get("type") or "")
    styled = _LIST_STYLE.search(str(items.get("style") or "")) if not kind else None
    if styled:
        kind = {"alpha": "a", "latin": "a", "roman": "i"}[styled.group(2).lower()]
        kind = kind.upper() if styled.group(1).lower() == "upper" else kind
    match kind:
        case "a" | "A" if 0 < number <= 26:
            return chr(ord(kind) + number - 1)
        case "i" | "I" if 0 < number < 400:
            return _roman(number).upper() if kind == "I" else _roman(number)
        case _:
            return str(number)


def _roman(number: int) -> str:
    written = ""
    for value, letters in (
        (100, "c"),
        (90, "xc"),
        (50, "l"),
        (40, "xl"),
        (10, "x"),
        (9, "ix"),
        (5, "v"),
        (4, "iv"),
        (1, "i"),
    ):
        written += letters * (number // value)
        number %= value
    return written


def _language(pre: Tag) -> str:
    code = next((child for child in pre.contents if isinstance(child, Tag) and child.name == "code"), None)
    for element in (pre, code, pre.parent):
        found = _LANGUAGE.search(str(element.get("class") or "")) if element is not None else None
        if found:
            return found.group(1).lower()
    return ""


def _is_first_row(row: Tag) -> bool:
    """Whether no row stands before this one in its table."""
    parent = row.parent
    if any(isinstance(before, Tag) and before.name == "tr" for before in row.previous_siblings):
        return False
    if parent is None or parent.name not in _ROW_GROUPS:
        return True
    return not any(
        isinstance(before, Tag) and before.name in (*_ROW_GROUPS, "tr") for before in parent.previous_siblings
    )


def _width(cell: Tag) -> int:
    span = str(cell.get("colspan") or "1")
    return max(1, min(100, int(span))) if span.isdecimal() and len(span) < 6 else 1


def to_markdown(root: HtmlElement) -> str:
    """A tidy tree as Markdown."""
    return _convert(root, Converter())


def to_text(root: HtmlElement) -> str:
    """A tidy tree as plain text."""
    return _convert(root, PlainConverter())


def _convert(root: HtmlElement, converter: Converter) -> str:
    return _BLANK_LINES.sub("\n\n", converter.process_tag(plant(root))).strip()
