"""The bearer scheme on the wire (RFC 6750): the token a client sends, and the challenge it gets back."""

import re

# RFC 6750 section 2.1; RFC 9110 section 11.1: the scheme's case does not matter.
_CREDENTIALS = re.compile(rb"[Bb][Ee][Aa][Rr][Ee][Rr] +([A-Za-z0-9\-._~+/]+=*) *")
_PRINTABLE = re.compile(r"[\x20-\x7e]*")


def read_token(authorization: bytes | None) -> bytes | None:
    """The token of an Authorization header; None when there is none that could be a bearer token."""
    found = None if authorization is None else _CREDENTIALS.fullmatch(authorization)
    return None if found is None else found[1]


def write_challenge(**parameters: str) -> str:
    """A WWW-Authenticate value; parameters that are empty are left out."""
    return "Bearer " + ", ".join(f"{name}={_quote(text)}" for name, text in parameters.items() if text)


def _quote(text: str) -> str:
    if _PRINTABLE.fullmatch(text) is None:
        raise ValueError("a challenge holds printable ASCII characters only")
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
