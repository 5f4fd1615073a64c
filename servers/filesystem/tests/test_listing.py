"""Listings and trees, as a model sees them."""

import os
from pathlib import Path
from typing import Any

import pytest

from .conftest import desk_at

pytestmark = pytest.mark.anyio


def make(root: Path, **sizes: int) -> None:
    for name, size in sizes.items():
        path = root / name.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"x" * size)


async def test_a_listing_names_kinds_and_never_follows_a_link(root: Path) -> None:
    make(root, b=1, a__x=1)
    (root / "link").symlink_to("/etc")
    os.mkfifo(root / "pipe")
    async with desk_at(root) as desk:
        result = await desk.result("list_directory", path=str(root))
    assert result["structuredContent"] == {
        "entries": [
            {"name": "a", "type": "directory"},
            {"name": "b", "type": "file"},
            {"name": "link", "type": "link"},
            {"name": "pipe", "type": "other"},
        ],
        "total": 4,
    }
    assert result["content"][0]["text"] == "[DIR] a\n[FILE] b\n[LINK] link\n[OTHER] pipe"


async def test_an_empty_directory_says_so(root: Path) -> None:
    async with desk_at(root) as desk:
        assert await desk.text("list_directory", path=".") == "The directory is empty."
        assert await desk.text("directory_tree", path=".") == "The directory is empty."


async def test_sizes_come_with_times_and_totals(root: Path) -> None:
    make(root, small=10, large=3000, inner__deep=5)
    for name in ("small", "large", "inner"):
        os.utime(root / name, (0, 1_700_000_000))
    async with desk_at(root) as desk:
        result = await desk.result("list_directory_with_sizes", path=str(root), sortBy="size")
    moment = "2023-11-14T22:13:20Z"
    assert result["structuredContent"] == {
        "entries": [
            {"name": "large", "type": "file", "size": 3000, "modified": moment},
            {"name": "small", "type": "file", "size": 10, "modified": moment},
            {"name": "inner", "type": "directory", "size": 0, "modified": moment},
        ],
        "files": 2,
        "directories": 1,
        "totalSize": 3010,
    }
    assert result["content"][0]["text"] == (
        f"[FILE] large  3000 bytes  {moment}\n[FILE] small  10 bytes  {moment}\n[DIR] inner  {moment}\n\n"
        "Total: 2 files, 1 directories, 3010 bytes (2.9 KiB)"
    )


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("list_directory", {}),
        ("list_directory_with_sizes", {}),
        ("list_directory_with_sizes", {"sortBy": "size"}),
    ],
)
async def test_pages_together_are_the_whole_and_each_fits(
    root: Path, tool: str, arguments: dict[str, Any]
) -> None:
    make(root, **{f"file{number:03}": number % 7 for number in range(200)})
    seen: list[str] = []
    async with desk_at(root, max_chars=3000) as desk:
        cursor: dict[str, str] = {}
        while True:
            result = await desk.result(tool, path=".", **arguments, **cursor)
            data = result["structuredContent"]
            assert len(result["content"][0]["text"]) <= 3000
            seen += [entry["name"] for entry in data["entries"]]
            if "nextCursor" not in data:
                break
            cursor = {"cursor": data["nextCursor"]}
            assert data["nextCursor"] in result["content"][0]["text"]
            (root / seen[-1]).unlink()  # what was told last may be gone by the next page
    assert sorted(seen) == [f"file{number:03}" for number in range(200)]


async def test_a_cursor_of_another_list_is_refused(root: Path) -> None:
    make(root, **{f"file{number:03}": 1 for number in range(100)})
    async with desk_at(root, max_chars=2000) as desk:
        result = await desk.result("list_directory_with_sizes", path=".", sortBy="size")
        cursor = result["structuredContent"]["nextCursor"]
        for tool, given in (
            ("list_directory", cursor),
            ("list_directory", "rubbish"),
            ("list_directory", ""),
        ):
            assert "nextCursor" in await desk.refusal(tool, path=".", cursor=given)


