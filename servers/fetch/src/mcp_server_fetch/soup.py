"""A parsed page as the tree of Beautiful Soup, which markdownify walks: made from the tree that is there already.

Parsing the page once more for it takes three times as long. The tree has children, parents and siblings; the chain of
elements in document order is left out, so `find_all` does not work on it.
"""

from typing import TypeVar

from bs4.element import NavigableString, Tag
from lxml.html import HtmlElement

Node = TypeVar("Node", Tag, NavigableString)


def plant(root: HtmlElement) -> Tag:
    """The same elements and texts, as Tags and NavigableStrings."""
    top = _tag(root)
    todo = [(root, top)]
    while todo:
        element, tag = todo.pop()
        last: Tag | NavigableString | None = None
        if element.text:
            last = _append(tag, None, NavigableString(element.text))
        for child in element:
            last = made = _append(tag, last, _tag(child))
            todo.append((child, made))
            if child.tail:
                last = _append(tag, last, NavigableString(child.tail))
    return top


def _tag(element: HtmlElement) -> Tag:
    return Tag(name=element.tag, attrs=dict(element.attrib))


def _append(parent: Tag, last: Tag | NavigableString | None, node: Node) -> Node:
    node.parent = parent
    node.previous_sibling = last
    if last is not None:
        last.next_sibling = node
    parent.contents.append(node)
    return node
