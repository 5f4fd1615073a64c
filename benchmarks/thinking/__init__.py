"""The sequential-thinking server against the official one: what a thought costs, and whether it costs more later.

Both are asked the same thoughts of one chain, in short rounds by turns, on one core with the client. A host starts a
server for a session of some dozen thoughts, so a fresh process and its first hundred are a line of their own. The
official server logs every thought unless told not to: both ways are measured.
"""

import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from ..contestants import PYTHON, Contestant
from ..conversation import Conversation
from ..peers import NotInstallableError, prepare
from ..placement import placements, restored
from ..sheet import Column, Goal, Growth, Line, Sheet

PACKAGE = "@modelcontextprotocol/server-sequential-thinking"
PEER = Contestant("peer", "official", "node", f"{PACKAGE}/dist/index.js", (f"{PACKAGE}@2026.8.31",))
OURS = [PYTHON, "-m", "mcp_server_sequential_thinking"]
QUIET = {"DISABLE_THOUGHT_LOGGING": "true"}
TEXT = "Compare what is left: the cheaper way needs a second step, the other one is done at once. " * 3
THOUGHTS = 10_000
WARM_UP = 2_000
ROUND = 250

LINES = (
    Line("cpu", "thought, warm, CPU us", (Goal(120),)),
    Line("quiet", "the same, the peer's log switched off", (Goal(120),)),
    Line("wall", "thought, warm, wall us"),
    Line("first", "start and a hundred thoughts, CPU ms", (Goal(1, "peer"),), pick="median"),
    Line("cold", "thought, mean of the first thousand, CPU us", (Goal(1, "peer"),), pick="median"),
    Line("growth", "memory after 10,000 thoughts, MiB", (Goal(16), Goal(0.5, "peer")), pick="worst"),
    Line("settled", "of that, after the first 2,000", (Goal(2), Goal(0.25, "peer")), pick="worst"),
    Line("resident", "memory at the end, MiB", (Goal(0.5, "peer"),), pick="worst"),
    Line("flat", "last thousand thoughts against the third, CPU ratio", (Goal(1.2),), pick="median"),
    *(Line(f"after {count}", f"thought after {count:,}, CPU us") for count in (2_000, 4_000, 6_000, 8_000)),
    Line("branchy", "thought that revises or branches, warm, CPU us", (Goal(150),)),
    Line("durable", "thought kept in a file, wall us"),
)
GROWTHS = (
    Growth(
        "a thought of one chain",
        "CPU us",
        "thoughts before it",
        {count: f"after {count}" for count in (2_000, 4_000, 6_000, 8_000)},
    ),
)


def run(sheet: Sheet) -> None:
    """One run of all lines."""
    try:
        peer = prepare(PEER)
        sheet.pins = [PEER.packages[0]]
    except NotInstallableError as error:
        sheet.note(f"the official server could not be installed: {error}")
        peer = None
    with restored():
        for _ in range(3 if sheet.quick else 12):
            _begin(sheet, peer)
        for _ in range(1 if sheet.quick else 3):
            _race(sheet, peer)
        _keep(sheet)


def _begin(sheet: Sheet, peer: list[str] | None) -> None:
    """Fresh processes: from their start to the hundredth thought."""
    for column, command in _rivals(peer).items():
        with Conversation(command) as server:
            placements()["one core"].apply(server)
            server.calls("sequentialthinking", thoughts(0, 100))
            sheet.add("first", column, server.cpu_seconds() * 1e3)


def _race(sheet: Sheet, peer: list[str] | None) -> None:
    with ExitStack() as stack:
        rivals: dict[Column, Conversation] = {}
        for column, command in _rivals(peer).items():
            rivals[column] = stack.enter_context(Conversation(command))
        quiet = None if peer is None else stack.enter_context(Conversation(peer, QUIET))
        fresh = {column: server.resident_mib() for column, server in rivals.items()}
        if quiet is not None:
            placements()["one core"].apply(quiet)
            quiet.calls("sequentialthinking", thoughts(0, WARM_UP))
        for column, server in rivals.items():
            placements()["one core"].apply(server)
            cold = server.calls("sequentialthinking", thoughts(0, 1000))
            sheet.add("cold", column, cold.cpu * 1e6 / 1000)
            server.calls("sequentialthinking", thoughts(1000, WARM_UP - 1000))
        _count(sheet, rivals, quiet)
        for column, server in rivals.items():
            sheet.add("growth", column, server.resident_mib() - fresh[column])
            sheet.add("resident", column, server.resident_mib())
        for _ in range(4):
            branchy = rivals["ours"].calls("sequentialthinking", _branchy(ROUND))
            sheet.add("branchy", "ours", branchy.cpu * 1e6 / ROUND)


def _count(sheet: Sheet, rivals: dict[Column, Conversation], quiet: Conversation | None) -> None:
    warm = {column: server.resident_mib() for column, server in rivals.items()}
    costs: dict[Column, list[float]] = {column: [] for column in rivals}
    for start in range(WARM_UP, THOUGHTS, ROUND):
        for column, server in rivals.items():
            timed = server.calls("sequentialthinking", thoughts(start, ROUND))
            costs[column].append(timed.cpu * 1e6 / ROUND)
            sheet.add("cpu", column, costs[column][-1])
            sheet.add("wall", column, timed.wall * 1e6 / ROUND)
            sheet.add(f"after {start // 2000 * 2000}", column, costs[column][-1])
        sheet.add("quiet", "ours", costs["ours"][-1])
        if quiet is not None:
            silent = quiet.calls("sequentialthinking", thoughts(start, ROUND))
            sheet.add("quiet", "peer", silent.cpu * 1e6 / ROUND)
    for column, server in rivals.items():
        sheet.add("settled", column, max(0.0, server.resident_mib() - warm[column]))
        sheet.add("flat", column, min(costs[column][-4:]) / min(costs[column][:4]))


def _rivals(peer: list[str] | None) -> dict[Column, list[str]]:
    rivals: dict[Column, list[str]] = {"ours": OURS}
    if peer is not None:
        rivals["peer"] = peer
    return rivals


def _keep(sheet: Sheet) -> None:
    """Ours alone: the official one keeps nothing."""
    with (
        tempfile.TemporaryDirectory() as folder,
        Conversation([*OURS, "--store", str(Path(folder) / "thoughts")]) as server,
    ):
        for start in range(0, 1000, 200):
            timed = server.calls("sequentialthinking", thoughts(start, 200))
            sheet.add("durable", "ours", timed.wall * 1e6 / 200)
    sheet.note(
        "a thought kept in a file is flushed to disk before it is answered; the official server keeps none"
    )


def thoughts(start: int, count: int) -> Sequence[dict[str, Any]]:
    """Plain thoughts, one after the other."""
    return [_thought(number) for number in range(start + 1, start + count + 1)]


def _branchy(count: int) -> Sequence[dict[str, Any]]:
    """Revisions and branches in turn, of thoughts that are still held."""
    first = THOUGHTS
    start = {"branchFromThought": first, "branchId": "b"}
    return [
        {
            **_thought(first + number),
            **(start if number % 2 else {"revisesThought": first, "isRevision": True}),
        }
        for number in range(1, count + 1)
    ]


def _thought(number: int) -> dict[str, Any]:
    text = f"{number}: {TEXT}"
    return {"thought": text, "thoughtNumber": number, "totalThoughts": 20_000, "nextThoughtNeeded": True}
