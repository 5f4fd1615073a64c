"""From a function's signature to JSON schemas and validators. The one module that imports pydantic.

It is loaded with the first list or call, not at start: pydantic costs more than everything else together.
"""

import inspect
from collections.abc import Callable
from types import UnionType
from typing import Annotated, Any, NotRequired, Union, get_args, get_origin, get_type_hints

from pydantic import ConfigDict, TypeAdapter, ValidationError
from typing_extensions import TypedDict

from ..errors import LocalProtocolError, ToolError
from ..protocol.codec import encode
from ..protocol.messages import Json
from .content import BLOCKS, Block, Result, Text
from .context import is_context
from .schemas import describe, example_of, terse

_NOTHING = inspect.Parameter.empty


class Signature:
    """What a function takes and gives, compiled once."""

    __slots__ = ("_defaults", "_parameters", "_returns", "context", "input_schema", "output_schema")

    def __init__(self, function: Callable[..., Any], *, data: bool = True) -> None:
        """`data` is False where the return value is not data with a schema, as in prompts."""
        hints = get_type_hints(function, include_extras=True)
        self.context: str | None = None
        fields: dict[str, Any] = {}
        self._defaults: dict[str, Any] = {}
        for name, parameter in inspect.signature(function).parameters.items():
            hint = hints.get(name, _NOTHING)
            if hint is _NOTHING:
                raise LocalProtocolError(f"{function.__name__}: the argument {name!r} has no type")
            if is_context(hint):
                self.context = name
            elif parameter.default is _NOTHING:
                fields[name] = hint
            else:
                fields[name] = NotRequired[hint]
                self._defaults[name] = parameter.default
        self._parameters = _closed_adapter(fields)
        self.input_schema = self._describe_input(fields)
        returns = hints.get("return", _NOTHING) if data else None
        self._returns, self.output_schema = _describe_output(returns, function)

    def _describe_input(self, fields: dict[str, Any]) -> Json:
        if not fields:
            return {"type": "object", "additionalProperties": False}  # T-5
        schema = terse(self._parameters.json_schema(), optional=frozenset(self._defaults))
        for name, default in self._defaults.items():
            if isinstance(default, str | int | float):
                schema["properties"][name]["default"] = default
        return schema

    def read_arguments(self, given: Json) -> dict[str, Any]:
        """Arguments as the function wants them: numbers and booleans may come as text, nothing else is guessed."""
        try:
            return self._parameters.validate_python(given)
        except ValidationError as error:
            raise ToolError(self._explain(given, error)) from None

    def _explain(self, given: Json, error: ValidationError) -> str:
        sentences: list[str] = []
        properties: Json = self.input_schema.get("properties", {})
        for problem in error.errors(include_url=False, include_context=False):
            path, kind = problem["loc"], problem["type"]
            name = str(path[0]) if path else ""
            if kind == "extra_forbidden" and len(path) == 1:
                known = ", ".join(properties) or "none"
                sentences.append(f"There is no argument `{name}`; this tool takes: {known}.")
                continue
            schema: Json = properties.get(name, {})
            label = "`" + ".".join(str(step) for step in path) + "`"
            hint = f"Argument {label} must be {describe(schema)}, for example {example_of(schema)}"
            if kind == "missing":
                sentences.append(f"{hint}; it is missing.")
            else:
                sentences.append(f"{hint}; got {_shorten(problem['input'])} ({problem['msg'].lower()}).")
        return " ".join(dict.fromkeys(sentences)) or "The arguments do not fit."

    def write_result(self, value: Any) -> Json:
        """What a tool returned, as a tools/call result whose two halves say the same."""
        if isinstance(value, str):
            return {"content": [{"type": "text", "text": value}]}
        if isinstance(value, Result):
            return self._write_pair(value)
        if self._returns is None:
            return {"content": [block.block() for block in _as_blocks(value)]}
        data = self._returns.dump_python(value, mode="json")
        return {"content": [{"type": "text", "text": encode(data).decode()}], "structuredContent": data}

    def _write_pair(self, result: Result[Any]) -> Json:
        content: list[Json] = []
        shaped: Json = {"content": content}
        text = result.text
        if self._returns is not None:
            data = self._returns.dump_python(result.value, mode="json")
            shaped["structuredContent"] = data
            text = encode(data).decode() if text is None else text
        if text is not None:
            content.append(Text(text).block())
        content += [block.block() for block in result.blocks]
        if result.meta is not None:
            shaped["_meta"] = result.meta
        return shaped


class Form:
    """A flat data type the user is asked to fill in."""

    __slots__ = ("_adapter", "schema")

    def __init__(self, kind: Any) -> None:
        self._adapter: TypeAdapter[Any] = TypeAdapter(kind)
        schema = terse(self._adapter.json_schema())
        for name, field in schema.get("properties", {}).items():
            if field.get("type") not in ("string", "number", "integer", "boolean", "array"):
                raise LocalProtocolError(f"a form is flat: the field {name!r} cannot be asked for")
        self.schema: Json = {key: schema[key] for key in ("type", "properties", "required") if key in schema}

    def read(self, content: Any) -> Any:
        """The user's answers, validated; ToolError when they do not fit (EL-6)."""
        try:
            return self._adapter.validate_python(content)
        except ValidationError as error:
            fields = ", ".join(".".join(map(str, item["loc"])) or "the form" for item in error.errors())
            raise ToolError(f"The answer does not fit the form: {fields}.") from None


def _closed_adapter(fields: dict[str, Any]) -> TypeAdapter[Any]:
    kind = TypedDict("Arguments", fields)  # pyright: ignore[reportArgumentType, reportGeneralTypeIssues] - built at run time
    kind.__pydantic_config__ = ConfigDict(extra="forbid")  # pyright: ignore[reportAttributeAccessIssue] - pydantic's door
    return TypeAdapter(kind)


def _describe_output(hint: Any, function: Callable[..., Any]) -> tuple[TypeAdapter[Any] | None, Json | None]:
    if hint is _NOTHING:
        raise LocalProtocolError(f"{function.__name__}: the return type is missing")
    if get_origin(hint) is Result:
        hint = get_args(hint)[0]
        if hint is type(None):
            return None, None
    elif hint is str or hint is None or hint is type(None) or _is_content(hint):
        return None, None
    adapter: TypeAdapter[Any] = TypeAdapter(hint)
    return adapter, terse(adapter.json_schema(mode="serialization"))


def _is_content(hint: Any) -> bool:
    """Whether a type is made of content blocks alone."""
    if hint in BLOCKS or hint is str:
        return True
    origin = get_origin(hint)
    if origin is Annotated:
        return _is_content(get_args(hint)[0])
    if origin in (list, tuple, Union, UnionType):
        parts = [part for part in get_args(hint) if part is not Ellipsis]
        return all(_is_content(part) for part in parts) and parts != [str]
    return False


def _as_blocks(value: Any) -> list[Block]:
    if value is None:
        return []
    if isinstance(value, BLOCKS):
        return [value]
    return [Text(item) if isinstance(item, str) else item for item in value]


def _shorten(value: Any) -> str:
    text = encode(value).decode()
    return text if len(text) <= 60 else text[:57] + "..."
