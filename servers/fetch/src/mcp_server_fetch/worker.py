"""The converting process: takes jobs on standard input, answers on standard output, and ends with its parent.

`python -m mcp_server_fetch.worker SECONDS BYTES`. A job that takes longer than SECONDS ends the process, whatever
it is doing and whether or not the parent still lives; the process may not take more than BYTES of memory.
"""

import faulthandler
import gc
import json
import os
import struct
import sys
from typing import Any, BinaryIO

from .conversion import convert, warm_up

# Two lengths, then that many bytes of JSON and of payload.
HEAD = struct.Struct(">II")
GRACE = 2.0
"""Seconds the parent has to end the process itself."""


def main() -> None:
    """Serve until the parent closes the pipe."""
    seconds, memory = float(sys.argv[1]), int(sys.argv[2])
    jobs, answers = _take_pipes()
    bound_memory(memory)
    warm_up()
    # What conversion builds is large, cyclic and soon gone: collected once after each job, not during it.
    gc.disable()
    gc.freeze()
    answers.write(HEAD.pack(0, 0))  # ready
    answers.flush()
    while (head := _read(jobs, HEAD.size)) is not None:
        about, size = HEAD.unpack(head)
        job, data = _read(jobs, about), _read(jobs, size)
        if job is None or data is None:
            return
        faulthandler.dump_traceback_later(seconds + GRACE, exit=True)
        answer = _answer(json.loads(job), data)
        faulthandler.cancel_dump_traceback_later()
        answers.write(HEAD.pack(len(answer), 0) + answer)
        answers.flush()
        del data, answer
        gc.collect()


def _take_pipes() -> tuple[BinaryIO, BinaryIO]:
    """The pipes for ourselves; what a library prints goes nowhere."""
    jobs, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nowhere = os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, 0)
    os.dup2(nowhere, 1)
    return jobs, answers


def bound_memory(limit: int) -> None:
    """Ask the system to refuse more; not every system can."""
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    except (ImportError, OSError, ValueError):
        return


def _answer(job: Any, data: bytes) -> bytes:
    try:
        answer: dict[str, Any] = dict(convert(job, data))
    except ImportError as error:
        answer = {"problem": f"the package {error.name} is not installed"}
    except MemoryError:
        answer = {"problem": "it takes too much memory"}
    except RecursionError:
        answer = {"problem": "it is nested too deeply"}
    except ValueError as error:
        answer = {"problem": str(error)[:200]}
    except Exception as error:  # noqa: BLE001 - a page that trips a library must not end the process
        answer = {"problem": f"an internal error ({type(error).__name__})"}
    return json.dumps(answer, ensure_ascii=False).encode("utf-8", "replace")


def _read(stream: BinaryIO, size: int) -> bytes | None:
    data = stream.read(size)
    return data if len(data) == size else None


if __name__ == "__main__":
    main()
