"""A tool: its definition, and a call of it."""

from functools import cached_property
from typing import TYPE_CHECKING, Any

from ..budgets import fit_text
from ..errors import ToolError
from ..protocol.messages import Json
from .calling import Handler
from .context import Context
from .registry import ToolEntry

if TYPE_CHECKING:
    from ..protocol.headers import HeaderParam
    from .signature import Signature


class Tool:
    """A registered tool. Schemas and validators are made once, when they are first needed."""

    def __init__(self, entry: ToolEntry) -> None:
        self.entry = entry

    @cached_property
    def signature(self) -> "Signature":
        """What the function takes and gives."""
        from .signature import Signature

        return Signature(self.entry.function, input_schema=self.entry.input_schema)

    @property
    def header_params(self) -> "tuple[HeaderParam, ...]":
        """The arguments that an HTTP client repeats in headers (N-30)."""
        return self.signature.header_params

    @cached_property
    def _handler(self) -> Handler:
        return Handler(self.entry.function, self.signature.context)

    @cached_property
    def definition(self) -> Json:
        """The tool as it stands in a list, newest shape (5.1.1)."""
        entry = self.entry
        shown: Json = {
            "name": entry.name,
            "title": entry.title,
            "description": clean_doc(entry.function.__doc__),
            "inputSchema": self.signature.input_schema,
        }
        if self.signature.output_schema is not None:
            shown["outputSchema"] = self.signature.output_schema
        shown["annotations"] = entry.annotations
        if entry.meta is not None:
            shown["_meta"] = entry.meta
        return shown

    async def call(self, arguments: Json, ctx: Context[Any]) -> Json:
        """Call the tool; what goes wrong in it is a result the model can read (T-12, T-13)."""
        try:
            given = self.signature.read_arguments(arguments)
            return _bounded(self.signature.write_result(await self._handler.run(ctx, **given)), ctx.max_chars)
        except ToolError as error:
            return error_result(str(error))


def _bounded(result: Json, limit: int) -> Json:
    """The last line of defence: a tool that fits its results to `ctx.max_chars` never gets here."""
    length = sum(len(block["text"]) for block in result["content"] if block["type"] == "text")
    if length <= limit:
        return result
    if "structuredContent" in result or len(result["content"]) > 1:
        raise ToolError(f"The result has {length} characters, more than the {limit} allowed. Ask for less.")
    piece = fit_text(result["content"][0]["text"], limit)
    note = f"\n[truncated: the first {piece.next} of {piece.total} characters]"
    return {**result, "content": [{"type": "text", "text": piece.text + note}]}


def error_result(text: str) -> Json:
    """A result that says what went wrong."""
    return {"content": [{"type": "text", "text": text}], "isError": True}


def clean_doc(text: str | None) -> str:
    """A docstring as it was meant: without its indentation, and each paragraph on one line, however it is wrapped."""
    from inspect import cleandoc
    from re import sub

    # Lists and indented lines stay as they are.
    return sub(r"(?<!\n)\n(?![\n\s*+#|-]|\d+\.)", " ", cleandoc(text or ""))
