"""Hands the trace context of a request to OpenTelemetry, if the user has it installed.

Loaded with the first request that carries a `traceparent` in `_meta`; without OpenTelemetry nothing happens.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from typing import Any

from ..protocol.scope import Scope

_CARRIED = ("traceparent", "tracestate", "baggage")


def span(scope: Scope) -> AbstractContextManager[Any]:
    """A span of the caller's trace, current while the handler runs."""
    start = _find_tracer()
    if start is None:
        return nullcontext()
    meta = scope.meta
    attributes = {"mcp.method.name": scope.method, "mcp.protocol.version": scope.revision}
    name = scope.params.get("name")
    if scope.method == "tools/call" and isinstance(name, str):
        attributes["gen_ai.tool.name"] = name
    carried = {key: meta[key] for key in _CARRIED if isinstance(meta.get(key), str)}
    return start(scope.method, carried, attributes)


@cache
def _find_tracer() -> Callable[[str, dict[str, str], dict[str, str]], AbstractContextManager[Any]] | None:
    try:
        from opentelemetry import propagate, trace
    except ImportError:
        return None

    def start(name: str, carried: dict[str, str], attributes: dict[str, str]) -> AbstractContextManager[Any]:
        return trace.get_tracer("mcp_server_core").start_as_current_span(
            name, context=propagate.extract(carried), kind=trace.SpanKind.SERVER, attributes=attributes
        )

    return start
