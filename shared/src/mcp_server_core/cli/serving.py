"""Runs a server over stdio, from start to exit."""

import atexit
import io
import logging
import os
import signal
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NoReturn

import anyio

from ..protocol.lines import DEFAULT_LIMIT
from ..transports.lifeline import Lifeline
from ..transports.pipes import PipeChannel
from ..transports.stdio import Wire, fill_closed, take_stdio

if TYPE_CHECKING:
    from ..server.app import Server

log = logging.getLogger("mcp_server_core")
POLITE = 0.5  # seconds for the last words to listen streams


def serve(server: "Server[Any]", *, line_limit: int = DEFAULT_LIMIT, log_level: str = "warning") -> NoReturn:
    """Serve one client over standard input and output; the process ends when it is gone or a signal came."""
    fill_closed()
    if sys.stdin is not None and sys.stdin.isatty():
        say_what_we_wait_for(server)
    wire = take_stdio()
    _loosen_stdout()  # not before: it writes out what was printed while modules were imported
    configure_logging(log_level)
    try:
        with suppress(KeyboardInterrupt):
            anyio.run(_serve, server, wire, line_limit)
    except Exception:  # a bug of ours: said, and the process still ends
        log.exception("the server failed")
    leave()


async def _serve(server: "Server[Any]", wire: Wire, line_limit: int) -> None:
    if sys.platform == "win32":
        # No hang-up to wait for and no signals to catch: the end of the input ends the process.
        await server.serve(PipeChannel(*wire, limit=line_limit))
        return
    lifeline = Lifeline(wire, lambda: os._exit(0))
    channel = PipeChannel(*wire, limit=line_limit, on_end=lifeline.expect_end)
    lifeline.moved = lambda: channel.moved
    lifeline.start()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_obey_signals, server, lifeline, tasks.cancel_scope)
        await server.serve(channel)
        tasks.cancel_scope.cancel()


async def _obey_signals(server: "Server[Any]", lifeline: Lifeline, serving: anyio.CancelScope) -> None:
    await lifeline.wait_for_signal()
    with anyio.move_on_after(POLITE):
        await server.stop()
    serving.cancel()


def leave(code: int = 0) -> NoReturn:
    """End the process here and now.

    An ordinary exit waits for threads that hang, and fails on a signal or a closed standard error on the way.
    """
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    with suppress(Exception):
        atexit._run_exitfuncs()  # pyright: ignore[reportPrivateUsage] - what an ordinary exit would run
    for stream in (sys.stdout, sys.stderr):
        with suppress(Exception):
            stream.flush()
    with suppress(Exception):
        import ctypes

        ctypes.CDLL(None).fflush(None)  # what C code has printed and not written
    os._exit(code)


def _loosen_stdout() -> None:
    """What is printed goes to standard error from now on: at once, and whatever the locale."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            try:
                stream.reconfigure(line_buffering=True, errors="backslashreplace")
            except OSError:  # it was a file and is a pipe now, which cannot seek
                sys.stdout = sys.stderr


def configure_logging(level: str) -> None:
    """Plain lines on standard error; what is data already, as it is."""
    root, access = logging.getLogger(), logging.getLogger("mcp_server_core.access")
    for logger, shape in ((root, "%(levelname)s %(name)s: %(message)s"), (access, "%(message)s")):
        handler = logging.NullHandler() if sys.stderr is None else logging.StreamHandler(sys.stderr)
        handler.setFormatter(_Plain(shape))
        logger.handlers[:] = [handler]
    access.propagate = False
    root.setLevel(level.upper())


class _Plain(logging.Formatter):
    """One line per record, and no control characters: what clients send must not drive a terminal."""

    def format(self, record: logging.LogRecord) -> str:
        text = super().format(record)
        return "".join(char if char.isprintable() or char in "\n\t" else repr(char)[1:-1] for char in text)


def say_what_we_wait_for(server: "Server[Any]") -> None:
    """Somebody started the server by hand: say what it is waiting for, and how to connect it."""
    import json

    # The way it was started works again; a host has another directory, so paths are made absolute.
    started = [os.path.abspath(part) if _is_path(part) else part for part in sys.orig_argv[1:]]  # noqa: PTH100 - import light
    entry = {server.name.removeprefix("mcp-server-"): {"command": sys.executable, "args": started}}
    sys.stderr.write(
        f"{server.name} {server.version} speaks MCP over standard input and output.\n"
        "It is waiting for a client and is not meant to be typed to. To connect one, add this to the\n"
        "configuration of your host (Claude Desktop, Cursor, ...):\n\n"
        f"{json.dumps({'mcpServers': entry}, indent=2, ensure_ascii=False)}\n\n"
        "Press Ctrl-D or Ctrl-C to stop.\n"
    )


def _is_path(part: str) -> bool:
    looks_like_one = os.sep in part or part in (".", "..") or os.path.isfile(part)  # noqa: PTH113 - import light
    return looks_like_one and os.path.exists(part)  # noqa: PTH110 - import light
