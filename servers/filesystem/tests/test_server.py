"""The server as a client sees it."""

import json
from pathlib import Path

import anyio
import pytest
from mcp_server_core import Answers, Change
from mcp_server_core.testing import REVISIONS, Revision, connect
from mcp_server_filesystem.server import build

pytestmark = pytest.mark.anyio


@pytest.fixture(params=REVISIONS)
def revision(request: pytest.FixtureRequest) -> Revision:
    return request.param


async def test_it_says_who_it_is(revision: Revision) -> None:
    async with connect(build([]), revision=revision) as client:
        assert client.server["name"] == "mcp-server-filesystem"


async def test_the_tool_lists_each_directory_with_its_rights_and_reason(tmp_path: Path) -> None:
    async with connect(build([f"{tmp_path}:ro"])) as client:
        result = await client.call_tool("list_allowed_directories")
    assert result["structuredContent"] == {
        "directories": [{"path": str(tmp_path), "writable": False, "reason": "configured", "problem": ""}]
    }
    assert result["content"] == [{"type": "text", "text": f"{tmp_path} (read only, configured)"}]


async def test_a_root_inside_a_configured_directory_narrows_it(revision: Revision, tmp_path: Path) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    answers = Answers(roots=[inner.as_uri()])
    async with connect(build([str(tmp_path)]), revision=revision, answers=answers) as client:
        result = await client.call_tool("list_allowed_directories")
    text = result["content"][0]["text"]
    assert text == f"{inner} (read and write, client root inside configured {tmp_path})"


async def test_a_directory_reads_as_a_list_of_names(revision: Revision, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("hello")
    (tmp_path / "inner").mkdir()
    async with connect(build([str(tmp_path)]), revision=revision) as client:
        contents = await client.read_resource(tmp_path.as_uri())
    assert contents == [{"uri": tmp_path.as_uri(), "mimeType": "text/plain", "text": "inner/\nnotes.txt"}]


async def test_a_file_made_from_outside_is_announced_to_whoever_watches_its_directory(
    revision: Revision, tmp_path: Path
) -> None:
    async with (
        connect(build([str(tmp_path)]), revision=revision) as client,
        client.watch(tmp_path.as_uri()) as changes,
    ):
        (tmp_path / "new.txt").write_text("made by somebody else")
        with anyio.fail_after(5):
            assert await anext(changes) == Change("updated", tmp_path.as_uri())


async def test_the_readme_says_what_the_list_of_tools_costs(tmp_path: Path) -> None:
    async with connect(build([str(tmp_path)])) as client:
        size = len(
            json.dumps(
                {"tools": await client.list_tools()}, separators=(",", ":"), ensure_ascii=False
            ).encode()
        )
    readme = (Path(__file__).parents[1] / "README.md").read_text("utf-8")
    assert f"takes {size:,} bytes of\nJSON" in readme
    assert size < 13_700
