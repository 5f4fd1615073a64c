"""Edits over text: where they match, what they leave alone, and what they say when they do not match."""

import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp_server_filesystem.diff import git_diff
from mcp_server_filesystem.editing import Edit, Mismatch, apply, patch


def edited(text: str, *edits: tuple[str, str]) -> str:
    return apply(text, [Edit(*edit) for edit in edits]).text


def mismatch(text: str, *edits: tuple[str, str]) -> str:
    with pytest.raises(Mismatch) as caught:
        edited(text, *edits)
    return str(caught.value)


def test_text_is_replaced_literally() -> None:
    assert edited("price: X\n", ("X", r"$& $1 \1 \g<0>")) == "price: $& $1 \\1 \\g<0>\n"


def test_edits_are_made_one_after_the_other() -> None:
    assert edited("a b c", ("a", "x y"), ("y b", "z"), ("x z c", "done")) == "done"


def test_several_matches_are_an_error_with_their_lines() -> None:
    assert mismatch("x\ny\nx\n", ("x", "z")) == (
        "The edit matches 2 times (at lines 1, 3): take more of the text around it into oldText."
    )


def test_overlapping_matches_are_several() -> None:
    assert "matches 2 times (at lines 1, 1)" in mismatch("aaa", ("aa", "b"))


def test_an_edit_of_several_says_which_one_failed() -> None:
    assert mismatch("a\nb\n", ("a", "x"), ("q", "y")).startswith("Edit 2 of 2 has no match")


def test_an_empty_text_matches_nothing() -> None:
    assert "empty oldText" in mismatch("a", ("", "b"))


# --- line ends ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "old", "new", "expected"),
    [
        ("a\r\nb\r\nc\r\n", "a\nb", "a\nx\ny", "a\r\nx\r\ny\r\nc\r\n"),
        ("a\r\nb\r\n", "a\r\nb\r\n", "x\r\ny\r\n", "x\r\ny\r\n"),
        ("a\nb\n", "a\r\nb", "x\r\ny", "x\ny\n"),
        ("a\rb\rc", "a\nb", "x\ny\nz", "x\ry\rz\rc"),
        ("a\r\nb\nc\r\nd\n", "b\nc\nd", "b\nC\nd", "a\r\nb\nC\r\nd\n"),  # mixed: each line keeps its own
        ("a\nb\r\nc\n", "b", "x\ny", "a\nx\r\ny\r\nc\n"),
        ("a\r\nb", "b", "x\ny", "a\r\nx\r\ny"),
    ],
)
def test_line_ends_stay_what_they_are(text: str, old: str, new: str, expected: str) -> None:
    assert edited(text, (old, new)) == expected


# --- whitespace aside ---------------------------------------------------------------------------------------------


def test_an_edit_with_other_indentation_takes_that_of_the_file() -> None:
    text = "class A:\n\tdef f(self):\n\t\treturn 1\n\nx\n"
    old = "    def f(self):\n        return 1\n"
    new = "    def f(self):\n        if x:\n            return 2\n"
    result = apply(text, [Edit(old, new)])
    assert result.text == "class A:\n\tdef f(self):\n\t\tif x:\n\t\t\treturn 2\n\nx\n"
    assert result.notes == ["The edit matched at line 2 with whitespace aside."]


def test_an_edit_without_indentation_is_put_at_the_depth_of_its_place() -> None:
    assert edited("if x:\n    a()\n    b()\n", ("a()\nb()\n", "if y:\n    c()\n")) == (
        "if x:\n    if y:\n        c()\n"
    )


def test_trailing_blanks_do_not_keep_an_edit_from_matching() -> None:
    assert edited("one  \ntwo\n", ("one\ntwo", "1\n2")) == "1\n2\n"


def test_lines_can_be_taken_out_with_whitespace_aside() -> None:
    assert edited("a\n  b\nc\n", ("\tb\n", "")) == "a\nc\n"


def test_several_matches_with_whitespace_aside_are_an_error_too() -> None:
    assert "with whitespace aside, matches 2 times (at lines 1, 3)" in mismatch(
        " a b\nx\n  a b\n", ("a  b", "c")
    )


def test_blank_text_matches_only_exactly() -> None:
    assert "no match" in mismatch("a\n\nb", ("  \n  ", "x"))


# --- what is said on a miss ---------------------------------------------------------------------------------------


def test_a_miss_shows_the_nearest_region_and_what_differs() -> None:
    text = "import os\n\ndef load(path):\n    data = read(path)\n    return data\n"
    said = mismatch(text, ("def load(path):\n    data = raed(path)\n    return data", "x"))
    assert said.splitlines() == [
        "The edit has no match: oldText is not in the file. The nearest text is at lines 3-5, with these differences:",
        "line 4 is      '    data = read(path)'",
        "oldText has    '    data = raed(path)'",
    ]


