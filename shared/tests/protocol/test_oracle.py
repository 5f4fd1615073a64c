"""The oracle itself: it knows right from wrong where the schemas alone do not."""

from typing import Any

import pytest
from jsonschema import ValidationError as SchemaError
from pydantic import ValidationError

from .oracle import NO_SCHEMAS, check, schemas

WRONG = (AssertionError, KeyError, SchemaError, ValidationError)
TOOLS = {"tools": [{"name": "t", "inputSchema": {"type": "object"}}]}
HINTS = {"ttlMs": 0, "cacheScope": "private"}


def reply(result: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "result": result}


def test_the_official_schemas_are_there() -> None:
    folder = schemas()
    if folder is None:
        pytest.skip(NO_SCHEMAS)
    assert sorted(path.stem for path in folder.glob("*.json")) == [
        "2024-11-05",
        "2025-03-26",
        "2025-06-18",
        "2025-11-25",
        "2026-07-28",
    ]


@pytest.mark.parametrize(
    ("message", "revision", "method"),
    [
        (reply(TOOLS), "2024-11-05", "tools/list"),
        (reply({"resultType": "complete", **HINTS, **TOOLS}), "2026-07-28", "tools/list"),
        (reply({"resultType": "input_required", "requestState": "s"}), "2026-07-28", "tools/call"),
        ({"jsonrpc": "2.0", "error": {"code": -32700, "message": "m"}}, "2024-11-05", None),
        ([reply({}), reply({})], "2025-03-26", "ping"),
        ({"jsonrpc": "2.0", "id": 1, "method": "roots/list"}, "2024-11-05", None),
    ],
)
def test_right_messages_pass(message: Any, revision: str, method: str | None) -> None:
    check(message, revision, method)


@pytest.mark.parametrize(
    ("message", "revision", "method"),
    [
        ({**reply(TOOLS), "id": 1.0}, "2024-11-05", "tools/list"),
        ({**reply(TOOLS), "id": None}, "2024-11-05", "tools/list"),
        ({"id": 1, "result": TOOLS}, "2025-11-25", "tools/list"),
        (reply({}), "2025-11-25", "tools/list"),
        (reply({"resultType": "complete", **TOOLS}), "2026-07-28", "tools/list"),
        (reply({**HINTS, **TOOLS}), "2026-07-28", "tools/list"),
        (reply({"resultType": "other", **HINTS, **TOOLS}), "2026-07-28", "tools/list"),
        (reply({"resultType": "input_required"}), "2026-07-28", "tools/call"),
        (reply({"resultType": "input_required", "requestState": "s"}), "2026-07-28", "tools/list"),
        (reply({"content": [{"type": "audio", "data": "", "mimeType": "a/b"}]}), "2024-11-05", "tools/call"),
        ([reply({})], "2025-06-18", "ping"),
        ([], "2025-03-26", None),
        ({"jsonrpc": "2.0", "id": 1, "error": {"code": -32022, "message": "m"}}, "2026-07-28", None),
        ({"jsonrpc": "2.0", "id": 1, "error": {"code": -32022, "message": "m"}}, "2025-11-25", None),
        ({"jsonrpc": "2.0", "id": 1, "error": {"code": -32042, "message": "m"}}, "2026-07-28", None),
        ({"jsonrpc": "2.0", "id": 1, "method": "roots/list"}, "2026-07-28", None),
        ({"jsonrpc": "2.0", "id": 1, "method": "elicitation/create", "params": {}}, "2025-03-26", None),
        (
            {"jsonrpc": "2.0", "method": "notifications/elicitation/complete", "params": {}},
            "2026-07-28",
            None,
        ),
        ("text", "2026-07-28", None),
    ],
)
def test_wrong_messages_fail(message: Any, revision: str, method: str | None) -> None:
    if schemas() is None:
        pytest.skip(NO_SCHEMAS)
    with pytest.raises(WRONG):
        check(message, revision, method)
