"""A short soak: all five servers, half a minute of clients that vanish, stall and come back, and nothing is left of it."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.skipif(sys.platform != "linux", reason="reads what processes hold as Linux shows it")
def test_nothing_is_left_of_clients_that_vanish_stall_and_come_back() -> None:
    command = [sys.executable, "-m", "benchmarks.soak", "--minutes", "0.2", "--no-save"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-6000:]
    assert "Nothing was wrong." in done.stdout
