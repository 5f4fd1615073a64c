"""Who listens to what. One `publish` reaches the subscribers of both eras, each exactly once."""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Literal, TypeAlias

from ..protocol.messages import Json, RequestId, notification
from ..protocol.revisions import META_SUBSCRIPTION

if TYPE_CHECKING:
    from ..places import Places

ListKind: TypeAlias = Literal["tools", "prompts", "resources"]
LIST_KINDS: tuple[ListKind, ...] = ("tools", "prompts", "resources")
MAX_URIS = 1000  # that one session, or one listen stream, may watch


NoticeKey: TypeAlias = tuple["Listener", str, str | None]
Post: TypeAlias = Callable[[NoticeKey, Json], None]


class Listener:
    """One handshake session, or one listen stream: where its notices go and what they look like."""

    __slots__ = ("_meta", "_missed", "_post", "lists", "places", "subscription", "uris")

    def __init__(self, post: Post, subscription: RequestId | None = None) -> None:
        self._post = post
        self.subscription = subscription
        # SU-2: every notice of a listen stream carries its id; a handshake session needs none.
        self._meta: Json | None = None if subscription is None else {META_SUBSCRIPTION: subscription}
        self.uris: set[str] = set()
        self.places: dict[str, Places | None] = {}
        """For what lies in allowed places: the caller's, or None while it is outside them."""
        self._missed: set[str] | None = None
        self.lists: set[ListKind] = set()

    def tell(self, method: str, params: Json) -> None:
        """Queue a notice; one that is still waiting to be sent is not queued twice."""
        body = params if self._meta is None else {**params, "_meta": self._meta}
        self._post((self, method, params.get("uri")), notification(method, body or None))

    def update(self, uri: str) -> None:
        """Tell of a change, if the caller may know of it: now, later, or never."""
        if uri in self.places and self._missed is not None:
            self._missed.add(uri)
        elif self.places.get(uri, True) is not None:
            self.tell("notifications/resources/updated", {"uri": uri})

    def hold(self) -> None:
        """The caller's places are being decided again: until then it hears nothing of what lies in them."""
        self._missed = set() if self._missed is None else self._missed

    def settle(self, places: "dict[str, Places | None]") -> None:
        """They are decided."""
        self.places.update({uri: found for uri, found in places.items() if uri in self.uris})
        missed, self._missed = self._missed or set(), None
        for uri in sorted(missed & self.uris):
            self.update(uri)


class Subscriptions:
    """The listeners of one server, by what they listen to."""

    __slots__ = ("_by_list", "_by_uri", "_on_change")

    def __init__(self, on_change: Callable[[], None]) -> None:
        self._by_uri: dict[str, set[Listener]] = {}
        self._by_list: dict[ListKind, set[Listener]] = {kind: set() for kind in LIST_KINDS}
        self._on_change = on_change

    @property
    def uris(self) -> frozenset[str]:
        """Everything that somebody watches right now."""
        return frozenset(self._by_uri)

    def add_lists(self, listener: Listener, kinds: Iterable[ListKind]) -> None:
        """Tell a listener when these lists change."""
        for kind in kinds:
            listener.lists.add(kind)
            self._by_list[kind].add(listener)

    def places(self, uri: str) -> "set[Places]":
        """The allowed places of everyone who watches a resource that lies in one, and may."""
        listeners = self._by_uri.get(uri, ())
        return {places for listener in listeners if (places := listener.places.get(uri)) is not None}

    def settle(self, listener: Listener, places: "dict[str, Places | None]") -> None:
        """What a listener may watch has been decided again."""
        listener.settle(places)
        self._on_change()

    def add_uri(self, listener: Listener, uri: str, places: "Places | None" = None) -> None:
        """Tell a listener when this resource changes; `places` is where it lies, if it lies in any."""
        listener.uris.add(uri)
        if places is not None:
            listener.places[uri] = places
        self._by_uri.setdefault(uri, set()).add(listener)
        self._on_change()

    def drop_uri(self, listener: Listener, uri: str) -> None:
        """Stop telling a listener about this resource; unknown ones do no harm (R-10)."""
        listener.uris.discard(uri)
        listener.places.pop(uri, None)
        listeners = self._by_uri.get(uri)
        if listeners is not None:
            listeners.discard(listener)
            if not listeners:
                del self._by_uri[uri]
        self._on_change()

    def drop(self, listener: Listener) -> None:
        """Forget a listener that is gone."""
        for kind in listener.lists:
            self._by_list[kind].discard(listener)
        for uri in list(listener.uris):
            self.drop_uri(listener, uri)

    def publish_updated(self, uri: str) -> bool:
        """A resource changed; whether somebody watches it."""
        listeners = self._by_uri.get(uri, ())
        for listener in listeners:
            listener.update(uri)
        return bool(listeners)

    def publish_list_changed(self, kind: ListKind) -> None:
        """A list changed."""
        for listener in self._by_list[kind]:
            listener.tell(f"notifications/{kind}/list_changed", {})
