"""From the newest shape to the shape of one handshake revision.

Everything is registered and answered in the shape of 2026-07-28 (F-2). These functions take away what an
older revision does not know, and put something it does know in the place of new kinds of content (F-1).
They never change their arguments.
"""

from collections.abc import Callable, Iterable
from typing import Any

from ..errors import MissingCapability
from .codec import Spliced
from .messages import Json
from .revisions import Revision, at_least

_STAMPS = ("resultType", "ttlMs", "cacheScope")

# First revision that knows a member; members not named here are in all of them.
_SINCE: dict[str, dict[str, Revision]] = {
    "implementation": {
        "title": "2025-06-18",
        "description": "2025-11-25",
        "websiteUrl": "2025-11-25",
        "icons": "2025-11-25",
    },
    "capabilities": {"completions": "2025-03-26", "extensions": "2026-07-28"},
    "tool": {
        "annotations": "2025-03-26",
        "title": "2025-06-18",
        "outputSchema": "2025-06-18",
        "_meta": "2025-06-18",
        "icons": "2025-11-25",
    },
    "resource": {"title": "2025-06-18", "_meta": "2025-06-18", "icons": "2025-11-25"},
    "prompt": {"title": "2025-06-18", "_meta": "2025-06-18", "icons": "2025-11-25"},
    "link": {"icons": "2025-11-25"},
    "argument": {"title": "2025-06-18"},
    "block": {"_meta": "2025-06-18"},
    "annotations": {"lastModified": "2025-06-18"},
}


def _keep(kind: str, value: Json, revision: Revision) -> Json:
    """The members of an object that a revision knows."""
    since = _SINCE[kind]
    return {key: item for key, item in value.items() if key not in since or at_least(revision, since[key])}


def encode_implementation(info: Json, revision: Revision) -> Json:
    """A serverInfo or clientInfo (1.4)."""
    return _keep("implementation", info, revision)


def encode_capabilities(capabilities: Json, revision: Revision) -> Json:
    """A server's capabilities (1.2)."""
    return _keep("capabilities", capabilities, revision)


def encode_result(method: str, result: Json, revision: Revision) -> Json:
    """The result of a method, for a handshake revision."""
    encoder = _RESULTS.get(method)
    shaped = result if encoder is None else encoder(result, revision)
    if any(stamp in shaped for stamp in _STAMPS):
        return {key: item for key, item in shaped.items() if key not in _STAMPS}
    return shaped


def encode_tool(tool: Json, revision: Revision) -> Json:
    """A tool definition (5.1.1)."""
    shaped = _keep("tool", tool, revision)
    shaped["inputSchema"] = _without_headers(shaped["inputSchema"])
    output = shaped.get("outputSchema")
    if output is not None and output.get("type") != "object":
        del shaped["outputSchema"]  # T-19: before 2026-07-28 structured content is an object
    if revision == "2025-03-26" and "title" in tool:
        # The one place where this revision has a display name.
        shaped["annotations"] = {"title": tool["title"], **shaped.get("annotations", {})}
    return shaped


def _without_headers(schema: Json) -> Json:
    """An input schema without `x-mcp-header`, which can stand only below `properties` (N-30, N-33)."""
    shaped = {key: item for key, item in schema.items() if key != "x-mcp-header"}
    if isinstance(shaped.get("properties"), dict):
        shaped["properties"] = {
            name: _without_headers(item) if isinstance(item, dict) else item
            for name, item in shaped["properties"].items()
        }
    return shaped


def encode_block(block: Json, revision: Revision) -> Json:
    """One block of content; kinds the revision does not know become kinds it does (5.1.3)."""
    if at_least(revision, "2025-06-18"):
        return _keep("link", block, revision) if block["type"] == "resource_link" else block
    if block["type"] == "resource_link":
        label = block.get("title") or block["name"]
        text = f"{label}: {block['uri']}"
        if block.get("description"):
            text += f" ({block['description']})"
        block = {"type": "text", "text": text, **_only(block, ("annotations",))}
    elif block["type"] == "audio" and revision == "2024-11-05":
        contents = {"uri": "urn:mcp:audio", "mimeType": block["mimeType"], "blob": block["data"]}
        block = {"type": "resource", "resource": contents, **_only(block, ("annotations",))}
    shaped = _keep("block", block, revision)
    if "annotations" in shaped:
        shaped["annotations"] = _keep("annotations", shaped["annotations"], revision)
    if shaped["type"] == "resource":
        shaped["resource"] = _keep("block", shaped["resource"], revision)
    return shaped


