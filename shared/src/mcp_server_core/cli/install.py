"""The commands `install` and `uninstall`: put a server into a host's configuration, and take it out again."""

import argparse
import os
import shutil
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from .config_file import ConfigFile, Unusable
from .documents import Broken, drop_entry, put_entry, read_section, show
from .hosts import HOSTS, Command, Host, Surroundings

Check = Callable[[Sequence[str]], object]


def run_install(server: str, argv: Sequence[str], check: Check) -> int:
    """Add the server to a host. `check` reads the arguments the host will pass, and ends the process if they are wrong."""
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
    check(passed)
    host, name = HOSTS[args.host], args.name or short_name(server)
    command = starting_command(server)
    command = Command(command.program, [*command.args, *map(absolute, passed)], dict(args.env))
    entry = host.entry(name, command)
    if args.only_print:
        sys.stdout.write(show(host.format, host.section, name, entry).rstrip("\n") + "\n")
        return 0
    code = _change(
        host, args, lambda text: put_entry(text, host.format, host.section, name, entry), f"{name} is in"
    )
    if code == 0:
        sys.stdout.write(f"Next: {host.restart}\n")
    return code


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
        before = file.read()
        after = edit(before)
        if after == before:
            sys.stdout.write(f"Nothing to do: {outcome} {file.shown}\n")
            return 0
        backup = file.write(after)
    except Broken as error:
        return _fail(
            f"{host.title}'s configuration cannot be read ({error}); it was not touched: mend it, or use --print"
        )
    except (Unusable, ValueError) as error:
        return _fail(str(error))
    sys.stdout.write(f"Now {outcome} {file.shown}\n")
    if backup is not None:
        sys.stdout.write(f"The file as it was: {backup}\n")
    return 0


def find_config(host: Host, scope: str, given: str | None) -> Path:
    """The configuration file that is meant."""
    if given:
        return Path(given).expanduser().absolute()
    return host.path("project" if scope == "project" else "user", Surroundings.real())


def starting_command(server: str) -> Command:
    """How a host starts this server: by absolute path, because a host knows no shell and often another PATH.

    Run by `uvx`, the program lies in a cache that is tidied up: then it is `uvx` that the host starts.
    """
    uvx = _uvx()
    if any(part.startswith("archive-v") for part in Path(sys.prefix).parts) and uvx:
        return Command(uvx, [server])
    script = (
        Path(sys.prefix)
        / ("Scripts" if os.name == "nt" else "bin")
        / (f"{server}.exe" if os.name == "nt" else server)
    )
    if script.is_file():
        return Command(str(script))
    return Command(sys.executable, ["-m", server.replace("-", "_")])


def _uvx() -> str | None:
    uv = os.environ.get("UV")
    if uv:
        beside = Path(uv).with_name("uvx.exe" if os.name == "nt" else "uvx")
        if beside.is_file():
            return str(beside)
    found = shutil.which("uvx")
    return str(Path(found).absolute()) if found else None


def absolute(argument: str) -> str:
    """An argument as it means the same from any directory: paths that exist become absolute, `:ro` stays on."""
    bare, colon, rights = argument.rpartition(":")
    if colon and rights in ("ro", "rw") and _is_path(bare):
        return f"{Path(bare).expanduser().absolute()}:{rights}"
    return str(Path(argument).expanduser().absolute()) if _is_path(argument) else argument


def _is_path(text: str) -> bool:
    return bool(text) and not text.startswith("-") and Path(text).expanduser().exists()


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
    parser.add_argument("--name", help=f"name of the entry (default: {short_name(server)})")
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


def _fail(text: str) -> int:
    sys.stderr.write(text[:1].upper() + text[1:] + ".\n" if not text.endswith(".") else text + "\n")
    return 1


def installed_in(host: Host, file: ConfigFile, server: str) -> dict[str, dict[str, object]]:
    """The entries of a host's file that start this server, by name. Broken and Unusable say what is wrong with it."""
    section = read_section(file.read(), host.format, host.section)
    found: dict[str, dict[str, object]] = {}
    for name, entry in section.items():
        if isinstance(entry, dict) and (name == short_name(server) or server in _words(entry)):
            found[name] = {str(key): value for key, value in entry.items()}
    return found


def _words(entry: dict[object, object]) -> set[str]:
    """What an entry starts, in words: the program's own name, and every argument."""
    words: set[str] = set()
    for key in ("command", "cmd", "args"):
        value = entry.get(key)
        for word in value if isinstance(value, list) else [value]:
            text = str(word)
            words |= {text, Path(text).stem, text.replace("_", "-")}
    return words
