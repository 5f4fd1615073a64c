"""Holds a state open and writes down what happens to it: `keeper.py FILE [WAY]`"""

import signal
import sys
import threading
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
from mcp_server_core import Context, Registry, Server, cli

part = Registry()
diary = Path(sys.argv[1])
way = (sys.argv[2:] or ["well"])[0]


def note(line: str) -> None:
    """Write one line down at once."""
    with diary.open("a") as file:
        file.write(line + "\n")


@asynccontextmanager
async def open_state() -> AsyncGenerator[str]:
    """A state that needs the event loop to close, as a database does."""
    note("opened")
    try:
        yield "state"
    except BaseException as error:
        note(f"failed: {type(error).__name__}")
        raise
    finally:
        note("closing")
        match way:
            case "well":
                await anyio.sleep(0.05)
            case "for ever":
                await anyio.sleep_forever()
            case "blocking":
                time.sleep(1000)  # noqa: ASYNC251 - the point
            case "raising":
                raise OSError("the disk is full")
            case _:
                raise AssertionError(way)
        note("closed")


async def background(server: Server[str], state: str) -> None:
    """Something that runs beside the handlers and cleans up after itself."""
    try:
        await anyio.sleep_forever()
    finally:
        note("background ended")


@part.tool("Touch", read_only=True, open_world=False)
async def touch(ctx: Context[str]) -> str:
    """Use the state."""
    return ctx.state


@part.tool("Hang", read_only=True, open_world=False)
async def hang(ctx: Context[str]) -> str:
    """Wait for ever, and say what became of it."""
    sys.stderr.write("hanging\n")
    sys.stderr.flush()
    try:
        await anyio.sleep_forever()
    finally:
        note("call ended")
    return ""


@part.tool("Pass a signal on", destructive=False, idempotent=True, open_world=False)
async def signal_later(fifo: str, ctx: Context[str]) -> str:
    """Once something is written to a pipe, let a signal arrive in a thread that is not the main one."""

    def wait_and_signal() -> None:
        Path(fifo).read_bytes()
        signal.pthread_kill(threading.get_ident(), signal.SIGTERM)

    threading.Thread(target=wait_and_signal, daemon=True).start()
    return "ready"


@part.resource("fixed:///one", "One", watch=True)
async def one() -> str:
    """Something to subscribe to."""
    return "one"


cli.serve(Server("keeper", version="1.0", parts=[part], state=open_state, background=[background]))
