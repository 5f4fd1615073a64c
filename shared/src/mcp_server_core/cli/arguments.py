"""A server's own arguments, as they mean the same from any directory: a host starts servers wherever it likes.

The server's parser says which arguments are paths: those shown as DIR, FILE or PATH in its help.
"""

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path

from ..places import spelling

_PATHS = ("DIR", "FILE", "PATH")
_RIGHTS = ("ro", "rw")


def absolute_arguments(parser: argparse.ArgumentParser, argv: Sequence[str]) -> list[str]:
    """The arguments with every path absolute, whether it exists yet or not."""
    return list(_absolute(parser, argv))


def _absolute(parser: argparse.ArgumentParser, argv: Sequence[str]) -> Iterator[str]:
    own_are_paths = any(_is_path(action) for action in parser._actions if not action.option_strings)  # pyright: ignore[reportPrivateUsage] - argparse shows it nowhere else
    option: argparse.Action | None = None  # one that waits for its value
    for word in argv:
        if option is not None:
            yield absolute(word) if _is_path(option) else word
            option = None
        elif word.startswith("-"):
            name, equals, value = word.partition("=")
            option = _option(parser, name)
            if equals:
                word = f"{name}={absolute(value)}" if option is not None and _is_path(option) else word
                option = None
            yield word
        else:
            yield absolute(word) if own_are_paths else word


def _option(parser: argparse.ArgumentParser, name: str) -> argparse.Action | None:
    """The option of that name, or of the one name that begins so; None if it takes no value."""
    known = parser._option_string_actions  # pyright: ignore[reportPrivateUsage] - as above
    found = [known[name]] if name in known else [known[each] for each in known if each.startswith(name)]
    return found[0] if found and found[0].nargs != 0 else None


def _is_path(action: argparse.Action) -> bool:
    return isinstance(action.metavar, str) and action.metavar.startswith(_PATHS)


def absolute(path: str) -> str:
    """A path as it is written from anywhere; `:ro` stays on. URIs, and variables that a host fills in, stay as they are."""
    bare, colon, rights = path.rpartition(":")
    if not (colon and rights in _RIGHTS):
        bare, colon, rights = path, "", ""
    if not bare or bare.startswith(("$", "%", "file:")):
        return path
    return f"{Path(spelling.expand_home(bare)).absolute()}{colon}{rights}"
