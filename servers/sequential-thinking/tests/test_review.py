"""What a reader sees of a chain."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mcp_server_sequential_thinking import thoughts
from mcp_server_sequential_thinking.review import View, questions, review, short
from mcp_server_sequential_thinking.thoughts import Chain, Step, count

VIEWS: list[View] = ["outline", "branches", "revisions", "open", "markdown", "mermaid"]


def add(chain: Chain, number: int, text: str, *, next_needed: bool = True, **more: object) -> None:
    step = Step(text, number, 4, next_needed)._replace(**more)
    chain.add(chain.consider(step, at=0.0))


@pytest.fixture
def chain() -> Chain:
    chain = Chain("h4ndle")
    add(chain, 1, "Is it the cache?")
    add(chain, 2, "Look at | the log.\nIt says timeout.")
    add(chain, 3, "Restart it.")
    add(chain, 3, "Or scale it.", branch="scale", branch_from=2)
    add(chain, 4, "What would it cost?", branch="scale")
    add(chain, 4, "It is not the cache.", revises=1, next_needed=False)
    return chain


HEAD = "# Chain h4ndle: 6 thoughts, 1 branch, 1 revision, ended\n\n"


def test_the_outline_has_branches_below_the_thought_they_start_from(chain: Chain) -> None:
    assert review(chain, "outline") == HEAD + (
        "- 1: Is it the cache? (revised by 4)\n"
        "- 2: Look at | the log. It says timeout.\n"
        "  - 3 (scale): Or scale it.\n"
        "  - 4 (scale): What would it cost?\n"
        "- 3: Restart it.\n"
        "- 4: It is not the cache. (revises 1; end)\n"
    )


def test_branches_stand_side_by_side(chain: Chain) -> None:
    assert review(chain, "branches") == HEAD + (
        "## From 2: Look at | the log. It says timeout.\n\n"
        "| main line | scale |\n"
        "|---|---|\n"
        "| 3. Restart it. | 3. Or scale it. |\n"
        "| 4. It is not the cache. (end) | 4. What would it cost? |\n\n"
    )


def test_a_cell_cannot_break_its_table() -> None:
    chain = Chain("c")
    add(chain, 1, "start")
    add(chain, 2, "a | b \\| c\nd", branch="x | y", branch_from=1)
    *_, header, rule, row, _, _ = review(chain, "branches").split("\n")
    assert (header, rule, row) == ("| x \\| y |", "|---|", "| 2. a \\| b \\\\\\| c d |")


def test_revisions_show_what_was_and_what_became_of_it(chain: Chain) -> None:
    assert review(chain, "revisions") == HEAD + (
        "## 1\n\n> Is it the cache?\n\nRevised by 4:\n\n> It is not the cache.\n\n"
    )


def test_open_are_lines_without_an_end_and_questions_that_nothing_revised(chain: Chain) -> None:
    assert review(chain, "open") == HEAD + (
        "- Branch scale stops at thought 4 and wants another: What would it cost?\n"
        "- Thought 4 (scale) asks: What would it cost?\n"
    )


def test_an_end_that_asks_for_more_is_open() -> None:
    chain = Chain("c")
    add(chain, 1, "Done.", next_needed=False, more_needed=True)
    assert "The main line stops at thought 1" in review(chain, "open")
    assert "(wants more thoughts; end)" in review(chain, "outline")


def test_markdown_has_every_thought_in_full_and_quoted(chain: Chain) -> None:
    text = review(chain, "markdown")
    assert "## Thought 2 of 4\n\n> Look at | the log.\n> It says timeout.\n" in text
    assert "## Thought 3 of 4, branch scale from 2\n\n> Or scale it.\n" in text


def test_mermaid_draws_the_chain(chain: Chain) -> None:
    assert review(chain, "mermaid") == (
        "flowchart TD\n"
        '  t1["1: Is it the cache?"]\n'
        '  t2["2: Look at #124; the log. It says timeout."]\n'
        "  t1 --> t2\n"
        '  t3["3: Restart it."]\n'
        "  t2 --> t3\n"
        '  t4["3 (scale): Or scale it."]\n'
        '  t2 -->|"scale"| t4\n'
        '  t5["4 (scale): What would it cost?"]\n'
        "  t4 --> t5\n"
        '  t6["4: It is not the cache."]\n'
        "  t3 --> t6\n"
        "  t6 -. revises .-> t1\n"
    )


def test_a_chain_with_nothing_to_show_says_so() -> None:
    chain = Chain("c")
    add(chain, 1, "Done.", next_needed=False)
    assert "There are no branches." in review(chain, "branches")
    assert "Nothing was revised." in review(chain, "revisions")
    assert "Nothing is open." in review(chain, "open")


def test_what_was_let_go_is_said(monkeypatch: pytest.MonkeyPatch, chain: Chain) -> None:
    monkeypatch.setattr(thoughts, "MAX_THOUGHTS", 3)
    add(chain, 5, "On.")
    texts = {view: review(chain, view) for view in VIEWS}
    assert "Let go: the oldest 4 thoughts." in texts["outline"]
    assert "- 4 (scale): What would it cost?" in texts["outline"]
    assert "## From a thought that was let go" in texts["branches"]
    assert "revises a thought that was let go" in texts["markdown"]
    assert "t1" not in texts["mermaid"]


def test_branches_may_nest_as_deep_as_there_are_branches() -> None:
    chain = Chain("c")
    add(chain, 1, "start")
    for depth in range(thoughts.MAX_BRANCHES):
        add(chain, depth + 2, "deeper", branch=f"b{depth}", branch_from=depth + 1)
    assert review(chain, "outline").splitlines()[-1].startswith("  " * 50 + "- 51 (b49)")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Why? Because. How so?", ["Why?", "How so?"]),
        ("See http://x.org/?a=b and 3.5 litres.", []),
        ("First line\nIs it? ", ["Is it?"]),
        ('He asked "why?"', ['He asked "why?"']),
        ("为什么？因为。怎么办？", ["为什么？", "怎么办？"]),  # noqa: RUF001 - wide ones are what this is about
        ("?", ["?"]),
        ("", []),
    ],
)
def test_questions_are_sentences_that_end_with_a_question_mark(text: str, found: list[str]) -> None:
    assert questions(text) == found


def test_numbers_and_nouns_agree() -> None:
    assert [count(1, "branch"), count(2, "branch"), count(1, "thought"), count(0, "thought")] == [
        "1 branch",
        "2 branches",
        "1 thought",
        "0 thoughts",
    ]


@pytest.mark.parametrize("view", VIEWS)
def test_control_characters_are_spelt_out(view: View) -> None:
    chain = Chain("c")
    add(chain, 1, "start \x1b]0;title\x07?")
    add(chain, 2, "a\tb\n\x9b31m red \x00\x7f\r?", branch="b\x1b[2J", branch_from=1)
    add(chain, 3, "\x1b[8m?", revises=1)
    text = review(chain, view)
    assert [char for char in text if not char.isprintable() and char not in "\t\n"] == []
    assert "\\x1b" in text or view == "mermaid", "where they were stays visible"


def test_a_thought_cannot_turn_a_mark_into_a_link() -> None:
    chain = Chain("c")
    add(chain, 1, "[end]: https://example.org")
    add(chain, 2, "[revises 1]: https://example.org", revises=1, next_needed=False)
    headings = [line for line in review(chain, "markdown").split("\n") if line.startswith("#")]
    assert headings[1:] == ["## Thought 1 of 4 (revised by 2)", "## Thought 2 of 4 (revises 1; end)"]


@settings(deadline=None)
@given(st.text(max_size=300), st.text(min_size=1, max_size=20))
def test_no_text_breaks_the_form_of_a_view(text: str, name: str) -> None:
    chain = Chain("c")
    name = " ".join(name.split()) or "b"
    add(chain, 1, text)
    add(chain, 2, text, branch=name, branch_from=1)
    add(chain, 3, text, revises=1)
    assert len(short(text)) <= 100
    for line in review(chain, "mermaid").split("\n")[1:-1]:
        assert re.fullmatch(r'  t\d+(\["[^"]*"\]| -->(\|"[^"]*"\|)? t\d+| -\. revises \.-> t\d+)', line), line
    outline = review(chain, "outline").split("\n")[2:-1]
    assert [bool(re.match(r" *- \d", line)) for line in outline] == [True, True, True]
    for line in review(chain, "markdown").split("\n"):
        assert line == "" or line.startswith((">", "# ", "## "))
