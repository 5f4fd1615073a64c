"""Runs a program and says on standard error, before each import, what is loaded and by whom: `recorder.py PROGRAM`

Imports nothing itself that the interpreter has not loaded already, so that nothing is hidden.
"""

import os
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import FrameType, ModuleType


class Recorder:
    """Stands first where modules are looked for, and finds none."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Write down one import."""
        os.write(2, f"loads {name} {importers(sys._getframe(1))}\n".encode())
        return None


def importers(frame: FrameType | None) -> str:
    """The lines that led to an import, the nearest first."""
    lines: list[str] = []
    while frame is not None and len(lines) < 4:
        file = frame.f_code.co_filename
        if "importlib" not in file and file != __file__:
            lines.append(f"{file.rpartition('site-packages/')[2]}:{frame.f_lineno}")
        frame = frame.f_back
    return " < ".join(lines)


if __name__ == "__main__":
    program = sys.argv[1]
    sys.argv = sys.argv[1:]
    with open(program, "rb") as source:  # noqa: PTH123 - pathlib is not loaded yet
        code = compile(source.read(), program, "exec")
    sys.meta_path.insert(0, Recorder())
    exec(code, {"__name__": "__main__", "__file__": program})
