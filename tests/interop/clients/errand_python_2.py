"""The official Python SDK 2.x on an errand: `errand_python_2.py auto|legacy ERRAND.json COMMAND...|URL`

The errand is a list of steps and the answers to the server's questions; see `errand.py` beside this folder.
"""

import json
import subprocess
import sys
import warnings
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import mcp_types as types
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.subscriptions import ResourceUpdated
from mcp.shared.exceptions import MCPDeprecationWarning
from tour import Heard, Report, plain, run


class Errand:
    """One client on its way through the steps."""

    def __init__(self, report: Report, mode: str, target: list[str], answers: dict[str, Any]) -> None:
        self._report = report
        self._legacy = mode == "legacy"
        self._updates = Heard()
        self._forms = iter(answers.get("elicit", []))
        roots = answers.get("roots")

        async def list_roots(context: Any) -> types.ListRootsResult:
            return types.ListRootsResult(roots=[types.Root(uri=uri) for uri in roots or []])

        async def elicit(context: Any, params: Any) -> types.ElicitResult:
            report.questions.add(["elicitation/create", plain(params)])
            return types.ElicitResult(**next(self._forms))

        async def hear(message: Any) -> None:
            """The handshake era: notices come without being part of a stream."""
            if self._legacy and getattr(message, "method", "") == "notifications/resources/updated":
                self._updates.add(str(message.params.uri))

        where = target[0] if target[0].startswith("http") else None
        self.client = Client(
            where or StdioServerParameters(command=target[0], args=target[1:]),
            mode=mode,
            elicitation_callback=elicit if "elicit" in answers else None,
            list_roots_callback=list_roots if roots is not None else None,
            message_handler=hear,
        )

    async def take(self, step: dict[str, Any]) -> Any:
        """Do what one step says."""
        client = self.client
        match step:
            case {"do": "list", "what": "tools"}:
                return await client.list_tools()
            case {"do": "list", "what": "resources"}:
                return await client.list_resources()
            case {"do": "list", "what": "templates"}:
                return await client.list_resource_templates()
            case {"do": "list", "what": "prompts"}:
                return await client.list_prompts()
            case {"do": "call", "tool": tool, "arguments": arguments}:
                return await client.call_tool(tool, arguments)
            case {"do": "read", "uri": uri}:
                return await client.read_resource(uri)
            case {"do": "prompt", "name": name, "arguments": arguments}:
                return await client.get_prompt(name, arguments)
            case {"do": "complete", "template": uri, "argument": name, "typed": typed}:
                reference = types.ResourceTemplateReference(type="ref/resource", uri=uri)
                return await client.complete(reference, {"name": name, "value": typed})
            case {"do": "watch", "uri": uri, "meanwhile": {"do": "run", "command": command}}:
                async with self._watching(uri):
                    await _run(command)
                    await self._updates.until(lambda heard: uri in heard)
            case {"do": "watch", "uri": uri, "meanwhile": inner}:
                async with self._watching(uri):
                    await self.take(inner)
                    await self._updates.until(lambda heard: uri in heard)
            case _:
                raise ValueError(f"no such step: {step}")
        return self._updates.items

    @asynccontextmanager
    async def _watching(self, uri: str) -> AsyncIterator[None]:
        if self._legacy:
            await self.client.subscribe_resource(uri)
            yield
            await self.client.unsubscribe_resource(uri)
            return
        async with (
            self.client.listen(resource_subscriptions=[uri]) as stream,
            anyio.create_task_group() as tasks,
        ):
            tasks.start_soon(self._note_down, stream)
            yield
            tasks.cancel_scope.cancel()

    async def _note_down(self, stream: Any) -> None:
        async for event in stream:
            if isinstance(event, ResourceUpdated):
                self._updates.add(str(event.uri))


async def _run(command: list[str]) -> None:
    await anyio.to_thread.run_sync(lambda: subprocess.run(command, check=True, stdin=subprocess.DEVNULL))


async def main(report: Report, mode: str, plan: str, target: list[str]) -> None:
    text = await anyio.Path(Path(plan)).read_text("utf-8")
    said = json.loads(text)
    errand = Errand(report, mode, target, said["answers"])
    async with errand.client:
        report.saw["revision"] = errand.client.protocol_version
        for number, step in enumerate(said["steps"]):
            code = lambda error: error.code if isinstance(error, MCPError) else None  # noqa: E731
            await report.step(str(number), errand.take(step), code)


if __name__ == "__main__":
    warnings.simplefilter("ignore", MCPDeprecationWarning)
    run(main, sys.argv[1], sys.argv[2], sys.argv[3:])
