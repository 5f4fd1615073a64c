"""`--transport http`: from the command line to a running server, in one process or several."""

import argparse
import logging
import os
import signal
import socket
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import anyio

from ..protocol.sealing import KEY_VARIABLE, Sealer
from ..transports.http.running import bind, serve_http
from ..transports.http.settings import MIB, HttpSettings
from .serving import configure_logging, leave

if TYPE_CHECKING:
    from ..server.app import Server
    from ..transports.auth.access import Authorizer

log = logging.getLogger("mcp_server_core")
TOKEN_VARIABLE = "MCP_TOKEN"  # noqa: S105 - the name of a variable, not a token
MAX_BODY_MIB = 16


class Refused(Exception):
    """The command line asks for something that is not safe or not possible; says what to do."""


def run_http(server: "Server[Any]", args: argparse.Namespace) -> NoReturn:
    """Serve as the command line says; the process ends when a signal came and calls in flight are done."""
    try:
        settings = read_settings(args)
        authorizer = read_authorizer(settings, args)
        check_exposure(settings, authorizer, insecure=args.insecure)
        Sealer.from_environment(os.environ)  # a key that is no key is said now, not at the first question
        listening = _bind(settings)
    except (ValueError, Refused) as error:
        raise SystemExit(f"{server.name}: {error}") from None
    configure_logging(args.log_level)
    port: int = listening.getsockname()[1]
    announcement = f"{server.name} serves MCP at {settings.public_url or settings.url(port)}\n"
    if args.workers > 1:
        from .workers import run_workers

        os.environ.setdefault(KEY_VARIABLE, os.urandom(32).hex())  # one key for all of them
        run_workers(
            args.workers,
            lambda ready: _serve(server, settings, listening, authorizer, ready),
            lambda: _say(announcement),
            listening.close,
        )
    _serve(server, settings, listening, authorizer, lambda: _say(announcement))


def read_settings(args: argparse.Namespace) -> HttpSettings:
    """The settings that the options come to."""
    limit = MAX_BODY_MIB if args.max_message_mib is None else args.max_message_mib
    return HttpSettings(
        host=args.host,
        port=args.port,
        path=args.path.rstrip("/") or "/",
        public_url=args.public_url,
        origins=tuple(origin.rstrip("/") for origin in args.allow_origin),
        sessions=args.workers == 1,
        max_body=limit * MIB,
    )


def read_authorizer(settings: HttpSettings, args: argparse.Namespace) -> "Authorizer | None":
    """Who checks tokens: an authorization server's keys, or a list of tokens; None when nobody does."""
    text = os.environ.pop(TOKEN_VARIABLE, None)  # no handler, no child process and no log needs to see it
    if args.oauth_issuer is not None:
        return _read_oauth(settings, args)
    from ..transports.auth.tokens import StaticTokens

    if args.token_file is not None:
        try:
            return StaticTokens.from_file(Path(args.token_file))
        except OSError as error:
            raise Refused(f"cannot read --token-file {args.token_file}: {error.strerror}") from None
    try:
        return None if text is None else StaticTokens.from_text(text)
    except ValueError as error:
        raise Refused(f"{TOKEN_VARIABLE}: {error}") from None


def _read_oauth(settings: HttpSettings, args: argparse.Namespace) -> "Authorizer":
    if settings.public_url is None:
        raise Refused("--oauth-issuer needs --public-url: tokens are issued for that address")
    try:
        from ..transports.auth.jwt import JwtAuthorizer
    except ImportError:
        raise Refused("--oauth-issuer needs the extra `auth`, as in: uvx --from 'NAME[auth]' NAME") from None
    return JwtAuthorizer(
        args.oauth_issuer,
        resource=settings.public_url,
        audience=args.oauth_audience,
        scopes=args.oauth_scope,
        jwks_url=args.oauth_jwks,
    )


def check_exposure(settings: HttpSettings, authorizer: "Authorizer | None", *, insecure: bool) -> None:
    """Refuse to let other machines in without asking who they are."""
    if authorizer is None and not settings.is_local and not insecure:
        raise Refused(
            f"--host {settings.host} lets other machines in, and nobody would be asked for a token. "
            f"Give --token-file, {TOKEN_VARIABLE} or --oauth-issuer; or --insecure if you are sure"
        )


def _bind(settings: HttpSettings) -> socket.socket:
    try:
        return bind(settings)
    except OSError as error:
        raise Refused(f"cannot listen on {settings.host} port {settings.port}: {error.strerror}") from None


def _serve(
    server: "Server[Any]",
    settings: HttpSettings,
    listening: socket.socket,
    authorizer: "Authorizer | None",
    ready: Any,
) -> NoReturn:
    async def main() -> None:
        async with server.running():
            await serve_http(server, settings, [listening], authorizer=authorizer, ready=ready)

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, _leave_now)  # before and after it is served, there is nothing to wait for
    try:
        anyio.run(main, backend_options={"use_uvloop": _has_uvloop()})
    except KeyboardInterrupt:
        pass
    except Exception:  # a bug of ours: said, and the process still ends
        log.exception("the server failed")
        leave(1)
    leave()


def _leave_now(number: int, frame: Any) -> NoReturn:
    leave()


def _has_uvloop() -> bool:
    from importlib.util import find_spec

    return find_spec("uvloop") is not None


def _say(line: str) -> None:
    sys.stderr.write(line)
    sys.stderr.flush()
