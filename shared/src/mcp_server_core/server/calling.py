"""Running an author's function: in the loop if it is async, in a worker thread if it is not."""

from collections.abc import Callable
from functools import partial
from inspect import iscoroutinefunction
from typing import Any

from .context import Context


class Handler:
    """An author's function, and whether it wants the Context."""

    __slots__ = ("_blocking", "_context", "_function")

    def __init__(self, function: Callable[..., Any], context: str | None) -> None:
        self._function = function
        self._context = context
        self._blocking = not iscoroutinefunction(function)

    async def run(self, ctx: Context[Any], /, *args: Any, **kwargs: Any) -> Any:
        """Call the function and wait for what it returns."""
        if self._context is not None:
            kwargs[self._context] = ctx
        if self._blocking:
            return await ctx.in_thread(partial(self._function, *args, **kwargs))
        return await self._function(*args, **kwargs)
