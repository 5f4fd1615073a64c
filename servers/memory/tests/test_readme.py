"""The README tells the truth about cost."""

import json
import re
from pathlib import Path

import pytest
from mcp_server_core.testing import connect
from mcp_server_memory.server import build

pytestmark = pytest.mark.anyio
README = Path(__file__).parents[1] / "README.md"
KNOWN_SERVER = 10_760  # 2026.8.31, counted in the same way; tests/interop asks it


async def test_the_size_of_the_tool_list_is_what_the_readme_says(store: str) -> None:
    async with connect(build(store)) as client:
        tools = await client.list_tools()
    size = len(json.dumps({"tools": tools}, separators=(",", ":"), ensure_ascii=False).encode())
    text = README.read_text(encoding="utf-8")
    (said,) = re.findall(r"tool list is ([\d,]+) bytes", text)
    assert int(said.replace(",", "")) == size
    assert size < KNOWN_SERVER


def test_the_host_entries_in_the_readme_are_json() -> None:
    blocks = re.findall(r"```json\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    assert blocks
    for block in blocks:
        (servers,) = json.loads(block).values()  # each host has a word of its own for them
        assert servers["memory"]["command"] == "uvx"
