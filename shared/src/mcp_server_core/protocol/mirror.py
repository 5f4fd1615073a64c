"""Headers that repeat parts of the body, so that a balancer can route without reading it (WIRE 4.3.2, 4.3.4).

They are never a source of truth here: they are compared with the body, and a difference refuses the request.
"""

import re
from collections.abc import Collection, Mapping
from typing import Any

from ..errors import HeaderMismatch
from .headers import NAMED, HeaderParam, decode_value, text_of, value_at
from .messages import Json, Request

_INTEGER = re.compile(r"(-?[0-9]+)(?:\.0+)?")


class Mirror:
    """The mirrored headers of one request, by their lower-case names."""

    __slots__ = ("_fields", "_repeated")

    def __init__(self, fields: Mapping[bytes, bytes], repeated: Collection[bytes]) -> None:
        self._fields = fields
        self._repeated = repeated

    def check_version(self, version: str) -> None:
        """`MCP-Protocol-Version` equals the version in the envelope (N-20)."""
        self._compare("MCP-Protocol-Version", self._read("MCP-Protocol-Version"), version)

    def check_request(self, request: Request) -> None:
        """`Mcp-Method`, and `Mcp-Name` where the method has one (N-21, N-22)."""
        self._compare("Mcp-Method", self._read("Mcp-Method"), request.method)
        member = NAMED.get(request.method)
        if member is not None:
            name = request.params.get(member)
            # A name that is no string is a matter of the method's own params, and refused there.
            if type(name) is str:
                self._compare("Mcp-Name", self._decode("Mcp-Name"), name)

    def check_arguments(self, params: Collection[HeaderParam], arguments: Json) -> None:
        """Each annotated argument that is there stands in its header, too (N-36)."""
        for param in params:
            value = value_at(arguments, param.path)
            text = text_of(value)
            if text is None:
                continue
            found = self._decode(param.header)
            if not _equal(value, text, found):
                raise HeaderMismatch(f"The header {param.header} says something else than the body")

    def _compare(self, header: str, found: str, expected: str) -> None:
        if found != expected:
            raise HeaderMismatch(f"The header {header} says something else than the body")

    def _read(self, header: str) -> str:
        name = header.lower().encode()
        value = self._fields.get(name)
        if value is None:
            raise HeaderMismatch(f"The header {header} is missing")
        if name in self._repeated:
            raise HeaderMismatch(f"The header {header} stands there more than once")  # N-27
        return value.decode("latin-1").strip(" \t")

    def _decode(self, header: str) -> str:
        text = self._read(header)
        if not text.isascii() or not text.replace("\t", " ").isprintable():
            raise HeaderMismatch(f"The header {header} has characters that no header may have")
        try:
            return decode_value(text)
        except ValueError:
            raise HeaderMismatch(f"The header {header} cannot be decoded") from None


def _equal(value: Any, text: str, found: str) -> bool:
    if type(value) in (int, float):  # N-37: 42 equals 42.0
        number = _INTEGER.fullmatch(found)
        return number is not None and number[1] == text
    return found == text
