"""Says things in every way that does not belong on the wire."""

import ctypes
import logging
import os
import select
import signal
import subprocess
import sys
import warnings
from multiprocessing import get_context
from multiprocessing.synchronize import Event

from mcp_server_core import Registry, Server, cli

part = Registry()
AT_MOST = 20.0
"""Seconds after which a child goes by itself: a test that fails must not leave one behind."""


@part.tool("Talk", destructive=False, idempotent=True, open_world=False)
async def talk(way: str, text: str) -> str:
    """Say the text in one of the ways."""
    say(way, text)
    return "said"


def say(way: str, text: str) -> None:
    """Say the text in one of the ways, in the thread of the event loop."""
    match way:
        case "print":
            print(text)
        case "sys.stdout.write":
            sys.stdout.write(text + "\n")
        case "sys.stdout.buffer":
            sys.stdout.buffer.write(text.encode() + b"\n")
            sys.stdout.buffer.flush()
        case "sys.__stdout__":
            print(text, file=sys.__stdout__)
        case "os.write":
            os.write(1, text.encode() + b"\n")
        case "child":
            subprocess.run(["/bin/echo", text], check=True)
        case "shell":
            subprocess.run(f"echo '{text}'", shell=True, check=True)
        case "logging":
            logging.getLogger("anybody").warning(text)
        case "warnings":
            warnings.warn(text, stacklevel=1)
        case "open(1)":
            with open(1, "w", encoding="utf-8", closefd=False) as stdout:
                stdout.write(text + "\n")
        case "/dev/stdout":
            subprocess.run(["/bin/sh", "-c", f"echo '{text}' > /proc/self/fd/1"], check=True)
        case "puts":
            libc = ctypes.CDLL(None)
            libc.puts(text.encode())
            libc.fflush(None)
        case "puts, never flushed":
            ctypes.CDLL(None).puts(text.encode())
        case _:
            raise AssertionError(way)


@part.tool("Fork", destructive=False, idempotent=True, open_world=False)
def fork(text: str) -> str:
    """Print from a forked child."""
    child = get_context("fork").Process(target=print, args=(text,), kwargs={"flush": True})
    child.start()
    child.join()
    return str(child.exitcode)


@part.tool("Terminate a worker", destructive=False, idempotent=True, open_world=False)
def terminate_worker() -> str:
    """Start a forked worker and terminate it, as leaving a multiprocessing pool does."""
    context = get_context("fork")
    ready, never = context.Event(), context.Event()
    worker = context.Process(target=wait_in_worker, args=(ready, never))
    worker.start()
    ready.wait(10)
    worker.terminate()
    worker.join(2)
    code = worker.exitcode
    worker.kill()
    return f"exit code {code}"


def wait_in_worker(ready: Event, never: Event) -> None:
    """What a worker of a pool does most of the time."""
    ready.set()
    never.wait(AT_MOST)


@part.tool("Catch a signal", destructive=False, idempotent=True, open_world=False)
async def catch_signal() -> str:
    """Catch a signal that has nothing to do with us, and send it."""
    caught: list[int] = []
    signal.signal(signal.SIGUSR1, lambda number, _: caught.append(number))
    signal.raise_signal(signal.SIGUSR1)
    return str(len(caught))


@part.tool("Leave a child behind", destructive=False, idempotent=True, open_world=False)
def leave_child() -> str:
    """Fork a child that outlives the server."""
    pid = os.fork()
    if pid == 0:
        os.close(1)
        os.close(2)
        select.select([], [], [], AT_MOST)
        os._exit(0)
    return str(pid)


@part.tool("Ask a child", read_only=True, open_world=False)
def ask_child(script: str, close_fds: bool) -> str:
    """What a child process answers; it inherits what it can."""
    done = subprocess.run(
        ["/bin/sh", "-c", script], stderr=subprocess.PIPE, check=True, close_fds=close_fds, timeout=10
    )
    return done.stderr.decode()


@part.tool("Fail", read_only=True, open_world=False)
async def fail(text: str) -> str:
    """Raise something."""
    raise RuntimeError(text)


print("imported")
cli.serve(Server("talker", version="1.0", parts=[part]), log_level=(sys.argv[1:] or ["warning"])[0])
