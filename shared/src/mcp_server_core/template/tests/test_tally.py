"""The domain: plain calls."""

import pytest
from mcp_server_starter.tally import MOST, Full, Tally


def test_counts_add_up() -> None:
    tally = Tally()
    assert [tally.add("birds", 2), tally.add("birds", 1)] == [2, 3]


def test_the_table_is_sorted_by_name() -> None:
    tally = Tally()
    for name in ("cats", "birds"):
        tally.add(name, 1)
    assert tally.table() == "| thing | count |\n|---|---|\n| birds | 1 |\n| cats | 1 |\n"


def test_there_is_an_end_to_new_things_and_none_to_counting_the_old() -> None:
    tally = Tally()
    for number in range(MOST):
        tally.add(f"thing-{number}", 1)
    with pytest.raises(Full):
        tally.add("one-more", 1)
    assert tally.add("thing-0", 1) == 2
