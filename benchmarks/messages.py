"""The lines the benchmark sends, as bytes, and what must come back. Knows the two revisions, not the pipes."""

import json
from collections.abc import Mapping
from typing import Any, Literal

Revision = Literal["2025-11-25", "2026-07-28"]
HANDSHAKE: Revision = "2025-11-25"
STATELESS: Revision = "2026-07-28"

INITIALIZED = b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n'
ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": STATELESS,
    "io.modelcontextprotocol/clientCapabilities": {},
}


class WrongAnswerError(Exception):
    """The server answered something else than the job asks for."""


def opening(revision: Revision) -> bytes:
    """The first request of a client: `initialize`, or `server/discover` in the stateless revision."""
    if revision == STATELESS:
        return request(0, "server/discover", {}, revision)
    client = {"name": "bench", "version": "1"}
    params = {"protocolVersion": HANDSHAKE, "capabilities": {}, "clientInfo": client}
    return request(0, "initialize", params, revision)


def list_tools(number: int, revision: Revision) -> bytes:
    return request(number, "tools/list", {}, revision)


def call_echo(number: int, arguments: dict[str, str], revision: Revision) -> bytes:
    return call_tool(number, "echo", arguments, revision)


def call_tool(number: int, name: str, arguments: Mapping[str, Any], revision: Revision) -> bytes:
    return request(number, "tools/call", {"name": name, "arguments": arguments}, revision)


def check_opening(line: bytes, revision: Revision) -> None:
    """Raise unless the server agreed to speak this revision."""
    result = _result(line)
    agreed = (
        revision in result.get("supportedVersions", [])
        if revision == STATELESS
        else result.get("protocolVersion") == revision
    )
    if not agreed:
        raise WrongAnswerError(f"does not speak {revision}: {_shorten(line)}")


def check_tools(line: bytes) -> None:
    """Raise unless the list holds the echo tool."""
    if not any(tool["name"] == "echo" for tool in _result(line).get("tools", [])):
        raise WrongAnswerError(f"no echo tool in {_shorten(line)}")


def check_echo(line: bytes, expected: str) -> int:
    """Raise unless the answer says the expected text; return the id it answers."""
    result = _result(line)
    if result.get("isError") or result["content"][0].get("text") != expected:
        raise WrongAnswerError(f"expected an echo, got {_shorten(line)}")
    return json.loads(line)["id"]


def is_structured(line: bytes) -> bool:
    """Whether the answer carries the text a second time, as structured content."""
    return "structuredContent" in _result(line)


def request(number: int, method: str, params: dict[str, Any], revision: Revision) -> bytes:
    """Any request, with the envelope where the revision has one."""
    if revision == STATELESS:
        params = {**params, "_meta": ENVELOPE}
    message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
    return json.dumps(message, separators=(",", ":"), ensure_ascii=False).encode() + b"\n"


def _result(line: bytes) -> dict[str, Any]:
    message = json.loads(line)
    if "result" not in message:
        raise WrongAnswerError(f"refused: {_shorten(line)}")
    return message["result"]


def _shorten(line: bytes) -> str:
    return line[:200].decode(errors="replace")
