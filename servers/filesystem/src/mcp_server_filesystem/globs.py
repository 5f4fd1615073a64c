"""Glob patterns as regular expressions that match in linear time. Pure; knows nothing of directories.

`*` and `?` stay within a name, `**` spans directories, `[a-z]`, `[!a]`, `{one,two}` and backslash work as in a
shell. Names that begin with a dot are names like any other.
"""

import re
from collections.abc import Callable, Iterable
from typing import NamedTuple

MAX_PATTERN = 1_000  # characters
MAX_BRANCHES = 256  # of braces, multiplied out; of all exclusions together

Matches = Callable[[str], object]


class Glob(NamedTuple):
    """A compiled pattern: of a name alone where that is enough, else of a path relative to where it starts."""

    by_name: Matches | None
    by_path: Matches


def compile_glob(pattern: str) -> Glob:
    """Compile one pattern; ValueError says what is wrong with it."""
    branches = [_relative(branch) for branch in expand_braces(pattern)]
    source = "|".join(rf"(?:{path_regex(branch)})\Z" for branch in branches)
    by_path = re.compile(source, re.DOTALL).match  # a name may hold a line end
    tails = [branch.removeprefix("**/") for branch in branches]
    anywhere = all(branch.startswith("**/") for branch in branches) and not any("/" in tail for tail in tails)
    return Glob(_compile_names(tails) if anywhere else None, by_path)


def compile_exclusion(patterns: Iterable[str]) -> Matches | None:
    """One test of relative paths for patterns of which those without a slash mean a name at any depth."""
    sources: list[str] = []
    for pattern in patterns:
        branches = expand_braces(pattern)
        if len(sources) + len(branches) > MAX_BRANCHES:
            raise ValueError(f"the patterns and their braces stand for more than {MAX_BRANCHES}")
        for branch in map(_relative, branches):
            source = path_regex(branch.rstrip("/") or branch)
            sources.append(source if "/" in branch.rstrip("/") else f"(?:.*/)?{source}")
    return (
        re.compile("|".join(rf"(?:{source})\Z" for source in sources), re.DOTALL).match if sources else None
    )


def _relative(pattern: str) -> str:
    while pattern.startswith("./"):
        pattern = pattern[2:]
    return pattern


def _compile_names(names: list[str]) -> Matches:
    if len(names) == 1 and is_suffix(names[0]):
        suffix = names[0][1:]
        return lambda name: name.endswith(suffix)
    return re.compile("|".join(rf"(?:{segment_regex(name)})\Z" for name in names)).match


def is_suffix(pattern: str) -> bool:
    """Whether a pattern of a name is a star and plain text, such as `*.py`."""
    return len(pattern) > 1 and pattern[0] == "*" and not re.search(r"[*?\[\\]", pattern[1:])


# --- braces ------------------------------------------------------------------------------------------------------


def expand_braces(pattern: str) -> list[str]:
    """Every pattern that the braces of one stand for."""
    if not pattern:
        raise ValueError("the pattern is empty")
    if len(pattern) > MAX_PATTERN:
        raise ValueError(f"the pattern has more than {MAX_PATTERN} characters")
    pending, done = [pattern], list[str]()
    while pending:
        current = pending.pop()
        parts = _first_brace(current)
        if parts is None:
            done.append(current)
        else:
            before, choices, after = parts
            pending += [f"{before}{choice}{after}" for choice in reversed(choices)]
        if len(pending) + len(done) > MAX_BRANCHES:
            raise ValueError(f"the braces stand for more than {MAX_BRANCHES} patterns")
    return done


def _first_brace(pattern: str) -> tuple[str, list[str], str] | None:
    """What stands before, in and after the first brace that has a comma and an end."""
    for opening in _unescaped(pattern, "{"):
        depth, start, choices = 0, opening + 1, list[str]()
        for at in _unescaped(pattern, "{,}", opening + 1):
            char = pattern[at]
            if char == "{":
                depth += 1
            elif char == "}" and depth:
                depth -= 1
            elif char == "," and not depth:
                choices.append(pattern[start:at])
                start = at + 1
            elif char == "}":
                if choices:
                    return pattern[:opening], [*choices, pattern[start:at]], pattern[at + 1 :]
                break
    return None


def _unescaped(text: str, wanted: str, start: int = 0) -> Iterable[int]:
    at = start
    while at < len(text):
        if text[at] == "\\":
            at += 1
        elif text[at] in wanted:
            yield at
        at += 1


# --- to regular expressions --------------------------------------------------------------------------------------
#
# What follows a star is matched as early as possible and never given back (atomic groups). For pieces of fixed
# length that finds a match whenever there is one, and `*a*a*a*a*b` costs no more than any other pattern.


def path_regex(pattern: str) -> str:
    """A pattern without braces, for a whole relative path."""
    segments = [part for part in pattern.split("/") if part]
    runs: list[list[str]] = [[]]  # of segments between two `**`
    for part in segments:
        if part != "**":
            runs[-1].append(part)
        elif runs[-1] or len(runs) == 1:
            runs.append([])
    sources = ["/".join(map(segment_regex, run)) for run in runs]
    first, *rest = sources
    if not rest:
        return first
    *middle, last = rest
    head = f"{first}/" if first else ""
    between = "".join(rf"(?>(?:[^/]+/)*?{source}/)" for source in middle)
    return rf"{head}{between}" + (rf"(?:[^/]+/)*{last}" if last else ".+")


def segment_regex(segment: str) -> str:
    """A pattern for one name."""
    if segment.strip("*") == "":
        return "[^/]+"
    pieces = _pieces(segment)
    first, *rest = pieces
    if not rest:
        return first
    *middle, last = rest
    return first + "".join(rf"(?>[^/]*?{piece})" for piece in middle if piece) + rf"[^/]*{last}"


def _pieces(segment: str) -> list[str]:
    """What stands between the stars, each as a regular expression of fixed length."""
    pieces = [""]
    at = 0
    while at < len(segment):
        char = segment[at]
        at += 1
        if char == "*":
            pieces.append("")
        elif char == "?":
            pieces[-1] += "[^/]"
        elif char == "[" and (found := _character_class(segment, at)):
            source, at = found
            pieces[-1] += source
        else:
            if char == "\\" and at < len(segment):
                char = segment[at]
                at += 1
            pieces[-1] += re.escape(char)
    return pieces


def _character_class(segment: str, start: int) -> tuple[str, int] | None:
    """The class that begins behind a bracket, and where it ends; None when the bracket stands for itself."""
    negated = segment[start : start + 1] in ("!", "^") and segment[start : start + 1] != ""
    at = start + negated
    end = segment.find("]", at + 1)
    if end < 0:
        return None
    body = segment[at:end].replace("\\", "\\\\").replace("[", r"\[").replace("]", r"\]")
    body = body.replace("^", r"\^").replace("&", r"\&").replace("~", r"\~").replace("|", r"\|")
    # Two hyphens in a row are a range that begins or ends with one; a later Python takes them for something else.
    first, rest = (r"\-", body[1:]) if body.startswith("-") else ("", body)
    body = first + rest.replace("--", r"-\-")
    source = rf"(?!/)[^{body}]" if negated else rf"(?!/)[{body}]"
    try:
        re.compile(source)
    except re.error:  # a range the wrong way round matches nothing
        source = r"(?!)"
    return source, end + 1