async def test_a_tree_shows_ignored_directories_as_counts(root: Path) -> None:
    make(root, src__a=1, node_modules__x__y=1, node_modules__z=1, build__o=1, note=1, debug=1)
    (root / ".gitignore").write_text("build/\ndebug\n")
    async with desk_at(root) as desk:
        result = await desk.result("directory_tree", path=str(root))
        every = await desk.text("directory_tree", path=str(root), includeIgnored=True)
    assert result["content"][0]["text"] == (
        ".gitignore\nbuild/ (1 entry, ignored)\nnode_modules/ (2 entries, ignored)\nnote\nsrc/\n  a"
    )
    assert result["structuredContent"] == {
        "path": str(root),
        "truncated": False,
        "tree": [
            {"name": ".gitignore", "type": "file"},
            {"name": "build", "type": "directory", "entries": 1, "hidden": "ignored"},
            {"name": "node_modules", "type": "directory", "entries": 2, "hidden": "ignored"},
            {"name": "note", "type": "file"},
            {"name": "src", "type": "directory", "children": [{"name": "a", "type": "file"}]},
        ],
    }
    assert every == (".gitignore\nbuild/\n  o\ndebug\nnode_modules/\n  x/\n    y\n  z\nnote\nsrc/\n  a")


async def test_a_tree_stops_at_a_depth(root: Path) -> None:
    make(root, a__b__c=1, d=1)
    async with desk_at(root) as desk:
        text = await desk.text("directory_tree", path=str(root), maxDepth=1, excludePatterns=["d"])
    assert text == "a/ (1 entry, not opened: depth)"


async def test_a_deep_tree_is_one_that_every_client_can_read(root: Path) -> None:
    (root / "/".join(["d"] * 150)).mkdir(parents=True)
    async with desk_at(root) as desk:
        result = await desk.result("directory_tree", path=str(root))
    data, text = result["structuredContent"], result["content"][0]["text"]
    assert data["truncated"] is True
    assert text.endswith(
        "[not all was opened, because a tree has at most 24 levels: call this on a directory that says so]"
    )
    levels, nodes = 0, data["tree"]
    while nodes:
        levels, nodes = levels + 1, nodes[0].get("children", [])
    assert levels == 24


async def test_a_tree_that_does_not_fit_shows_the_upper_levels_and_says_how_to_go_on(root: Path) -> None:
    make(root, **{f"dir{number:02}__file{each:02}": 1 for number in range(20) for each in range(30)})
    async with desk_at(root, max_chars=4000) as desk:
        result = await desk.result("directory_tree", path=str(root))
    data, text = result["structuredContent"], result["content"][0]["text"]
    assert data["truncated"] is True
    assert [node["name"] for node in data["tree"]] == [f"dir{number:02}" for number in range(20)]
    assert (
        "dir19/ (30 entries, not opened: result full)" in text or "dir19/ (not opened: result full)" in text
    )
    assert text.endswith("call this on a directory that says so]")
    assert len(text) <= 4000


async def test_a_directory_too_large_for_any_tree_is_cut_and_says_so(root: Path) -> None:
    make(root, **{f"file{number:05}": 0 for number in range(5000)})
    async with desk_at(root, max_chars=3000) as desk:
        result = await desk.result("directory_tree", path=str(root))
    data = result["structuredContent"]
    assert data["more"] + len(data["tree"]) == 5000
    assert len(data["tree"]) > 50
    assert f"[{data['more']} more at the first level: list_directory" in result["content"][0]["text"]


async def test_names_that_are_no_text_spoil_nothing(root: Path) -> None:
    (root / os.fsdecode(b"bad\xff")).write_text("")
    make(root, good=1)
    async with desk_at(root) as desk:
        for tool in ("list_directory", "list_directory_with_sizes", "directory_tree"):
            assert "good" in await desk.text(tool, path=str(root))
        assert "good" in await desk.text("search_files", path=str(root), pattern="**")
        assert "good" in await desk.text("search_text", path=str(root), pattern="x")
