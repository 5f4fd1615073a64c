"""What became of a run of the suite, judged more strictly than it judges itself.

The suite ends with success when a scenario only warned, when it looked at nothing, or when a check was skipped
because the scenario did not get that far. Here a scenario passes if at least one check of its own succeeded and
none failed or warned.
"""

import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

_TIME = re.compile(r"-\d{4}-\d{2}-\d{2}T[0-9-]+Z\Z")
_GOOD = frozenset({"SUCCESS", "INFO", "SKIPPED"})


class Verdict(NamedTuple):
    """A scenario's outcome, and the suite's own words for what is wrong."""

    passed: bool
    why: str


def read_verdicts(folder: Path, prefix: str = "") -> dict[str, Verdict]:
    """The verdict on each scenario whose report stands below the folder that was given to `-o`."""
    found: dict[str, Verdict] = {}
    for path in sorted(folder.rglob("*")):
        if path.is_dir() and _TIME.search(path.name):
            name = _TIME.sub("", path.relative_to(folder).as_posix()).removeprefix(prefix)
            verdict = _judge(path / "checks.json")
            earlier = found.get(name, verdict)
            found[name] = verdict if earlier.passed else earlier
    return found


def _judge(report: Path) -> Verdict:
    if not report.is_file():
        return Verdict(False, "the scenario threw, or never ended: there is no report")
    checks: list[dict[str, Any]] = json.loads(report.read_text("utf-8"))
    bad = [check for check in checks if check["status"] not in _GOOD]
    if bad:
        return Verdict(False, "\n".join(_tell(bad)))
    # That every message fits the schema says nothing of what the scenario is about.
    own = [check for check in checks if check["status"] == "SUCCESS" and not _is_about_schemas(check)]
    return Verdict(True, "") if own else Verdict(False, "nothing was checked")


def _is_about_schemas(check: dict[str, Any]) -> bool:
    return check["id"].startswith("wire-schema")


def _tell(checks: Iterable[dict[str, Any]]) -> Iterable[str]:
    for check in checks:
        details = json.dumps(check.get("details", {}), ensure_ascii=False)
        message = check.get("errorMessage") or check.get("description", "")
        yield f"{check['status']} {check['id']}: {message} {details[:600]}"
