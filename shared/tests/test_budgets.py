"""Results that fit: nothing is lost between one answer and the next."""

from hypothesis import given
from hypothesis import strategies as st
from mcp_server_core import Page, Piece, fit_items, fit_text


def test_a_text_that_fits_is_whole() -> None:
    assert fit_text("abc", 3) == Piece("abc", None, 3)


def test_a_text_that_does_not_fit_says_where_to_go_on() -> None:
    assert fit_text("abcdef", 4) == Piece("abcd", 4, 6)


def test_a_cut_falls_at_the_end_of_a_line_where_that_costs_little() -> None:
    text = "x" * 95 + "\n" + "y" * 50
    assert fit_text(text, 100) == Piece("x" * 95 + "\n", 96, len(text))


@given(st.text(), st.integers(1, 20))
def test_the_pieces_of_a_text_are_the_text(text: str, budget: int) -> None:
    pieces, start = list[str](), 0
    while start is not None:
        piece = fit_text(text, budget, start=start)
        assert len(piece.text) <= budget
        pieces.append(piece.text)
        start = piece.next
    assert "".join(pieces) == text


def test_an_item_larger_than_the_budget_still_comes_alone() -> None:
    assert fit_items(["long", "b"], 2, len) == Page(["long"], 1)


@given(st.lists(st.text()), st.integers(1, 20))
def test_the_pages_of_a_list_are_the_list(items: list[str], budget: int) -> None:
    found, start = list[str](), 0
    while start is not None:
        page = fit_items(items, budget, len, start=start)
        found += page.items
        start = page.next
    assert found == items
