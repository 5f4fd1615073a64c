"""Subscriptions to files and directories, and what roots do to them."""

import os
import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp_server_core import Answers, Change, Client, McpError, Server
from mcp_server_core.testing import REVISIONS, Revision, connect
from mcp_server_filesystem.server import build
from mcp_server_filesystem.workspace import Workspace

from .until import until

pytestmark = pytest.mark.anyio
OLD = tuple(revision for revision in REVISIONS if revision != "2026-07-28")
QUIET = 1.2  # seconds in which a change would have been told


@pytest.fixture(params=REVISIONS)
def revision(request: pytest.FixtureRequest) -> Revision:
    return request.param


def write_elsewhere(path: Path, text: str) -> None:
    """Another process changes the file."""
    subprocess.run(
        [sys.executable, "-c", "import sys; open(sys.argv[1], 'w').write(sys.argv[2])", str(path), text],
        check=True,
    )


async def heard(changes: Any, seconds: float = 5.0) -> Change:
    with anyio.fail_after(seconds):
        return await anext(changes)


async def hears_nothing(changes: Any) -> None:
    with anyio.move_on_after(QUIET):
        raise AssertionError(f"heard {await anext(changes)}")


async def test_a_file_changed_by_another_process_is_announced(revision: Revision, root: Path) -> None:
    file = root / "note.txt"
    file.write_text("one")
    async with (
        connect(build([str(root)]), revision=revision) as client,
        client.watch(file.as_uri()) as changes,
    ):
        await anyio.to_thread.run_sync(write_elsewhere, file, "two")
        assert await heard(changes) == Change("updated", file.as_uri())
        contents = await client.read_resource(file.as_uri())
    assert contents[0]["text"] == "two"


async def test_a_directory_is_announced_when_its_names_change(revision: Revision, root: Path) -> None:
    (root / "note.txt").write_text("one")
    async with (
        connect(build([str(root)]), revision=revision) as client,
        client.watch(root.as_uri()) as changes,
    ):
        (root / "new").write_text("")
        assert await heard(changes) == Change("updated", root.as_uri())
        (root / "note.txt").write_text("other text, same names")
        await hears_nothing(changes)


async def test_a_file_that_goes_and_comes_back_is_announced_each_time(root: Path) -> None:
    file = root / "note.txt"
    async with connect(build([str(root)])) as client, client.watch(file.as_uri()) as changes:
        for act in (lambda: file.write_text("one"), file.unlink, lambda: file.write_text("two")):
            act()
            assert await heard(changes) == Change("updated", file.as_uri())


async def test_a_replaced_file_and_one_that_keeps_size_and_time_are_noticed(root: Path) -> None:
    file = root / "note.txt"
    file.write_text("one")
    before = file.stat()
    async with connect(build([str(root)])) as client, client.watch(file.as_uri()) as changes:
        other = root / "other"
        other.write_text("two")
        os.utime(other, ns=(before.st_atime_ns, before.st_mtime_ns))
        other.replace(file)
        assert await heard(changes) == Change("updated", file.as_uri())


async def test_many_subscribers_share_one_watch_which_ends_with_the_last(root: Path) -> None:
    for number in range(20):
        (root / f"file{number}").write_text("")
    server = build([str(root)])
    uris = [(root / f"file{number}").as_uri() for number in range(20)]
    async with connect(server) as client:
        watcher = (await server.opened()).watcher
        assert watcher.watches == 0
        async with client.watch(*uris) as changes, client.watch(uris[0]) as others:
            await until(lambda: watcher.watches == 1)
            (root / "file0").write_text("x")
            assert await heard(changes) == await heard(others) == Change("updated", uris[0])
            assert watcher.watches == 1
        await until(lambda: watcher.watches == 0)


async def test_what_lies_outside_cannot_be_watched(root: Path) -> None:
    outside = root.parent / "secret"
    outside.write_text("")
    (root / "link").symlink_to(outside)
    async with connect(build([str(root)]), revision="2025-11-25") as client:
        for path in (outside, root / "link", root / ".." / "secret"):
            with pytest.raises(McpError, match="outside"):
                async with client.watch(f"file://{path}"):
                    pass


async def test_what_lies_outside_is_not_accepted_by_a_listen_stream(root: Path) -> None:
    outside = root.parent / "secret"
    outside.write_text("")
    async with (
        connect(build([str(root)])) as client,
        client.watch(outside.as_uri(), root.as_uri()) as changes,
    ):
        outside.write_text("changed")
        await hears_nothing(changes)


