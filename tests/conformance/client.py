"""The client that the official conformance suite is run against: one scenario per run, named in the environment."""

import json
import os
import sys
from typing import Any, cast, get_args

import anyio
from mcp_server_core import Answers, Client, http
from mcp_server_core.testing import Revision

Json = dict[str, Any]
MRTR_TOOLS = ("test_mrtr_echo_state", "test_mrtr_unrelated", "test_mrtr_no_state", "test_mrtr_no_result_type")


async def accept(question: Json) -> Json:
    """Fill in what has no default; the client fills in the rest."""
    schema: Json = question["requestedSchema"]
    blank: Json = {"string": "text", "boolean": True, "integer": 1, "number": 1}
    content = {
        name: blank[field["type"]]
        for name, field in schema["properties"].items()
        if "default" not in field and field.get("type") in blank
    }
    return {"action": "accept", "content": content}


async def write(question: Json) -> Json:
    """What the client's model writes."""
    return {"role": "assistant", "content": {"type": "text", "text": "Paris"}, "model": "none"}


async def list_tools(client: Client, context: Json) -> None:
    """Connect and list."""
    await client.list_tools()


async def add_numbers(client: Client, context: Json) -> None:
    """Call the one tool there is."""
    await client.list_tools()
    await client.call_tool("add_numbers", {"a": 5, "b": 3})


async def fill_in_defaults(client: Client, context: Json) -> None:
    """Accept an elicitation without touching its fields."""
    await client.list_tools()
    await client.call_tool("test_client_elicitation_defaults")


async def come_back(client: Client, context: Json) -> None:
    """Call a tool whose stream ends before its answer."""
    await client.list_tools()
    await client.call_tool("test_reconnection")


async def use_everything(client: Client, context: Json) -> None:
    """Call every tool, read every resource, get every prompt."""
    await call_every_tool(client, context)
    for resource in await client.list_resources():
        await client.read_resource(resource["uri"])
    for prompt in await client.list_prompts():
        await client.get_prompt(prompt["name"])


async def call_every_tool(client: Client, context: Json) -> None:
    """Call what the client still offers, with arguments its schema asks for."""
    for tool in await client.list_tools():
        properties: Json = tool["inputSchema"].get("properties", {})
        await client.call_tool(tool["name"], dict.fromkeys(properties, "text"))


async def call_as_told(client: Client, context: Json) -> None:
    """Make the calls that the suite lists."""
    await client.list_tools()
    for call in context["toolCalls"]:
        await client.call_tool(call["name"], call["arguments"])


async def answer_and_retry(client: Client, context: Json) -> None:
    """Call tools that ask back."""
    await client.list_tools()
    for name in MRTR_TOOLS:
        await client.call_tool(name)


async def echo_schema(client: Client, context: Json) -> None:
    """Send a schema back as it was seen."""
    tools = {tool["name"]: tool for tool in await client.list_tools()}
    schema = tools["json_schema_2020_12_tool"]["inputSchema"]
    await client.call_tool("json_schema_echo", {"schema": schema})


STEPS = {
    "initialize": list_tools,
    "tools_call": add_numbers,
    "elicitation-sep1034-client-defaults": fill_in_defaults,
    "sse-retry": come_back,
    "request-metadata": call_every_tool,
    "http-standard-headers": use_everything,
    "http-custom-headers": call_as_told,
    "http-invalid-tool-headers": call_every_tool,
    "sep-2322-client-request-state": answer_and_retry,
    "json-schema-ref-no-deref": list_tools,
    "json-schema-2020-12-preservation": echo_schema,
}


async def main(url: str) -> None:
    """Connect as the revision demands, and go through the scenario."""
    revision = os.environ["MCP_CONFORMANCE_PROTOCOL_VERSION"]
    if revision not in get_args(Revision):
        raise SystemExit(f"the suite asks for {revision!r}, which is no revision")
    context: Json = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT", "{}"))
    answers = Answers(roots=["file:///project"], sample=write, elicit=accept)
    async with Client(
        http(url),
        revision=cast("Revision", revision),
        name="conformance-client",
        version="1.0.0",
        answers=answers,
        timeout=20,
    ) as client:
        await STEPS[os.environ["MCP_CONFORMANCE_SCENARIO"]](client, context)


if __name__ == "__main__":
    anyio.run(main, sys.argv[-1])
