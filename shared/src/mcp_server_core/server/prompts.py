"""A prompt: its definition, and its rendering."""

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ..errors import InvalidParams, ToolError
from ..protocol.messages import Json
from .calling import Handler
from .content import BLOCKS, Message
from .context import Context
from .registry import PromptEntry
from .tools import clean_doc

if TYPE_CHECKING:
    from .signature import Signature


class Prompt:
    """A registered prompt."""

    def __init__(self, entry: PromptEntry) -> None:
        self.entry = entry

    @cached_property
    def _signature(self) -> "Signature":
        from .signature import Signature

        return Signature(self.entry.function, data=False)

    @cached_property
    def _handler(self) -> Handler:
        return Handler(self.entry.function, self._signature.context)

    @cached_property
    def definition(self) -> Json:
        """The prompt as it stands in a list (5.4)."""
        shown: Json = {
            "name": self.entry.name,
            "title": self.entry.title,
            "description": clean_doc(self.entry.function.__doc__),
        }
        schema = self._signature.input_schema
        required = schema.get("required", [])
        arguments: list[Json] = []
        for name, field in schema.get("properties", {}).items():
            argument: Json = {"name": name}
            if "description" in field:
                argument["description"] = field["description"]
            argument["required"] = name in required
            arguments.append(argument)
        if arguments:
            shown["arguments"] = arguments
        return shown

    @property
    def arguments(self) -> Sequence[str]:
        """The names of its arguments."""
        return [argument["name"] for argument in self.definition.get("arguments", [])]

    async def get(self, arguments: Json, ctx: Context[Any]) -> Json:
        """The messages; arguments that do not fit are an error of the request (P-2)."""
        try:
            given = self._signature.read_arguments(arguments)
        except ToolError as error:
            raise InvalidParams(str(error)) from None
        try:
            value = await self._handler.run(ctx, **given)
        except ToolError as error:
            raise InvalidParams(str(error)) from None
        items: list[Any] = [value] if isinstance(value, (str, Message, *BLOCKS)) else list(value)
        messages = [item if isinstance(item, Message) else Message(item) for item in items]
        return {
            "description": self.definition["description"],
            "messages": [message.item() for message in messages],
        }
