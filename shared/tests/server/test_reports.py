"""While a handler runs: progress and log messages, and the order in which they come."""

from typing import Any

import anyio
import pytest
from mcp_server_core import Context, Registry
from mcp_server_core.protocol.messages import Json
from mcp_server_core.protocol.revisions import LogLevel, Revision

from .talking import META, NEWEST, connect, serving, talk, text_of

pytestmark = pytest.mark.anyio
LEVELS: list[LogLevel] = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"]


def counting(*steps: tuple[float, float | None, str | None]) -> Registry:
    """A tool that reports these steps."""
    part = Registry()

    @part.tool("Count", read_only=True, open_world=False)
    async def count(ctx: Context[None]) -> str:
        """Count."""
        for done, total, message in steps:
            await ctx.progress(done, total, message)
        return "counted"

    return part


def logging_all() -> Registry:
    """A tool that logs once at every level."""
    part = Registry()

    @part.tool("Log", read_only=True, open_world=False)
    async def log(ctx: Context[None]) -> str:
        """Log."""
        for level in LEVELS:
            await ctx.log(level, {"level": level}, logger="test")
        return "logged"

    return part


async def heard(part: Registry, revision: Revision, tool: str, meta: Json | None = None) -> list[Json]:
    """What came before the answer of a tool, in order; the answer is the last message."""
    async with talk(serving(part), revision) as peer:
        id = await peer.post_call(tool, meta=meta)
        await peer.response(id)
        before = list(peer.held)
        assert await peer.settle() == before, "nothing comes after the answer"
        return before


@pytest.mark.parametrize("token", ["t", 0, 7, ""])
async def test_progress_carries_the_token_it_was_asked_with(revision: Revision, token: str | int) -> None:
    notices = await heard(counting((1, 2, None)), revision, "count", {"progressToken": token})
    assert notices == [
        {
            "jsonrpc": "2.0",
            "method": "notifications/progress",
            "params": {"progressToken": token, "progress": 1, "total": 2},
        }
    ]


async def test_a_message_with_the_progress_is_known_since_2025_03_26(revision: Revision) -> None:
    (notice,) = await heard(counting((1, None, "half")), revision, "count", {"progressToken": "t"})
    assert notice["params"].get("message") == (None if revision == "2024-11-05" else "half")  # PR-7


async def test_progress_without_a_token_sends_nothing(revision: Revision) -> None:
    assert await heard(counting((1, 2, None)), revision, "count") == []


@pytest.mark.parametrize("token", [None, True, 1.5, [], {}])
async def test_what_is_no_token_sends_nothing(token: Any) -> None:
    assert await heard(counting((1, 2, None)), NEWEST, "count", {"progressToken": token}) == []


async def test_only_progress_that_grew_is_sent(revision: Revision) -> None:
    steps = [(step, None, None) for step in (0, 0, 1, 0.5, 1.5, 1.5, 2)]
    notices = await heard(counting(*steps), revision, "count", {"progressToken": "t"})
    assert [notice["params"]["progress"] for notice in notices] == [0, 1, 1.5, 2]  # PR-2


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
async def test_progress_that_is_no_number_of_json_is_not_sent(number: float) -> None:
    notices = await heard(
        counting((number, None, None), (1, number, None)), NEWEST, "count", {"progressToken": "t"}
    )
    for notice in notices:
        assert type(notice["params"]["progress"]) in (int, float)


async def test_a_flood_of_progress_is_thinned_out() -> None:
    steps = [(float(step), None, None) for step in range(5000)]
    notices = await heard(counting(*steps), NEWEST, "count", {"progressToken": "t"})
    assert 0 < len(notices) < 500  # PR-4


async def test_nothing_is_reported_once_the_answer_is_out(revision: Revision) -> None:
    part, kept = Registry(), list[Context[None]]()

    @part.tool("Leave", read_only=True, open_world=False)
    async def leave(ctx: Context[None]) -> str:
        """Leave something running."""
        kept.append(ctx)
        return "left"

    async with talk(serving(part), revision) as peer:
        meta = {"progressToken": "t", META + "logLevel": "debug"}
        await peer.response(await peer.post_call("leave", meta=meta))
        await kept[0].progress(1)
        await kept[0].log("error", "late")
        assert await peer.settle() == []  # PR-3


