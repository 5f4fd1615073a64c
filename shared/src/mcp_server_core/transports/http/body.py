"""The body of a request, read whole and never beyond a limit, its own and that of all bodies together."""

from ...errors import InternalError, InvalidRequest
from ...protocol.http import Head, Refusal
from .answer import Answer, Receive


class ClientGone(Exception):
    """The client hung up before it said everything."""


class Room:
    """How much more of long bodies may be in memory. Short ones come in one piece and are not counted."""

    __slots__ = ("_left",)

    def __init__(self, size: int) -> None:
        self._left = size

    def take(self, size: int) -> None:
        """Make a place for so many bytes; Refusal when there is none."""
        if size > self._left:
            raise Refusal(503, InternalError("Too many long requests at once"))
        self._left -= size

    def give_back(self, size: int) -> None:
        """So many bytes are gone."""
        self._left += size


async def read_body(
    receive: Receive, head: Head, limit: int, room: Room, answer: Answer
) -> bytes | bytearray:
    """Read the body; Refusal when it is too long, ClientGone when it ends early.

    What it takes of the room is its own until the request is answered.
    """
    length = head.fields.get(b"content-length")
    if length is not None and length.isdigit() and int(length) > limit:
        raise _too_long(limit)
    message = await receive()
    if message["type"] == "http.request" and not message.get("more_body"):
        body = message.get("body", b"")
        if len(body) > limit:
            raise _too_long(limit)
        return body
    gathered = bytearray()
    while True:
        if message["type"] != "http.request":
            raise ClientGone
        chunk = message.get("body", b"")
        if len(gathered) + len(chunk) > limit:
            raise _too_long(limit)
        room.take(len(chunk))
        answer.held += len(chunk)
        gathered += chunk
        if not message.get("more_body"):
            return gathered
        message = await receive()


def _too_long(limit: int) -> Refusal:
    return Refusal(413, InvalidRequest(f"A body has at most {limit} bytes"))
