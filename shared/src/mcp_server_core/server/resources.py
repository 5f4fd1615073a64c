"""A resource or a family of resources: its definition, and a read of it."""

from collections.abc import Mapping
from functools import cached_property
from inspect import signature
from typing import Any, get_type_hints

from ..protocol.messages import Json
from .calling import Handler
from .content import Contents
from .context import Context, is_context
from .registry import ResourceEntry
from .tools import clean_doc


class Resource:
    """A registered resource."""

    def __init__(self, entry: ResourceEntry) -> None:
        self.entry = entry

    @cached_property
    def _handler(self) -> Handler:
        hints = get_type_hints(self.entry.function)
        wanted = signature(self.entry.function).parameters
        return Handler(
            self.entry.function, next((name for name in wanted if is_context(hints.get(name))), None)
        )

    @cached_property
    def definition(self) -> Json:
        """The resource, or the template, as it stands in a list (5.2)."""
        entry = self.entry
        shown: Json = {
            "uri" if entry.template is None else "uriTemplate": entry.uri,
            "name": entry.name,
            "title": entry.title,
        }
        if entry.function.__doc__:
            shown["description"] = clean_doc(entry.function.__doc__)
        if entry.mime_type is not None:
            shown["mimeType"] = entry.mime_type
        return shown

    async def read(self, uri: str, values: Mapping[str, Any], ctx: Context[Any]) -> Json:
        """Read it: the result of `resources/read`, cache hints included."""
        value = await self._handler.run(ctx, **values)
        parts: list[Any] = value if isinstance(value, list) else [value]
        items = [part if isinstance(part, Contents) else Contents(part) for part in parts]
        shaped = [
            item if item.mime_type else item._replace(mime_type=self._mime_type(item)) for item in items
        ]
        return {"contents": [item.item(uri) for item in shaped], **self.entry.cache.fields()}

    def _mime_type(self, contents: Contents) -> str:
        if self.entry.mime_type is not None:
            return self.entry.mime_type
        return "text/plain" if isinstance(contents.data, str) else "application/octet-stream"
