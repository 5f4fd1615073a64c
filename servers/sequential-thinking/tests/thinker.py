"""Thinks into a file as fast as it can, and prints each thought once it is acknowledged: STORE HANDLE COUNT"""

import os
import sys

from mcp_server_sequential_thinking.journal import Journal
from mcp_server_sequential_thinking.shelf import Shelf, Who
from mcp_server_sequential_thinking.thoughts import Step

if __name__ == "__main__":
    store, handle, count = sys.argv[1:]
    shelf = Shelf(Journal(store))
    for number in range(1, int(count) + 1):
        text = f"{os.getpid()}-{number}"
        shelf.add(Step(text, number, number, next_needed=True), Who(handle))
        os.write(1, f"{text}\n".encode())
