"""From a function's signature to JSON schemas and validators. The one module that stands on pydantic.

It is loaded with the first list or call, not at start: pydantic costs more than everything else together.
"""

import inspect
from collections.abc import Callable
from types import UnionType
from typing import Annotated, Any, NotRequired, Union, get_args, get_origin, get_type_hints

from pydantic import ConfigDict, TypeAdapter, ValidationError
from typing_extensions import TypedDict

from ..errors import LocalProtocolError, ToolError
from ..protocol.codec import Spliced, encode
from ..protocol.headers import HeaderParam, header_params
from ..protocol.messages import Json
from .content import BLOCKS, Block, Encoded, Result, Text
from .context import is_context
from .forms import check_flat
from .schemas import (
    describe,
    example_of,
    holds_only_finite,
    mentions_number,
    misplaced_boolean,
    place_in,
    terse,
)

_NOTHING = inspect.Parameter.empty


class Signature:
    """What a function takes and gives, compiled once."""

    __slots__ = (
        "_checks_numbers",
        "_defaults",
        "_parameters",
        "_returns",
        "_whole",
        "context",
        "header_params",
        "input_schema",
        "output_schema",
    )

    def __init__(
        self, function: Callable[..., Any], *, data: bool = True, input_schema: Json | None = None
    ) -> None:
        """`data` is False where the return value is not data with a schema, as in prompts.

        An `input_schema` from outside stands for the arguments as a whole, which go into one parameter.
        """
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
        self._whole = None if input_schema is None else _only_one(fields, function)
        self._parameters = _closed_adapter(fields)
        self.input_schema = self._describe_input(fields) if input_schema is None else input_schema
        self.header_params = _read_headers(self.input_schema, function)
        returns = hints.get("return", _NOTHING) if data else None
        self._returns, self.output_schema = _describe_output(returns, function)
        self._checks_numbers = self.output_schema is not None and mentions_number(self.output_schema)

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
        if self._whole is not None:
            return {self._whole: given}
        try:
            self._refuse_booleans(given)
            return self._parameters.validate_python(given)
        except ValidationError as error:
            raise ToolError(self._explain(error)) from None

    def _refuse_booleans(self, given: Json) -> None:
        fields, definitions = self.input_schema.get("properties", {}), self.input_schema.get("$defs", {})
        for name, value in given.items():
            if not isinstance(value, bool | list | dict) or name not in fields:
                continue
            if misplaced_boolean(fields[name], value, definitions):
                raise ToolError(self._expectation([name], fields[name]) + f"; got {_shorten(value)}.")

    def _explain(self, error: ValidationError) -> str:
        """One sentence for each place that does not fit: where, what is expected there, what was given."""
        sentences: dict[str, str] = {}
        for problem in error.errors(include_url=False, include_context=False):
            path, kind = problem["loc"], problem["type"]
            steps, schema = place_in(self.input_schema, path, self.input_schema.get("$defs", {}))
            if kind == "extra_forbidden" and not steps:
                known = ", ".join(self.input_schema.get("properties", {})) or "none"
                sentence = f"There is no argument `{path[0]}`; this tool takes: {known}."
            elif kind == "extra_forbidden" and "properties" in schema:
                known = ", ".join(schema["properties"])
                sentence = f"Argument `{'.'.join(steps)}` has no field `{path[-1]}`; it takes: {known}."
            elif kind == "missing":
                sentence = self._expectation(steps, schema) + "; it is missing."
            else:
                # A union reports each of its branches; the message of one would mislead.
                reason = problem["msg"][:1].lower() + problem["msg"][1:] if len(steps) == len(path) else ""
                sentence = self._expectation(steps, schema) + f"; got {_shorten(problem['input'])}"
                sentence += f" ({reason})." if reason else "."
            sentences.setdefault(".".join(steps) or str(path), sentence)
        return " ".join(sentences.values()) or "The arguments do not fit."

    def _expectation(self, steps: list[str], schema: Json) -> str:
        example = example_of(schema, self.input_schema.get("$defs", {}))
        return f"Argument `{'.'.join(steps)}` must be {describe(schema)}, for example {example}"

    def write_result(self, value: Any) -> Json:
        """What a tool returned, as a tools/call result whose two halves say the same."""
        if isinstance(value, Result):
            return self._write_pair(value)
        if self._returns is None:
            return {"content": [block.block() for block in _as_blocks(value)]}
        data = self._dump(self._returns, value)
        return {"content": [{"type": "text", "text": encode(data).decode()}], "structuredContent": data}

    def _dump(self, adapter: TypeAdapter[Any], value: Any) -> Any:
        data = adapter.dump_python(value, mode="json")
        if self._checks_numbers and not holds_only_finite(data):
            raise ToolError("The result holds NaN or an infinite number, which JSON cannot carry.")
        return data

    def _write_pair(self, result: Result[Any]) -> Json:
        content: list[Json] = []
        shaped: Json = {"content": content}
        text = result.text
        if isinstance(result.value, Encoded):
            parts = result.value.parts
            shaped["structuredContent"] = Spliced(parts)
            if text is None:
                content.append({"type": "text", "text": Spliced(parts, quoted=True)})
        elif self._returns is not None:
            data = self._dump(self._returns, result.value)
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
        check_flat(schema)
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


def _only_one(fields: dict[str, Any], function: Callable[..., Any]) -> str:
    if len(fields) != 1:
        raise LocalProtocolError(
            f"{function.__name__}: with a schema of its own it takes all arguments as one `dict[str, Any]`"
        )
    return next(iter(fields))


def _read_headers(schema: Json, function: Callable[..., Any]) -> tuple[HeaderParam, ...]:
    """The mirrored arguments; a wrong annotation is found here, when the schema is first needed (N-44)."""
    try:
        return header_params(schema)
    except ValueError as error:
        raise LocalProtocolError(f"{function.__name__}: {error}") from None


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
    """Whether a type is made of content blocks, beside which text and nothing may stand."""
    parts = _parts(hint)
    return not BLOCK_TYPES.isdisjoint(parts) and parts <= BLOCK_TYPES | {str, type(None)}


BLOCK_TYPES: frozenset[Any] = frozenset(BLOCKS)


def _parts(hint: Any) -> frozenset[Any]:
    """The types a hint is made of, looking through lists, tuples and unions."""
    origin = get_origin(hint)
    if origin is Annotated:
        return _parts(get_args(hint)[0])
    if origin in (list, tuple, Union, UnionType):
        return frozenset().union(*(_parts(part) for part in get_args(hint) if part is not Ellipsis))
    return frozenset([hint])


def _as_blocks(value: Any) -> list[Block]:
    if value is None:
        return []
    if isinstance(value, (str, *BLOCKS)):
        return [Text(value) if isinstance(value, str) else value]
    return [Text(item) if isinstance(item, str) else item for item in value]


def _shorten(value: Any) -> str:
    text = encode(value).decode()
    return text if len(text) <= 60 else text[:57] + "..."
