"""Who listens to what. One `publish` reaches the subscribers of both eras, each exactly once."""

from collections.abc import Callable, Iterable
from typing import Literal, TypeAlias

from ..protocol.messages import Json, RequestId, notification
from ..protocol.revisions import META_SUBSCRIPTION

ListKind: TypeAlias = Literal["tools", "prompts", "resources"]
LIST_KINDS: tuple[ListKind, ...] = ("tools", "prompts", "resources")


NoticeKey: TypeAlias = tuple["Listener", str, str | None]
Post: TypeAlias = Callable[[NoticeKey, Json], None]


class Listener:
    """One handshake session, or one listen stream: where its notices go and what they look like."""

    __slots__ = ("_meta", "_post", "lists", "subscription", "uris")

    def __init__(self, post: Post, subscription: RequestId | None = None) -> None:
        self._post = post
        self.subscription = subscription
        # SU-2: every notice of a listen stream carries its id; a handshake session needs none.
        self._meta: Json | None = None if subscription is None else {META_SUBSCRIPTION: subscription}
        self.uris: set[str] = set()
        self.lists: set[ListKind] = set()

    def tell(self, method: str, params: Json) -> None:
        """Queue a notice; one that is still waiting to be sent is not queued twice."""
        body = params if self._meta is None else {**params, "_meta": self._meta}
        self._post((self, method, params.get("uri")), notification(method, body or None))


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

    def add_uri(self, listener: Listener, uri: str) -> None:
        """Tell a listener when this resource changes."""
        listener.uris.add(uri)
        self._by_uri.setdefault(uri, set()).add(listener)
        self._on_change()

    def drop_uri(self, listener: Listener, uri: str) -> None:
        """Stop telling a listener about this resource; unknown ones do no harm (R-10)."""
        listener.uris.discard(uri)
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

    def publish_updated(self, uri: str) -> None:
        """A resource changed."""
        for listener in self._by_uri.get(uri, ()):
            listener.tell("notifications/resources/updated", {"uri": uri})

    def publish_list_changed(self, kind: ListKind) -> None:
        """A list changed."""
        for listener in self._by_list[kind]:
            listener.tell(f"notifications/{kind}/list_changed", {})
