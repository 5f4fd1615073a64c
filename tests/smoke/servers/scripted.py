"""A server of the handshake era without our core, well-behaved or not: `scripted.py WAY DIARY`

It names itself after its process, and writes down what it meets.
"""

import json
import os
import select
import signal
import sys
from pathlib import Path
from typing import Any

WAY, DIARY = sys.argv[1], Path(sys.argv[2])
RUBBISH = [
    "Listening on stdio...",
    "",
    "\x1b[32mINFO\x1b[0m ready",
    "{",
    "[]",
    "[[]]",
    "7",
    "null",
    '"text"',
    "{}",
    '{"jsonrpc": "2.0"}',
    '{"jsonrpc": "2.0", "id": 12345, "result": {}}',
    '{"jsonrpc": "2.0", "id": null, "error": {"code": 1, "message": "x"}}',
    '{"jsonrpc": "2.0", "id": [], "result": {}}',
    '{"jsonrpc": "2.0", "result": {}}',
    '{"jsonrpc": "2.0", "method": 7}',
    '{"jsonrpc": "2.0", "method": "notifications/unheard-of", "params": {"a": 1}}',
    '{"jsonrpc": "2.0", "method": "notifications/progress"}',
    '{"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": []}}',
    '{"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": {}, "progress": "x"}}',
    '{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": {}}}',
    '{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {}}',
    '{"jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged", "params":'
    ' {"_meta": {"io.modelcontextprotocol/subscriptionId": []}}}',
    '{"jsonrpc": "2.0", "method": "notifications/resources/updated", "params": {"uri": []}}',
    '{"jsonrpc": "2.0", "method": "notifications/resources/updated", "params":'
    ' {"uri": "a:b", "_meta": {"io.modelcontextprotocol/subscriptionId": {}}}}',
    '{"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": {}, "data": null}}',
    '{"jsonrpc": "2.0", "id": "unasked", "method": "no/such/method"}',
    '{"jsonrpc": "2.0", "id": "unasked", "method": "roots/list", "params": []}',
]


def note(line: str) -> None:
    """Write one line down at once."""
    with DIARY.open("a") as file:
        file.write(line + "\n")


def send(message: dict[str, Any]) -> None:
    """Write a message."""
    say(json.dumps({"jsonrpc": "2.0", **message}))


def say(line: str) -> None:
    """Write a line."""
    sys.stdout.buffer.write(line.encode("utf-8") + b"\n")
    sys.stdout.buffer.flush()


def answer(method: str, params: dict[str, Any]) -> dict[str, Any] | None:
    """The result of a request, or None where there is no such method."""
    match method:
        case "initialize":
            return {
                "protocolVersion": params["protocolVersion"],
                "capabilities": {"tools": {}},
                "serverInfo": {"name": str(os.getpid()), "version": "1"},
            }
        case "ping":
            return {}
        case "tools/call":
            text = params["arguments"].get("text", "x" * params["arguments"].get("size", 0))
            return {"content": [{"type": "text", "text": text}]}
        case _:
            return None


def serve() -> None:
    """Answer until the input ends."""
    for line in sys.stdin.buffer:
        message = json.loads(line)
        method = message.get("method")
        if method is None:
            note(f"answered {message['id']}")
            continue
        note(method)
        if WAY == "dies of a probe" and method == "server/discover":
            sys.exit(1)
        if WAY == "dies at once":
            sys.exit(1)
        if WAY == "dies of a call" and method == "tools/call":
            os.kill(os.getpid(), signal.SIGKILL)
        if WAY == "silent" or (WAY == "silent to calls" and method == "tools/call"):
            continue
        if WAY == "stops reading" and method == "notifications/initialized":
            wait_for_client_to_go()
        if WAY == "closes its input" and method == "tools/call":
            os.close(0)
            send({"id": "question", "method": "roots/list"})
            wait_for_client_to_go()
        if "id" not in message:
            continue
        if WAY == "rubbish":
            for rubbish in RUBBISH:
                say(rubbish)
            sys.stdout.buffer.write(b"\xff\xfe\n" + b"[" * 100_000 + b"\n")
        result = answer(method, message.get("params", {}))
        if result is None:
            send({"id": message["id"], "error": {"code": -32601, "message": "no such method"}})
        else:
            send({"id": message["id"], "result": result})


def wait_for_client_to_go() -> None:
    """Wait until nobody reads our output any more, then leave."""
    poll = select.poll()
    poll.register(1, 0)
    poll.poll()
    sys.stdout = None
    os._exit(0)


def terminated(*_: object) -> None:
    note("SIGTERM")
    if WAY == "ignores its end":
        os._exit(0)


note("started")
if WAY in ("ignores its end", "ignores everything"):
    signal.signal(signal.SIGTERM, terminated)
serve()
note("end of input")
while WAY in ("ignores its end", "ignores everything"):
    signal.pause()
