"""What the operator decides, and the bounds of everything. Plain values: importing this loads nothing."""

from collections.abc import Awaitable, Callable, Sequence
from typing import NamedTuple

KIB = 1024
MIB = 1024 * KIB

Resolver = Callable[[str, int], Awaitable[Sequence[str]]]


class Limits(NamedTuple):
    """Every bound of the server. Times are seconds."""

    total_time: float = 30.0
    """A page, all hops and robots.txt included."""
    connect_time: float = 10.0
    read_time: float = 15.0
    """Silence between two pieces of an answer."""
    wire_bytes: int = 10 * MIB
    body_bytes: int = 20 * MIB
    """After decompression."""
    redirects: int = 10
    robots_time: float = 10.0
    robots_bytes: int = 500 * KIB
    robots_redirects: int = 5
    robots_age: float = 3600.0
    robots_failure_age: float = 60.0
    robots_hosts: int = 500
    convert_time: float = 20.0
    convert_bytes: int = 1024 * MIB
    """Address space of one converting process, where the system can bound it."""
    converters: int = 2
    converter_idle: float = 120.0
    image_bytes: int = 3 * MIB
    pages_at_once: int = 20
    """Downloads in flight; more wait their turn."""
    cached_pages: int = 100
    cached_bytes: int = 64 * MIB
    cached_age: float = 900.0
    watch_interval: float = 300.0
    watched_pages: int = 100


class Settings(NamedTuple):
    """The command line, read."""

    user_agent: str | None = None
    ignore_robots_txt: bool = False
    proxy_url: str | None = None
    allow_private_ips: bool = False
    allow_hosts: tuple[str, ...] = ()
    ca_file: str | None = None
    limits: Limits = Limits()
    resolver: Resolver | None = None
    """Who turns names into addresses; None for the system."""


def check(settings: Settings) -> None:
    """ValueError if an option makes no sense. Loads only what the given options need."""
    if settings.allow_hosts:
        from .allowances import read_allowance

        for text in settings.allow_hosts:
            read_allowance(text)
    if settings.proxy_url is not None:
        from .routes import split_proxy

        split_proxy(settings.proxy_url)
    if settings.ca_file is not None:
        import ssl

        try:
            ssl.create_default_context(cafile=settings.ca_file)
        except (OSError, ssl.SSLError):
            raise ValueError(f"{settings.ca_file} is no readable file of certificates (PEM)") from None
