"""The commands `install` and `uninstall`: put a server into a host's configuration, and take it out again."""

import argparse
import os
import shutil
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from shlex import join

from .arguments import absolute_arguments
from .config_file import ConfigFile, Unusable
from .documents import Broken, drop_entry, put_entry, read_section, show
from .hosts import HOSTS, Command, Host, Surroundings, started_by


def run_install(own: argparse.ArgumentParser, argv: Sequence[str]) -> int:
    """Add the server to a host. Its own parser ends the process if the arguments that the host will pass are wrong."""
    server = own.prog
    options, passed = split_arguments(argv)
    parser = _parser(
        server, "install", "Add this server to a host's configuration.", f"-- [{server}'s own arguments]"
    )
    parser.add_argument(
        "--env", metavar="K=V", action="append", default=[], type=_pair, help="variable to set (repeatable)"
    )
    parser.add_argument(
        "--print", action="store_true", dest="only_print", help="print the entry, write nothing"
    )
    args = parser.parse_args(options)
    own.parse_args(passed)
    host, name = HOSTS[args.host], args.name or short_name(server)
    try:
        start = starting_command(server)
    except Fleeting as error:
        return _fail(str(error))
    words = [*start.args, *absolute_arguments(own, passed)]
    entry = host.entry(name, Command(start.program, words, dict(args.env)))
    if args.only_print:
        sys.stdout.write(show(host.format, host.section, name, entry).rstrip("\n") + "\n")
        return 0
    before: list[object] = []

    def edit(text: str) -> str:
        before[:] = [read_section(text, host.format, host.section).get(name)]
        return put_entry(text, host.format, host.section, name, entry)

    code = _change(host, args, edit, f"{name} is in")
    if code == 0:
        _say_what_starts([start.program, *words], before[0])
        sys.stdout.write(f"Next: {host.restart}\n")
    return code


def _say_what_starts(words: list[str], before: object) -> None:
    sys.stdout.write(f"It starts: {join(words)}\n")
    if isinstance(before, dict) and (replaced := started_by(before).words) != words:
        # Not all of it: what stands further behind may be a password.
        shown = join(replaced[:3]) or "nothing here"
        sys.stdout.write(f"Before, an entry of that name started: {shown}{' ...' if replaced[3:] else ''}\n")


def run_uninstall(server: str, argv: Sequence[str]) -> int:
    """Take the server out of a host's configuration."""
    parser = _parser(server, "uninstall", "Take this server out of a host's configuration.", "")
    args = parser.parse_args(argv)
    host, name = HOSTS[args.host], args.name or short_name(server)
    return _change(
        host, args, lambda text: drop_entry(text, host.format, host.section, name), f"{name} is not in"
    )


def short_name(server: str) -> str:
    """What a server is called in a host: `filesystem`."""
    return server.removeprefix("mcp-server-")


def _change(host: Host, args: argparse.Namespace, edit: Callable[[str], str], outcome: str) -> int:
    try:
        file = ConfigFile(find_config(host, args.scope, args.config))
        changed = file.change(edit)
    except Broken as error:
        return _fail(
            f"{host.title}'s configuration cannot be read ({error}); it was not touched: mend it, or use --print"
        )
    except (Unusable, ValueError) as error:
        return _fail(str(error))
    sys.stdout.write(f"{'Now' if changed.written else 'Nothing to do:'} {outcome} {file.shown}\n")
    if changed.backup is not None:
        sys.stdout.write(f"The file as it was: {changed.backup}\n")
    return 0


def find_config(host: Host, scope: str, given: str | None) -> Path:
    """The configuration file that is meant."""
    if given:
        return Path(given).expanduser().absolute()
    return host.path("project" if scope == "project" else "user", Surroundings.real())


class Fleeting(Exception):
    """This installation will not be there for long; the text says what to do."""


def starting_command(server: str) -> Command:
    """How a host starts this server: by absolute path, because a host knows no shell and often another PATH.

    Run by `uvx`, the program lies in a cache that is tidied up: then it is `uvx` that the host starts.
    """
    if any((above / "CACHEDIR.TAG").is_file() for above in Path(sys.prefix).parents):
        return _by_uvx(server)
    return command_here(server)


def command_here(server: str) -> Command:
    """This very installation, wherever it lies."""
    script = (
        Path(sys.prefix)
        / ("Scripts" if os.name == "nt" else "bin")
        / (f"{server}.exe" if os.name == "nt" else server)
    )
    if script.is_file():
        return Command(str(script))
    return Command(sys.executable, ["-m", server.replace("-", "_")])


def _by_uvx(server: str) -> Command:
    uv = os.environ.get("UV")  # uv says where it is
    beside = Path(uv).with_name("uvx.exe" if os.name == "nt" else "uvx") if uv else None
    if beside is not None and beside.is_file():
        return Command(str(beside), [server])
    if found := shutil.which("uvx"):
        return Command(str(Path(found).absolute()), [server])
    raise Fleeting(
        f"This installation lies in a cache that is tidied up, and uvx was not found: "
        f"run `uv tool install {server}` or `pip install {server}`, then install from there"
    )


def _parser(server: str, command: str, description: str, rest: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=f"{server} {command}",
        description=description,
        usage=f"%(prog)s --host HOST [options] {rest}".rstrip(),
    )
    parser.add_argument("--host", required=True, metavar="HOST", choices=list(HOSTS), help=", ".join(HOSTS))
    parser.add_argument(
        "--scope", choices=("user", "project"), default="user", help="whose configuration (default: user)"
    )
    parser.add_argument("--name", type=_name, help=f"name of the entry (default: {short_name(server)})")
    parser.add_argument("--config", metavar="FILE", help="configuration file, if it is elsewhere")
    return parser


def split_arguments(argv: Sequence[str]) -> tuple[list[str], list[str]]:
    """Our options, and what stands behind `--`: the server's."""
    argv = list(argv)
    at = argv.index("--") if "--" in argv else len(argv)
    return argv[:at], argv[at + 1 :]


def _pair(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise argparse.ArgumentTypeError("is written NAME=VALUE")
    return name, value


def _name(text: str) -> str:
    if not text.strip() or not text.isprintable():
        raise argparse.ArgumentTypeError("is a word that can be shown")
    return text


def _fail(text: str) -> int:
    sys.stderr.write(text[:1].upper() + text[1:] + ".\n" if not text.endswith(".") else text + "\n")
    return 1


def installed_in(host: Host, file: ConfigFile, server: str) -> dict[str, dict[str, object]]:
    """The entries of a host's file that start this server, by name. Broken and Unusable say what is wrong with it."""
    section = read_section(file.read(), host.format, host.section)
    found: dict[str, dict[str, object]] = {}
    for name, entry in section.items():
        if isinstance(entry, dict) and (name == short_name(server) or server in _names(entry)):
            found[name] = {str(key): value for key, value in entry.items()}
    return found


def _names(entry: dict[object, object]) -> set[str]:
    """What an entry may start: each word of it, and the name of the program or module that it is."""
    return {
        name for word in started_by(entry).words for name in (word, Path(word).stem, word.replace("_", "-"))
    }
