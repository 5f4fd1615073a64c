"""Names as a result carries them. Pure over text.

A name may hold a line break, which would forge another entry, escape sequences of a terminal, or bytes that are no
Unicode, which could not be sent at all. Such a thing is named by its `file:` URI: every tool takes that as a path.
"""

import re

GROWTH = 12
"""How many characters of a URI stand for one of a name, at most."""
# Control characters, line separators, what turns the direction of writing, bytes that are no UTF-8.
_ODD = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def is_odd(text: str) -> bool:
    """Whether a name has to be written as a URI."""
    return not text.isprintable() and _ODD.search(text) is not None


def written_path(path: str) -> str:
    """An absolute path, or its URI; the slash at the end of a directory stays."""
    if not is_odd(path):
        return path
    return f"{_uri(path)}/" if path.endswith("/") else _uri(path)


def written_name(folder: str, name: str) -> str:
    """A name in a folder, or the URI of both."""
    return _uri(f"{folder}/{name}") if is_odd(name) else name


def _uri(path: str) -> str:
    from pathlib import Path

    return Path(path).as_uri()
