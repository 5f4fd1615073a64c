"""The least this job can cost in Python: a bare loop over stdin and stdout, with nothing checked."""

import json
import sys

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

for line in sys.stdin.buffer:
    request = json.loads(line)
    if "id" not in request:
        continue
    result = RESULTS.get(request["method"])
    if result is None:
        result = {"content": [{"type": "text", "text": request["params"]["arguments"]["text"]}]}
    answer = {"jsonrpc": "2.0", "id": request["id"], "result": {"resultType": "complete", **result}}
    sys.stdout.buffer.write(json.dumps(answer, separators=(",", ":")).encode() + b"\n")
    sys.stdout.buffer.flush()
