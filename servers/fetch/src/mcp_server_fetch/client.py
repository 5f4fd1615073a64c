"""The one HTTP client of the server: guarded, with keep-alive and HTTP/2, and without any memory of cookies."""

import ssl
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, cast

import httpcore
import httpx

from .guard import Guard, GuardedBackend
from .routes import Routes, read_proxy
from .settings import Limits, Settings
from .urls import host_of, port_of

REDIRECT_TO = "redirect_to"
"""Under this name an answer says where it redirects to."""
# httpx would store cookies, and read the target of a redirect in its own way: neither is its business here.
_KEPT_FROM_HTTPX = (b"set-cookie", b"location")
_CONNECTIONS = 64
_KEPT = 20
_KEPT_FOR = 30.0


class GuardedTransport(httpx.AsyncBaseTransport):
    """Sends requests: directly, through the guard, or to the proxy that the operator chose.

    A proxy looks names up itself. So the target is checked here first as far as it can be, and the proxy's own
    address is not: the operator named it.
    """

    def __init__(self, guard: Guard, routes: Routes, tls: ssl.SSLContext) -> None:
        self._guard = guard
        self._routes = routes
        self._tls = tls
        self._direct = self._pool(network_backend=GuardedBackend(guard))
        self._proxied: dict[str, httpcore.AsyncConnectionPool] = {}

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send one request. Errors are httpcore's, or the guard's."""
        pool = await self._pool_for(request.url)
        sent = httpcore.Request(
            method=request.method,
            url=httpcore.URL(
                scheme=request.url.raw_scheme,
                host=request.url.raw_host,
                port=request.url.port,
                target=request.url.raw_path,
            ),
            headers=request.headers.raw,
            content=request.stream,
            extensions=request.extensions,
        )
        try:
            answer = await pool.handle_async_request(sent)
        except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
            if pool is self._direct or isinstance(error.__cause__, ssl.SSLError):
                raise
            raise httpcore.ProxyError("it takes no connection") from None
        stream = _Stream(cast("AsyncIterable[bytes]", answer.stream))
        headers = [(name, value) for name, value in answer.headers if name.lower() not in _KEPT_FROM_HTTPX]
        extensions = {**answer.extensions, REDIRECT_TO: _header(answer, b"location")}
        return httpx.Response(answer.status, headers=headers, stream=stream, extensions=extensions)

    async def aclose(self) -> None:
        """Close every connection."""
        for pool in (self._direct, *self._proxied.values()):
            await pool.aclose()

    async def _pool_for(self, url: httpx.URL) -> httpcore.AsyncConnectionPool:
        proxy = self._routes.proxy_for(url)
        if proxy is None:
            return self._direct
        await self._guard.check_for_proxy(host_of(url), port_of(url))
        if proxy not in self._proxied:
            self._proxied[proxy] = self._pool(proxy=read_proxy(proxy))
        return self._proxied[proxy]

    def _pool(self, **options: Any) -> httpcore.AsyncConnectionPool:
        return httpcore.AsyncConnectionPool(
            ssl_context=self._tls,
            http2=True,
            max_connections=_CONNECTIONS,
            max_keepalive_connections=_KEPT,
            keepalive_expiry=_KEPT_FOR,
            **options,
        )


def _header(answer: httpcore.Response, wanted: bytes) -> str | None:
    return next(
        (value.decode("utf-8", "replace") for name, value in answer.headers if name.lower() == wanted), None
    )


class _Stream(httpx.AsyncByteStream):
    """The body of an answer, as httpx wants it."""

    def __init__(self, inner: AsyncIterable[bytes]) -> None:
        self._inner = inner

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for part in self._inner:
            yield part

    async def aclose(self) -> None:
        """Give the connection back, or close it if the body was not read to its end."""
        close = getattr(self._inner, "aclose", None)
        if close is not None:
            await close()


def trust(ca_file: str | None) -> ssl.SSLContext:
    """The system's certificates, and those in `ca_file` besides."""
    import truststore

    context = truststore.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    if ca_file is not None:
        context.load_verify_locations(cafile=ca_file)
    return context


@asynccontextmanager
async def open_client(settings: Settings) -> AsyncGenerator[httpx.AsyncClient]:
    """The client, for as long as the server runs."""
    guard = Guard(
        allow_private=settings.allow_private_ips,
        allow_hosts=settings.allow_hosts,
        resolver=settings.resolver,
    )
    transport = GuardedTransport(guard, Routes(settings.proxy_url), trust(settings.ca_file))
    async with httpx.AsyncClient(
        transport=transport,
        # Whatever the environment says about proxies was read above, and passes the guard.
        trust_env=False,
        follow_redirects=False,
        timeout=timeouts(settings.limits),
    ) as client:
        yield client


def timeouts(limits: Limits) -> httpx.Timeout:
    """How long each step of a request may take."""
    return httpx.Timeout(
        limits.read_time,
        connect=min(limits.connect_time, limits.total_time),
        pool=limits.total_time,
    )
