"""What ends a visit before its time."""


class OddityError(Exception):
    """A client saw what no client should see: it fails the run."""


class LeftError(Exception):
    """The client has left in the middle of what it did, as it meant to."""


class ExpiredError(Exception):
    """The session was idle for so long that the server has ended it, as it should."""
