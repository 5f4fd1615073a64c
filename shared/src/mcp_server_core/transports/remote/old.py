"""The old HTTP+SSE transport: messages go to the URL that the event stream names, everything comes by the stream (4.4)."""

import logging
from typing import TYPE_CHECKING

import anyio
import anyio.abc

from ...errors import ConnectionLost, ParseError
from ...protocol.codec import Malformed, encode
from ...protocol.messages import Json
from ...protocol.sse import Event, Events
from .replies import EITHER, SSE, Deliver, Refused, read_event

if TYPE_CHECKING:
    import httpx

    from .web import Answer, Web

log = logging.getLogger("mcp_server_core.client")


class OldForm:
    """A connection that lives as long as its one stream (X-8)."""

    def __init__(self, web: "Web", deliver: Deliver) -> None:
        self._web = web
        self._deliver = deliver
        self._scope = anyio.CancelScope()
        self._endpoint: httpx.URL | None = None

    async def hold(self, *, task_status: anyio.abc.TaskStatus[None]) -> None:
        """Read the stream until it ends; started when the endpoint is known. Refused if there is no such stream."""
        with self._scope:
            try:
                async with self._web.exchange("GET", {"Accept": SSE}) as answer:
                    if answer.status != 200 or answer.type != SSE:
                        raise Refused(answer.status)
                    await self._read(answer, task_status)
            except ParseError as error:
                await self._deliver(Malformed(error.message))
            except ConnectionLost as error:
                if self._endpoint is None:
                    raise
                log.debug("the event stream broke off: %s", error)

    async def _read(self, answer: "Answer", task_status: anyio.abc.TaskStatus[None]) -> None:
        events = Events(answer.limit)
        async for chunk in answer.chunks:
            for event in events.feed(chunk):
                if self._endpoint is None:
                    self._endpoint = self._read_endpoint(event)
                    task_status.started()
                else:
                    message = read_event(event)
                    if message is not None:
                        await self._deliver(message)
        if self._endpoint is None:
            raise ConnectionLost("the event stream ended without naming an endpoint")

    def _read_endpoint(self, event: Event) -> "httpx.URL":
        if event.event != "endpoint":
            raise ConnectionLost("the event stream does not begin with an endpoint")
        endpoint = self._web.resolve(event.data.decode("utf-8", "replace"))
        if endpoint is None:
            raise ConnectionLost("the server names an endpoint on another origin, which is not used")
        return endpoint

    async def ask(self, message: Json) -> None:
        """Send a request; its response comes by the stream."""
        async with self._web.exchange("POST", EITHER, encode(message), url=self._endpoint) as answer:
            if answer.status >= 300:
                raise Refused(answer.status)
            await answer.finish()

    async def say(self, message: Json) -> None:
        """Send a notification or a response."""
        try:
            await self.ask(message)
        except Refused as refusal:
            log.warning("%s to %s", refusal.message, message.get("method", "a response"))

    def retire(self) -> None:
        """Close the stream."""
        self._scope.cancel()

    async def close(self) -> None:
        """Close the stream."""
        self.retire()
