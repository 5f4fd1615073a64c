"""The official Python SDK 1.0 as a client, which speaks 2024-11-05: `python_1_0.py COMMAND...|URL`

It knows no progress, no templates, no sampling and no cancellation. It declares roots and never answers.
"""

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
from mcp import ClientSession, McpError, StdioServerParameters, types
from mcp.client.sse import sse_client
from mcp.client.stdio import stdio_client
from pydantic import AnyUrl
from tour import Report, Sdk, plain, run, tour


def connect(target: list[str]) -> Any:
    """Over HTTP this version knows only the pair that begins at `/sse`."""
    if target[0].startswith("http"):
        return sse_client(target[0])
    return stdio_client(StdioServerParameters(command=target[0], args=target[1:]))


async def main(report: Report, target: list[str]) -> None:
    async def hear() -> None:
        async for message in session.incoming_messages:
            if isinstance(message, types.ServerNotification):
                method, uri = message.root.method, getattr(message.root.params, "uri", None)
                report.notices.add([method, None if uri is None else str(uri)])
            elif isinstance(message, Exception):
                report.notices.add([repr(message), None])
            else:
                report.questions.add([message.request.root.method, None])

    @asynccontextmanager
    async def subscribed(uri: str) -> AsyncIterator[None]:
        await session.subscribe_resource(AnyUrl(uri))
        yield
        await session.unsubscribe_resource(AnyUrl(uri))

    async with (
        connect(target) as (read, write),
        ClientSession(read, write) as session,
        anyio.create_task_group() as tasks,
    ):
        tasks.start_soon(hear)
        opened = await session.initialize()
        report.saw["revision"] = opened.protocolVersion
        report.saw["server"] = plain(opened.serverInfo)
        report.saw["instructions"] = getattr(opened, "instructions", None)
        report.saw["capabilities"] = plain(opened.capabilities)
        sdk = Sdk(
            session,
            watching=subscribed,
            code=lambda error: error.args[0].code if isinstance(error, McpError) else None,
            template=types.ResourceReference(type="ref/resource", uri="note:///{title}"),
            uri=AnyUrl,
            ping=session.send_ping,
            lacks=frozenset({"progress", "templates", "elicitation", "sampling", "cancellation"}),
        )
        await tour(sdk, report)
        tasks.cancel_scope.cancel()


if __name__ == "__main__":
    run(main, sys.argv[1:])
