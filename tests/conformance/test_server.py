"""Our server against the official conformance suite: each revision is run once, each scenario is a test."""

from collections.abc import Callable, Iterator
from functools import cache

import pytest

from .scenarios import REVISIONS, SERVER, pairs
from .scoring import Verdict, read_verdicts
from .suite import list_scenarios, run_server_suite, serving


@pytest.fixture(scope="module")
def verdicts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], dict[str, Verdict]]]:
    """What the suite found at a revision. One server process answers all of them."""
    folder = tmp_path_factory.mktemp("conformance")

    @cache
    def find(revision: str) -> dict[str, Verdict]:
        ended = run_server_suite(url, revision, folder / revision)
        assert ended.code is not None, ended.stderr
        return read_verdicts(folder / revision, prefix="server-")

    with serving() as url:
        yield find


@pytest.mark.parametrize("revision", REVISIONS)
def test_no_scenario_of_a_revision_is_left_out(revision: str) -> None:
    assert list_scenarios("--server", revision) == set(SERVER[revision])


@pytest.mark.parametrize(("revision", "scenario"), pairs(SERVER))
def test_the_server_conforms(
    revision: str, scenario: str, verdicts: Callable[[str], dict[str, Verdict]]
) -> None:
    verdict = verdicts(revision).get(scenario)
    assert verdict is not None, "the scenario was not run"
    assert verdict.passed, verdict.why
