"""Our client against our server, over a real port, in every form of the transport."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Annotated, Any

import anyio
import pytest
from mcp_server_core import Accepted, Answers, Arg, Client, Context, Registry, Server, http
from mcp_server_core.protocol.messages import Json
from mcp_server_core.protocol.revisions import HANDSHAKE, REVISIONS, Revision
from mcp_server_core.transports.http.running import bind, serve_http
from mcp_server_core.transports.http.settings import HttpSettings
from typing_extensions import TypedDict

pytestmark = pytest.mark.anyio
PATIENCE = 10


@pytest.fixture
def anyio_backend() -> str:
    """The server runs on uvicorn, and that on asyncio."""
    return "asyncio"


class Confirm(TypedDict):
    """A question of yes or no."""

    sure: bool


class Bench:
    """A server, and what a test waits for in it."""

    def __init__(self) -> None:
        self.started = anyio.Event()
        self.cancelled = anyio.Event()
        self.part = Registry()
        add = self.part.tool("Tool", read_only=True, open_world=False)
        for handler in (route, count, ask, leave_and_come_back, touch, self.wait):
            add(handler)
        self.part.resource("note:///{name}", "Note", mime_type="text/plain", watch=True)(note)

    async def wait(self) -> str:
        """Wait for ever."""
        self.started.set()
        try:
            await anyio.sleep_forever()
        finally:
            self.cancelled.set()
        return "never"


async def route(region: Annotated[str, Arg("Where", header="Region")]) -> str:
    """An argument that is mirrored."""
    return region


async def count(to: int, ctx: Context[None]) -> str:
    """Report on the way."""
    for number in range(1, to + 1):
        await ctx.progress(number, to)
    return "counted"


async def ask(ctx: Context[None]) -> str:
    """Ask the user."""
    match await ctx.elicit("Sure?", Confirm):
        case Accepted(data={"sure": True}):
            return "sure"
        case _:
            return "not sure"


async def leave_and_come_back(ctx: Context[None]) -> str:
    """Close the stream before the answer."""
    await ctx.release_stream(retry_ms=10)
    return "back"


async def touch(name: str, ctx: Context[None]) -> str:
    """Say that a note changed."""
    await ctx.changed(f"note:///{name}")
    return name


async def note(name: str) -> str:
    """One note."""
    return name


@asynccontextmanager
async def running(bench: Bench) -> AsyncGenerator[str]:
    """The URL of a server without its path."""
    server: Server[Any] = Server("bench", version="1", parts=[bench.part])
    settings = HttpSettings(host="127.0.0.1", port=0)
    ready = anyio.Event()
    with bind(settings) as listening, anyio.fail_after(PATIENCE):
        async with server.running(), anyio.create_task_group() as tasks:

            async def serve() -> None:
                await serve_http(server, settings, [listening], ready=ready.set)

            tasks.start_soon(serve)
            await ready.wait()
            yield f"http://127.0.0.1:{listening.getsockname()[1]}"
            tasks.cancel_scope.cancel()


WAYS = [*((revision, "/mcp") for revision in REVISIONS), *((revision, "/sse") for revision in HANDSHAKE)]


@pytest.fixture(params=WAYS, ids=["".join(way) for way in WAYS])
def way(request: pytest.FixtureRequest) -> tuple[Revision, str]:
    """A revision, and the path to reach it by."""
    return request.param


async def elicit(params: Json) -> Json:
    """Agree to everything."""
    return {"action": "accept", "content": {"sure": True}}


def text(result: Json) -> str:
    """What a tool said."""
    assert not result.get("isError"), result
    return result["content"][0]["text"]


async def test_a_client_without_preference_finds_the_stateless_form() -> None:
    async with running(Bench()) as base, Client(http(f"{base}/mcp")) as client:
        assert client.revision == "2026-07-28"


async def test_a_client_given_the_old_address_finds_the_old_transport() -> None:
    async with running(Bench()) as base, Client(http(f"{base}/sse")) as client:
        assert client.revision == "2025-11-25"
        assert {tool["name"] for tool in await client.list_tools()} >= {"route", "count"}


async def test_mirrored_arguments_pass_the_check_of_the_server(way: tuple[Revision, str]) -> None:
    revision, path = way
    async with running(Bench()) as base, Client(http(base + path), revision=revision) as client:
        assert text(await client.call_tool("route", {"region": "Zürich "})) == "Zürich "


async def test_reports_come_before_the_result(way: tuple[Revision, str]) -> None:
    revision, path = way
    reports: list[float] = []

    async def report(done: float, total: float | None, message: str | None) -> None:
        reports.append(done)

    async with running(Bench()) as base, Client(http(base + path), revision=revision) as client:
        assert text(await client.call_tool("count", {"to": 3}, progress=report)) == "counted"
    assert reports == [1, 2, 3]


async def test_a_question_is_answered_on_the_way(way: tuple[Revision, str]) -> None:
    revision, path = way
    if revision < "2025-06-18":
        pytest.skip("this revision has no elicitation")
    answers = Answers(elicit=elicit)
    async with (
        running(Bench()) as base,
        Client(http(base + path), revision=revision, answers=answers) as client,
    ):
        assert text(await client.call_tool("ask")) == "sure"


async def test_giving_up_stops_the_work(way: tuple[Revision, str]) -> None:
    revision, path = way
    bench = Bench()
    async with running(bench) as base, Client(http(base + path), revision=revision) as client:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(client.call_tool, "wait")
            await bench.started.wait()
            tasks.cancel_scope.cancel()
        await bench.cancelled.wait()


async def test_a_watch_hears_of_changes(way: tuple[Revision, str]) -> None:
    revision, path = way
    async with (
        running(Bench()) as base,
        Client(http(base + path), revision=revision) as client,
        client.watch("note:///a") as changes,
    ):
        await client.call_tool("touch", {"name": "a"})
        assert (await anext(changes)).uri == "note:///a"


async def test_a_stream_that_the_server_lets_go_is_taken_up_again() -> None:
    async with running(Bench()) as base, Client(http(f"{base}/mcp"), revision="2025-11-25") as client:
        assert text(await client.call_tool("leave_and_come_back")) == "back"
