"""A client that starts a server, says which process it is, and copies between the two: `parent.py COMMAND...`"""

import subprocess
import sys
import threading

server = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
assert server.stdin is not None
assert server.stdout is not None
sys.stdout.buffer.write(b"%d\n" % server.pid)
sys.stdout.buffer.flush()


def copy_answers() -> None:
    """What the server says goes to the test."""
    assert server.stdout is not None
    for line in server.stdout:
        sys.stdout.buffer.write(line)
        sys.stdout.buffer.flush()


threading.Thread(target=copy_answers, daemon=True).start()
for request in sys.stdin.buffer:
    server.stdin.write(request)
    server.stdin.flush()
