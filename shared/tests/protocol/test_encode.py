"""From the newest shape to that of each revision: one fully populated object of each kind, and what is left of it."""

from copy import deepcopy
from typing import Any

import pytest
from mcp_server_core.errors import MissingCapability
from mcp_server_core.protocol.encode import encode_capabilities, encode_question, encode_result
from mcp_server_core.protocol.messages import Json
from mcp_server_core.protocol.messages import request as ask
from mcp_server_core.protocol.revisions import HANDSHAKE, REVISIONS, Revision

from .oracle import check
from .peer import NEWEST, STAMP, Peer

every_revision = pytest.mark.parametrize("revision", REVISIONS)
HINTS = {"ttlMs": 5, "cacheScope": "public"}


def pick(value: Json, names: str) -> Json:
    """Some members of an object."""
    return {name: value[name] for name in names.split()}


def stamped(revision: Revision, result: Json, *, cached: bool) -> Json:
    """A result with what only the newest revision puts around it (CA-1, CA-12, L-32, L-34)."""
    if revision != NEWEST:
        return result
    return {"resultType": "complete", **(HINTS if cached else {}), **result, "_meta": STAMP}


ICONS = [{"src": "data:image/png;base64,AA==", "mimeType": "image/png", "sizes": ["any"], "theme": "light"}]
NOTES: Json = {"audience": ["user", "assistant"], "priority": 0.5, "lastModified": "2026-01-01T00:00:00Z"}
OLD_NOTES: Json = {"audience": ["user", "assistant"], "priority": 0.5}

# Tools (5.1.1)

TOOL: Json = {
    "name": "find",
    "title": "Find things",
    "description": "Finds things.",
    "inputSchema": {
        "type": "object",
        "properties": {"q": {"type": "string", "description": "what"}},
        "required": ["q"],
    },
    "outputSchema": {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]},
    "annotations": {
        "readOnlyHint": True,
        "destructiveHint": False,
        "idempotentHint": True,
        "openWorldHint": False,
    },
    "icons": ICONS,
    "_meta": {"ui": {"resourceUri": "ui://find"}},
}
TOOLS: dict[Revision, Json] = {
    "2026-07-28": TOOL,
    "2025-11-25": TOOL,
    "2025-06-18": pick(TOOL, "name title description inputSchema outputSchema annotations _meta"),
    # The display name has one place in this revision.
    "2025-03-26": pick(TOOL, "name description inputSchema")
    | {"annotations": {"title": "Find things", **TOOL["annotations"]}},
    "2024-11-05": pick(TOOL, "name description inputSchema"),
}


@every_revision
def test_a_tool_has_the_members_its_revision_knows(revision: Revision) -> None:
    result = Peer(revision).answer("tools/list", {"tools": [TOOL], "nextCursor": "c", **HINTS})
    assert result == stamped(revision, {"tools": [TOOLS[revision]], "nextCursor": "c"}, cached=True)


@every_revision
def test_a_tool_with_nothing_but_what_is_required_is_the_same_everywhere(revision: Revision) -> None:
    tool = {"name": "t", "inputSchema": {"type": "object", "additionalProperties": False}}
    result = Peer(revision).answer("tools/list", {"tools": [tool], **HINTS})
    assert result == stamped(revision, {"tools": [tool]}, cached=True)


def test_a_title_among_the_annotations_is_kept() -> None:
    # 5.1.1: display name order
    tool = {"name": "t", "title": "A", "inputSchema": {"type": "object"}, "annotations": {"title": "B"}}
    [shaped] = encode_result("tools/list", {"tools": [tool]}, "2025-03-26")["tools"]
    assert shaped == {"name": "t", "inputSchema": {"type": "object"}, "annotations": {"title": "B"}}


@pytest.mark.parametrize("revision", HANDSHAKE)
@pytest.mark.parametrize(
    "schema",
    [
        {"type": "array", "items": {}},
        {"type": "string"},
        {"anyOf": [{"type": "object"}]},
        {},
        {"type": ["object"]},
    ],
)
def test_an_output_that_is_not_surely_an_object_has_no_schema_before_2026_07_28(
    revision: Revision, schema: Json
) -> None:
    # T-19
    tool = {"name": "t", "inputSchema": {"type": "object"}, "outputSchema": schema}
    result = Peer(revision).answer("tools/list", {"tools": [tool]})
    assert result == {"tools": [{"name": "t", "inputSchema": {"type": "object"}}]}


