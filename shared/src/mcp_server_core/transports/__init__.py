"""How messages travel: bytes in, bytes out. Transports know nothing of servers and clients."""