def _only(value: Json, names: Iterable[str]) -> Json:
    return {name: value[name] for name in names if name in value}


def _tools_list(result: Json, revision: Revision) -> Json:
    return {**result, "tools": [encode_tool(tool, revision) for tool in result["tools"]]}


def _tools_call(result: Json, revision: Revision) -> Json:
    structured = result.get("structuredContent")
    known = isinstance(structured, dict | Spliced) and at_least(revision, "2025-06-18")  # T-19
    if at_least(revision, "2025-11-25") and (known or "structuredContent" not in result):
        return result
    shaped = {key: item for key, item in result.items() if known or key != "structuredContent"}
    shaped["content"] = [encode_block(block, revision) for block in result["content"]]
    return shaped


def _encode_resource(value: Json, revision: Revision) -> Json:
    shaped = _keep("resource", value, revision)
    if "annotations" in shaped:
        shaped["annotations"] = _keep("annotations", shaped["annotations"], revision)
    return shaped


def _resources_list(result: Json, revision: Revision) -> Json:
    return {**result, "resources": [_encode_resource(item, revision) for item in result["resources"]]}


def _templates_list(result: Json, revision: Revision) -> Json:
    items = [_encode_resource(item, revision) for item in result["resourceTemplates"]]
    return {**result, "resourceTemplates": items}


def _resources_read(result: Json, revision: Revision) -> Json:
    return {**result, "contents": [_keep("block", item, revision) for item in result["contents"]]}


def _encode_prompt(prompt: Json, revision: Revision) -> Json:
    shaped = _keep("prompt", prompt, revision)
    if "arguments" in shaped:
        shaped["arguments"] = [_keep("argument", item, revision) for item in shaped["arguments"]]
    return shaped


def _prompts_list(result: Json, revision: Revision) -> Json:
    return {**result, "prompts": [_encode_prompt(prompt, revision) for prompt in result["prompts"]]}


def _prompts_get(result: Json, revision: Revision) -> Json:
    messages = [{**item, "content": encode_block(item["content"], revision)} for item in result["messages"]]
    return {**result, "messages": messages}


_RESULTS: dict[str, Callable[[Json, Revision], Json]] = {
    "tools/list": _tools_list,
    "tools/call": _tools_call,
    "resources/list": _resources_list,
    "resources/templates/list": _templates_list,
    "resources/read": _resources_read,
    "prompts/list": _prompts_list,
    "prompts/get": _prompts_get,
}


def encode_question(method: str, params: Json, revision: Revision) -> Json:
    """The params of a question to the client, for one revision (6.2, 6.3)."""
    if method == "elicitation/create" and not at_least(revision, "2025-06-18"):
        raise MissingCapability({"elicitation": {}})
    if method == "elicitation/create" and revision == "2025-06-18":
        if params.get("mode") == "url":
            raise MissingCapability({"elicitation": {"url": {}}})
        schema = params["requestedSchema"]
        properties = {name: _plain_field(field) for name, field in schema["properties"].items()}
        return {"message": params["message"], "requestedSchema": {**schema, "properties": properties}}
    if method == "sampling/createMessage":
        messages = [shaped for item in params["messages"] for shaped in _sampling_messages(item, revision)]
        return {**params, "messages": messages}
    return params


def _plain_field(field: Json) -> Json:
    """A form field as 2025-06-18 knows it: no defaults but for booleans, titles of choices in `enumNames`."""
    if field.get("type") == "array":
        raise MissingCapability({"elicitation": {"form": {}}})  # choosing several came later
    shaped = {key: item for key, item in field.items() if key not in ("default", "oneOf")}
    if field.get("type") == "boolean" and "default" in field:
        shaped["default"] = field["default"]
    if "oneOf" in field:
        shaped["enum"] = [choice["const"] for choice in field["oneOf"]]
        shaped["enumNames"] = [choice["title"] for choice in field["oneOf"]]
    return shaped


def _sampling_messages(message: Json, revision: Revision) -> list[Json]:
    """A message as the revision knows it; before 2025-11-25 each holds one block."""
    if at_least(revision, "2025-11-25"):
        return [message]
    content: Any = message["content"]
    blocks: list[Any] = content if isinstance(content, list) else [content]
    return [{**message, "content": _sampling_block(block, revision)} for block in blocks]


def _sampling_block(block: Json, revision: Revision) -> Json:
    if block["type"] == "audio" and revision == "2024-11-05":
        return {"type": "text", "text": f"[audio, {block['mimeType']}]"}
    return block
