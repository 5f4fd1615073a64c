"""The saved pages: their content arrives, their frame does not."""

import pytest
from mcp_server_fetch.conversion import convert

from .quality.contents import CONTENTS
from .quality.generate import build, strip_marks
from .quality.score import PAGES, Expected, manifest, mean, ours, score, score_all


def test_there_are_enough_pages_to_say_something() -> None:
    pages = manifest()
    assert len(pages) >= 30
    assert sum(len(page.main) for page in pages) > 300
    assert sum(bool(page.frame) for page in pages) >= 25


def test_content_arrives_and_frame_does_not() -> None:
    scores = score_all(ours)
    recall, boilerplate = mean(scores)
    assert recall >= 0.95
    assert boilerplate < 0.1
    readme = " ".join((PAGES.parent.parent / "README.md").read_text(encoding="utf-8").split())
    assert f"On the {len(scores)} saved pages" in readme
    assert (
        f"recall of the content's sentences is {recall:.3f} and the share of navigation and notices in the text {boilerplate:.3f}"
        in readme
    )


@pytest.mark.parametrize("page", manifest(), ids=lambda page: page.file)
def test_no_page_is_lost(page: Expected) -> None:
    # The mean may hide one bad page; this does not.
    found = score(page, ours(page.source))
    assert found.recall >= 0.9, found.missing
    assert found.boilerplate < 0.25, found.kept


@pytest.mark.parametrize("page", [page for page in manifest() if page.stage], ids=lambda page: page.file)
def test_a_page_without_plain_text_says_how_its_text_was_found(page: Expected) -> None:
    made = convert(
        {"kind": "html", "format": "markdown", "url": "https://x.example/", "charset": None}, page.source
    )
    assert made["stage"] == page.stage


def test_a_converter_that_loses_text_or_keeps_the_frame_would_be_noticed() -> None:
    (news,) = [page for page in manifest() if page.file == "news.html"]
    assert score(news, "").recall == 0
    assert score(news, " ".join(news.frame)).boilerplate > 0.9


def test_the_saved_pages_are_those_the_generator_writes() -> None:
    for content in CONTENTS:
        saved = (PAGES / f"{content.name}.html").read_bytes()
        assert strip_marks(build(content)).encode(content.encoding, "xmlcharrefreplace") == saved
