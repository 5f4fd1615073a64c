"""Runs the application on uvicorn: sockets, signals, and an end that lets calls in flight finish."""

import asyncio
import logging
import signal
import socket
import sys
import threading
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from typing import Any

import anyio
import uvicorn

from ...channel import Service
from ..auth.access import Authorizer
from .app import HttpApp
from .guard import TOLD, GuardedProtocol
from .settings import HttpSettings

BACKLOG = 2048
SPARE = TOLD + 256  # descriptors that are not for connections that are served
_SIGNALS = (signal.SIGINT, signal.SIGTERM)


def bind(settings: HttpSettings) -> socket.socket:
    """The socket to listen on; OSError when the address is taken or not ours."""
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    # Named as TCP: asyncio turns off delays only for sockets that say so, and a stream is many small writes.
    bound = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        if sys.platform != "win32":  # there it would let two servers share the port
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind((settings.host, settings.port))
    except OSError:
        bound.close()
        raise
    bound.setblocking(False)
    return bound


def make_room(connections: int) -> int:
    """Let this process hold so many connections, beside what handlers open; as many as the system allows."""
    if sys.platform == "win32":  # no such limit there
        return connections
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted, endless = connections + SPARE, resource.RLIM_INFINITY
    if endless != soft < wanted:
        most = wanted if hard == endless else min(wanted, hard)
        with suppress(OSError, ValueError):  # a system may allow less than it says
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
            soft = most
    return connections if soft == endless else max(1, min(connections, soft - SPARE))


async def serve_http(
    service: Service,
    settings: HttpSettings,
    sockets: Sequence[socket.socket],
    *,
    authorizer: Authorizer | None = None,
    ready: Callable[[], None] = lambda: None,
) -> None:
    """Serve until a signal comes, then let what is in flight finish. The server's state is open already."""
    settings = replace(settings, max_connections=make_room(settings.max_connections))
    async with anyio.create_task_group() as tasks:
        app = HttpApp(service, settings, tasks, authorizer)
        config = uvicorn.Config(
            app,  # pyright: ignore[reportArgumentType] - uvicorn's types name every ASGI event
            http=partial(GuardedProtocol, settings),  # pyright: ignore[reportArgumentType] - called like the class
            ws="none",
            lifespan="off",
            loop="none",
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,  # an address that a client names itself is no address for a log
            backlog=BACKLOG,
            limit_concurrency=settings.max_connections,
            timeout_keep_alive=int(settings.keep_alive_seconds),
            timeout_graceful_shutdown=max(1, int(settings.drain_seconds)),
        )
        running = _Uvicorn(config, app, ready)
        try:
            await running.serve(list(sockets))
        finally:
            with anyio.CancelScope(shield=True), anyio.move_on_after(1):
                await app.close()
                await running.abandon()
            tasks.cancel_scope.cancel()


def _waiting_at(bound: socket.socket) -> Iterator[socket.socket]:
    """Connections that were made and not taken yet."""
    while True:
        try:
            connection, _ = bound.accept()
        except OSError:
            return
        connection.setblocking(False)
        yield connection


class _Uvicorn(uvicorn.Server):
    """uvicorn, with our word on what a signal does and on what is said at the end."""

    def __init__(self, config: uvicorn.Config, app: HttpApp, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._app = app
        self._ready = ready
        # It reports each broken request and each shutdown as an error; both are everyday things here.
        logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._ready()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        await self._app.drain()
        accepting = [self._adopt(waiting) for bound in sockets or () for waiting in _waiting_at(bound)]
        await asyncio.gather(super().shutdown(sockets), *accepting)

    async def _adopt(self, connection: socket.socket) -> None:
        """Serve a client that was at the door when it closed: the system had let it connect already."""
        make: Any = self.config.http_protocol_class

        def protocol() -> asyncio.Protocol:
            return make(config=self.config, server_state=self.server_state, app_state={})

        with suppress(OSError):  # gone again
            await asyncio.get_running_loop().connect_accepted_socket(protocol, connection)

    async def abandon(self) -> None:
        """End at once what an orderly end has left, or all of it where serving was cancelled."""
        if not self.started:
            return
        for server in self.servers:
            server.close()
        for connection in list(self.server_state.connections):
            connection.transport.abort()  # pyright: ignore[reportAttributeAccessIssue, reportOptionalMemberAccess] - ours have one
        tasks = list(self.server_state.tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        """Stop on a signal; a second one does not wait. The process ends with code 0, as it does over stdio."""
        if threading.current_thread() is not threading.main_thread():
            yield  # signals are heard in the main thread alone
            return
        before: dict[signal.Signals, Any] = {
            number: signal.signal(number, self.handle_exit) for number in _SIGNALS
        }
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def handle_exit(self, sig: int, frame: Any) -> None:
        self.force_exit = self.should_exit
        self.should_exit = True
