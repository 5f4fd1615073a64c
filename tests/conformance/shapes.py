"""Data of the fixture server: forms, schemas written by hand, the smallest picture and the shortest sound."""

from base64 import b64decode
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from mcp_server_core import Arg
from typing_extensions import TypedDict

PIXEL = b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII="
)
SILENCE = (
    b"RIFF\x26\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00"
    b"\x40\x1f\x00\x00\x80\x3e\x00\x00\x02\x00\x10\x00data\x02\x00\x00\x00\x00\x00"
)


class Person(TypedDict):
    """Who the user is."""

    username: Annotated[str, Arg("Name of the user")]
    email: Annotated[str, Arg("Address for mail")]


class Name(TypedDict):
    """A name."""

    name: Annotated[str, Arg("Your name")]


class Colour(TypedDict):
    """A colour."""

    color: Annotated[str, Arg("Your favourite colour")]


class Agreed(TypedDict):
    """Yes or no."""

    ok: Annotated[bool, Arg("Go on?")]


class Situation(TypedDict):
    """What a prompt should know."""

    context: Annotated[str, Arg("What the prompt should know")]


@dataclass
class Defaults:
    """A form in which every field has a value already."""

    name: str = "John Doe"
    age: int = 30
    score: float = 95.5
    status: Literal["active", "inactive", "pending"] = "active"
    verified: bool = True


ENUMS: dict[str, Any] = {
    "type": "object",
    "properties": {
        "untitledSingle": {"type": "string", "enum": ["option1", "option2", "option3"]},
        "titledSingle": {
            "type": "string",
            "oneOf": [
                {"const": "value1", "title": "First Option"},
                {"const": "value2", "title": "Second Option"},
            ],
        },
        "legacyEnum": {"type": "string", "enum": ["opt1", "opt2"], "enumNames": ["Option One", "Option Two"]},
        "untitledMulti": {
            "type": "array",
            "items": {"type": "string", "enum": ["option1", "option2", "option3"]},
        },
        "titledMulti": {
            "type": "array",
            "items": {
                "anyOf": [
                    {"const": "value1", "title": "First Choice"},
                    {"const": "value2", "title": "Second Choice"},
                ]
            },
        },
    },
    "required": [],
}

TYPED_ADDRESS: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "$anchor": "address",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }
    },
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contact": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"},
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contact": {"const": "phone"}}, "required": ["contact"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}
