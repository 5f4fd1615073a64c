"""What the rest of the world says about a message of ours.

Two judges that share no code with us: the official JSON schema of the revision, and the official `mcp-types`
package. The schemas are looked for in the folder `MCP_SCHEMAS` names, else in `shared/spec/schemas` beside the
repository; where there are none, `mcp-types` judges alone. Known gaps and quirks of the schemas are made up
for here, as their README lists them.
"""

import json
import os
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

from jsonschema import Draft7Validator, Draft202012Validator
from mcp_types import methods
from mcp_types.jsonrpc import jsonrpc_message_adapter

Json: TypeAlias = dict[str, Any]

STATELESS = "2026-07-28"
BATCHES = "2025-03-26"
NO_SCHEMAS = "the official schemas are not here: set MCP_SCHEMAS, or put them into ../shared/spec/schemas"

_RESULTS = {
    "initialize": "InitializeResult",
    "server/discover": "DiscoverResult",
    "subscriptions/listen": "SubscriptionsListenResult",
    "ping": "EmptyResult",
    "logging/setLevel": "EmptyResult",
    "resources/subscribe": "EmptyResult",
    "resources/unsubscribe": "EmptyResult",
    "tools/list": "ListToolsResult",
    "tools/call": "CallToolResult",
    "resources/list": "ListResourcesResult",
    "resources/templates/list": "ListResourceTemplatesResult",
    "resources/read": "ReadResourceResult",
    "prompts/list": "ListPromptsResult",
    "prompts/get": "GetPromptResult",
    "completion/complete": "CompleteResult",
}
_NOTIFICATIONS = {
    "notifications/cancelled": "CancelledNotification",
    "notifications/message": "LoggingMessageNotification",
    "notifications/progress": "ProgressNotification",
    "notifications/prompts/list_changed": "PromptListChangedNotification",
    "notifications/resources/list_changed": "ResourceListChangedNotification",
    "notifications/resources/updated": "ResourceUpdatedNotification",
    "notifications/tools/list_changed": "ToolListChangedNotification",
    "notifications/subscriptions/acknowledged": "SubscriptionsAcknowledgedNotification",
    "notifications/elicitation/complete": "ElicitationCompleteNotification",
}
_REQUESTS = {
    "ping": "PingRequest",
    "roots/list": "ListRootsRequest",
    "sampling/createMessage": "CreateMessageRequest",
    "elicitation/create": "ElicitRequest",
}
# Errors that have a definition of their own, by code; each exists only in some revisions.
_ERRORS = {
    -32020: "HeaderMismatchError",
    -32021: "MissingRequiredClientCapabilityError",
    -32022: "UnsupportedProtocolVersionError",
    -32042: "URLElicitationRequiredError",
}
_MAY_ASK = ("tools/call", "prompts/get", "resources/read")


def check(message: Any, revision: str, method: str | None = None) -> None:
    """Fail unless `message`, sent by a server, is right at `revision`.

    `method` is the one a response answers; without it only the envelope of a result can be judged.
    """
    if isinstance(message, list):
        assert revision == BATCHES, f"{revision} has no batches"
        assert message, "a batch is not empty"
        for item in message:
            check(item, revision, method)
        return
    assert isinstance(message, dict), f"not a message: {message!r}"
    if "id" in message:
        # JSON Schema takes 1.0 for an integer; J-2 does not.
        assert type(message["id"]) in (str, int), f"not an id: {message['id']!r}"
    if "method" in message:
        _check_call(message, revision)
    elif "error" in message:
        _check_error(message, revision)
    else:
        _check_envelope(message, revision, "JSONRPCResultResponse", "JSONRPCResponse")
        if method is not None:
            check_result(message["result"], revision, method)


def check_result(result: Json, revision: str, method: str) -> None:
    """Fail unless `result` answers `method` rightly at `revision`."""
    name = _RESULTS[method]
    if revision == STATELESS:
        kind = result["resultType"]
        assert kind in ("complete", "input_required"), f"unknown resultType {kind!r}"
        if kind == "input_required":
            # The schema lets it through anywhere, and empty (MR-1, MR-2).
            assert method in _MAY_ASK, f"{method} may not ask"
            assert "inputRequests" in result or "requestState" in result, "asks for nothing"
            name = "InputRequiredResult"
    _validate(result, revision, name)
    methods.parse_server_result(method, revision, result)


def schemas() -> Path | None:
    """The folder with the official schemas, if there is one."""
    named = os.environ.get("MCP_SCHEMAS")
    if named:
        return Path(named)
    for folder in Path(__file__).resolve().parents:
        if (folder / "uv.lock").exists():
            found = folder.parent / "shared" / "spec" / "schemas"
            return found if found.is_dir() else None
    return None


def _check_call(message: Json, revision: str) -> None:
    method, params = message["method"], message.get("params")
    if "id" in message:
        _check_envelope(message, revision, "JSONRPCRequest", "JSONRPCRequest")
        methods.parse_server_request(method, revision, params)  # KeyError: not a request of this revision
        _validate(message, revision, _REQUESTS[method])
    else:
        _check_envelope(message, revision, "JSONRPCNotification", "JSONRPCNotification")
        methods.parse_server_notification(method, revision, params)
        _validate(message, revision, _NOTIFICATIONS[method])


def _check_error(message: Json, revision: str) -> None:
    # J-8: without an id where none could be read; three schemas and mcp-types know no such error.
    whole = message if "id" in message else {**message, "id": 0}
    _check_envelope(whole, revision, "JSONRPCErrorResponse", "JSONRPCError")
    name = _ERRORS.get(message["error"]["code"])
    if name is not None:
        assert _knows(revision, name), f"{revision} has no error {message['error']['code']}"
        _validate(whole, revision, name)


def _check_envelope(message: Json, revision: str, new: str, old: str) -> None:
    jsonrpc_message_adapter.validate_python(message)
    _validate(message, revision, new if revision >= "2025-11-25" else old)


def _knows(revision: str, name: str) -> bool:
    schema = _load(revision)
    return schema is None or name in schema[_container(schema)]


def _validate(value: Any, revision: str, name: str) -> None:
    validator = _validator(revision, name)
    if validator is not None:
        validator.validate(value)


@cache
def _validator(revision: str, name: str) -> Any:
    schema = _load(revision)
    if schema is None:
        return None
    container = _container(schema)
    kind = Draft202012Validator if container == "$defs" else Draft7Validator
    definitions = schema[container]
    assert name in definitions, f"{revision} has no {name}"
    if "JSONValue" in definitions:
        definitions = {**definitions, "JSONValue": {}}  # generated without null and fractions
    return kind({"$ref": f"#/{container}/{name}", container: definitions})


def _container(schema: Json) -> str:
    return "$defs" if "$defs" in schema else "definitions"


@cache
def _load(revision: str) -> Json | None:
    folder = schemas()
    return None if folder is None else json.loads((folder / f"{revision}.json").read_text("utf-8"))
