"""The rules of a chain: what may follow what, what a number means, what is let go."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mcp_server_sequential_thinking import thoughts
from mcp_server_sequential_thinking.thoughts import Chain, Misfit, Step, Thought


def think(chain: Chain, number: int, text: str = "so", **more: object) -> Thought:
    """Add a thought to a chain."""
    thought = chain.consider(step(number, text, **more), at=0.0)
    chain.add(thought)
    return thought


def step(number: int, text: str = "so", **more: object) -> Step:
    return Step(text, number, 5, next_needed=True)._replace(**more)


def chain_of(*numbers: int) -> Chain:
    chain = Chain("c")
    for number in numbers:
        think(chain, number)
    return chain


def refusal(chain: Chain, wanted: Step) -> str:
    with pytest.raises(Misfit) as caught:
        chain.consider(wanted, at=0.0)
    return str(caught.value)


def test_a_number_beyond_the_estimate_raises_the_estimate() -> None:
    assert think(Chain("c"), 8).total == 8


def test_considering_a_step_changes_nothing() -> None:
    chain = chain_of(1, 2)
    chain.consider(step(3), at=0.0)
    assert (chain.length, len(chain.thoughts)) == (2, 2)


def test_a_revision_names_the_thought_it_revises() -> None:
    chain = chain_of(1, 2)
    assert think(chain, 3, revises=1).revises == 1


def test_a_revision_that_takes_the_old_number_is_what_the_number_means_from_then_on() -> None:
    chain = chain_of(1, 2)
    again = think(chain, 1, revises=1)
    assert think(chain, 3, revises=1).revises == again.ordinal


def test_a_revision_of_nothing_says_which_thoughts_there_are() -> None:
    chain = chain_of(1, 2, 3, 7)
    think(chain, 4, branch="b", branch_from=2)
    assert refusal(chain, step(8, revises=9)) == (
        "Thought 9 cannot be revised: it is not in this chain. "
        "Of the thoughts, the main line has 1-3, 7, branch 'b' has 4."
    )


def test_a_revision_that_names_no_thought_says_which_there_are() -> None:
    assert refusal(chain_of(1, 2), step(3, revises=0)) == (
        "Which thought is revised? Pass revisesThought. Of the thoughts, the main line has 1-2."
    )


def test_nothing_can_be_revised_in_a_new_chain_and_the_way_out_is_named() -> None:
    assert "pass its thinkingId" in refusal(Chain("c"), step(1, revises=1))


def test_a_branch_from_nowhere_says_which_thoughts_there_are() -> None:
    said = refusal(chain_of(1, 2), step(3, branch="b", branch_from=7))
    assert said.startswith("No branch can start from thought 7")
    assert "the main line has 1-2" in said


def test_a_branch_that_was_never_started_says_how_to_start_it() -> None:
    said = refusal(chain_of(1), step(2, branch="b"))
    assert said.startswith("There is no branch 'b': to start it, pass branchFromThought.")


def test_a_branch_needs_a_name() -> None:
    assert "branchId" in refusal(chain_of(1), step(2, branch_from=1))


def test_a_branch_goes_on_by_its_name_alone() -> None:
    chain = chain_of(1, 2)
    think(chain, 3, branch="b", branch_from=1)
    assert think(chain, 4, branch="b").forks == 1
    assert chain.branches == ["b"]


def test_a_branch_that_exists_keeps_its_start_and_the_thinker_hears_of_it() -> None:
    chain = chain_of(1, 2)
    think(chain, 3, branch="b", branch_from=1)
    wanted = step(4, branch="b", branch_from=2)
    assert chain.remark(wanted) == "Branch 'b' goes on; it starts from thought 1."
    assert chain.consider(wanted, at=0.0).forks == 1


def test_a_number_means_the_nearest_thought_of_that_number() -> None:
    chain = chain_of(1, 2, 3)
    own = think(chain, 3, branch="b", branch_from=2)
    assert think(chain, 4, branch="b", revises=3).revises == own.ordinal, "its own branch first"
    assert think(chain, 4, revises=3).revises == 3, "the main line for the main line"
    inner = think(chain, 5, branch="c", branch_from=3)
    assert inner.forks == 3, "where the thinker is: the main line"
    think(chain, 6, branch="b")
    assert think(chain, 5, branch="d", branch_from=3).forks == own.ordinal, "where the thinker is: branch b"
    assert think(chain, 9, branch="d", revises=6).revises, "what only another branch has is found there"


def test_a_number_used_twice_is_taken_and_remarked_on() -> None:
    chain = chain_of(1, 2)
    assert "revisesThought" in chain.remark(step(2))
    assert chain.remark(step(2, revises=2)) == ""
    assert think(chain, 2).ordinal == 3


def test_a_straight_line_of_thoughts_is_remarked_on_now_and_then() -> None:
    chain = Chain("c")
    remarks: list[str] = []
    for number in range(1, 31):
        remarks.append(chain.remark(step(number)))
        think(chain, number)
    assert [at for at, remark in enumerate(remarks, 1) if remark] == [10, 20, 30]
    think(chain, 31, revises=30)
    assert chain.straight == 0


def test_the_oldest_thoughts_go_when_a_chain_is_full(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(thoughts, "MAX_THOUGHTS", 3)
    chain = chain_of(1)
    think(chain, 2, branch="b", branch_from=1)
    think(chain, 2)
    last = chain.consider(step(3), at=0.0)
    assert chain.add(last) == 1
    assert [thought.ordinal for thought in chain] == [2, 3, 4]
    assert "it is not in this chain" in refusal(chain, step(4, revises=1))
    think(chain, 4)
    assert chain.branches == [], "a branch goes with its last thought"
    assert (chain.length, len(chain.thoughts)) == (5, 3)


def test_a_chain_is_bounded_in_bytes_as_well(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(thoughts, "MAX_BYTES", 10_000)
    chain = Chain("c")
    for number in range(1, 50):
        think(chain, number, "\N{GRINNING FACE}" * 500)
        assert chain.size <= 10_000
    assert len(chain.thoughts) == 4


def test_there_are_only_so_many_branches_and_their_names_are_short() -> None:
    chain = chain_of(1)
    assert "at most 64 characters" in refusal(chain, step(2, branch="x" * 65, branch_from=1))
    for number in range(thoughts.MAX_BRANCHES):
        think(chain, 2, branch=f"b{number}", branch_from=1)
    assert "at most 50 branches" in refusal(chain, step(2, branch="one more", branch_from=1))
    assert think(chain, 3, branch="b7").branch == "b7"


steps = st.builds(
    Step,
    text=st.text(max_size=5),
    number=st.integers(1, 6),
    total=st.integers(1, 6),
    next_needed=st.booleans(),
    revises=st.none() | st.integers(0, 6),
    branch=st.sampled_from(["", "a", "b", "c"]),
    branch_from=st.none() | st.integers(1, 6),
)


@settings(deadline=None)
@given(st.lists(steps, max_size=40))
def test_whatever_a_thinker_says_a_chain_stays_sound(said: list[Step]) -> None:
    chain = Chain("c")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(thoughts, "MAX_THOUGHTS", 6)
        for each in said:
            try:
                thought = chain.consider(each, at=0.0)
            except Misfit:
                continue
            assert isinstance(chain.remark(each), str)
            chain.add(thought)
            assert thought.revises < thought.ordinal
            assert thought.forks < thought.ordinal
    assert len(chain.thoughts) <= 6
    assert chain.size == sum(thought.size for thought in chain)
    for name, line in chain.lines.items():
        own = [thought for thought in chain if thought.branch == name]
        assert line.count == len(own) > 0
        assert line.newest == {thought.number: thought.ordinal for thought in own}
    assert [*chain.copy()] == [*chain]
    assert chain.copy().lines.keys() == chain.lines.keys()
