"""Our client against the official conformance suite, one scenario at a time."""

from pathlib import Path

import pytest

from .scenarios import CLIENT, REVISIONS, UNTRIED, pairs
from .scoring import read_verdicts
from .suite import list_scenarios, run_client_scenario


@pytest.mark.parametrize("revision", REVISIONS)
def test_no_scenario_of_a_revision_is_left_out(revision: str) -> None:
    listed = list_scenarios("--client", revision)
    assert {name for name in listed if not name.startswith(UNTRIED)} == set(CLIENT[revision])


@pytest.mark.parametrize(("revision", "scenario"), pairs(CLIENT))
def test_the_client_conforms(revision: str, scenario: str, tmp_path: Path) -> None:
    ended = run_client_scenario(scenario, revision, tmp_path)
    verdict = read_verdicts(tmp_path).get(scenario)
    assert verdict is not None, f"the scenario was not run:\n{ended.stdout}\n{ended.stderr}"
    assert verdict.passed, verdict.why
    assert ended.code == 0, f"{ended.stdout}\n{ended.stderr}"
