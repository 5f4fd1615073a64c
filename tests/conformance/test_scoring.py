"""The scorer passes nothing that the suite only failed to look at."""

import json
from pathlib import Path

import pytest

from .scoring import read_verdicts

STAMP = "2026-11-18T12-04-39-303Z"


def report(folder: Path, scenario: str, *checks: tuple[str, str]) -> None:
    made = folder / f"{scenario}-{STAMP}"
    made.mkdir(parents=True)
    found = [{"id": id, "status": status, "description": f"about {id}"} for id, status in checks]
    (made / "checks.json").write_text(json.dumps(found))


@pytest.mark.parametrize(
    ("checks", "passed"),
    [
        ([("a", "SUCCESS")], True),
        ([("a", "SUCCESS"), ("b", "INFO"), ("c", "SKIPPED"), ("wire-schema-valid", "SUCCESS")], True),
        ([("a", "SUCCESS"), ("b", "FAILURE")], False),
        ([("a", "SUCCESS"), ("b", "WARNING")], False),
        ([("a", "SUCCESS"), ("b", "SOMETHING NEW")], False),
        ([("a", "SUCCESS"), ("wire-schema-valid", "FAILURE")], False),
        ([("wire-schema-valid", "SUCCESS")], False),
        ([("a", "SKIPPED"), ("b", "INFO")], False),
        ([], False),
    ],
)
def test_a_scenario_passes_if_something_succeeded_and_nothing_went_wrong(
    checks: list[tuple[str, str]], passed: bool, tmp_path: Path
) -> None:
    report(tmp_path, "ping", *checks)
    assert read_verdicts(tmp_path)["ping"].passed is passed


def test_a_scenario_without_a_report_failed(tmp_path: Path) -> None:
    (tmp_path / f"ping-{STAMP}").mkdir()
    assert not read_verdicts(tmp_path)["ping"].passed


def test_what_went_wrong_is_told(tmp_path: Path) -> None:
    report(tmp_path, "ping", ("a", "SUCCESS"), ("b", "FAILURE"))
    assert read_verdicts(tmp_path)["ping"].why == "FAILURE b: about b {}"


def test_scenarios_are_found_by_their_names(tmp_path: Path) -> None:
    report(tmp_path, "server-server-initialize", ("a", "SUCCESS"))
    report(tmp_path, "server-ping", ("a", "SUCCESS"))
    report(tmp_path / "auth", "basic", ("a", "SUCCESS"))
    assert read_verdicts(tmp_path, prefix="server-").keys() == {"server-initialize", "ping", "auth/basic"}
