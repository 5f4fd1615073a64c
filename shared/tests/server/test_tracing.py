"""Trace context: what a client sends in `_meta` continues in the handler, for users of OpenTelemetry."""

from collections.abc import Generator

import pytest
from mcp_server_core import Registry, Server
from mcp_server_core.testing import REVISIONS, Revision, connect
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

pytestmark = pytest.mark.anyio

TRACE = "0af7651916cd43dd8448eb211c80319c"
PARENT = "b7ad6b7169203331"
CONTEXT = {"traceparent": f"00-{TRACE}-{PARENT}-01", "tracestate": "vendor=value"}
part = Registry()


@part.tool("Trace", read_only=True, open_world=False)
async def current_trace() -> str:
    """The trace that is current in the handler."""
    return format(trace.get_current_span().get_span_context().trace_id, "032x")


@pytest.fixture(scope="module")
def exporter() -> InMemorySpanExporter:
    """What OpenTelemetry was given; a process has one provider."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    trace.set_tracer_provider(provider)
    return exporter


@pytest.fixture
def spans(exporter: InMemorySpanExporter) -> Generator[InMemorySpanExporter]:
    exporter.clear()
    yield exporter
    exporter.clear()


async def call(revision: Revision, meta: dict[str, object]) -> str:
    async with connect(Server("traced", version="1", parts=[part]), revision=revision) as client:
        result = await client.request("tools/call", {"name": "current_trace", "arguments": {}, "_meta": meta})
        return result["content"][0]["text"]


@pytest.mark.parametrize("revision", REVISIONS)
async def test_the_trace_of_the_caller_is_current_in_the_handler(
    revision: Revision, spans: InMemorySpanExporter
) -> None:
    assert await call(revision, dict(CONTEXT)) == TRACE


@pytest.mark.parametrize("revision", REVISIONS)
async def test_the_span_names_its_parent_the_method_and_the_tool(
    revision: Revision, spans: InMemorySpanExporter
) -> None:
    await call(revision, dict(CONTEXT))
    (span,) = spans.get_finished_spans()
    assert (span.name, _parent(span), dict(span.attributes or {})) == (
        "tools/call",
        PARENT,
        {
            "mcp.method.name": "tools/call",
            "mcp.protocol.version": revision,
            "gen_ai.tool.name": "current_trace",
        },
    )


def _parent(span: ReadableSpan) -> str:
    assert span.parent is not None
    return format(span.parent.span_id, "016x")


async def test_without_a_trace_context_no_span_is_made(spans: InMemorySpanExporter) -> None:
    await call("2026-07-28", {})
    assert spans.get_finished_spans() == ()


@pytest.mark.parametrize("rubbish", ["", "00-zz-1-01", "x" * 10_000, 7, None, ["a"]])
async def test_a_trace_context_that_is_none_does_not_spoil_the_call(
    rubbish: object, spans: InMemorySpanExporter
) -> None:
    assert await call("2026-07-28", {"traceparent": rubbish}) != TRACE
