"""Writing and editing, as a client sees it."""

import os
import stat
import sys
from hashlib import sha256
from pathlib import Path

import anyio
import pytest
from mcp_server_core import Client, stdio

from .conftest import Desk, contents, desk_at

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def change(old: str, new: str) -> list[dict[str, str]]:
    return [{"oldText": old, "newText": new}]


async def test_a_file_is_created_replaced_and_continued(root: Path) -> None:
    async with desk_at(root) as desk:
        assert await desk.text("write_file", path="a.txt", content="one\n") == "Created 'a.txt': 4 bytes now."
        assert await desk.text("write_file", path="a.txt", content="two\n") == "Wrote 'a.txt': 4 bytes now."
        assert (
            await desk.text("write_file", path="a.txt", content="3\n", append=True)
            == "Appended to 'a.txt': 6 bytes now."
        )
        assert (
            await desk.text("write_file", path="b.txt", content="b", append="true")
            == "Created 'b.txt': 1 bytes now."
        )
    assert contents(root) == {"a.txt": b"two\n3\n", "b.txt": b"b"}


async def test_the_missing_directory_of_a_new_file_is_named_as_the_reason(root: Path) -> None:
    async with desk_at(root) as desk:
        assert await desk.refusal("write_file", path="no/a.txt", content="x") == (
            "'no/a.txt' cannot be made, because its directory does not exist: create that first."
        )


@pytest.mark.parametrize("codec", ["utf-8-sig", "utf-16", "utf-32", "windows-1252"])
async def test_a_text_keeps_its_encoding_when_it_is_replaced_continued_and_edited(
    root: Path, codec: str
) -> None:
    path = root / "a.txt"
    path.write_bytes("früher\r\nalt\r\n".encode(codec))
    async with desk_at(root) as desk:
        await desk.text("edit_file", path="a.txt", edits=change("alt\n", "älter\nam ältesten\n"))
        assert path.read_bytes() == "früher\r\nälter\r\nam ältesten\r\n".encode(codec)
        await desk.text("write_file", path="a.txt", content="später\n", append=True)
        assert path.read_bytes() == "früher\r\nälter\r\nam ältesten\r\nspäter\r\n".encode(codec)
        await desk.text("write_file", path="a.txt", content="neu: ü")
        assert path.read_bytes() == "neu: ü".encode(codec)


@pytest.mark.parametrize("tool", ["write_file", "append", "edit_file"])
async def test_a_character_that_the_file_cannot_hold_is_refused_and_nothing_changes(
    root: Path, tool: str
) -> None:
    (root / "a.txt").write_bytes(b"caf\xe9\n")
    arguments = {
        "write_file": {"content": "☃"},
        "append": {"content": "☃", "append": True},
        "edit_file": {"edits": change("caf", "☃")},
    }[tool]
    async with desk_at(root) as desk:
        said = await desk.refusal(tool if tool != "append" else "write_file", path="a.txt", **arguments)
    assert "the character '☃' in line 1 does not exist in windows-1252" in said
    assert contents(root) == {"a.txt": b"caf\xe9\n"}


async def test_mode_links_and_identity_of_a_file_survive_a_write(root: Path) -> None:
    (root / "a.sh").write_text("old")
    (root / "a.sh").chmod(0o740)
    (root / "linked").symlink_to("a.sh")
    (root / "twin").write_text("old")
    os.link(root / "twin", root / "other")
    async with desk_at(root) as desk:
        await desk.text("write_file", path="linked", content="new")
        assert "in place" in await desk.text("write_file", path="twin", content="new")
    assert ((root / "a.sh").read_text(), stat.S_IMODE((root / "a.sh").stat().st_mode)) == ("new", 0o740)
    assert ((root / "linked").is_symlink(), (root / "other").read_text()) == (True, "new")


async def test_an_edit_shows_what_it_changed_and_changes_nothing_in_a_dry_run(root: Path) -> None:
    (root / "d").mkdir()
    (root / "d" / "a.txt").write_bytes(b"one\r\ntwo\r\nthree")
    diff = (
        "diff --git a/d/a.txt b/d/a.txt\n--- a/d/a.txt\n+++ b/d/a.txt\n@@ -1,3 +1,3 @@\n one\n-two\n+zwei\n three\n"
        "\\ No newline at end of file\n"
    )
    async with desk_at(root) as desk:
        assert await desk.blocks("edit_file", path="d/a.txt", edits=change("two", "zwei"), dryRun=True) == [
            diff,
            "[Dry run: nothing was written.]",
        ]
        assert (root / "d" / "a.txt").read_bytes() == b"one\r\ntwo\r\nthree"
        assert await desk.blocks("edit_file", path="d/a.txt", edits=change("two", "zwei")) == [diff]
    assert (root / "d" / "a.txt").read_bytes() == b"one\r\nzwei\r\nthree"


async def test_edits_are_all_made_or_none(root: Path) -> None:
    (root / "a.txt").write_text("one\ntwo\n")
    async with desk_at(root) as desk:
        said = await desk.refusal("edit_file", path="a.txt", edits=change("one", "1") + change("nine", "9"))
    assert said.startswith("'a.txt' was not changed. Edit 2 of 2 has no match")
    assert contents(root) == {"a.txt": b"one\ntwo\n"}


async def test_an_edit_that_changes_nothing_says_so_and_does_not_write(root: Path) -> None:
    (root / "a.txt").write_text("one\n")
    before = (root / "a.txt").stat()
    async with desk_at(root) as desk:
        assert await desk.blocks("edit_file", path="a.txt", edits=change("one", "one")) == [
            "['a.txt' is unchanged: the edits change nothing.]"
        ]
    after = (root / "a.txt").stat()
    assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)


