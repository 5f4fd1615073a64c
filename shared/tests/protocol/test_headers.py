"""Values in headers, and the annotations that say which arguments go there (4.3.4)."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp_server_core.protocol.headers import (
    HeaderParam,
    decode_value,
    encode_value,
    header_params,
    text_of,
    value_at,
)
from mcp_server_core.protocol.messages import Json

VECTORS = {
    "us-west1": "us-west1",
    "us west 1": "us west 1",
    " us-west1": "=?base64?IHVzLXdlc3Qx?=",
    "us-west1 ": "=?base64?dXMtd2VzdDEg?=",
    "\tx": "=?base64?CXg=?=",
    "日本語": "=?base64?5pel5pys6Kqe?=",
    "line1\nline2": "=?base64?bGluZTEKbGluZTI=?=",
    "=?base64?literal?=": "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?=",
    "": "",
}


@pytest.mark.parametrize(("text", "value"), VECTORS.items())
def test_a_text_is_written_as_the_specification_shows(text: str, value: str) -> None:
    assert encode_value(text) == value


@pytest.mark.parametrize(("text", "value"), VECTORS.items())
def test_a_value_is_read_as_the_specification_shows(text: str, value: str) -> None:
    assert decode_value(value) == text


@pytest.mark.parametrize(
    "value", ["=?BASE64?SGVsbG8=?=", "=?base64?SGVsbG8=", "SGVsbG8=?=", "=?base64?=", "SGVsbG8="]
)
def test_what_lacks_the_exact_marks_is_literal(value: str) -> None:
    assert decode_value(value) == value


@pytest.mark.parametrize(
    "value", ["=?base64?SGVsbG8?=", "=?base64?SGVs*bG8=?=", "=?base64?/w==?=", "a\x00b", "caf\xe9", "a\tb"]
)
def test_what_cannot_be_read_is_refused(value: str) -> None:
    with pytest.raises(ValueError):
        decode_value(value)


@given(st.text(st.characters(codec="utf-8")))
def test_every_text_comes_back(text: str) -> None:
    assert decode_value(encode_value(text)) == text


@given(st.text())
def test_every_text_fits_a_header(text: str) -> None:
    value = encode_value(text)
    assert value.isascii()
    assert value.isprintable()
    assert value == value.strip()


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("a", "a"),
        (42, "42"),
        (-7, "-7"),
        (42.0, "42"),
        (True, "true"),
        (False, "false"),
        (None, None),
        ({}, None),
        (0.5, None),
    ],
)
def test_an_argument_has_one_text_form(value: Any, text: str | None) -> None:
    assert text_of(value) == text


# Annotations.


def objects(**properties: Any) -> Json:
    """An object schema."""
    return {"type": "object", "properties": properties}


REGION: Json = {"type": "string", "x-mcp-header": "Region"}


def test_annotations_are_found_at_any_depth_of_properties() -> None:
    schema = objects(
        region=REGION,
        plain={"type": "string"},
        inner=objects(deep=objects(n={"type": "integer", "x-mcp-header": "N"})),
    )
    assert header_params(schema) == (
        HeaderParam("Mcp-Param-Region", ("region",), "string"),
        HeaderParam("Mcp-Param-N", ("inner", "deep", "n"), "integer"),
    )


def test_an_argument_called_like_the_annotation_is_none() -> None:
    assert header_params(objects(**{"x-mcp-header": {"type": "string"}})) == ()


def test_data_in_a_schema_is_not_searched() -> None:
    default = {"x-mcp-header": "Region"}
    assert header_params(objects(a={"type": "object", "default": default, "enum": [default]})) == ()


INVALID: dict[str, Json] = {
    "empty": objects(a={"type": "string", "x-mcp-header": ""}),
    "space": objects(a={"type": "string", "x-mcp-header": "My Region"}),
    "colon": objects(a={"type": "string", "x-mcp-header": "a:b"}),
    "control": objects(a={"type": "string", "x-mcp-header": "a\n"}),
    "not ASCII": objects(a={"type": "string", "x-mcp-header": "Région"}),
    "no string": objects(a={"type": "string", "x-mcp-header": 7}),
    "twice": objects(a=REGION, b={"type": "string", "x-mcp-header": "REGION"}),
    "number": objects(a={"type": "number", "x-mcp-header": "A"}),
    "object": objects(a={"type": "object", "x-mcp-header": "A"}),
    "no type": objects(a={"x-mcp-header": "A"}),
    "root": {**objects(), "x-mcp-header": "A"},
    "items": objects(a={"type": "array", "items": REGION}),
    "below items": objects(a={"type": "array", "items": objects(b=REGION)}),
    "anyOf": objects(a={"anyOf": [REGION]}),
    "root allOf": {**objects(), "allOf": [objects(a=REGION)]},
    "not": {**objects(), "not": objects(a=REGION)},
    "then": {**objects(), "if": {}, "then": objects(a=REGION)},
    "definition": {**objects(a={"$ref": "#/$defs/a"}), "$defs": {"a": REGION}},
    "additionalProperties": {**objects(), "additionalProperties": REGION},
    "patternProperties": {**objects(), "patternProperties": {"^a": REGION}},
}


@pytest.mark.parametrize("schema", INVALID.values(), ids=INVALID.keys())
def test_a_misplaced_annotation_spoils_the_schema(schema: Json) -> None:
    with pytest.raises(ValueError):
        header_params(schema)


@pytest.mark.parametrize(
    ("path", "value"), [(("a",), 1), (("b", "c"), "x"), (("b", "d"), None), (("a", "z"), None)]
)
def test_a_value_is_found_at_its_exact_path(path: tuple[str, ...], value: Any) -> None:
    assert value_at({"a": 1, "b": {"c": "x"}}, path) == value
