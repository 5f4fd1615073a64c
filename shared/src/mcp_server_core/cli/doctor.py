"""The command `doctor`: starts a server as each host would, speaks both eras to it, and says in plain words what is wrong."""

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path

from .arguments import absolute_arguments
from .config_file import ConfigFile, Unusable
from .documents import Broken
from .examination import Finding, Patient, examine
from .hosts import HOSTS, Command, Host, started_by
from .install import command_here, find_config, installed_in, split_arguments


def run_doctor(own: argparse.ArgumentParser, argv: Sequence[str]) -> int:
    """Examine the entries of hosts, or this very server; 1 if something is wrong."""
    server = own.prog
    options, given = split_arguments(argv)
    passed = absolute_arguments(own, given)
    parser = argparse.ArgumentParser(
        prog=f"{server} doctor",
        description="Start this server as hosts would, and say what is wrong.",
        usage=f"%(prog)s [--host HOST] [options] [-- {server}'s own arguments]",
    )
    parser.add_argument(
        "--host", metavar="HOST", choices=list(HOSTS), help=f"only this one of {', '.join(HOSTS)}"
    )
    parser.add_argument(
        "--scope", choices=("user", "project"), help="only this configuration (default: both)"
    )
    parser.add_argument(
        "--config", metavar="FILE", help="configuration file, if it is elsewhere (needs --host)"
    )
    args = parser.parse_args(options)
    if args.config and not args.host:
        parser.error("--config needs --host, which says what kind of file it is")
    sound = True
    for title, findings in _subjects(server, args, passed):
        _say(title)
        for finding in findings:
            sound = sound and finding.good
            _say(f"  {'ok   ' if finding.good else 'WRONG'} {finding.seen}")
            if not finding.good:
                _say(f"        -> {finding.remedy}")
    _say("All is well." if sound else "Something is wrong: see above.")
    return 0 if sound else 1


def _say(line: str) -> None:
    """At once: the next thing to be examined may take its time."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def _subjects(
    server: str, args: argparse.Namespace, passed: list[str]
) -> Iterator[tuple[str, Iterator[Finding] | list[Finding]]]:
    """What there is to examine: this installation, if arguments are given for it; else the entries of hosts."""
    if passed and args.host is None:
        yield _ourselves(server, passed)
        return
    found = False
    key: str | None = args.host
    for host in HOSTS.values() if key is None else [HOSTS[key]]:
        for file in _files(host, args):
            try:
                entries = installed_in(host, file, server)
            except (Broken, Unusable) as error:
                found = True
                remedy = "mend the file by hand: it is not touched as long as it cannot be read"
                yield f"{host.title}: {file.shown}", [Finding(f"cannot be read: {error}", remedy)]
                continue
            for name, entry in entries.items():
                found = True
                again = f"run `{server} install --host {host.key} -- ...` again"
                findings = examine(Patient(server, started_by(entry), again))
                yield f"{host.title}: {name} in {file.shown}", chain(_switch(entry, host), findings)
    if not found and key is None:
        yield _ourselves(server, passed)
    elif not found and key is not None:
        remedy = f"run `{server} install --host {key} -- ...`"
        yield HOSTS[key].title, [Finding(f"no entry starts {server}", remedy)]


def _ourselves(server: str, passed: list[str]) -> tuple[str, Iterator[Finding]]:
    start = command_here(server)
    command = Command(start.program, [*start.args, *passed])
    return f"This installation: {server}", examine(Patient(server, command, f"install {server} again"))


def _switch(entry: Mapping[str, object], host: Host) -> Iterator[Finding]:
    if entry.get("disabled") is True or entry.get("enabled") is False:
        yield Finding("the entry is switched off", f"switch it on in {host.title}")


def _files(host: Host, args: argparse.Namespace) -> Iterator[ConfigFile]:
    """The files of a host that are there, each once."""
    seen: set[Path] = set()
    for scope in ("user", "project") if args.scope is None and not args.config else (args.scope or "user",):
        try:
            path = find_config(host, scope, args.config)
        except ValueError:  # it has no such scope
            continue
        if path.exists() and path not in seen:
            seen.add(path)
            yield ConfigFile(path)