@pytest.mark.parametrize("schema", [{"type": "array", "items": {}}, {"type": "string"}, {"anyOf": []}, {}])
def test_an_output_of_any_kind_has_its_schema_in_2026_07_28(schema: Json) -> None:
    # 5.1.1
    tool = {"name": "t", "inputSchema": {"type": "object"}, "outputSchema": schema}
    result = Peer(NEWEST).answer("tools/list", {"tools": [tool], **HINTS})
    assert result == stamped(NEWEST, {"tools": [tool]}, cached=True)


@pytest.mark.parametrize("revision", HANDSHAKE)
def test_header_annotations_are_unknown_before_2026_07_28(revision: Revision) -> None:
    # 5.1.1, F-1: also in nested objects (N-33)
    inner = {"type": "object", "properties": {"b": {"type": "string", "x-mcp-header": "B"}}}
    schema = {"type": "object", "properties": {"a": {"type": "string", "x-mcp-header": "A"}, "o": inner}}
    result = Peer(revision).answer("tools/list", {"tools": [{"name": "t", "inputSchema": schema}]})
    plain = {"type": "object", "properties": {"b": {"type": "string"}}}
    assert result == {
        "tools": [
            {
                "name": "t",
                "inputSchema": {"type": "object", "properties": {"a": {"type": "string"}, "o": plain}},
            }
        ]
    }


def test_a_parameter_that_only_looks_like_a_header_annotation_is_kept() -> None:
    # A property may have any name.
    schema = {"type": "object", "properties": {"x-mcp-header": {"type": "string"}}}
    tools = {"tools": [{"name": "t", "inputSchema": schema}]}
    assert encode_result("tools/list", tools, "2025-11-25") == tools


# Content (5.1.3)

TEXT: Json = {"type": "text", "text": "hi", "annotations": NOTES, "_meta": {"a": 1}}
IMAGE: Json = {
    "type": "image",
    "data": "AA==",
    "mimeType": "image/png",
    "annotations": NOTES,
    "_meta": {"a": 1},
}
AUDIO: Json = {
    "type": "audio",
    "data": "AQ==",
    "mimeType": "audio/wav",
    "annotations": NOTES,
    "_meta": {"a": 1},
}
INNER: Json = {"uri": "note:///a", "mimeType": "text/plain", "text": "t", "_meta": {"b": 1}}
EMBEDDED: Json = {"type": "resource", "resource": INNER, "annotations": NOTES, "_meta": {"a": 1}}
LINK: Json = {
    "type": "resource_link",
    "uri": "note:///b",
    "name": "b",
    "title": "Note B",
    "description": "a note",
    "mimeType": "text/plain",
    "size": 3,
    "annotations": NOTES,
    "_meta": {"a": 1},
}
OLD_TEXT = {"type": "text", "text": "hi", "annotations": OLD_NOTES}
OLD_IMAGE = {"type": "image", "data": "AA==", "mimeType": "image/png", "annotations": OLD_NOTES}
OLD_AUDIO = {"type": "audio", "data": "AQ==", "mimeType": "audio/wav", "annotations": OLD_NOTES}
OLD_EMBEDDED = {"type": "resource", "resource": pick(INNER, "uri mimeType text"), "annotations": OLD_NOTES}
OLD_LINK = {"type": "text", "text": "Note B: note:///b (a note)", "annotations": OLD_NOTES}
OLDEST_AUDIO = {
    "type": "resource",
    "resource": {"uri": "urn:mcp:audio", "mimeType": "audio/wav", "blob": "AQ=="},
    "annotations": OLD_NOTES,
}
BLOCKS = [TEXT, IMAGE, AUDIO, EMBEDDED, LINK]
CONTENT: dict[Revision, list[Json]] = {
    "2026-07-28": BLOCKS,
    "2025-11-25": BLOCKS,
    "2025-06-18": BLOCKS,
    "2025-03-26": [OLD_TEXT, OLD_IMAGE, OLD_AUDIO, OLD_EMBEDDED, OLD_LINK],
    "2024-11-05": [OLD_TEXT, OLD_IMAGE, OLDEST_AUDIO, OLD_EMBEDDED, OLD_LINK],
}


@every_revision
def test_a_result_of_a_tool_has_the_content_its_revision_knows(revision: Revision) -> None:
    # 5.1.1, 5.1.3, CA-12
    called: Json = {"content": BLOCKS, "structuredContent": {"n": 1}, "isError": False}
    expected: Json = {"content": CONTENT[revision], "isError": False}
    if revision >= "2025-06-18":
        expected["structuredContent"] = {"n": 1}
    assert Peer(revision).answer("tools/call", called) == stamped(revision, expected, cached=False)


