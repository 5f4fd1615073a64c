"""Importing the package costs next to nothing, and the kernel is asked what it can do only once."""

import subprocess
import sys

from mcp_server_core.places import openat2
from mcp_server_core.places.places import choose_engine
from mcp_server_core.places.walk import Kernel, Walk

HEAVY = (
    "anyio",
    "asyncio",
    "ctypes",
    "hashlib",
    "pathlib",
    "pydantic",
    "random",
    "tempfile",
    "urllib",
    "shutil",
)


def test_importing_the_package_loads_nothing_heavy() -> None:
    script = f"import sys; before = set(sys.modules); import mcp_server_core.places; print(sorted(set({HEAVY}) & (set(sys.modules) - before)))"
    answer = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True)
    assert answer.stdout == "[]\n"


def test_the_engine_is_the_best_one_that_the_kernel_allows() -> None:
    assert isinstance(choose_engine(), Kernel if openat2.available() else Walk)
