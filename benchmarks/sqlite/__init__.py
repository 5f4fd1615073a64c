"""SQLite: ours against the archived official server, and plain sqlite3 as the floor, in one run."""

import tempfile
from pathlib import Path

from ..contestants import PYTHON, Contestant
from ..peers import NotInstallableError, prepare
from ..sheet import Goal, Growth, Line, Sheet
from .data import make
from .reads import SIZES, measure_memory, measure_reads
from .waiting import measure_locked, measure_readers, measure_short
from .writes import measure_inserts

PEER = Contestant(
    "sqlite-official",
    "official",
    "python",
    Path(__file__).parent / "peer.py.txt",
    ("mcp-server-sqlite==2025.4.25", "mcp<2"),
)
LINES = (
    Line("read_10", "read 10 rows, ms"),
    Line("read_10k", "read 10,000 rows, ms", (Goal(0.2, "peer"),)),
    Line("read_10k_cpu", "read 10,000 rows, CPU ms", (Goal(0.2, "peer"),)),
    Line("read_100k", "read 100,000 rows, ms", (Goal(0.2, "peer"),)),
    Line("read_100k_cpu", "read 100,000 rows, CPU ms", (Goal(0.2, "peer"),)),
    Line("peak", "peak memory after reading 100,000 rows, MiB", (Goal(0.5, "peer"),)),
    Line("endless", "peak memory after up to 40 pages of ordinary size, MiB", (Goal(80),)),
    Line("insert", "insert one row, flushed as SQLite does by default, ms", (Goal(15), Goal(0.5, "peer"))),
    Line(
        "insert_median",
        "insert one row, flushed as SQLite does by default, ms",
        (Goal(0.5, "peer"),),
        "median",
    ),
    Line("short", "short query while a long one runs, ms", (Goal(100), Goal(0.1, "peer")), "worst"),
    Line("locked", "locked database is an error result (1: yes)", (Goal(1, more=True),), more_is_better=True),
    Line("readers", "ten clients read while one writes, times as long as without it", (Goal(1.5),), "median"),
)
GROWTHS = (Growth("read_query", "ms", "rows", {count: quantity for quantity, count in SIZES.items()}),)


def run(sheet: Sheet) -> None:
    """Take every figure; a peer that cannot be had is left out and named."""
    ours = [
        PYTHON,
        "-m",
        "mcp_server_sqlite",
        "--max-result-chars",
        "100000000",
        "--timeout",
        "60",
        "--db-path",
    ]
    try:
        peer: list[str] | None = [*prepare(PEER), "--db-path"]
        sheet.pins.append(f"peer: {', '.join(PEER.packages)}")
    except NotInstallableError as reason:
        peer = None
        sheet.note(f"no peer: {reason}")
    with tempfile.TemporaryDirectory(dir=Path.cwd(), prefix=".bench-sqlite-") as folder:
        database = make(Path(folder))
        servers = {"ours": ours, **({"peer": peer} if peer else {})}
        commands = {name: [*command, str(database)] for name, command in servers.items()}
        rounds = 3 if sheet.quick else 10
        measure_reads(sheet, commands, database, rounds)
        measure_memory(sheet, commands)
        measure_inserts(sheet, commands, Path(folder), servers, 20 if sheet.quick else 100)
        measure_short(sheet, commands, 2 if sheet.quick else 5)
        measure_locked(sheet, commands, database)
        measure_readers(sheet, commands["ours"], database, rounds)
