"""Many writes at once: in flight on one connection, and from two processes on one file. What counts is what is kept."""

import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from ..conversation import Conversation
from ..sheet import Column, Sheet

_IN_FLIGHT = 50
_EACH = 100


def measure_crowds(commands: Mapping[Column, Sequence[str]], sheet: Sheet, *, rounds: int) -> None:
    """Both crowds for each contestant in turn."""
    for _ in range(rounds):
        for column, command in commands.items():
            with TemporaryDirectory() as folder:
                _in_flight(column, command, Path(folder) / "flight.jsonl", sheet)
                _two_processes(column, command, Path(folder) / "crowd.jsonl", sheet)


def _in_flight(column: Column, command: Sequence[str], file: Path, sheet: Sheet) -> None:
    with Conversation(command, {"MEMORY_FILE_PATH": str(file)}) as server:
        server.call("read_graph", {})
        wanted = [_creation(f"flight {number}") for number in range(_IN_FLIGHT)]
        done = server.calls("create_entities", wanted, window=_IN_FLIGHT, refusals=True)
    sheet.add("flight ms", column, done.wall * 1e3)
    sheet.add("flight kept", column, _kept(command, file))


def _two_processes(column: Column, command: Sequence[str], file: Path, sheet: Sheet) -> None:
    env = {"MEMORY_FILE_PATH": str(file)}
    with Conversation(command, env) as one, Conversation(command, env) as two:
        began = time.perf_counter()
        writers = [
            threading.Thread(target=_write, args=(server, mark))
            for mark, server in (("one", one), ("two", two))
        ]
        for writer in writers:
            writer.start()
        for writer in writers:
            writer.join()
        sheet.add("crowd s", column, time.perf_counter() - began)
    sheet.add("crowd kept", column, _kept(command, file))


def _write(server: Conversation, mark: str) -> None:
    server.calls(
        "create_entities",
        [_creation(f"{mark} {number}") for number in range(_EACH)],
        window=10,
        refusals=True,
    )


def _creation(name: str) -> dict[str, Any]:
    return {"entities": [{"name": name, "entityType": "t", "observations": ["written in a crowd"]}]}


def _kept(command: Sequence[str], file: Path) -> int:
    """How many entities a new process finds."""
    with Conversation(command, {"MEMORY_FILE_PATH": str(file)}) as server:
        graph = server.calls("read_graph", [{}], refusals=True).results[0]
    return len({entity["name"] for entity in graph.get("structuredContent", {}).get("entities", [])})
