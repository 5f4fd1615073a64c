"""Any script of a server, looked at a thousand times a CPU second: `sampled.py RESULT SCRIPT ...`.

SIGUSR1 begins; SIGUSR2 ends, and writes to RESULT in which file the process was how often.
"""

import json
import os
import runpy
import signal
import sys
from collections import Counter
from pathlib import Path
from types import FrameType
from typing import Any

EVERY = 0.001
seen: Counter[str] = Counter()
times: list[os.times_result] = []


def begin(number: int, frame: FrameType | None) -> None:
    seen.clear()
    times[:] = [os.times()]
    signal.setitimer(signal.ITIMER_PROF, EVERY, EVERY)


def look(number: int, frame: FrameType | None) -> None:
    if frame is not None:
        seen[frame.f_code.co_filename] += 1


def end(number: int, frame: FrameType | None) -> None:
    signal.setitimer(signal.ITIMER_PROF, 0)
    now, (then,) = os.times(), times
    facts: dict[str, Any] = {"user": now.user - then.user, "system": now.system - then.system, "seen": seen}
    partial = Path(f"{result}.partial")
    partial.write_text(json.dumps(facts))
    partial.rename(result)


if __name__ == "__main__":
    result, script = sys.argv[1], sys.argv[2]
    for number, handler in ((signal.SIGUSR1, begin), (signal.SIGPROF, look), (signal.SIGUSR2, end)):
        signal.signal(number, handler)
    sys.argv[:] = sys.argv[2:]
    runpy.run_path(script, run_name="__main__")
