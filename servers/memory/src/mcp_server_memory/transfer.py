"""Files that come and go: the graph written into an allowed place, and read from one."""

from collections.abc import Iterator

from mcp_server_core import ToolError
from mcp_server_core.places import Spot, create_exclusive, replace

from . import jsonl, markdown
from .edits import Merged, shown
from .graph import Graph
from .shapes import Entity, Triple

_CHUNK = 1 << 18


async def save(graph: Graph, spot: Spot, *, overwrite: bool) -> int:
    """Write the graph as of this moment; the file appears complete or not at all. How many bytes it has."""
    shape = markdown.lines if spot.name.lower().endswith((".md", ".markdown")) else jsonl.lines
    put = replace if overwrite else create_exclusive

    def write(entities: Iterator[Entity], relations: Iterator[Triple]) -> int:
        return put(spot, _chunks(shape(entities, relations))).size

    return await graph.exported(write)


def load(spot: Spot, limit: int) -> jsonl.Contents:
    """What a file holds."""
    return jsonl.read(spot.read_bytes(limit))


def report(side: Spot, contents: jsonl.Contents, merged: Merged) -> str:
    """What came of an import, in words; lines that were not understood go into a file on the side."""
    message = (
        f"Imported {merged.entities} new entities, {merged.observations} observations, {merged.relations} relations; "
        "what was known already is unchanged."
    )
    if contents.rejected:
        numbers = ", ".join(str(number) for number, _ in contents.rejected[:20])
        message += (
            f" {len(contents.rejected)} lines were not understood in full: {numbers}. {_keep(side, contents)}"
        )
    if merged.retyped:
        message += f" Kept their present type: {', '.join(map(shown, merged.retyped[:10]))}."
    return message


def _keep(side: Spot, contents: jsonl.Contents) -> str:
    text = "\n".join(raw for _, raw in contents.rejected) + "\n"
    try:
        create_exclusive(side, text.encode(errors="surrogateescape"))
    except ToolError:  # a folder that may only be read, or a side file from before: nothing is lost
        return "They are still in the file."
    return f"They are also in {side.name}, beside the file."


def _chunks(lines: Iterator[bytes]) -> Iterator[bytes]:
    """Lines gathered into larger writes."""
    gathered: list[bytes] = []
    size = 0
    for line in lines:
        gathered.append(line)
        size += len(line)
        if size > _CHUNK:
            yield b"".join(gathered)
            gathered, size = [], 0
    yield b"".join(gathered)
