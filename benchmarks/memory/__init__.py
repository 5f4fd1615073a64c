"""Suite `memory`: the same graph, the same calls, ours against the server people use today."""

from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

from ..contestants import PYTHON, Contestant
from ..conversation import Conversation
from ..peers import NotInstallableError, prepare
from ..sheet import Column, Goal, Growth, Line, Sheet
from .crowds import measure_crowds
from .floor import Floor
from .graphs import SIZES, write_graph
from .jobs import Runner, measure

PEER = Contestant(
    "peer",
    "server-memory",
    "node",
    "@modelcontextprotocol/server-memory/dist/index.js",
    ("@modelcontextprotocol/server-memory@2026.8.31",),
)
OURS = (PYTHON, "-m", "mcp_server_memory")

LINES: tuple[Line, ...] = (
    *(
        Line(f"create {size}", f"create 10 entities at {size}, ms", goals)
        for size, goals in zip(
            SIZES, ((Goal(5),), (Goal(5),), (Goal(5), Goal(0.01, against="peer"))), strict=True
        )
    ),
    *(Line(f"create {size}", f"create 10 entities at {size}, ms", pick="median") for size in SIZES),
    Line("growth", "a write at 50000 in writes at 1000", (Goal(1.5),), pick="median"),
    Line(
        "named growth", "a search for a name at 50000 in such searches at 10000", (Goal(1.5),), pick="median"
    ),
    Line("p99", "create 1 entity at 50000, 99th percentile, ms", (Goal(10),)),
    *(
        Line(f"{job} {size}", f"{title} at {size}, ms", (Goal(limit),))
        for job, title, limit in (
            ("search", "search_nodes for a word", 15),
            ("named", "search_nodes for a name", 15),
            ("begun", "search_nodes for the beginning of a word in every fact", 15),
            ("common", "search_nodes for a word in every fact", 15),
            ("open", "open_nodes", 5),
        )
        for size in SIZES
    ),
    Line(
        "flight kept", "of 50 creates in flight, kept", (Goal(50, more=True),), "worst", more_is_better=True
    ),
    Line("flight ms", "50 creates in flight, ms"),
    Line(
        "crowd kept",
        "of two processes' 100 writes each, kept",
        (Goal(200, more=True),),
        "worst",
        more_is_better=True,
    ),
    Line("crowd s", "two processes, 100 writes each, s"),
    Line("memory", "resident after the run at 50000, MiB"),
)
GROWTHS = tuple(
    Growth(title, "ms", "entities in the graph", {size: f"{job} {size}" for size in SIZES})
    for job, title in (
        ("create", "create 10 entities"),
        ("search", "search for a word"),
        ("open", "open_nodes"),
    )
)


def run(sheet: Sheet) -> None:
    commands: dict[Column, tuple[str, ...]] = {"ours": OURS}
    try:
        commands["peer"] = tuple(prepare(PEER))
        sheet.pins.append(f"peer: {', '.join(PEER.packages)}")
    except NotInstallableError as error:
        sheet.note(f"peer: {error}")
    sheet.note("floor: plain sqlite3, ten rows and one synced commit; no index, no protocol")
    sheet.note("every write of ours is synced to disk before it is answered; the peer's are not")
    for size in SIZES:
        _measure_at(size, commands, sheet)
    _add_growth(sheet, "growth", "create", SIZES[0])
    _add_growth(sheet, "named growth", "named", SIZES[1])
    measure_crowds(commands, sheet, rounds=1 if sheet.quick else 3)


def _measure_at(size: int, commands: dict[Column, tuple[str, ...]], sheet: Sheet) -> None:
    """All servers hold the same graph; each in turn does each job."""
    with TemporaryDirectory() as folder, ExitStack() as stack:
        runners: list[Runner] = []
        for column, command in commands.items():
            file = Path(folder) / f"{column}.jsonl"
            write_graph(file, size)
            server = stack.enter_context(Conversation(command, {"MEMORY_FILE_PATH": str(file)}))
            runners.append(Runner(column, server, size))
        floor = stack.enter_context(Floor(Path(folder) / "floor.sqlite3"))
        measure(runners, floor, sheet)


def _add_growth(sheet: Sheet, key: str, job: str, from_size: int) -> None:
    for column in ("ours", "peer", "floor"):
        small, large = (sheet.samples[f"{job} {size}"].get(column) for size in (from_size, SIZES[-1]))
        if small and large:
            sheet.add(key, column, min(large) / min(small))
