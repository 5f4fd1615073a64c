"""`requestState`: what a server wants back with a retry, sealed so that nobody can change it.

The seal is an HMAC over the payload: integrity, not secrecy, because what is inside came from the same
client. A payload is bound to the method, its parameters and the caller, and it expires (MR-8, MR-9).
"""

import hmac
import os
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Mapping
from hashlib import sha256
from typing import Any

from ..errors import InvalidParams, ParseError
from .codec import canonical, decode, encode
from .messages import Json

LIFETIME = 600.0  # seconds: long enough for a person to answer a form
KEY_VARIABLE = "MCP_STATE_KEY"
MIN_KEY = 16
# MR-13: one message for every way in which a state can be bad.
_REFUSED = "The request state is invalid or has expired. Send the request again without it."
_NOT_BOUND = ("_meta", "inputResponses", "requestState")


class Sealer:
    """Seals and opens request states. Keys come by id, so that they can be rotated; the first one seals."""

    __slots__ = ("_keys",)

    def __init__(self, keys: Mapping[str, bytes]) -> None:
        self._keys = dict(keys)

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> "Sealer":
        """Keys from `MCP_STATE_KEY` ("id:secret,id:secret"), shared by all replicas, or a key of this process."""
        text = environment.get(KEY_VARIABLE, "")
        if not text:
            return cls({"process": os.urandom(32)})
        keys: dict[str, bytes] = {}
        for item in text.split(","):
            name, colon, secret = item.strip().partition(":")
            if not colon:
                name, secret = "", name
            if len(secret) < MIN_KEY:
                raise ValueError(f"{KEY_VARIABLE}: each secret has at least {MIN_KEY} characters")
            if (name or "default") in keys:
                raise ValueError(f"{KEY_VARIABLE}: two secrets have the same id")
            keys[name or "default"] = secret.encode()
        return cls(keys)

    def seal(self, payload: Json, *, binding: bytes, now: float) -> str:
        """A token that holds the payload until it expires."""
        name, key = next(iter(self._keys.items()))
        body = urlsafe_b64encode(encode({"payload": payload, "until": now + LIFETIME})).decode()
        return f"{name}.{body}.{_mac(key, name, body, binding)}"

    def open(self, token: str, *, binding: bytes, now: float) -> Json:
        """The payload of a token that we sealed for this very request; InvalidParams for any other."""
        head, _, mac = token.rpartition(".")  # from the right: a key's name may hold a dot
        name, _, body = head.rpartition(".")
        key = self._keys.get(name)
        if key is None or not hmac.compare_digest(mac.encode(), _mac(key, name, body, binding).encode()):
            raise InvalidParams(_REFUSED)
        try:
            value: Any = decode(urlsafe_b64decode(body))
        except (ValueError, ParseError):
            raise InvalidParams(_REFUSED) from None
        if value["until"] < now:
            raise InvalidParams(_REFUSED)
        return value["payload"]


def bind(method: str, params: Json, principal: str) -> bytes:
    """What ties a state to one request of one caller: a digest of everything but the envelope."""
    salient = {key: value for key, value in params.items() if key not in _NOT_BOUND}
    return sha256(canonical([method, salient, principal])).digest()


def _mac(key: bytes, name: str, body: str, binding: bytes) -> str:
    message = name.encode() + b"." + body.encode() + b"." + binding
    return urlsafe_b64encode(hmac.new(key, message, sha256).digest()).rstrip(b"=").decode()
