"""Works quickly, slowly, for ever, and with a lot of data: `worker.py [LINE_LIMIT]`"""

import asyncio
import concurrent.futures
import sqlite3
import sys
import threading
import time

import anyio
from mcp_server_core import Context, Registry, Server, cli
from typing_extensions import TypedDict

part = Registry()


class Form(TypedDict):
    """A question of yes or no."""

    yes: bool


pool = concurrent.futures.ThreadPoolExecutor(1)


@part.tool("Echo", read_only=True, open_world=False)
async def echo(text: str) -> str:
    """Say the text again."""
    return text


@part.tool("Echo in a thread", read_only=True, open_world=False)
def echo_thread(text: str) -> str:
    """Say the text again."""
    return text


@part.tool("Count", read_only=True, open_world=False)
async def size(text: str) -> str:
    """How many characters, and how many bytes."""
    return f"{len(text)} {len(text.encode())}"


@part.tool("Big", read_only=True, open_world=False)
async def big(size: int) -> str:
    """An answer of that many characters."""
    return "x" * size


@part.tool("Big, from a thread", read_only=True, open_world=False)
def big_thread(size: int) -> str:
    """An answer of that many characters."""
    return "x" * size


@part.tool("Ask", read_only=True, open_world=False)
async def ask(ctx: Context[None]) -> str:
    """Ask the user something."""
    return type(await ctx.elicit("Well?", Form)).__name__


@part.tool("Big log", read_only=True, open_world=False)
async def big_log(size: int, ctx: Context[None]) -> str:
    """Log that many characters, then say so."""
    await ctx.log("info", "x" * size)
    return "logged"


@part.tool("Nap", read_only=True, open_world=False)
async def nap(seconds: float) -> str:
    """Come back after a while."""
    await anyio.sleep(seconds)
    return "slept"


@part.tool("Block", read_only=True, open_world=False)
async def block(seconds: float) -> str:
    """Keep the event loop from anything else for a while."""
    time.sleep(seconds)  # noqa: ASYNC251 - the point
    return "blocked"


@part.tool("Hang", read_only=True, open_world=False)
async def hang() -> str:
    """Wait for ever."""
    say("hanging")
    await anyio.sleep_forever()
    return ""


@part.tool("Hang and resist", read_only=True, open_world=False)
async def hang_shielded() -> str:
    """Wait for ever, whatever anybody says."""
    say("hanging")
    with anyio.CancelScope(shield=True):
        await anyio.sleep_forever()
    return ""


@part.tool("Hang and swallow", read_only=True, open_world=False)
async def hang_swallowing() -> str:
    """Wait for ever, and take a cancellation for a mistake."""
    say("hanging")
    while True:
        try:
            await asyncio.sleep(1000)
        except asyncio.CancelledError:
            continue


@part.tool("Hang in a thread", read_only=True, open_world=False)
def hang_thread() -> str:
    """Block a worker thread for ever."""
    say("hanging")
    time.sleep(1000)
    return ""


@part.tool("Hang in the default executor", read_only=True, open_world=False)
async def hang_executor() -> str:
    """Block a thread of asyncio's own for ever."""
    await asyncio.to_thread(hang_thread)
    return ""


@part.tool("Hang in a pool", read_only=True, open_world=False)
async def hang_pool() -> str:
    """Block a thread of a pool of the author's for ever."""
    pool.submit(hang_thread)
    await anyio.sleep_forever()
    return ""


@part.tool("Hang the loop", read_only=True, open_world=False)
async def hang_loop() -> str:
    """Block the event loop for ever."""
    say("hanging")
    time.sleep(1000)  # noqa: ASYNC251 - the point
    return ""


@part.tool("Hang while cleaning up", read_only=True, open_world=False)
async def hang_cleanup() -> str:
    """Block the event loop for ever, but only once the call is cancelled."""
    say("hanging")
    try:
        await anyio.sleep_forever()
    finally:
        time.sleep(1000)  # noqa: ASYNC251 - the point
    return ""


@part.tool("Hang the loop in a lock", read_only=True, open_world=False)
async def hang_lock() -> str:
    """Block the event loop in a lock that nobody releases."""
    say("hanging")
    lock = threading.Lock()
    lock.acquire()
    lock.acquire()
    return ""


@part.tool("Hang the loop in a query", read_only=True, open_world=False)
async def hang_query() -> str:
    """Block the event loop in C code that lets other threads run and looks at no signals."""
    database = sqlite3.connect(":memory:")
    database.create_function("say", 1, say)
    database.execute(
        "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n)"
        " SELECT count(CASE WHEN x = 1 THEN say('hanging') END) FROM n"
    ).fetchall()
    return ""


@part.tool("Watch the clock", read_only=True, open_world=False)
def spin() -> str:
    """Keep a worker thread busy in Python for ever."""
    say("hanging")
    while True:
        pass


@part.resource("big:///{size}", "Big")
async def much(size: str) -> str:
    """As many characters as its name says."""
    return "x" * int(size)


@part.resource("fixed:///one", "One", watch=True)
async def one() -> str:
    """Something to subscribe to."""
    return "one"


def say(text: str) -> None:
    """Tell the test how far we are."""
    sys.stderr.write(text + "\n")
    sys.stderr.flush()


limit = int(sys.argv[1]) if len(sys.argv) > 1 else 64 * 1024 * 1024
cli.serve(Server("worker", version="1.0", parts=[part]), line_limit=limit)
