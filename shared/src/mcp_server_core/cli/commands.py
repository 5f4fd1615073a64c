"""The words that make a command line a command instead of a server."""

import argparse
from collections.abc import Sequence


def run_command(parser: argparse.ArgumentParser, argv: Sequence[str]) -> int:
    """Run `install`, `uninstall` or `doctor`; the exit code."""
    server, (command, *rest) = parser.prog, argv
    if command == "install":
        from .install import run_install

        return run_install(parser, rest)
    if command == "uninstall":
        from .install import run_uninstall

        return run_uninstall(server, rest)
    from .doctor import run_doctor

    return run_doctor(parser, rest)