def test_a_single_line_that_is_nearly_there_is_found() -> None:
    said = mismatch("alpha beta gamma\nsomething else\n", ("alpha betta gamma", "x"))
    assert "nearest text is at line 1" in said
    assert "'alpha beta gamma'" in said


def test_a_miss_in_a_text_without_anything_alike_says_so() -> None:
    assert "Nothing in it resembles" in mismatch("1\n2\n3\n", ("completely different", "x"))


def test_a_miss_in_a_large_text_is_answered_soon() -> None:
    text = "\n".join(f"some line with number {n} in it" for n in range(200_000))
    assert "nearest text" in mismatch(text, ("some lime with number 77 in it!", "x"))


def test_text_that_repeats_itself_is_compared_once() -> None:
    """Each of these took hours when the work grew with the product of both texts."""
    same = "abc\n" * 250_000
    assert "nearest text is at lines 1-" in mismatch(same, ("abc\n" * 100_000 + "xyz", "x"))
    assert "with whitespace aside, matches more than 10 times (at lines 1, 2," in mismatch(
        same, ("\tabc\n" * 100_000, "x")
    )
    assert "matches more than 10 times (at lines 1, 1," in mismatch("a" * 5_000_000, ("a" * 1_000_000, "x"))


def test_a_text_of_very_many_lines_is_searched_exactly_and_no_further() -> None:
    many = "a\n" * 400_000
    assert "too many lines" in mismatch(many, ("b", "x"))
    assert edited(f"{many}b\n", ("b", "x")) == f"{many}x\n"


def test_lines_that_resemble_each_other_are_compared_within_measure() -> None:
    alike = "".join(f"{'ab' * 80}{number}\n" for number in range(20_000))
    assert "The edit has no match" in mismatch(alike, ("ba" * 90, "x"))


# --- what was not meant stays -------------------------------------------------------------------------------------

line = st.text("ab \t", max_size=6)
lines = st.lists(st.tuples(line, st.sampled_from(["\n", "\r\n"])), max_size=12)


@given(lines, st.data())
def test_an_exact_edit_changes_its_place_and_no_other_byte(
    made: list[tuple[str, str]], data: st.DataObject
) -> None:
    text = "".join(part for pair in made for part in pair)
    marked = data.draw(st.integers(0, len(text)))
    if text[marked - 1 : marked + 1] == "\r\n":
        marked += 1
    text = f"{text[:marked]}MARK{text[marked:]}"
    new = data.draw(st.text("xyz", max_size=5))
    assert edited(text, ("MARK", new)) == text.replace("MARK", new)


@given(
    st.text("abc\n", max_size=30),
    st.lists(st.tuples(st.text("abc\n", min_size=1, max_size=3), st.text("xyz\n", max_size=3)), max_size=5),
)
def test_the_changes_of_many_edits_add_up_to_their_result(text: str, edits: list[tuple[str, str]]) -> None:
    expected = text
    try:
        result = apply(text, [Edit(*edit) for edit in edits])
    except Mismatch:
        return
    if not result.notes:
        for old, new in edits:
            expected = expected.replace(old, new, 1)
        assert result.text == expected
    assert patch(text, result.changes) == result.text


# --- the diff -----------------------------------------------------------------------------------------------------


@given(
    st.lists(st.sampled_from(["a", "b", "", "c"]), max_size=40),
    st.lists(st.tuples(st.integers(0, 60), st.integers(0, 6), st.text("ab\n", max_size=6)), max_size=4),
    st.booleans(),
)
def test_git_applies_the_diff(
    tmp_path_factory: pytest.TempPathFactory, body: list[str], cuts: list[tuple[int, int, str]], ended: bool
) -> None:
    text = "\n".join(body) + ("\n" if ended else "")
    edits: list[Edit] = []
    current = text
    for start, length, new in cuts:
        old = current[start : start + length]
        if old and current.count(old) == 1 and "MARK" not in old:
            edits.append(Edit(old, new))
            current = current.replace(old, new)
    try:
        result = apply(text, edits)
    except Mismatch:
        return
    diff = git_diff("f.txt", result.flat, result.changes)
    if not diff or not result.text:
        return
    folder = tmp_path_factory.mktemp("git")
    (folder / "f.txt").write_text(text)
    subprocess.run(["git", "apply", "--unidiff-zero", "-"], cwd=folder, input=diff.encode(), check=True)
    assert (folder / "f.txt").read_text() == result.text


def test_the_diff_of_distant_edits_in_a_large_text_is_short(tmp_path: Path) -> None:
    text = "".join(f"{n % 7}\n" for n in range(300_000)) + "last"
    text = f"first\n{text}"
    result = apply(text, [Edit("first", "1st"), Edit("last", "final")])
    diff = git_diff("f", result.flat, result.changes)
    assert diff.count("\n") == 17
    assert diff.endswith("-last\n\\ No newline at end of file\n+final\n\\ No newline at end of file\n")
