"""The way to the network: every address is checked, and the checked address is the one connected to.

A network backend for httpcore, so that whatever opens a connection passes through here. It knows addresses and
names, no URLs and no HTTP.
"""

from collections.abc import Iterable, Sequence
from ipaddress import ip_address
from typing import Any, cast

import anyio
import httpcore
from anyio import to_thread

from .addresses import Address, is_metadata, literal, not_public, nowhere
from .allowances import read_allowance
from .problems import Refused, UnknownHost
from .settings import Resolver

_FIRST_TRIES = 2.0  # seconds for an address when there are others to try


class Guard:
    """Which addresses may be connected to."""

    def __init__(
        self,
        *,
        allow_private: bool = False,
        allow_hosts: Iterable[str] = (),
        resolver: Resolver | None = None,
    ) -> None:
        self._allow_private = allow_private
        self._allowances = [read_allowance(text) for text in allow_hosts]
        self._resolver: Resolver = resolver or resolve

    async def addresses(self, host: str, port: int) -> list[Address]:
        """Every address of a host, each one checked. Refused if a single one may not be connected to."""
        found = await self._look_up(host, port)
        for address in found:
            self._check(host, port, address)
        return found

    async def check_for_proxy(self, host: str, port: int) -> None:
        """Check a host that a proxy will look up. A name that is unknown here is the proxy's to judge."""
        try:
            await self.addresses(host, port)
        except UnknownHost:
            return

    async def _look_up(self, host: str, port: int) -> list[Address]:
        try:
            spelled = literal(host)
        except ValueError as error:
            raise Refused(f"{host} is no address that can be fetched from: {error}.") from None
        if spelled is not None:
            return [spelled]
        try:
            texts = await self._resolver(host, port)
        except (OSError, UnicodeError):
            raise UnknownHost(f"There is no host called {host}; check the spelling.") from None
        if not texts:
            raise UnknownHost(f"The host {host} has no address.")
        if any("%" in text for text in texts):
            raise Refused(f"{host} leads to an address of the local network, which is not fetched from.")
        return list(dict.fromkeys(ip_address(text) for text in texts))

    def _check(self, host: str, port: int, address: Address) -> None:
        kind = nowhere(address)
        if kind is not None:
            raise Refused(f"{_named(host, address)} is {_a(kind)} address: there is no page.")
        kind = not_public(address)
        if kind is None or any(one.covers(host, port, address) for one in self._allowances):
            return
        if self._allow_private and not is_metadata(address):
            return
        raise Refused(
            f"{_named(host, address)} is {_a(kind)} address, which this server does not fetch from. "
            f"Its operator can allow it with --allow-host {host}."
        )


def _named(host: str, address: Address) -> str:
    return host if host == str(address) else f"{host} ({address})"


def _a(kind: str) -> str:
    return f"an {kind}" if kind[0] in "aeiou" else f"a {kind}"


async def resolve(host: str, port: int) -> list[str]:
    """Ask the system for the addresses of a name."""
    import socket

    # A look-up that hangs is left behind in its thread; whoever asked goes on.
    found = await to_thread.run_sync(
        lambda: socket.getaddrinfo(host, port, type=socket.SOCK_STREAM), abandon_on_cancel=True
    )
    return [str(entry[4][0]) for entry in found]


class GuardedBackend(httpcore.AsyncNetworkBackend):
    """Connects to checked addresses only."""

    def __init__(self, guard: Guard) -> None:
        self._guard = guard
        self._inner = cast("httpcore.AsyncNetworkBackend", httpcore.AnyIOBackend())

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        """Look the host up, check all it has, and try them in order."""
        try:
            with anyio.fail_after(timeout):
                addresses = await self._guard.addresses(host, port)
                return await self._connect(addresses, port, socket_options)
        except TimeoutError:
            raise httpcore.ConnectTimeout(f"{host} did not take the connection in time") from None

    async def _connect(
        self, addresses: Sequence[Address], port: int, options: Iterable[Any] | None
    ) -> httpcore.AsyncNetworkStream:
        *others, last = addresses
        for address in others:
            try:
                return await self._inner.connect_tcp(str(address), port, _FIRST_TRIES, None, options)
            except (httpcore.ConnectError, httpcore.ConnectTimeout):
                continue
        return await self._inner.connect_tcp(str(last), port, None, None, options)

    async def connect_unix_socket(
        self, path: str, timeout: float | None = None, socket_options: Iterable[Any] | None = None
    ) -> httpcore.AsyncNetworkStream:
        """No page is behind a file of this machine."""
        raise Refused("Pages are fetched over the network only.")

    async def sleep(self, seconds: float) -> None:
        """Wait, for httpcore."""
        await anyio.sleep(seconds)
