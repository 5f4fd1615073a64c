"""Both servers through the same jobs, by turns, and what each took."""

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from ..child import ServerGoneError
from ..contestants import PYTHON, Contestant
from ..conversation import Conversation
from ..messages import WrongAnswerError
from ..peers import NotInstallableError, prepare
from ..sheet import Column, Sheet
from . import floors
from .material import CACHE, NEEDLE, text_file, tree

OFFICIAL = "@modelcontextprotocol/server-filesystem"
PEER = Contestant(
    "official", "official", "node", f"{OFFICIAL}/dist/index.js", (f"{OFFICIAL}@2026.8.31",), options=()
)
_UNBOUNDED = "1000000000"  # so that both return everything
_REGEX = "needle_[a-z_]+stack"
_SLOW = 60.0  # seconds for a call of the peer


class Rounds(NamedTuple):
    """How often each job is done."""

    ours: int
    peer: int


def run_contest(sheet: Sheet) -> None:
    """Every job; the peer takes part if it can be had."""
    CACHE.mkdir(parents=True, exist_ok=True)
    commands: dict[Column, list[str]] = {
        "ours": [PYTHON, "-m", "mcp_server_filesystem", "--max-result-chars", _UNBOUNDED, str(CACHE)]
    }
    try:
        commands["peer"] = [*prepare(PEER), str(CACHE)]
        sheet.pins.append(f"peer: {PEER.packages[0]}")
    except NotInstallableError as error:
        sheet.note(f"without the official server: {error}")
    sheet.note("Ours runs with --max-result-chars raised, so that both return everything.")
    rounds = Rounds(3, 1) if sheet.quick else Rounds(10, 3)
    servers: dict[Column, Conversation] = {
        column: Conversation(command) for column, command in commands.items()
    }
    try:
        _Contest(sheet, servers, rounds).run()
    finally:
        for server in servers.values():
            server.close()


class _Contest:
    """One run."""

    def __init__(self, sheet: Sheet, servers: dict[Column, Conversation], rounds: Rounds) -> None:
        self._sheet = sheet
        self._servers = servers
        self._rounds = rounds

    def run(self) -> None:
        for files, name in ((20_000, "20k"), (100_000, "100k")):
            self._tree(tree(files), files, name)
        self._files()
        self._edits()
        self._peaks()
        self._gigabyte()

    def _tree(self, top: Path, files: int, name: str) -> None:
        searching = {"path": str(top), "pattern": "**/*.py"}
        growing = {"path": str(top)}
        for turn in range(self._rounds.ours):
            wall, found = floors.timed(lambda: floors.search(top))
            self._sheet.add(f"search-{name}", "floor", wall)
            self._call(f"search-{name}", "search_files", searching, turn, lines=len(found))
            wall, _ = floors.timed(lambda: floors.tree(top))
            self._sheet.add(f"tree-{name}", "floor", wall)
            self._call(f"tree-{name}", "directory_tree", growing, turn, mentions=f"file{files % 20}.py")
            self._texts(top, name)

    def _texts(self, top: Path, name: str) -> None:
        jobs = [(f"text-{name}", NEEDLE, False)]
        if name == "20k":
            jobs.append(("regex-20k", _REGEX, True))
        for quantity, pattern, regex in jobs:
            wall, count = floors.timed(lambda pattern=pattern: floors.ripgrep(top, pattern))
            if count is None:
                self._sheet.note("without ripgrep: it is not on this machine")
            else:
                self._sheet.add(quantity, "floor", wall)
            arguments = {"path": str(top), "pattern": pattern, "regex": regex, "limit": 1000}
            timed = self._servers["ours"].call("search_text", arguments)
            self._sheet.add(quantity, "ours", timed.wall * 1000, cpu=timed.cpu * 1000)
            lines = len(timed.results[0]["structuredContent"]["matches"])
            if count is not None and lines != min(count, 1000):
                self._sheet.note(f"{quantity}: ours found {lines} lines, ripgrep {count}")

    def _files(self) -> None:
        jobs: list[tuple[str, str, int, dict[str, int]]] = [
            ("read-1", "read_text_file", 1, {}),
            ("read-20", "read_text_file", 20, {}),
            ("head-200", "read_text_file", 200, {"head": 100}),
            ("tail-200", "read_text_file", 200, {"tail": 100}),
        ]
        for quantity, tool, megabytes, lines in jobs:
            path = text_file(megabytes)
            # Of short calls both make ten, as many as a session has: after hundreds, node has compiled its path.
            for turn in range(10 if lines else self._rounds.ours):
                arguments = {"path": str(path), **lines}
                self._call(quantity, tool, arguments, 0 if lines else turn, mentions="a line of text")

    def _call(
        self,
        quantity: str,
        tool: str,
        arguments: Mapping[str, Any],
        turn: int,
        *,
        lines: int | None = None,
        mentions: str = "",
    ) -> None:
        """One call of each server; the slower one is spared some of them."""
        for column, server in list(self._servers.items()):
            if column == "peer" and turn >= self._rounds.peer:
                continue
            try:
                timed = server.calls(tool, [arguments], seconds=_SLOW)
            except (ServerGoneError, WrongAnswerError) as error:
                self._sheet.note(f"{quantity}, {column}: {error}")
                continue
            self._sheet.add(quantity, column, timed.wall * 1000, cpu=timed.cpu * 1000)
            text = timed.text
            if lines is not None and len(text.splitlines()) != lines:
                self._sheet.note(f"{quantity}: {column} found {len(text.splitlines())}, not {lines}")
            if mentions not in text:
                self._sheet.note(f"{quantity}: the answer of {column} is not complete")

    def _edits(self) -> None:
        """Twenty edits of one file in flight: how many of them are in it at the end."""
        for column, server in self._servers.items():
            folder = CACHE / f"edits-{column}"
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            path = folder / "file.txt"
            path.write_text("".join(f"line {number:02}\n" for number in range(20)))
            edits = [
                {
                    "path": str(path),
                    "edits": [{"oldText": f"line {number:02}", "newText": f"LINE {number:02}"}],
                }
                for number in range(20)
            ]
            server.calls("edit_file", edits, window=20, refusals=True)
            self._sheet.add("edits", column, path.read_text().count("LINE"))

    def _peaks(self) -> None:
        for column, server in self._servers.items():
            self._sheet.add("peak", column, server.peak_mib())

    def _gigabyte(self) -> None:
        """What a fresh server needs besides, to read a few lines of a very large file."""
        path = text_file(200 if self._sheet.quick else 1000)
        if self._sheet.quick:
            self._sheet.note("quick: 200 MB stand for the gigabyte")
        command = [PYTHON, "-m", "mcp_server_filesystem", str(CACHE)]
        with Conversation(command) as server:
            server.call("list_allowed_directories", {})
            before = server.resident_mib()
            for lines in ({"head": 100}, {"tail": 100}, {"offset": 1_000_000, "limit": 100}):
                server.call("read_text_file", {"path": str(path), **lines})
            self._sheet.add("gigabyte", "ours", server.peak_mib() - before)
