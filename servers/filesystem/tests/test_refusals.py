"""Paths that lead, or pretend to lead, somewhere else: every tool refuses every one of them, and tells nothing."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from .conftest import contents, desk_at

pytestmark = pytest.mark.anyio

SECRET = "the secret"
# How each tool takes a path, the path left out.
PATHS: dict[str, list[tuple[str, dict[str, Any]]]] = {
    "read_text_file": [("path", {})],
    "read_file": [("path", {})],
    "read_media_file": [("path", {})],
    "get_file_info": [("path", {"content": True})],
    "write_file": [("path", {"content": "x"}), ("path", {"content": "x", "append": True})],
    "edit_file": [("path", {"edits": [{"oldText": SECRET, "newText": "x"}]})],
    "create_directory": [("path", {})],
    "move_file": [("source", {"destination": "moved"}), ("destination", {"source": "a.txt"})],
    "copy_file": [("source", {"destination": "copied"}), ("destination", {"source": "a.txt"})],
    "list_directory": [("path", {})],
    "list_directory_with_sizes": [("path", {})],
    "directory_tree": [("path", {})],
    "search_files": [("path", {"pattern": "**"})],
    "search_text": [("path", {"pattern": "secret"})],
    "delete_file": [("path", {})],
}
CALLS = [(tool, name, rest) for tool, ways in PATHS.items() for name, rest in ways]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def furnished(root: Path) -> Iterator[Path]:
    """Beside the root lie a secret, and a directory whose name begins like the root's."""
    outside, evil = root.parent / "outside", root.parent / f"{root.name}_evil"
    for folder in (outside / "inner", evil):
        folder.mkdir(parents=True)
        (folder / "f").write_text(SECRET)
    (outside / "f").write_text(SECRET)
    (root / "a.txt").write_text("a")
    (root / "d").mkdir()
    (root / "to_file").symlink_to(outside / "f")
    (root / "to_directory").symlink_to(outside)
    (root / "relative").symlink_to("../outside")
    (root / "to_self").symlink_to("/proc/self")
    (root / "loop").symlink_to("loop")
    os.mkfifo(root / "fifo")
    before = contents(outside), contents(evil), (root / "a.txt").read_text()
    yield root
    assert (contents(outside), contents(evil), (root / "a.txt").read_text()) == before


def hostile(root: Path) -> list[str]:
    outside = root.parent / "outside"
    return [
        "../outside/f",
        "d/../../outside/f",
        "..",
        str(outside / "f"),
        f"{root}/../outside/f",
        f"{root}_evil/f",
        "/etc/passwd",
        "/",
        "to_file/x",
        "to_directory/f",
        "to_directory/inner",
        "relative/f",
        "to_self/environ",
        f"to_self/root{outside}/f",
        "/proc/self/environ",
        f"/proc/self/cwd{outside}/f",
        "/dev/fd/0",
        "/dev/stdin",
        "a.txt\0.png",
        "\0",
        "",
        (outside / "f").as_uri(),
        f"file://{root}/%2e%2e/outside/f",
        f"file://{root}/..%2Foutside%2Ff",
        f"file://{root}%00/x",
        "file://elsewhere/share/f",
        "https://example.com/f",
        "C:\\Windows\\system.ini",
        "\\\\server\\share\\f",
        "a.txt/x",
        "loop/x",
        "x" * 300,
        "d/" * 3000 + "f",
    ]


@pytest.mark.parametrize(("tool", "name", "rest"), CALLS)
async def test_a_path_that_leads_out_is_refused_and_nothing_is_told(
    furnished: Path, tool: str, name: str, rest: dict[str, Any]
) -> None:
    async with desk_at(furnished) as desk:
        for path in hostile(furnished):
            result = await desk.result(tool, **{name: path}, **rest)
            said = str(result["content"]) + str(result.get("structuredContent"))
            assert result.get("isError"), (path, said)
            assert SECRET not in said, path
            assert len(said) < 1000, path
            assert "Traceback" not in said
            if str(furnished.parent / "outside") not in path:
                assert "outside/" not in said.replace(path, ""), (path, said)


@pytest.mark.parametrize(
    ("tool", "name", "rest"), [call for call in CALLS if call[0] not in ("move_file", "delete_file")]
)
@pytest.mark.parametrize("link", ["to_file", "to_directory", "relative", "to_self", "loop"])
async def test_a_link_that_leads_out_is_refused(
    furnished: Path, tool: str, name: str, rest: dict[str, Any], link: str
) -> None:
    async with desk_at(furnished) as desk:
        said = await desk.refusal(tool, **{name: link}, **rest)
    assert SECRET not in said
    assert str(furnished.parent / "outside") not in said


@pytest.mark.parametrize("link", ["to_file", "to_directory"])
async def test_a_link_itself_may_be_moved_deleted_and_restored(furnished: Path, link: str) -> None:
    async with desk_at(furnished) as desk:
        await desk.text("move_file", source=link, destination="renamed")
        assert (furnished / "renamed").is_symlink()
        await desk.text("delete_file", path="renamed")
        assert not (furnished / "renamed").is_symlink()
        await desk.text("delete_file", path="renamed", restore=True)
        assert (furnished / "renamed").is_symlink()


@pytest.mark.parametrize(
    "tool", ["read_text_file", "read_media_file", "write_file", "edit_file", "copy_file"]
)
async def test_what_is_no_file_is_not_waited_for(furnished: Path, tool: str) -> None:
    ((name, rest),) = PATHS[tool][:1]
    async with desk_at(furnished) as desk:
        assert "is not a regular file" in await desk.refusal(tool, **{name: "fifo"}, **rest)


@pytest.mark.parametrize(
    "odd", ["ünï.txt", "e\u0301.txt", "\u202etxt.exe", "a\nb", "🙂", " lead", "trail ", "-rf", "%41", "#?&"]
)
async def test_odd_names_are_names_like_any_other(root: Path, odd: str) -> None:
    async with desk_at(root) as desk:
        said = await desk.text("write_file", path=odd, content="odd")
        assert all(character.isprintable() for character in said)
        assert await desk.text("read_text_file", path=odd) == "odd"
        assert await desk.text("read_text_file", path=(root / odd).as_uri()) == "odd"
    assert contents(root) == {odd: b"odd"}


async def test_a_name_that_is_no_unicode_can_be_read_and_shown(root: Path) -> None:
    (root / os.fsdecode(b"caf\xe9")).write_text("latin")
    async with desk_at(root) as desk:
        assert await desk.text("read_text_file", path=f"file://{root}/caf%E9") == "latin"
        info = await desk.result("get_file_info", path=f"file://{root}/caf%E9")
        media = await desk.result("read_media_file", path=f"file://{root}/caf%E9")
    assert info["structuredContent"]["size"] == 5
    assert media["content"][0]["resource"]["uri"].endswith("/caf%E9")
