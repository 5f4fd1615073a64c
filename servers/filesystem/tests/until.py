"""Waiting for what another thread or process does, where there is no event to wait for."""

from collections.abc import Callable

import anyio


async def until(condition: Callable[[], object], seconds: float = 10.0) -> None:
    """Look now and then; TimeoutError if it does not come true."""
    with anyio.fail_after(seconds):
        while not condition():  # noqa: ASYNC110 - a thread or a process is the source
            await anyio.sleep(0.02)
