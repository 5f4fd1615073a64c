"""A server in a process of its own, as a host would start it."""

import os
import subprocess
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from functools import partial
from pathlib import Path
from typing import IO

import anyio
from anyio import to_thread

from ..channel import Channel
from ..protocol.lines import DEFAULT_LIMIT
from .pipes import PipeChannel

PATIENCE = 2.0


def stdio(
    command: Sequence[str],
    *,
    env: Mapping[str, str] | None = None,
    cwd: Path | str | None = None,
    stderr: int | IO[bytes] | None = None,
    limit: int = DEFAULT_LIMIT,
) -> Callable[[], AbstractAsyncContextManager[Channel]]:
    """How to start a server: give it to `Client`. `env` is added to the environment of this process."""
    return partial(_spawn, tuple(command), env, cwd, stderr, limit)


@asynccontextmanager
async def _spawn(
    command: Sequence[str],
    env: Mapping[str, str] | None,
    cwd: Path | str | None,
    stderr: int | IO[bytes] | None,
    limit: int,
) -> AsyncGenerator[Channel]:
    child_in, our_out = os.pipe()
    our_in, child_out = os.pipe()
    try:
        process = subprocess.Popen(  # noqa: S603, ASYNC220 - the caller's own command; starting it is quick
            command,
            stdin=child_in,
            stdout=child_out,
            stderr=stderr,
            cwd=cwd,
            env=None if env is None else {**os.environ, **env},
        )
    except BaseException:
        os.close(our_in)
        os.close(our_out)
        raise
    finally:
        os.close(child_in)
        os.close(child_out)
    channel = PipeChannel(our_in, our_out, limit=limit)
    try:
        yield channel
    finally:
        with anyio.CancelScope(shield=True):
            await channel.close()
            await _end(process)


async def _end(process: "subprocess.Popen[bytes]") -> None:
    """Its input is closed: wait, then ask it to end, then end it (L-18)."""
    for insist in (process.terminate, process.kill):
        with suppress(subprocess.TimeoutExpired):
            await to_thread.run_sync(partial(process.wait, PATIENCE))
            return
        insist()
    await to_thread.run_sync(process.wait)
