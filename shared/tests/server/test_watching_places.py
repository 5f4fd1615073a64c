"""Subscriptions to what lies in allowed places: who may watch, and what becomes of it when roots change."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp_server_core import Answers, Change, Context, McpError, Registry, Server
from mcp_server_core.places import Places, parse_grants
from mcp_server_core.testing import REVISIONS, Revision, connect

pytestmark = pytest.mark.anyio
OLD = tuple(revision for revision in REVISIONS if revision != "2026-07-28")


def build(*directories: Path) -> Server[list[str]]:
    """A server whose state is the list of what it was asked to admit."""
    part = Registry()

    async def admit(asked: list[str], places: Places, uri: str) -> None:
        asked.append(uri)
        places.resolve(uri)

    @part.resource("file:///{+path}", "File", watch=True, admit=admit)
    async def file(path: str) -> str:  # pyright: ignore[reportUnusedFunction] - registered
        """A file."""
        return path

    @part.tool("Look", read_only=True, open_world=False)
    async def look(ctx: Context[list[str]]) -> str:  # pyright: ignore[reportUnusedFunction] - registered
        """Look at the places."""
        return str(len((await ctx.places()).current()))

    return Server(
        "placed",
        version="1",
        state=_state,
        parts=[part],
        grants=parse_grants([str(path) for path in directories]),
    )


@asynccontextmanager
async def _state() -> AsyncGenerator[list[str]]:
    yield []


@pytest.fixture(params=REVISIONS)
def revision(request: pytest.FixtureRequest) -> Revision:
    return request.param


async def heard(changes: Any) -> Change:
    with anyio.fail_after(5):
        return await anext(changes)


async def test_whoever_may_is_told(revision: Revision, tmp_path: Path) -> None:
    server = build(tmp_path)
    uri = (tmp_path / "a").as_uri()
    async with connect(server, revision=revision) as client, client.watch(uri) as changes:
        assert await server.opened() == [uri]
        await server.changed(uri)
        assert await heard(changes) == Change("updated", uri)


@pytest.mark.parametrize("revision", OLD)
async def test_whoever_may_not_is_refused(revision: Revision, tmp_path: Path) -> None:
    async with connect(build(tmp_path), revision=revision) as client:
        with pytest.raises(McpError, match="outside"):
            async with client.watch("file:///etc/passwd"):
                pass


async def test_a_listen_stream_leaves_out_what_it_may_not_watch(tmp_path: Path) -> None:
    server = build(tmp_path)
    inside = (tmp_path / "a").as_uri()
    async with connect(server) as client, client.watch("file:///etc/passwd", inside) as changes:
        assert server.subscriptions.uris == {inside}
        await server.changed("file:///etc/passwd")
        await server.changed(inside)
        assert await heard(changes) == Change("updated", inside)


async def test_roots_that_change_take_subscriptions_with_them(revision: Revision, tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    one.mkdir()
    two.mkdir()
    uris = [(folder / "file").as_uri() for folder in (one, two)]
    server = build()
    answers = Answers(roots=[one.as_uri(), two.as_uri()])
    async with connect(server, revision=revision, answers=answers) as client:
        await client.call_tool("look")
        async with client.watch(*uris) as changes:
            await client.set_roots([one.as_uri()])
            await client.call_tool("look")
            for uri in reversed(uris):
                await server.changed(uri)
            assert await heard(changes) == Change("updated", uris[0])
            assert server.subscriptions.places(uris[1]) == set()
            await client.set_roots([two.as_uri()])
            await client.call_tool("look")
            for uri in uris:
                await server.changed(uri)
            assert await heard(changes) == Change("updated", uris[1])


@pytest.mark.parametrize("revision", OLD)
async def test_what_changes_while_roots_are_asked_for_is_told_once_they_are_known(
    revision: Revision, tmp_path: Path
) -> None:
    uri = (tmp_path / "a").as_uri()
    server = build(tmp_path)
    answers = _Slow([tmp_path.as_uri()])
    async with connect(server, revision=revision, answers=answers) as client, client.watch(uri) as changes:
        answers.known = anyio.Event()
        await client.set_roots([tmp_path.as_uri()])
        with anyio.fail_after(5):
            await answers.asked.wait()
        await server.changed(uri)
        with anyio.move_on_after(0.1):
            raise AssertionError(await anext(changes))
        answers.known.set()
        assert await heard(changes) == Change("updated", uri)


class _Slow(Answers):
    """Tells its roots when it is ready to."""

    def __init__(self, roots: list[str]) -> None:
        super().__init__(roots=roots)
        self.known: anyio.Event | None = None
        self.asked = anyio.Event()

    async def answer(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        if self.known is not None:
            self.asked.set()
            await self.known.wait()
        return await super().answer(method, params)
