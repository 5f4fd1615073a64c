"""What `make test` runs: no folder of tests is forgotten."""

import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_every_folder_of_tests_is_run() -> None:
    options = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["pytest"]["ini_options"]
    folders = {f"tests/{path.name}" for path in (ROOT / "tests").iterdir() if any(path.glob("**/test_*.py"))}
    assert {*folders, "servers", "shared/tests"} == set(options["testpaths"])
