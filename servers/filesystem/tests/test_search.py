"""Looking for files and for text, as a model sees it."""

import os
import sys
import time
import traceback
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp_server_core.places import Grant, Places
from mcp_server_core.testing import connect
from mcp_server_filesystem.jobs import Job
from mcp_server_filesystem.server import build
from mcp_server_filesystem.text_search import Position, Query, search_text

from .conftest import Desk, desk_at
from .until import until

pytestmark = pytest.mark.anyio


def make(root: Path, files: Mapping[str, str | bytes]) -> None:
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)


async def all_pages(desk: Desk, tool: str, max_chars: int, **arguments: Any) -> list[Any]:
    found: list[Any] = []
    while True:
        result = await desk.result(tool, **arguments)
        data = result["structuredContent"]
        assert len(result["content"][0]["text"]) <= max_chars
        found += data["matches"]
        if not data["truncated"]:
            return found
        arguments["cursor"] = data["nextCursor"]
        assert data["nextCursor"] in result["content"][0]["text"]


def test_a_search_whose_time_is_over_goes_on_with_the_next_file(root: Path) -> None:
    make(root, {f"{name}.txt": "needle\n" for name in "abc"})
    found: list[str] = []
    since: Position | None = None
    with Places([Grant(str(root))]) as places:
        for _ in range(3):
            hits = search_text(
                places.resolve("."), Query("needle"), Job(longest=0), limit=10, budget=1000, since=since
            )
            found += [hit.path for hit in hits.hits]
            since = hits.next
            assert hits.why == "0 seconds have passed"
    assert found == ["a.txt", "b.txt", "c.txt"]


# --- search_files ------------------------------------------------------------------------------------------------


async def test_both_halves_name_every_match(root: Path) -> None:
    make(root, {"a.py": "", "sub/b.py": "", "sub/c.txt": "", "py/x": ""})
    async with desk_at(root) as desk:
        result = await desk.result("search_files", path=str(root), pattern="**/*py")
    paths = [f"{root}/a.py", f"{root}/py/", f"{root}/sub/b.py"]
    assert result["structuredContent"] == {"matches": paths, "truncated": False}
    assert result["content"][0]["text"] == "\n".join(paths)


async def test_excluded_and_ignored_names_are_left_out(root: Path) -> None:
    make(root, {"a.py": "", "x/a.py": "", "y/a.py": "", ".git/a.py": "", "z/a.py": "", ".gitignore": "/z\n"})
    async with desk_at(root) as desk:
        some = await desk.text("search_files", path=".", pattern="**/a.py", excludePatterns=["x"])
        every = await desk.result("search_files", path=".", pattern="**/a.py", includeIgnored=True)
        named = await desk.text("search_files", path=".", pattern=".git/*")
    assert some == f"{root}/a.py\n{root}/y/a.py"
    assert len(every["structuredContent"]["matches"]) == 5
    assert named == f"{root}/.git/a.py"


async def test_no_match_says_what_to_try(root: Path) -> None:
    make(root, {"sub/b.py": ""})
    async with desk_at(root) as desk:
        assert "Try **/*.py" in await desk.text("search_files", path=".", pattern="*.py")


@pytest.mark.parametrize("pattern", ["**/*", "**/f*", "d*/**"])
async def test_pages_of_matches_are_together_what_one_page_would_be(root: Path, pattern: str) -> None:
    make(root, {f"d{a}/e{b}/f{c}": "" for a in range(4) for b in range(4) for c in range(9)})
    make(root, {f"f{number}": "" for number in range(9)})
    async with desk_at(root) as desk:
        whole = await all_pages(desk, "search_files", 100_000, path=".", pattern=pattern)
    async with desk_at(root, max_chars=1500) as desk:
        paged = await all_pages(desk, "search_files", 1500, path=".", pattern=pattern)
    assert paged == whole
    assert len(whole) == len(set(whole)) > 140


