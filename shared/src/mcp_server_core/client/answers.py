"""What a client answers when a server asks it something: roots, sampling, elicitation."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeAlias

from ..errors import InvalidParams, MethodNotFound
from ..protocol.messages import Json
from ..protocol.revisions import Revision, at_least

Answer: TypeAlias = Callable[[Json], Awaitable[Json]]
"""Takes the params of the question, gives the result: both in the protocol's own shape."""


class Answers:
    """The questions a client is willing to answer, and how."""

    def __init__(
        self,
        *,
        roots: Sequence[str] | None = None,
        sample: Answer | None = None,
        elicit: Answer | None = None,
        open_url: Answer | None = None,
    ) -> None:
        self.roots = None if roots is None else list(roots)
        self._sample = sample
        self._elicit = elicit
        self._open_url = open_url

    def capabilities(self, revision: Revision) -> Json:
        """What the client declares (1.2)."""
        declared: Json = {}
        if self.roots is not None:
            declared["roots"] = {} if at_least(revision, "2026-07-28") else {"listChanged": True}
        if self._sample is not None:
            declared["sampling"] = {}
        modes: Json = {}
        if self._elicit is not None:
            modes["form"] = {}
        if self._open_url is not None:
            modes["url"] = {}
        if modes and at_least(revision, "2025-11-25"):
            declared["elicitation"] = modes
        elif self._elicit is not None and at_least(revision, "2025-06-18"):
            declared["elicitation"] = {}
        return declared

    async def answer(self, method: str, params: Json) -> Json:
        """The result of a question; MethodNotFound for what this client never declared."""
        if method == "roots/list" and self.roots is not None:
            return {"roots": [{"uri": uri} for uri in self.roots]}
        if method == "sampling/createMessage" and self._sample is not None:
            return await self._sample(params)
        if method == "elicitation/create":
            if params.get("mode", "form") == "form":  # EL-3
                if self._elicit is not None:
                    return _with_defaults(await self._elicit(params), params)
            elif self._open_url is not None:
                return await self._open_url(params)
            if self._elicit is not None or self._open_url is not None:
                raise InvalidParams(f"This client does not do elicitation by {params.get('mode', 'form')}")
        raise MethodNotFound(method)


def _with_defaults(result: Json, params: Json) -> Json:
    """An accepted form in which untouched fields have their default values (EL-14)."""
    if result.get("action") != "accept":
        return result
    properties: dict[str, Any] = params.get("requestedSchema", {}).get("properties", {})
    defaults = {name: field["default"] for name, field in properties.items() if "default" in field}
    return {**result, "content": {**defaults, **result.get("content", {})}}
