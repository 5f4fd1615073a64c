"""The body of a request, read whole and never beyond a limit."""

from ...errors import InvalidRequest
from ...protocol.http import Head, Refusal
from .answer import Receive


class ClientGone(Exception):
    """The client hung up before it said everything."""


async def read_body(receive: Receive, head: Head, limit: int) -> bytes | bytearray:
    """Read the body; Refusal when it is too long, ClientGone when it ends early."""
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
        gathered += message.get("body", b"")
        if len(gathered) > limit:
            raise _too_long(limit)
        if not message.get("more_body"):
            return gathered
        message = await receive()


def _too_long(limit: int) -> Refusal:
    return Refusal(413, InvalidRequest(f"A body has at most {limit} bytes"))