async def test_an_edit_of_another_content_than_expected_is_refused(root: Path) -> None:
    (root / "a.txt").write_text("one\n")
    async with desk_at(root) as desk:
        seen = (await desk.result("get_file_info", path="a.txt", content=True))["structuredContent"]["sha256"]
        assert seen == sha256(b"one\n").hexdigest()
        await desk.text("edit_file", path="a.txt", edits=change("one", "two"), expectedSha256=seen.upper())
        said = await desk.refusal("edit_file", path="a.txt", edits=change("two", "3"), expectedSha256=seen)
    assert said == "'a.txt' has changed since it was read: read it again, then repeat the change."
    assert contents(root) == {"a.txt": b"two\n"}


async def test_bytes_that_were_no_valid_text_survive_an_edit(root: Path) -> None:
    data = "schöne Grüße aus Köln, süße Äpfel\n".encode() + b"bad \xff\xfe byte\nend\n"
    (root / "a.txt").write_bytes(data)
    async with desk_at(root) as desk:
        diff = await desk.text("edit_file", path="a.txt", edits=change("end", "END"))
    assert "+END" in diff
    assert (root / "a.txt").read_bytes() == data.replace(b"end", b"END")


async def test_what_cannot_be_edited_is_refused_in_words(root: Path) -> None:
    (root / "a.bin").write_bytes(bytes(100))
    with (root / "large").open("wb") as file:
        file.truncate(33 << 20)
    async with desk_at(root) as desk:
        assert "holds binary data" in await desk.refusal("edit_file", path="a.bin", edits=change("a", "b"))
        assert "larger than 32 MiB" in await desk.refusal("edit_file", path="large", edits=change("a", "b"))
        assert "does not exist" in await desk.refusal("edit_file", path="none", edits=change("a", "b"))
        assert "is a directory" in await desk.refusal("edit_file", path=".", edits=change("a", "b"))
        assert "is a binary file" in await desk.refusal("write_file", path="a.bin", content="x", append=True)
        assert "Argument `edits" in await desk.refusal("edit_file", path="a.bin", edits=[])
        assert "`edits.0.newText`" in await desk.refusal("edit_file", path="a.bin", edits=[{"oldText": "x"}])


async def test_a_long_diff_is_cut_and_says_so(root: Path) -> None:
    (root / "a.txt").write_text("x\n")
    async with desk_at(root, max_chars=1000) as desk:
        diff, note = await desk.blocks("edit_file", path="a.txt", edits=change("x", "line\n" * 1000))
    assert len(diff) + len(note) <= 1000
    assert note.startswith("[The diff is cut: ")
    assert (root / "a.txt").read_text() == "line\n" * 1000 + "\n"


async def test_twenty_edits_of_one_file_at_once_are_all_kept(root: Path) -> None:
    (root / "a.txt").write_text("".join(f"line {n:02}\n" for n in range(20)))

    async with desk_at(root) as desk:

        async def edit(number: int) -> None:
            await desk.text("edit_file", path="a.txt", edits=change(f"line {number:02}", f"LINE {number:02}"))

        with anyio.fail_after(60):
            async with anyio.create_task_group() as tasks:
                for number in range(20):
                    tasks.start_soon(edit, number)
    assert (root / "a.txt").read_text() == "".join(f"LINE {n:02}\n" for n in range(20))


async def test_edits_and_appends_of_two_processes_are_all_kept(root: Path) -> None:
    (root / "a.txt").write_text("".join(f"line {n:02}\n" for n in range(20)))
    command = [sys.executable, "-m", "mcp_server_filesystem", str(root)]

    async def work(numbers: range) -> None:
        async with Client(stdio(command)) as client:
            desk = Desk(client)
            for number in numbers:
                await desk.text(
                    "edit_file", path="a.txt", edits=change(f"line {number:02}", f"LINE {number:02}")
                )
                await desk.text("write_file", path="a.txt", content=f"added {number:02}\n", append=True)

    with anyio.fail_after(90):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(work, range(10))
            tasks.start_soon(work, range(10, 20))
    lines = (root / "a.txt").read_text().splitlines()
    assert lines[:20] == [f"LINE {n:02}" for n in range(20)]
    assert sorted(lines[20:]) == [f"added {n:02}" for n in range(20)]


async def test_directories_are_made_with_those_above_them(root: Path) -> None:
    async with desk_at(root) as desk:
        assert await desk.text("create_directory", path="a/b/c") == "Created 'a/b/c'."
        assert await desk.text("create_directory", path="a/b/c") == "'a/b/c' was there already."
        (root / "file").touch()
        assert "cannot be a directory: a file is in the way" in await desk.refusal(
            "create_directory", path="file"
        )
    assert list(contents(root)) == ["a", "a/b", "a/b/c", "file"]


async def test_a_read_only_directory_is_not_written(root: Path) -> None:
    (root / "a.txt").write_text("a")
    attempts: dict[str, dict[str, object]] = {
        "write_file": {"path": "a.txt", "content": "x"},
        "edit_file": {"path": "a.txt", "edits": change("a", "b")},
        "create_directory": {"path": "d"},
        "move_file": {"source": "a.txt", "destination": "b.txt"},
        "copy_file": {"source": "a.txt", "destination": "b.txt"},
        "delete_file": {"path": "a.txt"},
    }
    async with desk_at(f"{root}:ro") as desk:
        for tool, arguments in attempts.items():
            assert "read-only directory" in await desk.refusal(tool, **arguments)
    assert contents(root) == {"a.txt": b"a"}
