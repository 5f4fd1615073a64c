"""The server as a host starts it."""

import sys
from pathlib import Path

import pytest
from mcp_server_core import Client, stdio
from mcp_server_core.testing import Revision

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("revision", ["2025-11-25", "2026-07-28"])
async def test_it_runs_as_a_process_and_writes_where_the_operator_allows(
    revision: Revision, tmp_path: Path
) -> None:
    command = [sys.executable, "-m", "mcp_server_starter", str(tmp_path)]
    async with Client(stdio(command), revision=revision) as client:
        await client.call_tool("count", {"name": "birds"})
        await client.call_tool("export_tally", {"path": "tally.md"})
    assert "| birds | 1 |" in (tmp_path / "tally.md").read_text("utf-8")
