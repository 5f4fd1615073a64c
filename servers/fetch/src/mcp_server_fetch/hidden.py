"""Text that a page carries and its readers do not see: found by attributes, inline styles and simple style rules.

Hidden text is where instructions to a model are put. No style sheet is loaded, and no layout is done: what hides
in other ways stays, which is why fetched text is marked as untrusted anyhow.
"""

import re
from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from lxml.html import HtmlElement

_HIDING = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)|opacity\s*:\s*0?\.?0+(?![.\d])|font-size\s*:\s*0(?![.\d])"
    r"|(?:text-indent|left|top|margin-left)\s*:\s*-\d{4,}|clip\s*:\s*rect\(\s*[01](?:px)?[ ,]|clip-path\s*:\s*inset\(\s*(?:50|100)%",
    re.IGNORECASE,
)
# What pages do to their own content until it fades in: believed only of small parts.
_FADING = re.compile(r"(?:opacity|visibility)\s*:", re.IGNORECASE)
_TRANSPARENT = re.compile(r"opacity\s*:\s*0", re.IGNORECASE)
_MOVING = re.compile(r"transform|transition|animation", re.IGNORECASE)
_GONE = re.compile(r"display\s*:\s*none", re.IGNORECASE)
_SHOWING = re.compile(r"display\s*:\s*(?!none)[a-z]", re.IGNORECASE)
_SELECTOR = re.compile(r"([a-z][a-z0-9]*)?((?:[.#][A-Za-z_][\w-]*)+)")
_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_MAX_STYLE = 200_000
# Text for screen readers, by the names everyone gives it: it repeats or announces, and nobody sees it.
_UNSEEN_CLASSES = {"sr-only", "visually-hidden", "screen-reader-text", "visuallyhidden", "screenreader-only"}
# Parts of a page that were sent ahead and are put in place by a script.
_STREAMED = re.compile(r"[SB]:[0-9a-f]+")


class Rule(NamedTuple):
    """A simple selector, its place among the others, and whether it hides."""

    tag: str
    classes: frozenset[str]
    ids: frozenset[str]
    hides: bool
    place: int

    def matches(self, element: HtmlElement, classes: frozenset[str]) -> bool:
        """Whether an element with these classes is meant."""
        if self.tag and self.tag != element.tag:
            return False
        return self.classes <= classes and (not self.ids or element.get("id") in self.ids)

    @property
    def weight(self) -> tuple[int, int, bool, int]:
        """What decides between rules: ids, classes, the tag, and then the later one."""
        return len(self.ids), len(self.classes), bool(self.tag), self.place


class Rules:
    """The simple rules of a page, found by the rarest name in each: long styles have thousands."""

    def __init__(self, rules: Iterable[Rule]) -> None:
        rules = list(rules)
        counts = Counter(name for rule in rules for name in _names(rule.ids, rule.classes))
        self._by_name: dict[str, list[Rule]] = {}
        if any(rule.hides for rule in rules):
            for rule in rules:
                rarest = min(_names(rule.ids, rule.classes), key=counts.__getitem__)
                self._by_name.setdefault(rarest, []).append(rule)

    def __bool__(self) -> bool:
        return bool(self._by_name)

    def hide(self, element: HtmlElement, classes: frozenset[str]) -> bool:
        """Whether an element with these classes is hidden by the rule that wins."""
        ids = (element.get("id") or "",)
        matching = [
            rule
            for name in _names(ids, classes)
            for rule in self._by_name.get(name, ())
            if rule.matches(element, classes)
        ]
        # A rule with more classes wins: `.tab.active` is shown although `.tab` is not.
        return bool(matching) and max(matching, key=lambda rule: rule.weight).hides


def _names(ids: Iterable[str], classes: Iterable[str]) -> list[str]:
    return [*(f"#{name}" for name in ids), *(f".{name}" for name in classes)]


def read_rules(styles: str) -> Rules:
    """The rules outside of `@media` and the like that hide by class or id, and those that show again."""
    rules: dict[tuple[str, frozenset[str], frozenset[str]], Rule] = {}
    for selectors, body in _top_level(_COMMENT.sub("", styles[:_MAX_STYLE])):
        hides = _HIDING.search(body) is not None
        if not hides and not _SHOWING.search(body):
            continue
        for selector in selectors.split(","):
            found = _SELECTOR.fullmatch(selector.strip())
            if found:
                parts = re.findall(r"[.#][\w-]+", found.group(2))
                classes = frozenset(part[1:] for part in parts if part[0] == ".")
                ids = frozenset(part[1:] for part in parts if part[0] == "#")
                tag = found.group(1) or ""
                rules[tag, classes, ids] = Rule(tag, classes, ids, hides, len(rules))
    return Rules(rules.values())


def _top_level(styles: str) -> list[tuple[str, str]]:
    """Selectors and declarations, without what stands inside another block."""
    found: list[tuple[str, str]] = []
    depth, start, head = 0, 0, ""
    for mark in re.finditer(r"[{}]", styles):
        if mark.group() == "{":
            if depth == 0:
                head, start = styles[start : mark.start()].rpartition(";")[2], mark.end()
            depth += 1
        elif depth:
            depth -= 1
            if depth == 0:
                if not head.lstrip().startswith("@"):
                    found.append((head, styles[start : mark.start()]))
                start = mark.end()
    return found


class Hidden(NamedTuple):
    """An element that is not shown, and whether nothing but a script could show it."""

    element: HtmlElement
    surely: bool


def find_hidden(root: HtmlElement, rules: Rules) -> list[Hidden]:
    """The elements that are not shown; the whole page is never one of them."""
    query = ".//*[@hidden or @style or @aria-hidden='true' or @class or @id]" if rules else _CANDIDATES
    return [
        Hidden(element, _is_surely_hidden(element))
        for element in root.xpath(query)
        if element.tag not in ("html", "body", "main") and _is_hidden(element, rules)
    ]


def _is_surely_hidden(element: HtmlElement) -> bool:
    style = element.get("style") or ""
    return element.get("hidden") is not None or (
        _GONE.search(style) is not None and not _FADING.search(style)
    )


_CANDIDATES = ".//*[@hidden or @style or @aria-hidden='true' or contains(@class, 'sr-only') or contains(@class, 'hidden') or contains(@class, 'screen')]"


def _is_hidden(element: HtmlElement, rules: Rules) -> bool:
    if element.get("hidden") is not None and element.get("hidden") != "until-found":
        return _STREAMED.fullmatch(element.get("id") or "") is None
    style = element.get("style")
    if style and _HIDING.search(style) and not (_TRANSPARENT.search(style) and _MOVING.search(style)):
        return True
    classes = frozenset((element.get("class") or "").split())
    if classes & _UNSEEN_CLASSES:
        return True
    if element.get("aria-hidden") == "true" and _is_small(element):
        return True
    return rules.hide(element, classes)


def _is_small(element: HtmlElement) -> bool:
    """Icons and repeated labels; a dialog may mark the whole page behind it, and that is no ornament."""
    return len(element.text_content()) < 200
