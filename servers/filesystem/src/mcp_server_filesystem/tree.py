"""A directory and what is below it, level by level, as far as a budget goes. Knows nothing of MCP.

Level by level, because a reader is helped more by the whole of the upper levels than by one branch in full. What
is not opened up says how many entries it has.
"""

from collections import deque
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple, NotRequired

from typing_extensions import TypedDict

from .globs import compile_exclusion
from .jobs import Job
from .listing import Kind, kind_of
from .naming import GROWTH, is_odd, written_name
from .trails import Parts
from .walking import Level, Skipping, Visit, Walker, open_walker

if TYPE_CHECKING:
    from mcp_server_core.places import Spot

_FIELDS = len('{"name":"","type":"directory","children":[]},')
_FILE_FIELDS = len('{"name":"","type":"file"},')
_IGNORED_FIELDS = len(',"entries":1000,"hidden":"ignored"')
_ENOUGH = 64  # characters left with which nothing more is tried
DEEPEST = 24
"""Levels of one tree. Each nests two deep in JSON, and there are clients that read no more than 64."""
_FULL = "the result is full"


class Node(TypedDict):
    """One name in the tree. A directory without `children` is not opened up."""

    name: str
    type: Kind
    children: NotRequired[list["Node"]]
    entries: NotRequired[int]
    hidden: NotRequired[Literal["ignored", "depth", "budget"]]


class Shape(NamedTuple):
    """How much of the tree is wanted."""

    excluded: Sequence[str] = ()
    ignoring: bool = True
    max_depth: int | None = None


class Tree(NamedTuple):
    """What was found."""

    nodes: list[Node]
    more: int  # entries of the first level that did not fit
    why: str  # not everything was opened up; empty if it was
    unreadable: int


class _Open(NamedTuple):
    """A directory that waits to be opened up."""

    node: Node
    parts: Parts
    levels: tuple[Level, ...]


def grow(top: "Spot", shape: Shape, job: Job, *, budget: int) -> Tree:
    """The tree below a directory, in at most about `budget` characters of JSON."""
    skipping = Skipping(shape.ignoring, compile_exclusion(shape.excluded))
    with open_walker(top, job, skipping) as walker:
        return _Growth(walker, top.path, job, shape.max_depth, budget).run()


class _Growth:
    """One tree while it grows."""

    def __init__(self, walker: Walker, top: str, job: Job, max_depth: int | None, budget: int) -> None:
        self._walker = walker
        self._top = top
        self._job = job
        self._max_depth = DEEPEST if max_depth is None else min(max_depth, DEEPEST)
        self._left = budget
        self._waiting: deque[_Open] = deque()
        self._why = ""

    def run(self) -> Tree:
        visit = self._walker.visit(())
        nodes, more = ([], 0) if visit is None else self._open_first(visit)
        while self._waiting:
            self._open(self._waiting.popleft())
        return Tree(nodes, more, self._why, self._walker.unreadable)

    def _open_first(self, visit: Visit) -> tuple[list[Node], int]:
        """The first level is shown as far as it fits, the others as a whole or not at all."""
        nodes = self._nodes(visit)
        cost = _cost(visit)
        if cost <= self._left:
            self._left -= cost
            return nodes, 0
        kept = self._fitting(nodes)
        self._why = _FULL
        shown = {id(node) for node in kept}
        self._waiting = deque(item for item in self._waiting if id(item.node) in shown)
        return kept, len(nodes) - len(kept)

    def _fitting(self, nodes: list[Node]) -> list[Node]:
        for index, node in enumerate(nodes):
            cost = _node_cost(node)
            if cost > self._left:
                return nodes[:index]
            self._left -= cost
        return nodes

    def _open(self, item: _Open) -> None:
        node, parts, levels = item
        over = self._job.exhausted or (_FULL if self._left < _ENOUGH else "")
        if over:
            self._why = over
            node["hidden"] = "budget"
            return
        if len(parts) >= self._max_depth:
            if self._max_depth == DEEPEST:
                self._why = self._why or f"a tree has at most {DEEPEST} levels"
            self._hide(node, parts, "depth")
            return
        visit = self._walker.visit(parts, levels)
        if visit is None:
            node["children"] = []
            return
        cost = _cost(visit)
        if cost > self._left:
            self._why = _FULL
            node["entries"] = len(visit.directories) + len(visit.others) + len(visit.ignored)
            node["hidden"] = "budget"
            return
        self._left -= cost
        node["children"] = self._nodes(visit)

    def _nodes(self, visit: Visit) -> list[Node]:
        folder = f"{self._top}/{visit.prefix}"
        nodes: list[Node] = [
            {"name": written_name(folder, entry.name), "type": kind_of(entry)} for entry in visit.others
        ]
        if not visit.directories and not visit.ignored:
            return nodes
        waiting, parts, levels = self._waiting, visit.parts, visit.levels
        for name in visit.directories:
            node: Node = {"name": written_name(folder, name), "type": "directory"}
            nodes.append(node)
            waiting.append(_Open(node, (*parts, name), levels))
        for name in visit.ignored:
            node = {"name": written_name(folder, name), "type": "directory"}
            nodes.append(node)
            self._hide(node, (*parts, name), "ignored")
        nodes.sort(key=_name)
        return nodes

    def _hide(self, node: Node, parts: Parts, why: Literal["ignored", "depth"]) -> None:
        count = self._walker.count(parts)
        node["hidden"] = why
        if count is not None:
            node["entries"] = count


def _name(node: Node) -> str:
    return node["name"]


def _cost(visit: Visit) -> int:
    """About how many characters the entries take: as JSON, or as indented lines where that is more."""
    indent = 2 * len(visit.parts)
    names = "".join([*[entry.name for entry in visit.others], *visit.directories, *visit.ignored])
    cost = len(names) + len(visit.others) * max(_FILE_FIELDS, indent)
    if is_odd(names):
        cost = GROWTH * (cost + len(visit.prefix))
    directories = len(visit.directories) + len(visit.ignored)
    return cost + directories * (_FIELDS + indent) + len(visit.ignored) * _IGNORED_FIELDS


def _node_cost(node: Node) -> int:
    """The same for one entry of the first level."""
    if node["type"] != "directory":
        return len(node["name"]) + _FILE_FIELDS
    return len(node["name"]) + _FIELDS + ("hidden" in node) * _IGNORED_FIELDS


def outline(nodes: list[Node]) -> str:
    """The tree as indented names; directories end with a slash."""
    lines: list[str] = []
    _outline(nodes, "", lines)
    return "\n".join(lines)


def _outline(nodes: list[Node], indent: str, lines: list[str]) -> None:
    deeper = f"{indent}  "
    for node in nodes:
        kind = node["type"]
        if kind == "file":
            lines.append(f"{indent}{node['name']}")
        elif kind == "directory":
            lines.append(f"{indent}{node['name']}/{_remark(node)}")
            children = node.get("children")
            if children:
                _outline(children, deeper, lines)
        else:
            lines.append(f"{indent}{node['name']} ({kind})")


_REMARKS = {"ignored": "ignored", "depth": "not opened: depth", "budget": "not opened: result full"}


def _remark(node: Node) -> str:
    hidden = node.get("hidden")
    if hidden is None:
        return ""
    entries = node.get("entries")
    if entries is None:
        return f" ({_REMARKS[hidden]})"
    return f" ({entries} {'entry' if entries == 1 else 'entries'}, {_REMARKS[hidden]})"
