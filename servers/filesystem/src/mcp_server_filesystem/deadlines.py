"""Blocking work that may hang: a disk can stop answering, a server must not."""

from collections.abc import Callable
from typing import Any, TypeVar, TypeVarTuple, Unpack

from mcp_server_core import Context

T = TypeVar("T")
Ts = TypeVarTuple("Ts")


async def bounded(ctx: Context[Any], function: Callable[[Unpack[Ts]], T], *args: *Ts) -> T:
    """Run blocking work in a worker thread."""
    return await ctx.in_thread(function, *args)