async def test_a_bad_pattern_is_explained(root: Path) -> None:
    async with desk_at(root) as desk:
        assert "empty" in await desk.refusal("search_files", path=".", pattern="")
        assert "256" in await desk.refusal("search_files", path=".", pattern="{a,b}" * 9)
        assert "256" in await desk.refusal("directory_tree", path=".", excludePatterns=["{a,b}" * 9])


# --- search_text -------------------------------------------------------------------------------------------------


async def test_lines_come_as_grep_shows_them(root: Path) -> None:
    make(root, {"a.txt": "one\ntwo\nthree\n", "sub/b.txt": "two\r\n", "c.md": "two"})
    async with desk_at(root) as desk:
        result = await desk.result("search_text", path=str(root), pattern="two", glob="*.txt", context=1)
    assert result["content"][0]["text"] == (
        f"{root}/a.txt-1- one\n{root}/a.txt:2: two\n{root}/a.txt-3- three\n--\n{root}/sub/b.txt:1: two"
    )
    assert result["structuredContent"] == {
        "matches": [
            {"path": f"{root}/a.txt", "line": 2, "text": "two", "before": ["one"], "after": ["three"]},
            {"path": f"{root}/sub/b.txt", "line": 1, "text": "two"},
        ],
        "truncated": False,
    }


async def test_one_file_can_be_searched(root: Path) -> None:
    make(root, {"a.txt": "x\ny\nx\n"})
    async with desk_at(root) as desk:
        assert (
            await desk.text("search_text", path="a.txt", pattern="x")
            == f"{root}/a.txt:1: x\n{root}/a.txt:3: x"
        )


@pytest.mark.parametrize(
    ("content", "pattern", "lines"),
    [
        ("Größe\n", "öß", [1]),
        ("Größe\n".encode("utf-16"), "Größe", [1]),
        ("\ufeffGröße\nx".encode("utf-16-be"), "x", [2]),
        ("\ufeffx\n", "^x", [1]),
        ("a\n\n\nb", "^b$", [4]),
        ("a\r\nb\r\n", "b\\s*$", [2]),
        ("äöü\nöäü\n", "^ö", [2]),
        ("x" * 300_000 + "needle" + "y" * 300_000 + "\nneedle\n", "needle", [1, 2]),
        ("line\n" * 200_000 + "needle\n" + "line\n" * 200_000, "needle", [200_001]),
        (b"needle\0", "needle", []),
        (b"\xff\xfeneedle", "needle", []),
        (b"caf\xe9 needle\n", "needle", [1]),
        ("", "x?", []),
        ("a\nb\n", "", None),
        ("aXb\n", "(?i)x", [1]),
    ],
)
@pytest.mark.parametrize("regex", [False, True])
async def test_text_is_found_in_any_encoding_and_at_any_length(
    root: Path, content: str | bytes, pattern: str, lines: list[int] | None, regex: bool
) -> None:
    make(root, {"file": content})
    plain = not any(char in pattern for char in "^$?\\")
    if not regex and not plain:
        pytest.skip("a pattern for regular expressions")
    async with desk_at(root) as desk:
        result = await desk.result("search_text", path=".", pattern=pattern, regex=regex)
    if lines is None:
        assert result["isError"]
        return
    assert [match["line"] for match in result["structuredContent"]["matches"]] == lines
    assert all(len(match["text"]) < 400 for match in result["structuredContent"]["matches"])


async def test_neighbours_are_right_at_the_edges_of_blocks(root: Path) -> None:
    lines = [f"line {number} {'x' * (number % 90)}" for number in range(20_000)]
    wanted = range(0, 20_000, 501)
    for number in wanted:
        lines[number] += " needle"
    make(root, {"file": "\n".join(lines)})
    async with desk_at(root, max_chars=10_000_000) as desk:
        result = await desk.result("search_text", path="file", pattern="needle", context=3, limit=1000)
    for match, number in zip(result["structuredContent"]["matches"], wanted, strict=True):
        assert match["line"] == number + 1
        assert match["text"] == lines[number]
        assert match.get("before", []) == lines[max(0, number - 3) : number]
        assert match["after"] == lines[number + 1 : number + 4]


