"""The machine a run took place on."""

import os
import platform
import time
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(slots=True)
class Machine:
    """Where and when the run took place; the load says how much else was going on."""

    when: str = field(default_factory=lambda: time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime()))
    cpu: str = field(default_factory=lambda: _cpu_model())
    cores: int = field(default_factory=lambda: os.cpu_count() or 0)
    system: str = field(default_factory=lambda: f"{platform.system()} {platform.release()}")
    python: str = platform.python_version()
    load_before: float = field(default_factory=lambda: os.getloadavg()[0])

    def describe(self) -> str:
        return (
            f"{self.when}, {self.cpu}, {self.cores} cores, {self.system}, Python {self.python}, "
            f"load {self.load_before:.1f} before and {os.getloadavg()[0]:.1f} after"
        )


def _cpu_model() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()
