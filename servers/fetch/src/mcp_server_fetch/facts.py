"""What a page says about itself, apart from its text: title, description, styles, data for search engines."""

import json
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from lxml.html import HtmlElement


@dataclass(slots=True)
class Facts:
    """What has to be read before the tree is cleaned."""

    title: str
    description: str
    base: str | None
    styles: str
    article: str
    noscript: list[HtmlElement]
    """What readers without scripts are given, where that is more than a word."""
    scripts: int


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
        noscript=[deepcopy(part) for part in root.iter("noscript") if part.text_content().strip()],
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
