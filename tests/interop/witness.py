"""Runs a server for a foreign client and writes down how it ended: `witness.py FOLDER COMMAND...`

The server reads and writes the client's own pipes; nothing stands between them. What the client does to its
child process, ending its input or sending it a signal, it does to the server. Each run leaves one file.
"""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from types import FrameType


def main(folder: Path, command: list[str]) -> int:
    """Run the command to its end and return what it returned."""
    signals: list[str] = []
    complaints = folder / f"{os.getpid()}.stderr"
    with complaints.open("wb") as stderr:
        server = subprocess.Popen(command, stderr=stderr)

        def pass_on(number: int, frame: FrameType | None) -> None:
            signals.append(signal.Signals(number).name)
            server.send_signal(number)

        signal.signal(signal.SIGTERM, pass_on)
        code = server.wait()
    record = {"code": code, "signals": signals, "stderr": complaints.read_text("utf-8")}
    (folder / f"{os.getpid()}.json").write_text(json.dumps(record), "utf-8")
    return code


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2:]))