@every_revision
def test_a_prompt_has_the_content_its_revision_knows(revision: Revision) -> None:
    # 5.4, P-5
    def messages(blocks: list[Json]) -> list[Json]:
        return [{"role": "assistant", "content": block} for block in blocks]

    got = Peer(revision).answer("prompts/get", {"description": "d", "messages": messages(BLOCKS)})
    expected = {"description": "d", "messages": messages(CONTENT[revision])}
    assert got == stamped(revision, expected, cached=False)


@pytest.mark.parametrize("revision", ["2024-11-05", "2025-03-26"])
def test_a_link_with_nothing_but_a_name_becomes_a_text_with_its_uri(revision: Revision) -> None:
    # 5.1.3
    link = {"type": "resource_link", "uri": "a:b", "name": "n"}
    result = Peer(revision).answer("tools/call", {"content": [link]})
    assert result == {"content": [{"type": "text", "text": "n: a:b"}]}


@pytest.mark.parametrize(
    ("revision", "kept"),
    [(revision, revision >= "2025-11-25") for revision in REVISIONS if revision >= "2025-06-18"],
)
def test_a_link_has_icons_since_2025_11_25(revision: Revision, kept: bool) -> None:
    # 5.1.3: the fields of a Resource; 5.2: icons since 2025-11-25
    link = {"type": "resource_link", "uri": "a:b", "name": "n"}
    result = Peer(revision).answer("tools/call", {"content": [{**link, "icons": ICONS}]})
    expected = {"content": [{**link, "icons": ICONS} if kept else link]}
    assert result == stamped(revision, expected, cached=False)


@every_revision
@pytest.mark.parametrize("value", [[1], "text", 7, 0.5, True, None])
def test_structured_content_that_is_no_object_exists_only_in_2026_07_28(
    revision: Revision, value: Any
) -> None:
    # T-19, 5.1.1
    text = {"content": [{"type": "text", "text": "v"}]}
    expected = {**text, "structuredContent": value} if revision == NEWEST else text
    result = Peer(revision).answer("tools/call", {**text, "structuredContent": value})
    assert result == stamped(revision, expected, cached=False)


# Resources (5.2)

RESOURCE: Json = {
    "uri": "note:///a",
    "name": "a",
    "title": "Note A",
    "description": "the first",
    "mimeType": "text/plain",
    "size": 12,
    "annotations": NOTES,
    "icons": ICONS,
    "_meta": {"a": 1},
}
TEMPLATE: Json = {
    "uriTemplate": "note:///{name}",
    "name": "note",
    "title": "Note",
    "description": "any note",
    "mimeType": "text/plain",
    "annotations": NOTES,
    "icons": ICONS,
    "_meta": {"a": 1},
}


def old(definition: Json, revision: Revision) -> Json:
    """A resource or template as 5.2 has it."""
    if revision >= "2025-11-25":
        return definition
    if revision == "2025-06-18":
        return {name: value for name, value in definition.items() if name != "icons"}
    kept = {name: value for name, value in definition.items() if name not in ("icons", "title", "_meta")}
    return {**kept, "annotations": OLD_NOTES}


@every_revision
def test_a_resource_has_the_members_its_revision_knows(revision: Revision) -> None:
    result = Peer(revision).answer("resources/list", {"resources": [RESOURCE], **HINTS})
    assert result == stamped(revision, {"resources": [old(RESOURCE, revision)]}, cached=True)


@every_revision
def test_a_resource_template_has_the_members_its_revision_knows(revision: Revision) -> None:
    result = Peer(revision).answer("resources/templates/list", {"resourceTemplates": [TEMPLATE], **HINTS})
    assert result == stamped(revision, {"resourceTemplates": [old(TEMPLATE, revision)]}, cached=True)


@every_revision
def test_contents_of_a_resource_have_the_members_their_revision_knows(revision: Revision) -> None:
    blob = {"uri": "note:///b", "mimeType": "image/png", "blob": "AA==", "_meta": {"b": 1}}
    result = Peer(revision).answer("resources/read", {"contents": [INNER, blob], **HINTS})
    expected = [INNER, blob]
    if revision < "2025-06-18":
        expected = [pick(INNER, "uri mimeType text"), pick(blob, "uri mimeType blob")]
    assert result == stamped(revision, {"contents": expected}, cached=True)


# Prompts (5.4)

