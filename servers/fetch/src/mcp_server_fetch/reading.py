"""From what was asked to what is answered: a page in the form a model can take, within a budget."""

import re
from secrets import token_hex
from typing import NamedTuple

from .envelope import OVERHEAD, Slice, Told, describe, shorten, wrap
from .pages import Rendering, View, find_section
from .problems import FetchProblem
from .web import Errands, Visit, Web


class Wish(NamedTuple):
    """Which part of a page, and how."""

    view: View = "markdown"
    length: int = 5000
    start: int = 0
    section: str | None = None


class Picture(NamedTuple):
    """An image with the words that go with it."""

    words: str
    data: bytes
    media_type: str


async def read(web: Web, url: str, wish: Wish, how: Errands) -> str | Picture:
    """A slice of a page. Going on reads the copy that the first slice was cut from."""
    web.warm_up()
    goes_on = wish.start > 0 or bool(wish.section)
    visit = await (web.revisit(url, how) if goes_on else web.visit(url, how))
    page = visit.page
    if page.kind == "image":
        return _picture(web, visit)
    if page.kind == "binary":
        return _binary(visit)
    made = await web.render(page, wish.view)
    return wrap(page, _told(visit, wish), made, cut(made, wish), new_mark(made.text))


def _told(visit: Visit, wish: Wish) -> Told:
    """What a reader has to know about the age of a slice: above all, that it may not fit to the one before."""
    if wish.start > 0 and visit.freshness == "new":
        return "again"
    if wish.start > 0 and visit.page.differs(wish.view):
        return "other"
    return visit.freshness


def cut(made: Rendering, wish: Wish) -> Slice:
    """The part of a text that was asked for; cut at the end of a line where that costs little."""
    text = made.text
    if wish.section:
        place = find_section(made, wish.section)
        if place is None:
            names = shorten([repr(heading.text) for heading in made.headings], 1000)
            raise FetchProblem(
                f"The page has no section {wish.section!r}; it has: {names or 'no headings at all'}."
            )
        text = text[place[0] : place[1]].rstrip()
    end = min(len(text), wish.start + wish.length)
    if end < len(text):
        line_end = text.rfind("\n", wish.start + wish.length * 9 // 10, end)
        end = line_end + 1 if line_end > wish.start else end
    piece = text[wish.start : end]
    return Slice(piece, wish.start, end if end < len(text) else None, len(text), wish.section or "")


def new_mark(text: str) -> str:
    """A word that the text does not have."""
    while (mark := token_hex(4)) in text:
        pass
    return mark


def _picture(web: Web, visit: Visit) -> str | Picture:
    body = visit.page.document.body
    words = "\n".join(describe(visit.page, visit.freshness))
    if len(body) > web.limits.image_bytes:
        return f"{words}\nContent: an image of {len(body)} bytes, too large to show (at most {web.limits.image_bytes})."
    return Picture(f"{words}\nContent: an image of {len(body)} bytes.", body, visit.page.media_type)


def _binary(visit: Visit) -> str:
    body = visit.page.document.body
    name = re.sub(r"[^\w.-]", "", visit.page.document.url.rpartition("/")[2].partition("?")[0])[:80]
    words = "\n".join(describe(visit.page, visit.freshness))
    return f"{words}\nContent: {len(body)} bytes of {visit.page.media_type}{f', {name}' if name else ''}; it is not text."


def room(length: int, max_chars: int, pages: int = 1) -> int:
    """How many characters of each page fit into one result."""
    return min(length, max(200, max_chars // pages - OVERHEAD))
