"""How an author describes an argument or a field. Knows pydantic only by its doors, and loads it only there."""

from collections.abc import Iterator
from typing import Any


class Arg:
    """Description and limits of an argument: `Annotated[int, Arg("Lines to read", ge=1)]`.

    Works wherever pydantic reads annotations: tool and prompt arguments, and fields of data types. With `header`,
    clients repeat the argument in `Mcp-Param-<header>`, for balancers to read: never a secret (N-30, N-42).
    """

    __slots__ = ("description", "example", "ge", "header", "le", "max_length", "min_length", "pattern")
    __is_annotated_types_grouped_metadata__ = True

    def __init__(
        self,
        description: str,
        *,
        example: Any = None,
        ge: float | None = None,
        le: float | None = None,
        min_length: int | None = None,
        max_length: int | None = None,
        pattern: str | None = None,
        header: str | None = None,
    ) -> None:
        self.description = description
        self.example = example
        self.ge = ge
        self.le = le
        self.min_length = min_length
        self.max_length = max_length
        self.pattern = pattern
        self.header = header

    def __iter__(self) -> Iterator[object]:
        """The parts pydantic knows how to read; it asks for them when it builds a schema."""
        from annotated_types import Ge, Le, MaxLen, MinLen
        from pydantic import StringConstraints

        if self.ge is not None:
            yield Ge(self.ge)
        if self.le is not None:
            yield Le(self.le)
        if self.min_length is not None:
            yield MinLen(self.min_length)
        if self.max_length is not None:
            yield MaxLen(self.max_length)
        if self.pattern is not None:
            yield from StringConstraints(pattern=self.pattern)
        yield _Described(self)


class _Described:
    """Puts into the JSON schema what only readers of it need."""

    __slots__ = ("arg",)

    def __init__(self, arg: Arg) -> None:
        self.arg = arg

    def __get_pydantic_json_schema__(self, core_schema: Any, handler: Any) -> dict[str, Any]:
        schema: dict[str, Any] = dict(handler(core_schema))
        schema["description"] = self.arg.description
        if self.arg.example is not None:
            schema["examples"] = [self.arg.example]
        if self.arg.header is not None:
            schema["x-mcp-header"] = self.arg.header
        return schema