PROMPT: Json = {
    "name": "review",
    "title": "Review",
    "description": "asks for a review",
    "arguments": [{"name": "x", "title": "X", "description": "the x", "required": True}, {"name": "y"}],
    "icons": ICONS,
    "_meta": {"a": 1},
}
OLD_ARGUMENTS = [{"name": "x", "description": "the x", "required": True}, {"name": "y"}]
PROMPTS: dict[Revision, Json] = {
    "2026-07-28": PROMPT,
    "2025-11-25": PROMPT,
    "2025-06-18": pick(PROMPT, "name title description arguments _meta"),
    "2025-03-26": pick(PROMPT, "name description") | {"arguments": OLD_ARGUMENTS},
    "2024-11-05": pick(PROMPT, "name description") | {"arguments": OLD_ARGUMENTS},
}


@every_revision
def test_a_prompt_has_the_members_its_revision_knows(revision: Revision) -> None:
    result = Peer(revision).answer("prompts/list", {"prompts": [PROMPT], **HINTS})
    assert result == stamped(revision, {"prompts": [PROMPTS[revision]]}, cached=True)


# Results in general


@every_revision
def test_a_completion_is_the_same_in_every_revision(revision: Revision) -> None:
    # C-4
    completion = {"completion": {"values": ["a", "b"], "total": 5, "hasMore": True}}
    assert Peer(revision).answer("completion/complete", completion) == stamped(
        revision, completion, cached=False
    )


@pytest.mark.parametrize("revision", HANDSHAKE)
@pytest.mark.parametrize(
    ("method", "result"),
    [
        ("tools/list", {"tools": []}),
        ("tools/call", {"content": []}),
        ("resources/list", {"resources": []}),
        ("resources/templates/list", {"resourceTemplates": []}),
        ("resources/read", {"contents": []}),
        ("resources/subscribe", {}),
        ("resources/unsubscribe", {}),
        ("prompts/list", {"prompts": []}),
        ("prompts/get", {"messages": []}),
        ("completion/complete", {"completion": {"values": []}}),
    ],
)
def test_no_stamp_of_the_stateless_era_is_on_a_result_before_it(
    revision: Revision, method: str, result: Json
) -> None:
    # CA-12
    given = {"resultType": "complete", **HINTS, **result}
    assert Peer(revision).answer(method, given) == result


@pytest.mark.parametrize("revision", HANDSHAKE)
def test_meta_of_a_result_is_known_to_every_revision(revision: Revision) -> None:
    # J-13
    result = {"content": [], "_meta": {"com.example/a": 1}}
    assert Peer(revision).answer("tools/call", result) == result


@pytest.mark.parametrize(
    ("revision", "names"),
    [
        ("2024-11-05", "experimental logging prompts resources tools"),
        ("2025-03-26", "experimental logging prompts resources tools completions"),
        ("2025-06-18", "experimental logging prompts resources tools completions"),
        ("2025-11-25", "experimental logging prompts resources tools completions"),
        ("2026-07-28", "experimental logging prompts resources tools completions extensions"),
    ],
)
def test_capabilities_have_the_members_their_revision_knows(revision: Revision, names: str) -> None:
    # 1.2
    capabilities: Json = {
        "experimental": {"x": {}},
        "logging": {},
        "prompts": {"listChanged": True},
        "resources": {"subscribe": True, "listChanged": True},
        "tools": {"listChanged": True},
        "completions": {},
        "extensions": {"io.modelcontextprotocol/ui": {}},
    }
    assert encode_capabilities(capabilities, revision) == pick(capabilities, names)


@every_revision
@pytest.mark.parametrize(
    ("method", "result"),
    [
        ("tools/list", {"tools": [TOOL], **HINTS}),
        ("tools/call", {"content": BLOCKS, "structuredContent": [1], "resultType": "complete"}),
        ("resources/list", {"resources": [RESOURCE], **HINTS}),
        ("resources/templates/list", {"resourceTemplates": [TEMPLATE], **HINTS}),
        ("resources/read", {"contents": [INNER], **HINTS}),
        ("prompts/list", {"prompts": [PROMPT], **HINTS}),
        ("prompts/get", {"messages": [{"role": "user", "content": block} for block in BLOCKS]}),
    ],
)
def test_encoding_never_changes_what_it_is_given(revision: Revision, method: str, result: Json) -> None:
    # F-2: definitions are registered once
    before = deepcopy(result)
    Peer(revision).answer(method, result)
    assert result == before


# Questions (6.2, 6.3)

