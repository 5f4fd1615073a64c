"""Requests that stand alone: each a POST of its own, its headers repeating its body (4.3)."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from ...errors import HEADER_MISMATCH, ConnectionLost
from ...protocol.codec import encode
from ...protocol.messages import Json, request
from .annotations import Annotations
from .replies import EITHER, Deliver, Trail, read_reply

if TYPE_CHECKING:
    from .web import Web

_MAX_PAGES = 100


class Stateless:
    """The stateless form of Streamable HTTP. Nothing of it can be resumed (N-10)."""

    def __init__(self, web: "Web", deliver: Deliver) -> None:
        self._web = web
        self._deliver = deliver
        self._annotations = Annotations()

    async def ask(self, message: Json, revision: str) -> None:
        """Send a request and deliver all that comes back."""
        async with self._post(message, revision, self._deliver) as response:
            if message["method"] != "tools/call" or _code(response) != HEADER_MISMATCH:
                await self._settle(message, response)
                return
        # N-41: the tool has other annotations than we know. A new id, as after every refusal.
        await self._list_again(message, revision)
        again = {**message, "id": f"{message['id']}-again"}
        async with self._post(again, revision, self._deliver) as response:
            await self._settle(message, response)

    async def _settle(self, message: Json, response: Json) -> None:
        if message["method"] == "tools/list" and isinstance(response.get("result"), dict):
            response = {**response, "result": self._annotations.learn(response["result"])}
        await self._deliver({**response, "id": message["id"]})

    @asynccontextmanager
    async def _post(self, message: Json, revision: str, deliver: Deliver) -> AsyncGenerator[Json]:
        headers = {**EITHER, **self._annotations.headers(message, revision)}
        async with self._web.exchange("POST", headers, encode(message)) as answer:
            response = await read_reply(answer, message["id"], deliver, Trail())
            if response is None:
                raise ConnectionLost(f"the reply to {message['method']} ended without a response")
            yield response
            await answer.finish()

    async def _list_again(self, message: Json, revision: str) -> None:
        cursor: Json = {}
        for page in range(_MAX_PAGES):
            params = {**cursor, "_meta": _without_token(message["params"]["_meta"])}
            asked = request(f"{message['id']}-tools-{page}", "tools/list", params)
            async with self._post(asked, revision, _ignore) as response:
                result = response.get("result")
            if not isinstance(result, dict):
                return
            self._annotations.learn(result)
            if "nextCursor" not in result:
                return
            cursor = {"cursor": result["nextCursor"]}


async def _ignore(message: object) -> None:
    """What is said on the way to a list that nobody asked for."""


def _without_token(meta: Json) -> Json:
    return {key: value for key, value in meta.items() if key != "progressToken"}


def _code(response: Json) -> object:
    error = response.get("error")
    return error.get("code") if isinstance(error, dict) else None
