"""What can go wrong with a page. Each message is one sentence that says what to do. Knows nothing of MCP."""


class FetchProblem(Exception):
    """The page could not be had; the text says why and what to do."""


class Refused(FetchProblem):
    """The server will not go there: an address, a scheme, a place outside the roots, robots.txt."""


class TooMuch(FetchProblem):
    """A limit was reached: bytes, headers, redirects, time."""


class Unreachable(FetchProblem):
    """Nobody answered, or not in HTTP."""


class UnknownHost(Unreachable):
    """No such name."""


class BadStatus(FetchProblem):
    """The web server answered with a failure."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class Unconvertible(FetchProblem):
    """The bytes are there, and the text could not be got out of them."""
