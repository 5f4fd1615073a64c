"""The soak: all five servers under mixed traffic of clients that vanish, stall and come back, and what is left of it.

Clients are raw sockets and pipes. Whatever a client sees that it should not see fails the run, and so does a server
that holds more at the end than after the warm-up.
"""
