"""Which parts of a page are its frame: navigation, banners, footers, boxes of links. Looks, and removes nothing."""

import re

from lxml.html import HtmlElement

from .measures import Measure, Measures

_ROLES = {
    "navigation",
    "banner",
    "contentinfo",
    "complementary",
    "search",
    "dialog",
    "alertdialog",
    "menu",
    "menubar",
    "toolbar",
    "tooltip",
}
_WORDS = {
    *(
        "nav",
        "navbar",
        "navigation",
        "menu",
        "submenu",
        "megamenu",
        "topbar",
        "breadcrumb",
        "breadcrumbs",
        "pagination",
        "pager",
        "sidebar",
        "sidenav",
    ),
    *("footer", "colophon", "masthead", "copyright", "legal", "toolbar", "skip", "skiplink", "actions"),
    *(
        "cookie",
        "cookies",
        "consent",
        "gdpr",
        "ccpa",
        "onetrust",
        "newsletter",
        "subscribe",
        "subscription",
        "signup",
        "signin",
        "login",
        "paywall",
    ),
    *(
        "share",
        "sharing",
        "social",
        "socials",
        "follow",
        "related",
        "recommended",
        "recommendations",
        "recirculation",
        "trending",
        "popular",
        "promo",
        "promotion",
        "upsell",
    ),
    *(
        "ad",
        "ads",
        "advert",
        "advertisement",
        "adslot",
        "sponsor",
        "sponsored",
        "outbrain",
        "taboola",
        "banner",
        "popup",
        "modal",
        "overlay",
        "lightbox",
        "toast",
        "widget",
        "hamburger",
    ),
}
# What readers came for, whatever else the name says: `content-with-sidebar`, `note-banner`.
_SPARED_WORDS = {
    "content",
    "article",
    "post",
    "entry",
    "story",
    "body",
    "main",
    "note",
    "warning",
    "tip",
    "admonition",
    "callout",
    "infobox",
    "has",
    "with",
    "no",
    "without",
}
_SPLIT = re.compile(r"[^A-Za-z]+|(?<=[a-z])(?=[A-Z])")
_BLOCKS = {
    "div",
    "section",
    "aside",
    "nav",
    "header",
    "footer",
    "ul",
    "ol",
    "dl",
    "form",
    "table",
    "p",
    "dialog",
    "details",
    "figure",
    "menu",
    "center",
    "td",
    "h2",
    "h3",
    "h4",
    "span",
    "fieldset",
}
_CONTENT = {"main", "article"}
_END_HEADINGS = re.compile(
    r"(?:related|recommended|popular|trending|further|more) (?:articles?|posts?|stories|reading|topics|questions|products|pages|news|from .*)"
    r"|more (?:on|from|in|to) .*|(?:you (?:may|might) (?:also )?(?:like|enjoy)|read (?:more|next)|up next|share this.*|most (?:read|popular|viewed)|follow us"
    r"|customers also .*|people also .*|latest (?:news|posts|stories)|see also on .*|recent (?:posts|comments)|categories|archives|tags)",
    re.IGNORECASE,
)


class Frame:
    """Judges the elements of one page."""

    def __init__(self, root: HtmlElement, measures: Measures) -> None:
        self._measures = measures
        self._total = max(1, measures.of(root).text)

    def parts(self, root: HtmlElement) -> list[HtmlElement]:
        """The outermost elements that belong to the frame."""
        found: list[HtmlElement] = []
        inside: set[HtmlElement] = set()
        content: set[HtmlElement] = set()
        for element in root.iter():
            parent = element.getparent()
            if parent in inside:
                inside.add(element)
                continue
            if parent in content or element.tag in _CONTENT or element.get("role") == "main":
                content.add(element)
            if element.tag in _BLOCKS and element is not root and self._is_frame(element, element in content):
                found.append(element)
                inside.add(element)
        return found

    def _is_frame(self, element: HtmlElement, in_content: bool) -> bool:
        measure = self._measures.of(element)
        if measure.text > 0.6 * self._total:
            return False
        tag = element.tag
        if tag in ("nav", "dialog", "menu") or (element.get("role") or "") in _ROLES:
            return True
        if tag in ("h2", "h3", "h4", "span", "td"):
            return (
                tag in ("span", "td") and measure.text < 300 and self._is_named(element, measure, in_content)
            )
        if tag == "form":
            return measure.prose < 300
        if tag in ("header", "footer", "aside"):
            return self._is_sectioning_frame(element, measure, in_content)
        if self._is_named(element, measure, in_content):
            return True
        return self._is_link_list(element, measure, in_content)

    def _is_sectioning_frame(self, element: HtmlElement, measure: Measure, in_content: bool) -> bool:
        if not in_content:
            # The page's own heading often stands in its header; extract.py brings that back.
            return True
        if element.tag == "header" or element.getparent().tag in ("blockquote", "figure"):
            return False
        return (
            measure.link_share > 0.3 or self._is_named(element, measure, in_content) or _is_related(element)
        )

    def _is_named(self, element: HtmlElement, measure: Measure, in_content: bool) -> bool:
        """Whether class or id say so, and the text does not contradict it."""
        names = f"{element.get('class') or ''} {element.get('id') or ''}"
        if len(names) < 3:
            return False
        words = {word.lower() for word in _SPLIT.split(names[:500])}
        if not words & _WORDS or words & _SPARED_WORDS:
            return False
        limit = 0.15 if in_content else 0.35
        return measure.text < max(600, limit * self._total) and (
            measure.prose < 600 or measure.link_share > 0.4
        )

    def _is_link_list(self, element: HtmlElement, measure: Measure, in_content: bool) -> bool:
        """A box of links. Inside the content only where its heading says that it leads elsewhere."""
        if (
            element.tag not in ("ul", "ol", "div", "section", "table", "p", "dl", "center")
            or not measure.links
        ):
            return False
        if _is_related(element) and measure.link_share > 0.25:
            return True
        if in_content:
            return False
        short = measure.linked / measure.links < 60
        return measure.links >= 3 and measure.link_share > 0.66 and short


def _is_related(element: HtmlElement) -> bool:
    """Whether the heading in front of an element, or first in it, leads to other pages."""
    for heading in (element.getprevious(), next(iter(element), None)):
        if heading is not None and heading.tag in ("h2", "h3", "h4", "h5", "strong", "p", "div", "span"):
            text = heading.text_content().strip().rstrip(":")
            if len(text) < 60 and _END_HEADINGS.fullmatch(text):
                return True
    return False


def is_lone_heading(element: HtmlElement) -> bool:
    """A heading of related pages whose list is gone."""
    text = element.text_content().strip().rstrip(":")
    return len(text) < 60 and _END_HEADINGS.fullmatch(text) is not None
