"""What each tool says about itself is true: called against a snapshot, it changes what its hints allow and no more."""

import sys
from pathlib import Path
from typing import Any

import pytest
from mcp_server_core import Client, McpError, stdio

from .conftest import contents, desk_at

pytestmark = pytest.mark.anyio

Arguments = dict[str, Any]

# One call of each tool that has an effect, if the tool can have one.
CALLS: dict[str, Arguments] = {
    "read_text_file": {"path": "a.txt"},
    "read_file": {"path": "a.txt"},
    "read_media_file": {"path": "a.txt"},
    "read_multiple_files": {"paths": ["a.txt", "d/b.txt"]},
    "get_file_info": {"path": "a.txt", "content": True},
    "write_file": {"path": "a.txt", "content": "more\n", "append": True},
    "edit_file": {"path": "a.txt", "edits": [{"oldText": "end", "newText": "end end."}]},
    "create_directory": {"path": "new/deep"},
    "move_file": {"source": "a.txt", "destination": "moved.txt"},
    "copy_file": {"source": "d", "destination": "copy"},
    "delete_file": {"path": "d"},
    "list_directory": {"path": "."},
    "list_directory_with_sizes": {"path": "."},
    "directory_tree": {"path": "."},
    "search_files": {"path": ".", "pattern": "**/*.txt"},
    "search_text": {"path": ".", "pattern": "text"},
    "list_allowed_directories": {},
}
READ_ONLY = dict.fromkeys(CALLS, (True, False, True))
HINTS = READ_ONLY | {  # read-only, destructive, idempotent
    "write_file": (False, True, False),
    "edit_file": (False, True, False),
    "create_directory": (False, False, True),
    "move_file": (False, True, True),
    "copy_file": (False, False, True),
    "delete_file": (False, True, True),
}


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def furnished(root: Path) -> Path:
    (root / "d").mkdir()
    (root / "a.txt").write_text("text\nend\n")
    (root / "d" / "b.txt").write_text("text\n")
    return root


async def test_every_tool_has_a_title_and_all_hints(root: Path) -> None:
    async with desk_at(root) as desk:
        tools = {tool["name"]: tool for tool in await desk.client.list_tools()}
    assert tools.keys() == CALLS.keys() - {"read_file"}
    for name, tool in tools.items():
        hints = tool["annotations"]
        assert tool["title"]
        assert hints["openWorldHint"] is False
        assert (hints["readOnlyHint"], hints["destructiveHint"], hints["idempotentHint"]) == HINTS[name], name


@pytest.mark.parametrize("tool", CALLS)
async def test_a_tool_does_what_its_hints_say(furnished: Path, tool: str) -> None:
    read_only, destructive, idempotent = HINTS[tool]
    before = contents(furnished)
    async with desk_at(furnished) as desk:
        assert not (await desk.result(tool, **CALLS[tool])).get("isError")
        once = contents(furnished)
        await desk.result(tool, **CALLS[tool])
        twice = contents(furnished)
    assert (once == before) is read_only
    assert (before.items() <= once.items()) is not destructive, "only a destructive tool takes something away"
    assert (twice == once) is idempotent or tool == "edit_file"  # whose second call finds another text


async def test_an_edit_made_twice_changes_more(furnished: Path) -> None:
    edit = {"path": "a.txt", "edits": [{"oldText": "end\n", "newText": "end end\n"}]}
    async with desk_at(furnished) as desk:
        for _ in range(2):
            await desk.text("edit_file", **edit)
    assert (furnished / "a.txt").read_text() == "text\nend end end\n"


async def test_a_read_only_server_offers_only_what_changes_nothing(furnished: Path) -> None:
    writing = [name for name, hints in HINTS.items() if not hints[0]]
    command = [sys.executable, "-m", "mcp_server_filesystem", "--read-only", str(furnished)]
    before = contents(furnished)
    async with Client(stdio(command)) as client:
        assert {tool["name"] for tool in await client.list_tools()} == CALLS.keys() - {*writing, "read_file"}
        for name in writing:
            with pytest.raises(McpError):
                await client.call_tool(name, CALLS[name])
    assert contents(furnished) == before
