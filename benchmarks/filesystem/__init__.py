"""The filesystem server against the official one, and against the least each job can cost."""

from ..sheet import Goal, Growth, Line, Sheet

LINES = (
    Line("search-20k", "search `**/*.py`, 20,000 files, ms", (Goal(2, "floor"), Goal(1 / 15, "peer"))),
    Line("search-100k", "search `**/*.py`, 100,000 files, ms", (Goal(2, "floor"), Goal(1 / 15, "peer"))),
    Line("tree-20k", "directory_tree in full, 20,000 files, ms", (Goal(1 / 2, "peer"),)),
    Line("tree-100k", "directory_tree in full, 100,000 files, ms", (Goal(1 / 2, "peer"),)),
    Line("text-20k", "search_text, 20,000 files, ms (floor: ripgrep)", (Goal(5, "floor"),)),
    Line("text-100k", "search_text, 100,000 files, ms (floor: ripgrep)", (Goal(5, "floor"),)),
    Line("regex-20k", "search_text by regex, 20,000 files, ms (floor: ripgrep)"),
    Line("read-1", "read_text_file, 1 MB, ms", (Goal(1 / 2, "peer"),)),
    Line("read-20", "read_text_file, 20 MB, ms", (Goal(1 / 2, "peer"),)),
    Line("head-200", "first 100 lines of 200 MB, ten calls, ms", (Goal(1 / 3, "peer"),)),
    Line("tail-200", "last 100 lines of 200 MB, ten calls, ms", (Goal(1 / 3, "peer"),)),
    Line(
        "edits", "20 edits of one file in flight, kept", (Goal(20, more=True),), "worst", more_is_better=True
    ),
    Line("gigabyte", "100 lines of 1 GB, MiB more than before", (Goal(40),), "worst"),
    Line("peak", "peak memory of all that, MiB", (Goal(150),), "worst"),
)
GROWTHS = (
    Growth("search `**/*.py`", "ms", "files", {20_000: "search-20k", 100_000: "search-100k"}),
    Growth("directory_tree", "ms", "files", {20_000: "tree-20k", 100_000: "tree-100k"}),
    Growth("read_text_file", "ms", "MB", {1: "read-1", 20: "read-20"}),
)


def run(sheet: Sheet) -> None:
    """Measure everything, contestants by turns."""
    from .contest import run_contest

    run_contest(sheet)
