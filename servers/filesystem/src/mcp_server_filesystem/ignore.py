"""Which names a `.gitignore` leaves out, decided fast. Pure: text in, verdicts out.

The last rule that fits decides, as git has it. Rules that follow one another with the same verdict are tried
together: plain names by lookup, `*.ext` by the end of the name, the rest by one regular expression.
"""

import re
from collections.abc import Callable, Iterable
from typing import NamedTuple

from .globs import is_suffix, path_regex, segment_regex

MAX_RULES = 2_000  # of one file; what comes after is not read
MAX_FILE = 1 << 17  # bytes of it that are read
_LONGEST_RULE = 1_000  # characters; a longer one is nobody's, and takes long to compile
# What version control and package managers keep for themselves. Nobody lists these by hand in small projects.
USUALLY_IGNORED = frozenset({".git", ".hg", ".svn", ".jj", "node_modules", "__pycache__"})

Test = Callable[[str], object]


class Rule(NamedTuple):
    """One line of the file."""

    pattern: str
    ignores: bool
    directories_only: bool
    anchored: bool  # to the directory of the file


class _Run(NamedTuple):
    """Rules in a row that say the same."""

    ignores: bool
    names: frozenset[str]
    suffixes: tuple[str, ...]
    by_name: Test | None
    by_path: Test | None

    def fits(self, name: str, path: str) -> bool:
        return (
            name in self.names
            or (bool(self.suffixes) and name.endswith(self.suffixes))
            or (self.by_name is not None and self.by_name(name) is not None)
            or (self.by_path is not None and self.by_path(path) is not None)
        )


class IgnoreFile:
    """The rules of one `.gitignore`."""

    __slots__ = ("_for_directories", "_for_files")

    def __init__(self, text: str) -> None:
        rules = parse_rules(text)
        self._for_directories = _runs(rules)
        self._for_files = _runs(rule for rule in rules if not rule.directories_only)

    def __bool__(self) -> bool:
        return bool(self._for_directories)

    def verdict(self, name: str, path: str, *, is_directory: bool) -> bool | None:
        """Whether to ignore a name at a path relative to this file's directory; None when no rule fits."""
        for run in self._for_directories if is_directory else self._for_files:
            if run.fits(name, path):
                return run.ignores
        return None


def parse_rules(text: str) -> list[Rule]:
    """The rules in the order of the file."""
    rules: list[Rule] = []
    for line in text.removeprefix("\ufeff").split("\n"):
        rule = _parse_rule(line.removesuffix("\r")) if len(line) <= _LONGEST_RULE else None
        if rule is not None:
            rules.append(rule)
        if len(rules) == MAX_RULES:
            break
    return rules


def _parse_rule(line: str) -> Rule | None:
    pattern = re.sub(r"(?<!\\) +\Z", "", line) if line.endswith(" ") else line
    while pattern.endswith(" ") and not pattern.endswith("\\ "):
        pattern = pattern[:-1]
    if not pattern or pattern.startswith("#"):
        return None
    ignores = not pattern.startswith("!")
    if not ignores:
        pattern = pattern[1:]
    directories_only = pattern.endswith("/")
    pattern = pattern.removesuffix("/")
    anchored = "/" in pattern
    pattern = pattern.removeprefix("/")
    if not pattern or (pattern.endswith("\\") and not pattern.endswith("\\\\")):
        return None
    if pattern.startswith("**/") and "/" not in pattern[3:] and pattern[3:].strip("*"):
        pattern, anchored = pattern[3:], False
    return Rule(pattern, ignores, directories_only, anchored)


def _runs(rules: Iterable[Rule]) -> tuple[_Run, ...]:
    """The rules grouped by verdict, the last group first."""
    groups: list[list[Rule]] = []
    for rule in rules:
        if groups and groups[-1][0].ignores == rule.ignores:
            groups[-1].append(rule)
        else:
            groups.append([rule])
    return tuple(_run(group) for group in reversed(groups))


def _run(rules: list[Rule]) -> _Run:
    names: set[str] = set()
    suffixes: set[str] = set()
    by_name: list[str] = []
    by_path: list[str] = []
    for rule in rules:
        if rule.anchored:
            by_path.append(path_regex(rule.pattern))
        elif not re.search(r"[*?\[\\]", rule.pattern):
            names.add(rule.pattern)
        elif is_suffix(rule.pattern):
            suffixes.add(rule.pattern[1:])
        else:
            by_name.append(segment_regex(rule.pattern))
    return _Run(rules[0].ignores, frozenset(names), tuple(suffixes), _either(by_name), _either(by_path))


def _either(sources: list[str]) -> Test | None:
    return (
        re.compile("|".join(rf"(?:{source})\Z" for source in sources), re.DOTALL).match if sources else None
    )