FORM: Json = {
    "mode": "form",
    "message": "Fill in",
    "requestedSchema": {
        "type": "object",
        "properties": {
            "name": {"type": "string", "title": "Name", "minLength": 1, "maxLength": 9, "default": "me"},
            "mail": {"type": "string", "format": "email", "description": "where"},
            "age": {"type": "integer", "minimum": 0, "maximum": 9, "default": 1},
            "sure": {"type": "boolean", "default": True},
            "size": {"type": "string", "enum": ["s", "m"], "default": "s"},
            "hue": {
                "type": "string",
                "oneOf": [{"const": "r", "title": "Red"}, {"const": "b", "title": "Blue"}],
            },
        },
        "required": ["name"],
    },
}
OLD_FORM: Json = {
    "message": "Fill in",
    "requestedSchema": {
        "type": "object",
        "properties": {
            "name": {"type": "string", "title": "Name", "minLength": 1, "maxLength": 9},
            "mail": {"type": "string", "format": "email", "description": "where"},
            "age": {"type": "integer", "minimum": 0, "maximum": 9},
            "sure": {"type": "boolean", "default": True},
            "size": {"type": "string", "enum": ["s", "m"]},
            "hue": {"type": "string", "enum": ["r", "b"], "enumNames": ["Red", "Blue"]},
        },
        "required": ["name"],
    },
}


@pytest.mark.parametrize(("revision", "expected"), [("2025-06-18", OLD_FORM), ("2025-11-25", FORM)])
def test_a_form_has_the_members_its_revision_knows(revision: Revision, expected: Json) -> None:
    # 6.3
    params = encode_question("elicitation/create", FORM, revision)
    check(ask(1, "elicitation/create", params), revision)
    assert params == expected


@pytest.mark.parametrize("revision", ["2024-11-05", "2025-03-26"])
def test_a_form_is_not_asked_of_a_revision_without_elicitation(revision: Revision) -> None:
    # 1.1, L-11: whatever such a client declared
    with pytest.raises(MissingCapability):
        encode_question("elicitation/create", FORM, revision)


@pytest.mark.parametrize("revision", ["2024-11-05", "2025-03-26", "2025-06-18"])
def test_a_page_is_not_opened_in_a_revision_that_has_only_forms(revision: Revision) -> None:
    # 6.3, L-11: whatever such a client declared
    with pytest.raises(MissingCapability):
        encode_question("elicitation/create", {"mode": "url", "message": "m", "url": "https://x/"}, revision)


def test_a_choice_of_several_is_not_asked_of_2025_06_18() -> None:
    # 6.3
    field = {"type": "array", "items": {"type": "string", "enum": ["a"]}}
    form = {"message": "m", "requestedSchema": {"type": "object", "properties": {"x": field}}}
    with pytest.raises(MissingCapability):
        encode_question("elicitation/create", form, "2025-06-18")


SOUND = {"type": "audio", "data": "AA==", "mimeType": "audio/wav"}
WORDS = {"type": "text", "text": "hi"}
OLDEST_SOUND = {"type": "text", "text": "[audio, audio/wav]"}


def sampling(*contents: Any) -> Json:
    return {"messages": [{"role": "user", "content": content} for content in contents], "maxTokens": 5}


@pytest.mark.parametrize(
    ("revision", "given", "expected"),
    [
        *((revision, sampling(WORDS), sampling(WORDS)) for revision in HANDSHAKE),
        ("2025-11-25", sampling([WORDS, SOUND]), sampling([WORDS, SOUND])),
        ("2025-06-18", sampling([WORDS], SOUND), sampling(WORDS, SOUND)),
        ("2025-03-26", sampling([SOUND]), sampling(SOUND)),
        ("2024-11-05", sampling(WORDS, SOUND, [SOUND]), sampling(WORDS, OLDEST_SOUND, OLDEST_SOUND)),
    ],
)
def test_a_message_to_sample_has_the_content_its_revision_knows(
    revision: Revision, given: Json, expected: Json
) -> None:
    # 6.2
    params = encode_question("sampling/createMessage", given, revision)
    check(ask(1, "sampling/createMessage", params), revision)
    assert params == expected


@pytest.mark.parametrize("revision", ["2024-11-05", "2025-03-26", "2025-06-18"])
def test_a_message_of_several_blocks_becomes_several_messages_before_2025_11_25(revision: Revision) -> None:
    # 6.2: `content` is one block there
    more = {"type": "text", "text": "more"}
    params = encode_question("sampling/createMessage", sampling([WORDS, more]), revision)
    check(ask(1, "sampling/createMessage", params), revision)
    assert params == sampling(WORDS, more)


@pytest.mark.parametrize("revision", HANDSHAKE)
def test_roots_are_asked_for_without_params(revision: Revision) -> None:
    # RO-2
    check(ask(1, "roots/list"), revision)


@pytest.mark.parametrize("revision", ["2025-06-18", "2025-11-25"])
def test_encoding_a_question_never_changes_it(revision: Revision) -> None:
    before = deepcopy(FORM)
    encode_question("elicitation/create", FORM, revision)
    assert before == FORM
