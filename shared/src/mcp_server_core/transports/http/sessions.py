"""The sessions of a server: opened, found by id and principal, ended by their clients or for being idle."""

import logging
from collections.abc import Callable
from secrets import token_urlsafe
from time import monotonic

import anyio
from anyio.abc import TaskGroup

from ...channel import Service
from .session import HttpSession
from .settings import HttpSettings

log = logging.getLogger("mcp_server_core")
SWEEP_SECONDS = 15.0
EVICTABLE_SECONDS = 300.0  # when there is no room, a session that was quiet for so long makes some


class Sessions:
    """Every session that is open."""

    def __init__(
        self,
        service: Service,
        settings: HttpSettings,
        tasks: TaskGroup,
        *,
        now: Callable[[], float] = monotonic,
    ) -> None:
        self._service = service
        self._now = now
        self._idle = settings.session_idle_seconds
        self._most = settings.max_sessions
        self._tasks = tasks
        self._open: dict[str, HttpSession] = {}

    def __len__(self) -> int:
        return len(self._open)

    async def open(self, principal: str) -> HttpSession | None:
        """A new session, served from now on; None when there is no room."""
        if len(self._open) >= self._most and not await self._make_room():
            return None
        session = HttpSession(token_urlsafe(24), principal, self._now())  # H-19, SEC-9
        self._open[session.id] = session
        self._tasks.start_soon(self._serve, session)
        return session

    def find(self, id: str, principal: str) -> HttpSession | None:
        """The session with this id, if it belongs to this principal: an id proves nothing (D-8, SEC-9)."""
        session = self._open.get(id)
        if session is None or session.principal != principal or session.closed:
            return None
        session.touched = self._now()
        return session

    async def end(self, session: HttpSession) -> None:
        """End a session for good; its id is never answered again (H-24)."""
        self._open.pop(session.id, None)
        await session.close()

    def end_standing(self) -> None:
        """End the streams that carry no answer, so that their connections can close."""
        for session in self._open.values():
            session.standing.finish(None)

    async def end_all(self) -> None:
        """End every session."""
        for session in list(self._open.values()):
            await self.end(session)

    async def sweep(self) -> None:
        """End what is idle, now and then, until cancelled (D-9)."""
        while True:
            await anyio.sleep(min(SWEEP_SECONDS, self._idle))
            await self.expire()

    async def expire(self) -> None:
        """End what has been idle for too long."""
        for session in self._idle_since(self._idle):
            log.info("a session expired after %.0f s without a request", self._idle)
            await self.end(session)

    async def _make_room(self) -> bool:
        quiet = self._idle_since(min(EVICTABLE_SECONDS, self._idle))
        if quiet:
            await self.end(min(quiet, key=lambda session: session.touched))
        return bool(quiet)

    def _idle_since(self, seconds: float) -> list[HttpSession]:
        now = self._now()
        for session in self._open.values():
            if session.busy:
                session.touched = now  # a long call, or a stream read for hours, is no time of idleness
        return [session for session in self._open.values() if session.touched < now - seconds]

    async def _serve(self, session: HttpSession) -> None:
        try:
            await self._service.serve(session, principal=session.principal)
        except Exception:
            log.exception("a session failed")
        finally:
            self._open.pop(session.id, None)
            session.closed = True
