"""The headers of a stateless request over HTTP: which part of the body each repeats (4.3.2, 4.3.4)."""

import logging
from typing import Any

from ...protocol.headers import NAMED, HeaderParam, encode_value, header_params, text_of, value_at
from ...protocol.messages import Json
from ...protocol.revisions import META_VERSION

log = logging.getLogger("mcp_server_core.client")


def claim(message: Json) -> str | None:
    """The revision a request claims in its envelope; None for the handshake era."""
    meta = _object(_object(message.get("params")).get("_meta"))
    version = meta.get(META_VERSION)
    return version if isinstance(version, str) else None


class Annotations:
    """What the lists that passed by said about the arguments of each tool."""

    def __init__(self) -> None:
        self._tools: dict[str, tuple[HeaderParam, ...]] = {}

    def learn(self, result: Json) -> Json:
        """Remember the tools of a list; the list without those whose annotations break a rule (N-34)."""
        tools = result.get("tools")
        if not isinstance(tools, list):
            return result
        return {**result, "tools": [tool for tool in tools if self._is_sound(tool)]}

    def _is_sound(self, tool: Any) -> bool:
        name = _object(tool).get("name")
        if not isinstance(name, str):
            return True  # not a matter of headers
        try:
            self._tools[name] = header_params(_object(tool.get("inputSchema")))
        except ValueError as error:
            self._tools.pop(name, None)
            log.warning("the tool %r is left out: %s", name, error)
            return False
        return True

    def headers(self, message: Json, revision: str) -> dict[str, str]:
        """The headers that repeat a request (N-20 to N-22, N-35)."""
        method, params = message["method"], _object(message.get("params"))
        headers = {"MCP-Protocol-Version": revision, "Mcp-Method": method}
        name = params.get(NAMED[method]) if method in NAMED else None
        if isinstance(name, str):
            headers["Mcp-Name"] = encode_value(name)
            if method == "tools/call":
                arguments = _object(params.get("arguments"))
                for param in self._tools.get(name, ()):
                    text = text_of(value_at(arguments, param.path))
                    if text is not None:
                        headers[param.header] = encode_value(text)
        return headers


def _object(value: Any) -> Json:
    return value if isinstance(value, dict) else {}
