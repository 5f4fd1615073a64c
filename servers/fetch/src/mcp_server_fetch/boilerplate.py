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
_FORM_WORDS = {
    *("comment", "comments", "commentform", "reply", "respond", "search", "searchform", "filter", "feedback"),
    *("register", "loginform"),
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


_NOTICE = re.compile(
    r"\bcookies?\b.{0,300}\b(?:accept|agree|consent|partners|preferences|privacy|personali[sz]e|policy|experience|akzeptieren|zustimmen|accepter|aceptar)\b"
    r"|all rights reserved|(?:©|\(c\)|copyright)\s*(?:19|20)\d\d|enable javascript",
    re.IGNORECASE | re.DOTALL,
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
        elements = list(root.iter())
        # Notices stand first or last. Elsewhere the same words may be what the page is about.
        early, late = max(30, len(elements) // 10), min(len(elements) - 30, len(elements) * 9 // 10)
        for place, element in enumerate(elements):
            parent = element.getparent()
            if parent in inside:
                inside.add(element)
                continue
            if parent in content or element.tag in _CONTENT or element.get("role") == "main":
                content.add(element)
            if element.tag not in _BLOCKS or element is root:
                continue
            within = element in content
            outer = not within and not early <= place <= late
            if self._is_frame(element, within) or (outer and self._is_notice(element)):
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
            # The questions of a form within the content may be what the page is about.
            named = _words(element) & (_WORDS | _FORM_WORDS)
            return measure.prose < (30 if in_content and not named else 300)
        if tag in ("header", "footer", "aside"):
            return self._is_sectioning_frame(element, measure, in_content)
        if self._is_named(element, measure, in_content):
            return True
        return self._is_link_list(element, measure, in_content)

    def _is_notice(self, element: HtmlElement) -> bool:
        """A few sentences about cookies or rights, by their words alone."""
        measure = self._measures.of(element)
        if not 0 < measure.text < min(500, 0.6 * self._total) or element.find(".//h1") is not None:
            return False
        return _NOTICE.search(element.text_content()) is not None

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
        words = _words(element)
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


def _words(element: HtmlElement) -> set[str]:
    """The words in class and id."""
    names = f"{element.get('class') or ''} {element.get('id') or ''}"
    return {word.lower() for word in _SPLIT.split(names[:500])} if len(names) > 2 else set()


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
