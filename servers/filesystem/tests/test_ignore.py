"""Ignore files, held against git itself."""

import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from mcp_server_filesystem.ignore import MAX_RULES, IgnoreFile, parse_rules

PATHS = (
    *("a", "b.log", "build/", "build/a", "sub/", "sub/a", "sub/b.log", "sub/build/", "sub/build/x", "a b"),
    *("keep.log", "sub/keep.log", "x/y/z/a", "#a", "!a", "a ", "[a]", "a.c", "axc", "sub/deep/a.c"),
)


def ours(rules: str, path: str) -> bool:
    """What git says of a path: whether it, or a directory above it, is ignored."""
    file = IgnoreFile(rules)
    parts = path.rstrip("/").split("/")
    for count in range(1, len(parts) + 1):
        is_directory = count < len(parts) or path.endswith("/")
        if file.verdict(parts[count - 1], "/".join(parts[:count]), is_directory=is_directory):
            return True
    return False


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if shutil.which("git") is None:
        pytest.skip("git is not on this machine")
    folder = tmp_path_factory.mktemp("repository")
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    for path in PATHS:
        target = folder / path
        if path.endswith("/"):
            target.mkdir(parents=True, exist_ok=True)
        else:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text("")
    return folder


def git(repository: Path, rules: str) -> set[str]:
    (repository / ".gitignore").write_bytes(rules.encode())
    done = subprocess.run(
        ["git", "-c", "core.excludesFile=", "check-ignore", "--no-index", "-z", "--stdin"],
        input="\0".join(path.rstrip("/") for path in PATHS).encode(),
        cwd=repository,
        capture_output=True,
        check=False,
    )
    said = set(done.stdout.decode().split("\0"))
    return {path for path in PATHS if path.rstrip("/") in said}


@pytest.mark.parametrize(
    "rules",
    [
        "*.log\n!keep.log\n",
        "build/\n",
        "/build\n",
        "build/*\n!build/a\n",
        "sub/**\n",
        "**/a\n",
        "sub/**/x\n",
        "**/build/x\n",
        "# a comment\n\\#a\n\\!a\n",
        "a\\ \n",
        "a   \n",
        "a b\n",
        "\\[a\\]\n",
        "[ab]\n",
        "a?c\n",
        "a.c\n",
        "*\n!*/\n!*.log\n",
        "/*\n!/sub\n",
        "x/*/z\n",
        "x/**/a\n",
        "sub/*.log\n",
        "!a\na\n",
        "a\n!a\na\n",
        "{a,b.log}\n",
        "\n\n  \n",
        "/\n",
        "!\n",
        "\\\n",
        "**\n",
        "a/\n",
        "*.c\n!sub/deep/\n!a.c\n",
        "*.log\r\nbuild/\r\n",
    ],
)
def test_rules_ignore_what_git_ignores(repository: Path, rules: str) -> None:
    assert {path for path in PATHS if ours(rules, path)} == git(repository, rules)


lines = st.lists(
    st.text("ab*?/!.", min_size=1, max_size=6).map(lambda line: line.replace("//", "/")),
    min_size=1,
    max_size=4,
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(lines)
def test_any_rules_ignore_what_git_ignores(repository: Path, lines: list[str]) -> None:
    rules = "".join(f"{line}\n" for line in lines)
    assert {path for path in PATHS if ours(rules, path)} == git(repository, rules)


def test_a_rule_of_nonsense_length_is_passed_over() -> None:
    assert [rule.pattern for rule in parse_rules("a\n" + "b*" * 600 + "\nc\n")] == ["a", "c"]


def test_a_file_of_nonsense_is_read_as_far_as_it_makes_sense() -> None:
    assert len(parse_rules("x\n" * (MAX_RULES * 2))) == MAX_RULES
    assert not IgnoreFile("# nothing\n\n")
    assert IgnoreFile("\ufeffa\n").verdict("a", "a", is_directory=False) is True