async def test_a_client_hears_the_progress_of_its_own_call(revision: Revision) -> None:
    heard: list[tuple[float, float | None]] = []

    async def on_progress(done: float, total: float | None, message: str | None) -> None:
        heard.append((done, total))

    async with connect(serving(counting((1, 3, None), (2, 3, None))), revision=revision) as client:
        await client.call_tool("count", progress=on_progress)
    assert heard == [(1, 3), (2, 3)]


async def test_a_handshake_client_hears_info_and_above_until_it_says_otherwise(old: Revision) -> None:
    notices = await heard(logging_all(), old, "log")
    assert [notice["params"]["level"] for notice in notices] == LEVELS[1:]


@pytest.mark.parametrize("level", LEVELS)
async def test_a_handshake_client_sets_its_level_for_the_session(level: LogLevel) -> None:
    async with talk(serving(logging_all()), "2025-11-25") as peer:
        assert await peer.result("logging/setLevel", {"level": level}) == {}
        for _ in range(2):
            await peer.call("log")
        levels = [notice["params"]["level"] for notice in peer.held]
    assert levels == LEVELS[LEVELS.index(level) :] * 2  # G-2


@pytest.mark.parametrize("params", [{"level": "loud"}, {"level": 1}, {"level": None}, {}])
async def test_a_level_that_does_not_exist_is_refused(old: Revision, params: Json) -> None:
    async with talk(serving(logging_all()), old) as peer:
        assert (await peer.error("logging/setLevel", params))["code"] == -32602  # G-3


async def test_a_log_message_is_what_the_handler_said(old: Revision) -> None:
    notice = (await heard(logging_all(), old, "log"))[0]
    assert notice["params"] == {"level": "info", "data": {"level": "info"}, "logger": "test"}


async def test_a_stateless_request_without_a_level_hears_nothing() -> None:
    assert await heard(logging_all(), NEWEST, "log") == []  # G-4


async def test_a_stateless_request_sets_the_level_for_itself_alone() -> None:
    async with talk(serving(logging_all()), NEWEST) as peer:
        await peer.response(await peer.post_call("log", meta={META + "logLevel": "alert"}))
        await peer.response(await peer.post_call("log"))
        assert [notice["params"]["level"] for notice in peer.held] == ["alert", "emergency"]  # G-5


async def test_a_stateless_level_that_does_not_exist_is_refused() -> None:
    async with talk(serving(logging_all()), NEWEST) as peer:
        error = await peer.error("tools/call", {"name": "log"}, meta={META + "logLevel": "loud"})
    assert error["code"] == -32602  # G-6


async def test_a_client_is_given_what_it_wants_to_hear(revision: Revision) -> None:
    heard: list[tuple[str, Any]] = []

    async def on_log(level: str, data: Any) -> None:
        heard.append((level, data))

    async with connect(
        serving(logging_all()), revision=revision, on_log=on_log, log_level="critical"
    ) as client:
        await client.call_tool("log")
    assert [level for level, _ in heard] == ["critical", "alert", "emergency"]


async def test_the_reports_of_two_calls_keep_to_their_own_tokens(revision: Revision) -> None:
    part = Registry()
    both = [anyio.Event(), anyio.Event()]

    @part.tool("Count", read_only=True, open_world=False)
    async def count(me: int, ctx: Context[None]) -> str:
        """Count."""
        both[me].set()
        await both[1 - me].wait()
        await ctx.progress(me + 10)
        return str(me)

    async with talk(serving(part), revision) as peer:
        ids = [await peer.post_call("count", {"me": me}, meta={"progressToken": f"t{me}"}) for me in (0, 1)]
        for me, id in enumerate(ids):
            assert text_of((await peer.response(id))["result"]) == str(me)
        told = {notice["params"]["progressToken"]: notice["params"]["progress"] for notice in peer.held}
    assert told == {"t0": 10, "t1": 11}
