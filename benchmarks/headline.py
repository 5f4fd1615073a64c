"""The table in the root README: the chief figure of each job, read from the tables of the newest full runs.

`python -m benchmarks.headline` writes it, as each full run does; `--check` writes nothing and fails if it is stale.
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from .report import FOLDER, align

README = Path(__file__).parents[1] / "README.md"
BEGIN, END = "<!-- figures: made by `make bench` -->", "<!-- end of figures -->"
NOT_PEERS = {"figure", "job", "target", "met", "ours", "floor", "CPU ours", "CPU peer"}


class Chief(NamedTuple):
    """One line of the table, and where it is found."""

    file: str
    title: str
    shown: str
    section: str = ""


START, STDIO, HTTP = (f"{suite}, revision 2025-11-25" for suite in ("start", "stdio", "http"))
CHIEF = (
    Chief("latest", "initialize, CPU ms, best", "start to the first answer, CPU ms", START),
    Chief("latest", "initialize, MiB, median", "memory then, MiB", START),
    Chief("latest", "call, one core, CPU us, best", "stdio call, CPU us", STDIO),
    Chief("latest", "call, one core, latency us, best", "stdio call, latency us", STDIO),
    Chief("latest", "pipelined, calls/s, best", "stdio pipelined, calls/s", STDIO),
    Chief("latest", "echo 1 MB, ms, best", "stdio echo of 1 MB, ms", STDIO),
    Chief("latest-http", "16 connections, CPU us, best", "HTTP call, 16 connections, CPU us", HTTP),
    Chief("latest-http", "16 connections, calls/s, best", "HTTP, 16 connections, calls/s", HTTP),
    Chief("latest-filesystem", "search `**/*.py`, 100,000 files, ms", "filesystem: search 100,000 files, ms"),
    Chief(
        "latest-filesystem",
        "directory_tree in full, 100,000 files, ms",
        "filesystem: tree of 100,000 files, ms",
    ),
    Chief("latest-filesystem", "read_text_file, 20 MB, ms", "filesystem: read 20 MB, ms"),
    Chief("latest-memory", "create 10 entities at 50000, ms", "memory: create 10 among 50,000, ms"),
    Chief("latest-memory", "search_nodes for a word at 50000, ms", "memory: search among 50,000, ms"),
    Chief("latest-memory", "of 50 creates in flight, kept, worst", "memory: of 50 creates in flight, kept"),
    Chief("latest-sqlite", "read 100,000 rows, ms", "sqlite: read 100,000 rows, ms"),
    Chief(
        "latest-sqlite", "insert one row, flushed as SQLite does by default, ms", "sqlite: insert a row, ms"
    ),
    Chief(
        "latest-sqlite", "short query while a long one runs, ms, worst", "sqlite: query beside a long one, ms"
    ),
    Chief("latest-fetch", "page of 200 KB to Markdown, ms", "fetch: page of 200 KB, ms"),
    Chief("latest-fetch", "20 pages of a second each at once, s", "fetch: 20 slow pages at once, s"),
    Chief("latest-thinking", "thought, warm, CPU us", "thinking: a thought, CPU us"),
    Chief("latest-thinking", "memory after 10,000 thoughts, MiB, worst", "thinking: memory for 10,000, MiB"),
)
SUITES = {
    "latest": ("start and stdio", ("start", "stdio")),
    "latest-http": ("HTTP", ("http",)),
    **{f"latest-{name}": (name, (name,)) for name in ("filesystem", "memory", "sqlite", "fetch", "thinking")},
    "latest-soak": ("soak", ()),
}


class Table(NamedTuple):
    """One results file: where it was taken, and its cells by section, title and column."""

    machine: str
    cells: dict[tuple[str, str], dict[str, str]]


def main() -> int:
    """Write the table, or say that it is stale."""
    if "--check" not in sys.argv[1:]:
        update()
        return 0
    text = README.read_text()
    if replaced(text) == text:
        return 0
    print("README.md does not show the newest results: run python -m benchmarks.headline", file=sys.stderr)
    return 1


def update() -> None:
    """Write the table into the README."""
    README.write_text(replaced(README.read_text()))


def replaced(readme: str) -> str:
    """The README with the table as it has to be."""
    before, rest = readme.split(BEGIN)
    _, after = rest.split(END)
    return f"{before}{BEGIN}\n\n{block()}\n\n{END}{after}"


def block() -> str:
    """The table, where it was taken, and where there is more."""
    tables = {name: read(path) for name in SUITES if (path := FOLDER / f"{name}.md").exists()}
    head = ["figure", "ours", "best peer", "times better", "floor", "target", "met"]
    rows = [row for chief in CHIEF if (row := _row(chief, tables)) is not None]
    return "\n\n".join([align([head, *rows]), *_sources(tables)])


def read(path: Path) -> Table:
    """A results file."""
    _, _, machine, *lines = path.read_text().splitlines()
    cells: dict[tuple[str, str], dict[str, str]] = {}
    section, head = "", list[str]()
    for line in lines:
        if line.startswith("## "):
            section = line[3:]
        given = [cell.strip() for cell in line.strip("|").split("|")] if line.startswith("|") else []
        if not given:
            head = []
        elif not head:
            head = given
        else:
            cells[section, given[0]] = dict(zip(head, given, strict=True))
    return Table(machine, cells)


def _row(chief: Chief, tables: dict[str, Table]) -> list[str] | None:
    """One line; None where the suite was never run, or does not know the figure."""
    found = tables[chief.file].cells.get((chief.section, chief.title)) if chief.file in tables else None
    if found is None:
        return None
    peers = [
        (float(split[2]), split[1], column)
        for column, cell in found.items()
        if column not in NOT_PEERS and (split := re.fullmatch(r"(\S+) \((\S+)\)", cell))
    ]
    times, theirs, name = min(peers, default=(None, "-", ""))
    return [
        chief.shown,
        found["ours"],
        theirs if name in ("", "peer") else f"{name}: {theirs}",
        "" if times is None else f"{times:g}",
        found["floor"].partition(" ")[0],
        found["target"],
        "**NO**" if found["met"] == "NO" else found["met"],
    ]


def _sources(tables: dict[str, Table]) -> Iterator[str]:
    yield (
        "Best peer: the npm and PyPI servers of the same name, and of the SDKs the fastest one. Floor: the least the job can "
        "cost in Python, or to the kernel. What the gap is made of: [benchmarks](benchmarks/README.md#what-the-gap-is-made-of)."
    )
    links: list[str] = []
    for name, table in tables.items():
        title, suites = SUITES[name]
        pictures = [f"{suite}.svg" for suite in suites if (FOLDER / f"latest-{suite}.svg").exists()]
        drawn = "".join(f", [picture](benchmarks/results/latest-{picture})" for picture in pictures)
        when, load = table.machine.split(", ")[0], table.machine.rpartition(", ")[2]
        links.append(f"- [{title}](benchmarks/results/{name}.md){drawn}: {when}, {load}")
    machines = dict.fromkeys(_machine(table) for table in tables.values())
    yield f"Every figure of each suite, with its peers by name and version; taken on {', and on '.join(machines)}:"
    yield "\n".join(links)


def _machine(table: Table) -> str:
    """The machine without the day, the kernel and the load."""
    return ", ".join(part for part in table.machine.split(", ")[1:-1] if not part.startswith("Linux"))


if __name__ == "__main__":
    sys.exit(main())