async def test_a_file_that_becomes_a_link_to_the_outside_is_gone_and_no_longer_heard_of(root: Path) -> None:
    outside, file = root.parent / "secret", root / "file"
    outside.write_text("")
    file.write_text("")
    async with connect(build([str(root)])) as client, client.watch(file.as_uri()) as changes:
        file.unlink()
        file.symlink_to(outside)
        assert await heard(changes) == Change("updated", file.as_uri())
        outside.write_text("changed")
        await hears_nothing(changes)


@asynccontextmanager
async def both_eras(
    server: Server[Workspace], revision: Revision, answers: Answers
) -> AsyncGenerator[Client]:
    async with connect(server, revision=revision, answers=answers) as client:
        await client.call_tool("list_allowed_directories")  # a stateless client tells its roots with a call
        yield client


async def change_roots(client: Client, *roots: Path) -> None:
    """In each era: a notice, and in the stateless one the next call tells them."""
    await client.set_roots([root.as_uri() for root in roots])
    await client.call_tool("list_allowed_directories")


async def test_a_revoked_root_is_not_heard_of_any_more_until_it_is_granted_again(
    revision: Revision, root: Path
) -> None:
    mine, other = root / "mine", root / "other"
    for folder in (mine, other):
        folder.mkdir()
        (folder / "file").write_text("")
    answers = Answers(roots=[mine.as_uri(), other.as_uri()])
    async with both_eras(build([]), revision, answers) as client:
        uris = [(folder / "file").as_uri() for folder in (mine, other)]
        async with client.watch(*uris) as changes:
            (other / "file").write_text("heard")
            assert await heard(changes) == Change("updated", uris[1])
            await change_roots(client, mine)
            (other / "file").write_text("not heard")
            await hears_nothing(changes)
            (mine / "file").write_text("heard")
            assert await heard(changes) == Change("updated", uris[0])
            await change_roots(client, mine, other)
            assert await heard(changes) == Change("updated", uris[1])


async def test_roots_narrow_what_was_configured(revision: Revision, root: Path) -> None:
    mine = root / "mine"
    mine.mkdir()
    for file in (mine / "file", root / "file"):
        file.write_text("")
    answers = Answers(roots=[root.as_uri()])
    async with both_eras(build([str(root)]), revision, answers) as client:
        assert "isError" not in await client.call_tool("list_directory", {"path": str(root)})
        async with client.watch((root / "file").as_uri(), (mine / "file").as_uri()) as changes:
            await change_roots(client, mine)
            refused = await client.call_tool("list_directory", {"path": str(root)})
            assert "outside" in refused["content"][0]["text"]
            (root / "file").write_text("not heard")
            await hears_nothing(changes)
            (mine / "file").write_text("heard")
            assert await heard(changes) == Change("updated", (mine / "file").as_uri())


async def test_roots_alone_grant_when_nothing_is_configured(revision: Revision, root: Path) -> None:
    (root / "file").write_text("text")
    async with connect(build([]), revision=revision, answers=Answers(roots=[])) as client:
        result = await client.call_tool("search_files", {"path": str(root), "pattern": "*"})
        assert "No directory is allowed" in result["content"][0]["text"]
    async with connect(build([]), revision=revision, answers=Answers(roots=[root.as_uri()])) as client:
        result = await client.call_tool("search_files", {"path": str(root), "pattern": "*"})
        assert result["content"][0]["text"] == f"{root}/file"
        assert [item["uri"] for item in await client.list_resources()] == [root.as_uri()]


async def test_a_root_elsewhere_changes_nothing_of_what_was_configured(
    revision: Revision, root: Path
) -> None:
    elsewhere = root.parent / "elsewhere"
    elsewhere.mkdir()
    answers = Answers(roots=[elsewhere.as_uri()])
    async with connect(build([str(root)]), revision=revision, answers=answers) as client:
        assert "isError" not in await client.call_tool("list_directory", {"path": str(root)})
        assert (await client.call_tool("list_directory", {"path": str(elsewhere)}))["isError"]


@pytest.mark.parametrize("revision", OLD)
async def test_a_change_of_roots_changes_the_list_of_resources(revision: Revision, root: Path) -> None:
    inner = root / "inner"
    inner.mkdir()
    answers = Answers(roots=[root.as_uri()])
    async with (
        connect(build([]), revision=revision, answers=answers) as client,
        client.watch(lists=["resources"]) as changes,
    ):
        assert [item["uri"] for item in await client.list_resources()] == [root.as_uri()]
        await client.set_roots([inner.as_uri()])
        assert await heard(changes) == Change("resources")
        assert [item["uri"] for item in await client.list_resources()] == [inner.as_uri()]