async def test_pages_of_lines_are_together_what_one_page_would_be(root: Path) -> None:
    make(root, {f"d{a}/f{b}": "x\n" * 7 for a in range(5) for b in range(5)} | {"f": "x\nx\n"})
    async with desk_at(root) as desk:
        whole = await all_pages(desk, "search_text", 100_000, path=".", pattern="x", limit=1000)
        few = await all_pages(desk, "search_text", 100_000, path=".", pattern="x", limit=10)
    async with desk_at(root, max_chars=2500) as desk:
        small = await all_pages(desk, "search_text", 2500, path=".", pattern="x", limit=1000)
    assert whole == few == small
    assert len(whole) == 177


async def test_links_fifos_and_other_traps_are_not_read(root: Path) -> None:
    (root.parent / "secret").write_text("needle")
    make(root, {"real": "needle"})
    (root / "link").symlink_to(root.parent / "secret")
    os.mkfifo(root / "fifo")
    async with desk_at(root) as desk:
        with anyio.fail_after(5):
            assert await desk.text("search_text", path=".", pattern="needle") == f"{root}/real:1: needle"


async def test_a_regular_expression_that_blows_up_is_stopped_and_holds_nobody_up(root: Path) -> None:
    make(root, {"file": "a" * 60 + "!"})
    slowest, said = 0.0, ""
    async with desk_at(root) as desk:

        async def others() -> None:
            nonlocal slowest
            while True:
                began = time.monotonic()
                await desk.text("list_directory", path=".")
                slowest = max(slowest, time.monotonic() - began)
                await anyio.sleep(0.01)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(others)
            with anyio.fail_after(60):  # the limit counts time of the processor, which others may want too
                said = await desk.refusal("search_text", path=".", pattern="^(a|a|aa)+$", regex=True)
            tasks.cancel_scope.cancel()
    assert "takes too long" in said
    assert slowest < 4  # one that held the interpreter would hold it for five seconds and more


async def test_a_bad_expression_is_explained(root: Path) -> None:
    make(root, {"file": "x"})
    async with desk_at(root) as desk:
        assert "not a regular expression" in await desk.refusal(
            "search_text", path=".", pattern="(", regex=True
        )


async def test_an_expression_that_searches_backwards_is_refused(root: Path) -> None:
    make(root, {"file": "éa\néa\n"})
    async with desk_at(root) as desk:
        refusal = await desk.refusal("search_text", path=".", pattern="(?r)a", regex=True)
    assert "leave out (?r)" in refusal


async def test_directories_too_deep_to_be_entered_are_counted(root: Path) -> None:
    make(root, {"/".join(["d"] * 502 + ["leaf.txt"]): "leaf"})
    async with desk_at(root) as desk:
        for tool, pattern in (("search_files", "**/leaf.txt"), ("search_text", "leaf")):
            said = await desk.text(tool, path=".", pattern=pattern)
            assert said.endswith("[1 directories more than 500 levels down were not entered]")


async def test_long_work_reports_progress_and_stops_when_it_is_cancelled(root: Path) -> None:
    make(root, {f"d{a}/e{b}/f{c}": "a" * 5000 + "!" for a in range(10) for b in range(10) for c in range(20)})
    reports: list[float] = []
    reported = anyio.Event()

    async def report(done: float, total: float | None, message: str | None) -> None:
        reports.append(done)
        reported.set()

    server = build([str(root)])
    async with connect(server) as client:
        async with anyio.create_task_group() as tasks:

            async def search() -> None:
                await client.call_tool(
                    "search_text", {"path": ".", "pattern": "a.*[bc]", "regex": True}, progress=report
                )

            tasks.start_soon(search)
            with anyio.fail_after(20):
                await reported.wait()
            tasks.cancel_scope.cancel()
        assert reports == sorted(reports)
        await until(lambda: not is_walking())


def is_walking() -> bool:
    """Whether some thread is still at work on a tree."""
    for frame in sys._current_frames().values():  # pyright: ignore[reportPrivateUsage] - the only way to see them
        if any(
            line.filename.endswith(("walking.py", "needles.py")) for line in traceback.extract_stack(frame)
        ):
            return True
    return False
