"""Names that would break a line, a terminal or UTF-8, as a model sees them and gives them back."""

import os
from pathlib import Path
from typing import Any

import pytest

from .conftest import desk_at

pytestmark = pytest.mark.anyio

ODD = ("two\nlines", "esc\x1b[31m", "\u202egnp.exe", os.fsdecode(b"bad\xff\xfe"))
BREAKS = "\n" * 100


@pytest.mark.parametrize("name", ODD, ids=ascii)
@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("list_directory", {}),
        ("list_directory_with_sizes", {}),
        ("directory_tree", {}),
        ("search_files", {"pattern": "**"}),
        ("search_text", {"pattern": "content"}),
    ],
)
async def test_an_odd_name_is_one_line_and_can_be_given_back(
    root: Path, name: str, tool: str, arguments: dict[str, Any]
) -> None:
    (root / name).write_text("content")
    (root / "name with \u3000 spaces \N{SNOWMAN}").write_text("content")
    uri = (root / name).as_uri()
    async with desk_at(root) as desk:
        result = await desk.result(tool, path=str(root), **arguments)
        assert uri in result["content"][0]["text"]
        assert "name with \u3000 spaces \N{SNOWMAN}" in result["content"][0]["text"]
        assert uri in str(result["structuredContent"])
        assert await desk.text("read_text_file", path=uri) == "content"


@pytest.mark.parametrize("tool", ["list_directory", "directory_tree", "search_files", "search_text"])
async def test_many_odd_names_fit_a_result(root: Path, tool: str) -> None:
    for number in range(100):
        (root / f"{number:02}{BREAKS}").write_text("content")
    arguments = {"search_files": {"pattern": "*"}, "search_text": {"pattern": "content"}}.get(tool, {})
    async with desk_at(root, max_chars=8000) as desk:
        assert (root / f"00{BREAKS}").as_uri() in await desk.text(tool, path=str(root), **arguments)


async def test_an_odd_directory_is_listed_as_a_resource(root: Path) -> None:
    (root / "two\nlines").mkdir()
    async with desk_at(root) as desk:
        (contents,) = await desk.client.read_resource(root.as_uri())
    assert contents["text"] == f"{root.as_uri()}/two%0Alines/"
