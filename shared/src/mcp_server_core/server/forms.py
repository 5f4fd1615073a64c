"""Forms by their JSON schema: which fields a client can show (6.3), and whether answers fit. No pydantic here."""

from typing import Any

from ..errors import LocalProtocolError, ToolError
from ..protocol.messages import Json


def check_flat(schema: Json) -> None:
    """Raise LocalProtocolError unless the schema is one of a form: named fields, each of a kind clients can show."""
    if schema.get("type") != "object" or not schema.get("properties"):
        raise LocalProtocolError("a form is a data type with fields")
    for name, field in schema["properties"].items():
        if not _can_be_asked(field):
            raise LocalProtocolError(f"a form is flat: the field {name!r} cannot be asked for")


def _can_be_asked(field: Json) -> bool:
    """Whether a client can show this field: a text, a number, yes or no, or a choice."""
    if field.get("type") == "array":
        items: Json = field.get("items", {})
        return "anyOf" in items or (items.get("type") == "string" and "enum" in items)
    return field.get("type") in ("string", "number", "integer", "boolean")


class WrittenForm:
    """A form whose schema was written by hand."""

    __slots__ = ("schema",)

    def __init__(self, schema: Json) -> None:
        check_flat(schema)
        self.schema = schema

    def read(self, content: Json) -> Json:
        """The user's answers; ToolError when they do not fit (EL-6). What was not asked for is left out."""
        fields: Json = self.schema["properties"]
        missing = [name for name in self.schema.get("required", ()) if name not in content]
        given = {name: content[name] for name in fields if name in content}
        wrong = missing + [name for name, value in given.items() if not _fits(value, fields[name])]
        if wrong:
            raise ToolError(f"The answer does not fit the form: {', '.join(wrong)}.")
        return given


def _fits(value: Any, field: Json) -> bool:
    match field["type"]:
        case "boolean":
            return isinstance(value, bool)
        case "string":
            long_enough = isinstance(value, str) and _within(len(value), field, "minLength", "maxLength")
            return long_enough and _is_offered(value, field, "oneOf")
        case "array":
            enough = isinstance(value, list) and _within(len(value), field, "minItems", "maxItems")
            return enough and all(_is_offered(item, field["items"], "anyOf") for item in value)
        case kind:
            return _is_number(value, whole=kind == "integer") and _within(value, field, "minimum", "maximum")


def _is_number(value: Any, *, whole: bool) -> bool:
    if isinstance(value, float):
        return value.is_integer() or not whole
    return isinstance(value, int) and not isinstance(value, bool)


def _within(value: float, field: Json, least: str, most: str) -> bool:
    return field.get(least, value) <= value <= field.get(most, value)


def _is_offered(value: Any, choices: Json, titled: str) -> bool:
    """Whether a value is one of the choices, if there are any."""
    if titled in choices:
        return value in [choice["const"] for choice in choices[titled]]
    return value in choices.get("enum", [value])
