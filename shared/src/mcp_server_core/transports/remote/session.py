"""Streamable HTTP in its session form: a session id, a standing stream, and streams that can be taken up again (4.2)."""

import logging
from contextlib import suppress
from typing import TYPE_CHECKING

import anyio
import anyio.abc

from ...errors import ConnectionLost, McpError, ParseError
from ...protocol.codec import encode
from ...protocol.messages import Json, RequestId
from ...protocol.revisions import HANDSHAKE, Revision, at_least
from ...protocol.unanswered import SessionGone, Unanswered
from .access import Unauthorized
from .replies import EITHER, SSE, Deliver, Refused, Trail, read_reply, read_stream

if TYPE_CHECKING:
    from .web import Answer, Web

log = logging.getLogger("mcp_server_core.client")
MAX_FAILURES = 8
"""How often in a row a stream that must bring a response may end without bringing anything."""
_STANDING_PATIENCE = 1.0
_LAST_WORDS = 2.0


class Session:
    """One session, from `initialize` to DELETE. A server without session ids is a session without an id."""

    def __init__(self, web: "Web", deliver: Deliver, tasks: anyio.abc.TaskGroup) -> None:
        self._web = web
        self._deliver = deliver
        self._tasks = tasks
        self._id: str | None = None
        self._revision: Revision | None = None
        self._standing = anyio.CancelScope()

    def _headers(self) -> dict[str, str]:
        headers: dict[str, str] = {}
        if self._id is not None:
            headers["Mcp-Session-Id"] = self._id  # H-20
        if self._revision is not None and at_least(self._revision, "2025-06-18"):
            headers["MCP-Protocol-Version"] = self._revision  # H-28
        return headers

    async def ask(self, message: Json) -> None:
        """Send a request and deliver all that comes back, over several connections if need be."""
        id: RequestId = message["id"]
        trail = Trail()
        try:
            async with self._web.exchange("POST", {**EITHER, **self._headers()}, encode(message)) as answer:
                self._check(answer)
                if message["method"] == "initialize" and answer.status == 200:
                    self._take_id(answer.header("mcp-session-id"))
                response = await read_reply(answer, id, self._deliver, trail)
                if response is not None:
                    await self._settle(message, response)
                    await answer.finish()
                    return
        except (SessionGone, Unauthorized):
            raise
        except ConnectionLost:
            if trail.last_id is None:
                raise
        await self._settle(message, await self._resume(message, trail))

    def _check(self, answer: "Answer") -> None:
        if answer.status == 404 and self._id is not None:
            raise SessionGone("The server has forgotten the session")  # H-24

    def _take_id(self, id: str | None) -> None:
        if id is not None and not all("\x21" <= char <= "\x7e" for char in id):
            raise McpError("The server gave out a session id with characters that none may have")  # H-19
        self._id = id or None

    async def _settle(self, message: Json, response: Json) -> None:
        if message["method"] == "initialize":
            result = response.get("result")
            agreed = result.get("protocolVersion") if isinstance(result, dict) else None
            self._revision = next((revision for revision in HANDSHAKE if revision == agreed), None)
        await self._deliver(response)

    async def _resume(self, message: Json, trail: Trail) -> Json:
        """The response, from a stream that was interrupted (H-33, H-34)."""
        while trail.last_id is not None and trail.failures < MAX_FAILURES:
            await anyio.sleep(trail.pause())
            try:
                response = await self._take_up(trail, message["id"])
            except Refused as refusal:
                log.info("the stream of %s cannot be resumed: %s", message["method"], refusal.message)
                break
            if response is not None:
                return response
        raise ConnectionLost(f"the stream with the response to {message['method']} broke off")

    async def _take_up(
        self, trail: Trail, id: RequestId | None, opened: anyio.Event | None = None
    ) -> Json | None:
        """Read a stream by GET, from where it was left; None when it ends or breaks. Refused if there is none."""
        headers = {"Accept": SSE, **self._headers()}
        if trail.last_id is not None:
            headers["Last-Event-ID"] = trail.last_id
        try:
            async with self._web.exchange("GET", headers) as answer:
                if opened is not None:
                    opened.set()
                self._check(answer)
                if answer.status >= 500:
                    return None
                if answer.status != 200 or answer.type != SSE:
                    raise Refused(answer.status)
                return await read_stream(answer, id, self._deliver, trail)
        except (SessionGone, Unauthorized):
            raise
        except ConnectionLost as error:
            log.debug("a stream broke off: %s", error)
            return None

    async def say(self, message: Json) -> None:
        """Send a notification or a response."""
        async with self._web.exchange("POST", {**EITHER, **self._headers()}, encode(message)) as answer:
            self._check(answer)
            if answer.status >= 300:
                log.warning(
                    "the server answered HTTP %s to %s", answer.status, message.get("method", "a response")
                )
            await answer.finish()
        if message.get("method") == "notifications/initialized":
            opened = anyio.Event()
            self._tasks.start_soon(self._stand, opened)
            with anyio.move_on_after(_STANDING_PATIENCE):
                await opened.wait()  # so that what the server says next is not missed

    async def _stand(self, opened: anyio.Event) -> None:
        """Hold the standing stream open as long as the session lasts (H-13)."""
        trail = Trail()
        with self._standing:
            try:
                while True:
                    await self._take_up(trail, None, opened)
                    opened.set()
                    await anyio.sleep(trail.pause())
            except Refused as refusal:
                log.debug("there is no standing stream: %s", refusal.message)  # H-14
            except SessionGone as error:
                await self._deliver(Unanswered(None, error))
            except (ConnectionLost, ParseError) as error:  # requests go on without this stream
                log.warning("the standing stream is closed: %s", error)
            finally:
                opened.set()

    def retire(self) -> None:
        """Stop listening: another session takes the place of this one."""
        self._standing.cancel()

    async def close(self) -> None:
        """End the session (H-26)."""
        self.retire()
        if self._id is None:
            return
        with anyio.move_on_after(_LAST_WORDS), suppress(ConnectionLost):
            async with self._web.exchange("DELETE", self._headers()) as answer:
                await answer.finish()
