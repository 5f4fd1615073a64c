"""Clients that nobody here wrote think with the sequential-thinking server."""

import json
import sys
from pathlib import Path
from typing import Any

from mcp_server_sequential_thinking import thoughts
from mcp_server_sequential_thinking.journal import Journal
from mcp_server_sequential_thinking.shelf import Shelf, Who

from .errand import (
    Answers,
    Step,
    call,
    complete,
    every_errand_client,
    list_all,
    prompt,
    read,
    run_errand,
    watch,
)
from .foreign import Foreign

SERVER = [sys.executable, "-m", "mcp_server_sequential_thinking"]


def think(number: int | str, text: str, **more: Any) -> Step:
    return call(
        "sequentialthinking",
        thought=text,
        thoughtNumber=number,
        totalThoughts=3,
        nextThoughtNeeded="true",
        **more,
    )


def begin(folder: Path) -> tuple[list[str], str]:
    """A server with a store, and the handle of a chain that is in it."""
    store = str(folder / "store")
    added = Shelf(Journal(store)).add(thoughts.Step("Begin.", 1, 3, next_needed=True), Who())
    return [*SERVER, "--store", store], added.id


@every_errand_client
def test_a_chain_is_thought_watched_reviewed_and_exported(foreign: Foreign, tmp_path: Path) -> None:
    server, handle = begin(tmp_path)
    uri = f"thinking://chains/{handle}"
    out = tmp_path / "out"
    out.mkdir()
    steps = [
        list_all("tools"),
        think("2", "Then.", thinkingId=handle),
        watch(uri, think(2, "Or so?", branchFromThought=1, branchId="b", thinkingId=handle)),
        call("review_thinking", thinkingId=handle),
        read(uri),
        complete("thinking://chains/{id}", "id", handle[:4]),
        prompt("think_it_through", problem="Why?"),
        call("export_thinking", path="chain.md", thinkingId=handle),
        think(3, "No.", isRevision=True, revisesThought=9, thinkingId=handle),
    ]
    seen = run_errand(foreign, server, steps, tmp_path, Answers(roots=[out.as_uri()]))
    assert {tool["name"] for tool in seen.results[0]["tools"]} == {
        "sequentialthinking",
        "review_thinking",
        "export_thinking",
    }
    assert json.loads(seen.text(1))["thoughtHistoryLength"] == 2
    assert "  - 2 (b): Or so?" in seen.text(3)
    assert "> Or so?" in json.dumps(seen.results[4])
    alone = foreign.over != "stdio" and seen.revision == "2026-07-28"
    assert (handle in json.dumps(seen.results[5])) is not alone, (
        "a request without a connection is told nothing"
    )
    assert "Why?" in json.dumps(seen.results[6])
    assert "> Then." in (out / "chain.md").read_text("utf-8")
    assert seen.results[8]["isError"] is True
    assert "the main line has 1-2" in seen.text(8)
