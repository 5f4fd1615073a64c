"""The official Python SDK 2.x as a client: `python_2.py auto|legacy COMMAND...|URL`"""

import sys
import warnings
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import mcp_types as types
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.subscriptions import ResourceUpdated, ToolsListChanged
from mcp.shared.exceptions import MCPDeprecationWarning
from tour import ANSWERS, Report, Sdk, plain, run, tour


def connection(target: list[str]) -> StdioServerParameters | str:
    if target[0].startswith("http"):
        return target[0]
    return StdioServerParameters(command=target[0], args=target[1:])


async def main(report: Report, mode: str, target: list[str]) -> None:
    answers = iter(ANSWERS)

    async def elicit(context: Any, params: Any) -> types.ElicitResult:
        report.questions.add(["elicitation/create", plain(params)])
        action = next(answers)
        content = {"delete": True} if action == "accept" else None
        return types.ElicitResult(action=action, content=content)

    async def sample(context: Any, params: Any) -> types.CreateMessageResult:
        report.questions.add(["sampling/createMessage", plain(params)])
        said = types.TextContent(type="text", text="buy milk")
        return types.CreateMessageResult(role="assistant", model="foreign-1", content=said)

    async def roots(context: Any) -> types.ListRootsResult:
        report.questions.add(["roots/list", None])
        return types.ListRootsResult(roots=[types.Root(uri="file:///workspace")])

    async def log(params: Any) -> None:
        report.logs.add([params.level, params.data])

    async def hear(message: Any) -> None:
        """The handshake era: notices come without being part of a stream."""
        method = getattr(message, "method", repr(message))
        if mode == "legacy" and method not in ("notifications/message", "notifications/progress"):
            report.notices.add([method, getattr(message.params, "uri", None)])

    client = Client(
        connection(target),
        mode=mode,
        elicitation_callback=elicit,
        sampling_callback=sample,
        list_roots_callback=roots,
        logging_callback=log,
        log_level="info",
        message_handler=hear,
    )

    @asynccontextmanager
    async def subscribed(uri: str) -> AsyncIterator[None]:
        await client.subscribe_resource(uri)
        yield
        await client.unsubscribe_resource(uri)

    @asynccontextmanager
    async def listening(uri: str) -> AsyncIterator[None]:
        async with (
            client.listen(tools_list_changed=True, resource_subscriptions=[uri]) as stream,
            anyio.create_task_group() as tasks,
        ):
            report.saw["honored"] = plain(stream.honored)
            tasks.start_soon(note_down, stream)
            yield
            tasks.cancel_scope.cancel()

    async def note_down(stream: Any) -> None:
        async for event in stream:
            match event:
                case ResourceUpdated():
                    report.notices.add(["notifications/resources/updated", event.uri])
                case ToolsListChanged():
                    report.notices.add(["notifications/tools/list_changed", None])
                case _:
                    report.notices.add([repr(event), None])

    async with client:
        report.saw["revision"] = client.protocol_version
        report.saw["server"] = plain(client.server_info)
        report.saw["instructions"] = client.instructions
        report.saw["capabilities"] = plain(client.server_capabilities)
        legacy = mode == "legacy"
        sdk = Sdk(
            client,
            watching=subscribed if legacy else listening,
            code=lambda error: error.code if isinstance(error, MCPError) else None,
            template=types.ResourceTemplateReference(type="ref/resource", uri="note:///{title}"),
            set_level=client.set_logging_level if legacy else None,
            ping=client.send_ping if legacy else None,
        )
        await tour(sdk, report)


if __name__ == "__main__":
    warnings.simplefilter("ignore", MCPDeprecationWarning)
    run(main, sys.argv[1], sys.argv[2:])
