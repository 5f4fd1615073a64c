"""The official Python SDK 1.12 as a client, which speaks 2025-06-18: `python_1_12.py COMMAND...|URL`"""

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from mcp import ClientSession, McpError, StdioServerParameters, types
from mcp.client.sse import sse_client
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamablehttp_client
from pydantic import AnyUrl
from tour import ANSWERS, Report, Sdk, plain, run, tour


def connect(target: list[str]) -> Any:
    if target[0].endswith("/sse"):
        return sse_client(target[0])
    if target[0].startswith("http"):
        return streamablehttp_client(target[0])
    return stdio_client(StdioServerParameters(command=target[0], args=target[1:]))


async def main(report: Report, target: list[str]) -> None:
    answers = iter(ANSWERS)

    async def elicit(context: Any, params: Any) -> types.ElicitResult:
        report.questions.add(["elicitation/create", plain(params)])
        action = next(answers)
        return types.ElicitResult(action=action, content={"delete": True} if action == "accept" else None)

    async def sample(context: Any, params: Any) -> types.CreateMessageResult:
        report.questions.add(["sampling/createMessage", plain(params)])
        said = types.TextContent(type="text", text="buy milk")
        return types.CreateMessageResult(role="assistant", model="foreign-1", content=said)

    async def roots(context: Any) -> types.ListRootsResult:
        report.questions.add(["roots/list", None])
        return types.ListRootsResult(roots=[types.Root(uri=AnyUrl("file:///workspace"))])

    async def log(params: Any) -> None:
        report.logs.add([params.level, params.data])

    async def hear(message: Any) -> None:
        if isinstance(message, types.ServerNotification):
            method, uri = message.root.method, getattr(message.root.params, "uri", None)
            if method not in ("notifications/message", "notifications/progress"):
                report.notices.add([method, None if uri is None else str(uri)])
        elif isinstance(message, Exception):
            report.notices.add([repr(message), None])

    @asynccontextmanager
    async def subscribed(uri: str) -> AsyncIterator[None]:
        await session.subscribe_resource(AnyUrl(uri))
        yield
        await session.unsubscribe_resource(AnyUrl(uri))

    async def say_cancelled() -> None:
        """This version does not do it by itself when a call is abandoned."""
        params = types.CancelledNotificationParams(requestId=session._request_id - 1)
        cancelled = types.CancelledNotification(method="notifications/cancelled", params=params)
        await session.send_notification(types.ClientNotification(cancelled))

    async with (
        connect(target) as (read, write, *_),
        ClientSession(
            read,
            write,
            sampling_callback=sample,
            elicitation_callback=elicit,
            list_roots_callback=roots,
            logging_callback=log,
            message_handler=hear,
        ) as session,
    ):
        opened = await session.initialize()
        report.saw["revision"] = opened.protocolVersion
        report.saw["server"] = plain(opened.serverInfo)
        report.saw["instructions"] = opened.instructions
        report.saw["capabilities"] = plain(opened.capabilities)
        sdk = Sdk(
            session,
            watching=subscribed,
            code=lambda error: error.error.code if isinstance(error, McpError) else None,
            template=types.ResourceTemplateReference(type="ref/resource", uri="note:///{title}"),
            uri=AnyUrl,
            say_cancelled=say_cancelled,
            set_level=session.set_logging_level,
            ping=session.send_ping,
        )
        await tour(sdk, report)


if __name__ == "__main__":
    run(main, sys.argv[1:])
