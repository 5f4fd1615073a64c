"""What a shelf holds, for how long, and for whom."""

import pytest
from mcp_server_sequential_thinking.shelf import MAX_PEERS, Limits, Shelf, Who, new_handle
from mcp_server_sequential_thinking.thoughts import Misfit, Step

ANN, BOB = Who(peer="ann", continues=True), Who(peer="bob", continues=True)
ALONE = Who()


def step(number: int = 1, text: str = "so", *, next_needed: bool = True) -> Step:
    return Step(text, number, 5, next_needed)


class Clock:
    """Time that passes when a test says so."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_one_who_continues_stays_on_one_chain() -> None:
    shelf = Shelf()
    first = shelf.add(step(1), ANN)
    assert shelf.add(step(2), ANN).id == first.id
    assert shelf.add(step(1), BOB).id != first.id


def test_one_who_does_not_continue_begins_anew_each_time_unless_a_handle_is_given() -> None:
    shelf = Shelf()
    first = shelf.add(step(1), ALONE)
    second = shelf.add(step(2), ALONE)
    assert second.id != first.id
    assert second.note.startswith("This began a new chain")
    assert shelf.add(step(2), Who(first.id)).length == 2


def test_thought_one_after_the_end_begins_a_new_chain() -> None:
    shelf = Shelf()
    first = shelf.add(step(1), ANN)
    shelf.add(step(2, next_needed=False), ANN)
    assert shelf.add(step(3), ANN).id == first.id, "more thoughts after the end belong to the same chain"
    shelf.add(step(4, next_needed=False), ANN)
    assert shelf.add(step(1), ANN).id != first.id


def test_a_handle_makes_its_chain_the_one_that_goes_on() -> None:
    shelf = Shelf()
    bobs = shelf.add(step(1), BOB).id
    shelf.add(step(1), ANN)
    shelf.add(step(2), ANN._replace(handle=bobs))
    assert shelf.add(step(3), ANN).id == bobs


def test_lists_name_only_what_one_has_added_to() -> None:
    shelf = Shelf()
    anns = shelf.add(step(1, "mine"), ANN).id
    shelf.add(step(1), BOB)
    shelf.add(step(1), ALONE)
    assert [(known.id, known.title, known.length) for known in shelf.known_to("ann")] == [(anns, "mine", 1)]
    assert shelf.known_to(None) == []
    assert shelf.known_to("eve") == []


def test_a_wrong_handle_is_answered_with_ones_own_and_nobody_elses() -> None:
    shelf = Shelf()
    anns, bobs = shelf.add(step(1), ANN).id, shelf.add(step(1), BOB).id
    with pytest.raises(Misfit) as caught:
        shelf.look(ANN._replace(handle="nonsense"))
    assert anns in str(caught.value)
    assert bobs not in str(caught.value)


def test_a_refused_step_leaves_no_chain_behind() -> None:
    shelf = Shelf()
    with pytest.raises(Misfit):
        shelf.add(step(1)._replace(revises=4), ANN)
    assert shelf.known_to("ann") == []


def test_the_chain_without_a_thought_for_longest_goes_first_and_that_is_said() -> None:
    shelf = Shelf(limits=Limits(chains=2))
    first, second = shelf.add(step(1), ANN), shelf.add(step(1), BOB)
    shelf.add(step(2), ANN)
    third = shelf.add(step(1), ALONE)
    assert third.note == "Let go: 1 unused chain."
    assert set(third.changed) == {second.id, third.id}
    assert shelf.look(Who(first.id)).length == 2
    with pytest.raises(Misfit, match="let go"):
        shelf.look(Who(second.id))


def test_one_is_told_which_of_ones_own_chains_went() -> None:
    shelf = Shelf(limits=Limits(chains=1))
    first = shelf.add(step(1, next_needed=False), ANN)
    assert shelf.add(step(1), ANN).note == f"Let go: 1 unused chain, of yours {first.id}."


def test_one_whose_chain_went_begins_a_new_one_and_hears_of_it() -> None:
    shelf = Shelf(limits=Limits(chains=1))
    first = shelf.add(step(1), ANN)
    shelf.add(step(1), BOB)
    second = shelf.add(step(2), ANN)
    assert second.id != first.id
    assert second.note.startswith("This began a new chain")


def test_bytes_are_bounded_over_all_chains() -> None:
    shelf = Shelf(limits=Limits(bytes=10_000))
    handles = [shelf.add(step(1, "x" * 2000), ALONE).id for _ in range(10)]
    held = [handle for handle in handles if _is_held(shelf, handle)]
    assert held == handles[-4:]


def test_a_chain_that_nobody_adds_to_expires() -> None:
    clock = Clock()
    shelf = Shelf(limits=Limits(age=100), clock=clock)
    old, young = shelf.add(step(1), ANN), shelf.add(step(1), BOB)
    clock.now += 80
    shelf.add(step(2), BOB)
    clock.now += 80
    assert not _is_held(shelf, old.id)
    assert _is_held(shelf, young.id)
    assert shelf.known_to("ann") == []


def test_a_chain_that_expires_while_nobody_thinks_is_a_change_and_is_said_to_whoever_thinks_next() -> None:
    clock = Clock()
    shelf = Shelf(limits=Limits(age=100), clock=clock)
    old = shelf.add(step(1), ANN)
    assert shelf.refresh() == []
    clock.now += 101
    assert shelf.refresh() == [old.id]
    assert shelf.refresh() == []
    assert f"of yours {old.id}" in shelf.add(step(1), ANN).note


def test_the_oldest_thoughts_of_a_full_chain_go_and_that_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mcp_server_sequential_thinking.thoughts.MAX_THOUGHTS", 3)
    shelf = Shelf()
    notes = [shelf.add(step(number), ANN).note for number in range(1, 6)]
    assert notes[:3] == ["", "", ""]
    assert notes[3] == notes[4] == "Let go: the oldest 1 thought of this chain."


def test_what_is_looked_at_stays_as_it_was() -> None:
    shelf = Shelf()
    shelf.add(step(1), ANN)
    seen = shelf.look(ANN)
    shelf.add(step(2), ANN)
    assert (seen.length, shelf.look(ANN).length) == (1, 2)


def test_ten_thousand_chains_and_peers_leave_bounded_traces() -> None:
    shelf = Shelf(limits=Limits(chains=10))
    shared = shelf.add(step(1), ANN).id
    for number in range(1, 10_000):
        shelf.add(step(1), Who(peer=f"p{number}", continues=True))
        shelf.add(step(number), Who(shared, f"q{number}", continues=True))
    assert len(shelf._held) == 10  # pyright: ignore[reportPrivateUsage] - memory is what this is about
    assert len(shelf._current) <= 10 + MAX_PEERS  # pyright: ignore[reportPrivateUsage]
    assert not shelf._let_go  # pyright: ignore[reportPrivateUsage]


def test_handles_are_short_and_cannot_be_guessed() -> None:
    handles = {new_handle() for _ in range(1000)}
    assert len(handles) == 1000
    assert all(len(handle) == 26 and handle.isalnum() and handle.islower() for handle in handles)
    used = [{handle[place] for handle in handles} for place in range(26)]
    assert [len(letters) for letters in used] == [32] * 25 + [8], "25 times five random bits, and three"


def _is_held(shelf: Shelf, handle: str) -> bool:
    try:
        shelf.look(Who(handle))
    except Misfit:
        return False
    return True
