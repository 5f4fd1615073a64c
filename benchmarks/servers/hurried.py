"""One of the five servers, as its command line makes it, with every time limit of HTTP shortened: `hurried.py NAME ...`.

The soak presses an hour into minutes, so that what expires after half an hour expires within it.
"""

import sys
from argparse import Namespace
from dataclasses import replace
from importlib import import_module

from mcp_server_core.cli import http
from mcp_server_core.transports.http.settings import HttpSettings

plain = http.read_settings


def read_settings(args: Namespace) -> HttpSettings:
    return replace(
        plain(args),
        head_seconds=3,
        body_seconds=3,
        stalled_seconds=3,
        keep_alive_seconds=8,
        session_idle_seconds=6,
        ping_seconds=1,
    )


if __name__ == "__main__":
    http.read_settings = read_settings
    import_module(f"mcp_server_{sys.argv[1].replace('-', '_')}.__main__").main(sys.argv[2:])
