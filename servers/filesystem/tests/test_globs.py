"""Patterns, and what they match."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp_server_filesystem.globs import compile_exclusion, compile_glob, expand_braces


def matches(pattern: str, path: str) -> bool:
    """Whether a pattern matches a path; both ways to ask must agree."""
    glob = compile_glob(pattern)
    by_path = bool(glob.by_path(path))
    if glob.by_name is not None:
        assert bool(glob.by_name(path.rpartition("/")[2])) == by_path
    return by_path


@pytest.mark.parametrize(
    ("pattern", "path", "expected"),
    [
        ("*.py", "a.py", True),
        ("*.py", "sub/a.py", False),
        ("*.py", ".py", True),
        ("**/*.py", "a.py", True),
        ("**/*.py", "x/y/a.py", True),
        ("**/*.py", "x/y/a.pyc", False),
        ("**/*.{py,pyi}", "x/a.pyi", True),
        ("**/*.{py,pyi}", "x/a.pyx", False),
        ("src/**", "src", False),
        ("src/**", "src/a/b", True),
        ("src/**/test", "src/test", True),
        ("src/**/test", "src/a/b/test", True),
        ("src/**/a/**/b", "src/a/x/a/b", True),
        ("**/a/b/**/c", "a/a/b/x/c", True),
        ("**", "a/b", True),
        ("*", ".hidden", True),
        ("a?c", "abc", True),
        ("a?c", "a/c", False),
        ("[a-c]x", "bx", True),
        ("[!a-c]x", "bx", False),
        ("[^a-c]x", "dx", True),
        ("[]]x", "]x", True),
        ("[z-a]x", "bx", False),
        ("[!a]b", "/b", False),
        ("a[", "a[", True),
        (r"\*.py", "*.py", True),
        (r"\*.py", "a.py", False),
        ("{a,b{c,d}}", "bd", True),
        ("{a}", "{a}", True),
        ("{a,b", "{a,b", True),
        (r"\{a,b\}", "{a,b}", True),
        ("./a", "a", True),
        ("a**b", "axxb", True),
        ("a**b", "a/b", False),
        ("**/**/a", "x/a", True),
        ("*a*b*", "xxaxxbxx", True),
        ("*a*b*", "xxbxxaxx", False),
        ("naïve*", "naïve.txt", True),
        ("a.b", "axb", False),
        ("a\nb", "a\nb", True),
        ("**", "x/a\nb", True),
        ("[+--]", "-", True),
        ("[+--]", ".", False),
        ("[--0]", ".", True),
    ],
)
def test_a_pattern_matches_as_in_a_shell(pattern: str, path: str, expected: bool) -> None:
    assert matches(pattern, path) is expected


def test_a_pattern_of_names_needs_no_path() -> None:
    assert compile_glob("**/*.py").by_name is not None
    assert compile_glob("src/*.py").by_name is None


@pytest.mark.parametrize("pattern", ["", "x" * 1001, "{a,b}" * 9])
def test_a_pattern_without_sense_or_measure_is_refused(pattern: str) -> None:
    with pytest.raises(ValueError):
        compile_glob(pattern)


def test_many_exclusions_together_have_a_measure() -> None:
    assert compile_exclusion(["{a,b}", "c"] * 80) is not None
    with pytest.raises(ValueError, match="more than 256"):
        compile_exclusion(["{a,b}" * 7] * 3)


def test_no_pattern_takes_long() -> None:
    evil = compile_glob("*a" * 100 + "b").by_path
    paths = compile_glob("**/a/" * 100 + "b").by_path
    began = time.process_time()
    assert not evil("a" * 4000)
    assert not paths("a/" * 2000 + "a")
    assert time.process_time() - began < 1


@pytest.mark.parametrize(
    ("patterns", "path", "expected"),
    [
        (["node_modules"], "a/node_modules", True),
        (["node_modules/"], "a/node_modules", True),
        (["*.log"], "a/b.log", True),
        (["a/*.log"], "a/b.log", True),
        (["a/*.log"], "x/a/b.log", False),
        (["x", "**/b"], "a/b", True),
        (["b"], "a/bc", False),
        (["b"], "a\nx/b", True),
    ],
)
def test_an_exclusion_without_a_slash_means_a_name_at_any_depth(
    patterns: list[str], path: str, expected: bool
) -> None:
    excluded = compile_exclusion(patterns)
    assert excluded is not None
    assert bool(excluded(path)) is expected


def test_nothing_is_excluded_by_no_patterns() -> None:
    assert compile_exclusion([]) is None


def reference(pattern: str, path: str) -> bool:
    """Globs by trying everything: slow, and too simple to be wrong."""
    if not pattern:
        return not path
    if pattern.startswith("**/"):
        rest = pattern[3:]
        return reference(rest, path) or any(
            path[at] == "/" and at > 0 and reference(rest, path[at + 1 :]) for at in range(len(path))
        )
    if pattern[0] == "*":
        return reference(pattern[1:], path) or (path[:1] not in ("", "/") and reference(pattern, path[1:]))
    if pattern[0] == "?":
        return path[:1] not in ("", "/") and reference(pattern[1:], path[1:])
    return path[:1] == pattern[0] and reference(pattern[1:], path[1:])


segments = st.text("ab*?", min_size=1, max_size=4).filter(lambda text: "**" not in text and text != "*")
patterns = st.lists(st.one_of(segments, st.just("**")), min_size=1, max_size=4).filter(
    lambda parts: parts[-1] != "**"
)
paths = st.lists(st.text("ab", min_size=1, max_size=4), min_size=1, max_size=4).map("/".join)


@given(patterns.map("/".join), paths)
def test_what_is_matched_early_and_never_given_back_is_what_trying_everything_finds(
    pattern: str, path: str
) -> None:
    assert bool(compile_glob(pattern).by_path(path)) == reference(pattern, path)


@given(st.text(max_size=30), st.text(max_size=30))
def test_no_pattern_fails_but_with_a_reason(pattern: str, path: str) -> None:
    try:
        glob = compile_glob(pattern)
    except ValueError:
        return
    glob.by_path(path)


def test_braces_stand_for_every_choice() -> None:
    assert expand_braces("{a,b}{1,2}") == ["a1", "a2", "b1", "b2"]
