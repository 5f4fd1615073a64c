"""What a process and its children hold: descriptors, threads, memory, and the time they take while nothing is asked."""

import os
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

PAGE = os.sysconf("SC_PAGE_SIZE")
TICKS = os.sysconf("SC_CLK_TCK")


class Vitals(NamedTuple):
    """One look at a server."""

    descriptors: int
    threads: int
    children: int
    memory: float
    """MiB resident, children included."""
    store: float
    """MiB on disk of what it keeps."""
    cpu: float
    """Seconds so far."""
    open: Counter[str]
    """What the descriptors are, for whoever looks for the one that is too many."""


def look(pid: int, store: Path) -> Vitals:
    """What there is of a process now."""
    family = [pid, *_descendants(pid)]
    threads, memory, cpu = 0, 0.0, 0.0
    open: Counter[str] = Counter()
    for member in family:
        with suppress(FileNotFoundError, ProcessLookupError):  # a child that has just ended
            open.update(_descriptors(member))
            fields = _stat(member)
            threads += int(fields[17])
            memory += int(fields[21]) * PAGE / 2**20
            cpu += (int(fields[11]) + int(fields[12])) / TICKS
    return Vitals(open.total(), threads, len(family) - 1, memory, _size(store) / 2**20, cpu, open)


def _descriptors(pid: int) -> Iterator[str]:
    for entry in Path(f"/proc/{pid}/fd").iterdir():
        with suppress(FileNotFoundError):
            # Without the numbers of pipes and sockets.
            yield str(entry.readlink()).partition("[")[0]


def _descendants(pid: int) -> Iterator[int]:
    parents: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with suppress(FileNotFoundError, ProcessLookupError):
                parents.setdefault(int(_stat(int(entry.name))[1]), []).append(int(entry.name))
    pending = parents.get(pid, []).copy()
    while pending:
        child = pending.pop()
        yield child
        pending += parents.get(child, [])


def _stat(pid: int) -> list[str]:
    """The fields of /proc/PID/stat after the name, which may hold anything."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()


def _size(store: Path) -> int:
    """Bytes of everything that lies there."""
    total = 0
    for folder, _, names in os.walk(store):
        for name in names:
            with suppress(FileNotFoundError):
                total += os.lstat(Path(folder) / name).st_size
    return total
