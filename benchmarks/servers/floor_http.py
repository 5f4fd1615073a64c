"""The least this job can cost over HTTP in Python: JSON read and written, nothing checked, no session kept."""

import json
import socket
import sys
from collections.abc import Awaitable, Callable
from typing import Any

import uvicorn

ECHO = {"name": "echo", "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}}}
RESULTS = {
    "initialize": {
        "protocolVersion": "2025-11-25",
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "floor", "version": "1"},
    },
    "server/discover": {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}},
    "tools/list": {"tools": [ECHO]},
}
ACCEPTED = {"type": "http.response.start", "status": 202, "headers": [(b"content-length", b"0")]}


async def app(
    scope: dict[str, Any],
    receive: Callable[[], Awaitable[dict[str, Any]]],
    send: Callable[[dict[str, Any]], Awaitable[None]],
) -> None:
    request = json.loads((await receive())["body"])
    if "id" not in request:
        await send(ACCEPTED)
        await send({"type": "http.response.body"})
        return
    result = RESULTS.get(request["method"])
    if result is None:
        result = {"content": [{"type": "text", "text": request["params"]["arguments"]["text"]}]}
    answer = {"jsonrpc": "2.0", "id": request["id"], "result": {"resultType": "complete", **result}}
    body = json.dumps(answer, separators=(",", ":")).encode()
    head = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))]
    await send({"type": "http.response.start", "status": 200, "headers": head})
    await send({"type": "http.response.body", "body": body})


if __name__ == "__main__":
    listening = socket.create_server(("127.0.0.1", 0))
    print(f"http://127.0.0.1:{listening.getsockname()[1]}/mcp", file=sys.stderr, flush=True)
    config = uvicorn.Config(app, http="httptools", loop="uvloop", lifespan="off", log_level="error")
    uvicorn.Server(config).run([listening])
