"""What tools, resources and prompts may return besides plain text and typed data."""

from base64 import b64encode
from typing import Any, Generic, Literal, NamedTuple, TypeAlias, TypeVar

from ..errors import LocalProtocolError
from ..protocol.messages import Json

T = TypeVar("T")


class Text(NamedTuple):
    """A block of text."""

    text: str

    def block(self) -> Json:
        """The block as it goes over the wire."""
        return {"type": "text", "text": self.text}


class Image(NamedTuple):
    """A picture."""

    data: bytes
    mime_type: str

    def block(self) -> Json:
        """The block as it goes over the wire."""
        return {"type": "image", "data": b64encode(self.data).decode(), "mimeType": self.mime_type}


class Audio(NamedTuple):
    """A sound."""

    data: bytes
    mime_type: str

    def block(self) -> Json:
        """The block as it goes over the wire."""
        return {"type": "audio", "data": b64encode(self.data).decode(), "mimeType": self.mime_type}


class Contents(NamedTuple):
    """What a resource holds: text or bytes. Without a URI it is the one that was asked for."""

    data: str | bytes
    mime_type: str | None = None
    uri: str | None = None

    def item(self, uri: str) -> Json:
        """The contents as they go over the wire."""
        item: Json = {"uri": self.uri or uri}
        if self.mime_type is not None:
            item["mimeType"] = self.mime_type
        if isinstance(self.data, str):
            item["text"] = self.data
        else:
            item["blob"] = b64encode(self.data).decode()
        return item


class Embedded(NamedTuple):
    """A resource inside a result."""

    uri: str
    data: str | bytes
    mime_type: str | None = None

    def block(self) -> Json:
        """The block as it goes over the wire."""
        return {"type": "resource", "resource": Contents(self.data, self.mime_type).item(self.uri)}


class Link(NamedTuple):
    """A pointer to a resource: in a result, or as an entry of a resource list."""

    uri: str
    name: str
    title: str | None = None
    description: str | None = None
    mime_type: str | None = None
    size: int | None = None

    def entry(self) -> Json:
        """The resource as it stands in a list."""
        named = {
            "uri": self.uri,
            "name": self.name,
            "title": self.title,
            "description": self.description,
            "mimeType": self.mime_type,
            "size": self.size,
        }
        return {key: value for key, value in named.items() if value is not None}

    def block(self) -> Json:
        """The block as it goes over the wire."""
        return {"type": "resource_link", **self.entry()}


Block: TypeAlias = Text | Image | Audio | Embedded | Link
BLOCKS = (Text, Image, Audio, Embedded, Link)


class Encoded:
    """The data of a Result as JSON that is written already: an object, in parts that are never joined. It is sent as
    it is, so whoever wrote it answers for its fitting the schema. For large data that is made batch by batch.
    """

    __slots__ = ("parts",)

    def __init__(self, *parts: bytes) -> None:
        if any(b"\n" in part for part in parts):
            raise LocalProtocolError("data that is JSON already must be on one line")
        self.parts = parts


class Result(Generic[T]):
    """Typed data together with a text of its own, for hosts that show the model only one of the two.

    Without `text` the text half is the data as JSON. `blocks` come after the text.
    """

    __slots__ = ("blocks", "meta", "text", "value")

    def __init__(
        self,
        value: T | Encoded,
        text: str | None = None,
        *,
        blocks: tuple[Block, ...] = (),
        meta: dict[str, Any] | None = None,
    ) -> None:
        self.value = value
        self.text = text
        self.blocks = blocks
        self.meta = meta


class Message(NamedTuple):
    """One message of a prompt."""

    content: str | Block
    role: Literal["user", "assistant"] = "user"

    def item(self) -> Json:
        """The message as it goes over the wire."""
        block = Text(self.content) if isinstance(self.content, str) else self.content
        return {"role": self.role, "content": block.block()}
