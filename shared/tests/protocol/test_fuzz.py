"""Hostile input at random: whatever arrives, every request is answered once and the next good one is served."""

import json
from itertools import pairwise
from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st
from mcp_server_core.errors import InternalError, ParseError
from mcp_server_core.protocol.codec import Malformed, canonical, decode, encode
from mcp_server_core.protocol.lines import Lines
from mcp_server_core.protocol.messages import Json
from mcp_server_core.protocol.revisions import HANDSHAKE, METHODS, Revision
from mcp_server_core.protocol.scope import Scope
from mcp_server_core.protocol.session import Cancel, Event, Send, Serve

from .oracle import check
from .peer import META, NEWEST, Peer, Talk, envelope, enveloped, initialize, notice, request, success

fuzz = settings(max_examples=150, deadline=None)

# JSON values that look like messages more often than chance would have it

names = st.sampled_from(
    ["jsonrpc", "id", "method", "params", "result", "error", "_meta", "requestId", "progressToken", "level"]
    + ["protocolVersion", "capabilities", "clientInfo", "name", "version", "code", "message"]
    + [META + name for name in ("protocolVersion", "clientCapabilities", "clientInfo", "logLevel")]
)
methods = st.sampled_from(
    [
        *sorted({method for table in METHODS.values() for method in table}),
        "initialize",
        "no/such",
        "notifications/initialized",
        "notifications/cancelled",
        "notifications/progress",
    ]
)
words = st.one_of(
    methods, st.text(max_size=5), st.sampled_from(["2.0", NEWEST, *HANDSHAKE, "debug", "loud", "tools"])
)
ids = st.one_of(st.integers(0, 4), st.sampled_from(["", "1", "a", 10**30]))
odd_ids = st.sampled_from([None, True, 1.0, 0.5, [], {}, [1]])
scalars = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), words, ids
)
values = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.one_of(names, st.text(max_size=4)), inner, max_size=5)
    ),
    max_leaves=12,
)
metas = st.one_of(
    st.just(envelope()),
    st.builds(envelope, st.sampled_from([NEWEST, *HANDSHAKE, "v999", 7]), logLevel=words),
    st.dictionaries(names, values, max_size=3),
    values,
)
params = st.one_of(
    st.fixed_dictionaries({}, optional={"_meta": metas, "level": words, "uri": words, "requestId": ids}),
    st.just(initialize()["params"]),
    values,
)
messages = st.fixed_dictionaries(
    {},
    optional={
        "jsonrpc": st.one_of(st.just("2.0"), st.just("2.0"), values),
        "id": st.one_of(ids, ids, odd_ids),
        "method": st.one_of(methods, methods, values),
        "params": params,
        "result": values,
        "error": values,
    },
)
anything = st.one_of(
    messages, messages, st.lists(messages, max_size=4), values, st.builds(Malformed, st.just("?"))
)
peers = st.one_of(st.just(NEWEST), st.sampled_from(HANDSHAKE))


# What must hold whatever arrived


def readable(value: Any) -> bool:
    """Whether a value is a request whose id can be read (J-2)."""
    return type(value) is dict and "method" in value and type(value.get("id")) in (str, int)


def silent(value: Any) -> bool:
    """Whether a value is a notification or a response: neither is answered (J-7)."""
    if type(value) is not dict:
        return False
    return "id" not in value if "method" in value else "result" in value or "error" in value


class Watch:
    """Feeds a session and counts what comes back for each request."""

    def __init__(self, revision: Revision) -> None:
        self.session: Talk = Peer(revision).session
        self.open: list[Scope] = []
        self.replies: list[Json] = []

    def feed(self, value: Any) -> None:
        before = set(self.session.in_flight)
        events = self.session.receive(value)
        if readable(value):
            assert self._outcomes(events, value["id"]) == 1, (value, events)
            if value["id"] in before:
                assert not any(isinstance(event, Serve) for event in events)
        elif silent(value):
            # A cancellation may complete a batch; nothing else speaks.
            assert all(type(event.message) is list for event in events if isinstance(event, Send))
        self._note(events)

    def settle(self) -> None:
        """Answer whatever is still open: once, and never again."""
        for scope in self.open:
            reply = self.session.refuse(scope, InternalError("settled"))
            assert reply is None or type(reply) is list or (type(reply) is dict and reply["id"] == scope.id)
            self._sent(reply)
            assert self.session.refuse(scope, InternalError("again")) is None
        assert self.session.in_flight == {}

    def survive(self) -> None:
        """A good request is served as if nothing had happened."""
        [event] = self.session.receive(enveloped("good", "tools/list"))
        assert isinstance(event, Serve)
        reply = self.session.finish(event.scope, {"tools": []})
        check(reply, NEWEST, "tools/list")

    def _outcomes(self, events: list[Event], id: Any) -> int:
        served = sum(isinstance(event, Serve) and event.scope.id == id for event in events)
        sent = [event.message for event in events if isinstance(event, Send)]
        return served + sum(type(message) is dict and message.get("id") == id for message in sent)

    def _note(self, events: list[Event]) -> None:
        for event in events:
            if isinstance(event, Serve):
                self.open.append(event.scope)
            elif isinstance(event, Cancel):
                assert event.scope.closed
            elif isinstance(event, Send):
                self._sent(event.message)

    def _sent(self, message: Any) -> None:
        if message is None:
            return
        for reply in message if type(message) is list else [message]:
            # Any era may have answered; this revision knows any result, the newest every error.
            check(reply, NEWEST if "error" in reply else "2025-11-25")
            self.replies.append(reply)
        written = encode(message)
        assert b"\n" not in written
        assert json.loads(written) == message


# 1. Arbitrary values


@fuzz
@given(peers, st.lists(anything, max_size=6))
def test_whatever_arrives_every_request_is_answered_once_and_the_next_one_is_served(
    revision: Revision, arriving: list[Any]
) -> None:
    # E-10, J-2, J-5, J-7, S-13
    watch = Watch(revision)
    for value in arriving:
        watch.feed(value)
    watch.settle()
    watch.survive()


@fuzz
@given(st.lists(st.one_of(messages, messages, values), min_size=1, max_size=6))
# An explicit one, so that finding it does not depend on luck.
@example([request(1, "ping"), request(2, "tools/list"), notice("notifications/cancelled", {"requestId": 2})])
def test_whatever_is_in_a_batch_it_is_answered_with_at_most_one_array(batch: list[Any]) -> None:
    # J-10
    session = Peer("2025-03-26").session
    events = session.receive(batch)
    arrays = [event.message for event in events if isinstance(event, Send)]
    for event in events:
        if isinstance(event, Serve):
            reply = session.refuse(event.scope, InternalError("x"))
            arrays += [] if reply is None else [reply]
    assert len(arrays) <= 1


# 2. Conversations that were valid once

CONVERSATION: list[Any] = [
    initialize(0, "2025-06-18", capabilities={"roots": {}}),
    notice("notifications/initialized"),
    request(1, "ping"),
    request(2, "tools/list", {"cursor": "c"}),
    enveloped(3, "server/discover"),
    enveloped("s", "subscriptions/listen", {"notifications": {"toolsListChanged": True}}),
    request("4", "tools/call", {"name": "t", "arguments": {}, "_meta": {"progressToken": 1}}),
    notice("notifications/cancelled", {"requestId": 2, "reason": "bored"}),
    enveloped(5, "tools/call", {"name": "t"}, logLevel="debug", clientInfo={"name": "c", "version": "1"}),
    request(6, "logging/setLevel", {"level": "error"}),
    success(1, {"roots": []}),
    notice("notifications/cancelled", {"requestId": "s"}),
    notice("notifications/roots/list_changed"),
    request(7, "resources/read", {"uri": "a:b"}),
]


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The path of every member, at any depth."""
    found: list[tuple[Any, ...]] = []
    if isinstance(value, dict):
        for key, item in value.items():
            found += [(*path, key), *places(item, (*path, key))]
    return found


def replaced(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    """The value with one member changed, or taken away when `new` is the DROP mark."""
    if not path:
        return new
    changed = dict(value)
    if new is DROP and len(path) == 1:
        del changed[path[0]]
    else:
        changed[path[0]] = replaced(value[path[0]], path[1:], new)
    return changed


DROP: Any = object()


@st.composite
def conversations(draw: st.DrawFn) -> list[Any]:
    """A valid conversation after a few accidents."""
    talk = list(CONVERSATION)
    for _ in range(draw(st.integers(1, 6))):
        index = draw(st.integers(0, len(talk) - 1))
        match draw(st.sampled_from(["drop", "duplicate", "move", "alter", "cut", "wrap"])):
            case "drop" if len(talk) > 1:
                del talk[index]
            case "duplicate":
                talk.insert(draw(st.integers(0, len(talk))), talk[index])
            case "move":
                talk.insert(draw(st.integers(0, len(talk) - 1)), talk.pop(index))
            case "wrap":
                talk[index] = [talk[index]]
            case action:
                if paths := places(talk[index]):
                    new = DROP if action == "cut" else draw(values)
                    talk[index] = replaced(talk[index], draw(st.sampled_from(paths)), new)
    return talk


@fuzz
@given(peers, conversations())
def test_a_conversation_after_accidents_is_still_a_conversation(revision: Revision, talk: list[Any]) -> None:
    # E-10, J-5, J-7, S-13
    watch = Watch(revision)
    if revision != NEWEST:
        watch.session.ask("roots/list", None, "waiter")  # L-36: only a handshake client is asked
    for value in talk:
        watch.feed(value)
    watch.settle()
    watch.survive()


# 3. Arbitrary bytes

pieces = st.sampled_from(
    [
        b"\n",
        b"\r\n",
        b" ",
        b"{}",
        b'{"jsonrpc":"2.0","id":1,"method":"ping"}',
        b"[" * 200,
        b'{"a":',
        b'"',
        b"\\ud800",
        b"\xef\xbb\xbf",
        b"\xff",
        b"\x00",
        b"1" * 50,
        b"null",
        b"]",
        b"\xe2\x80\xa8",
        b"-",
        b"1e999",
        b"x" * 70,
    ]
)
streams = st.lists(st.one_of(pieces, pieces, st.binary(max_size=8)), max_size=15).map(b"".join)
LIMIT = 64


def read(chunks: list[bytes]) -> list[tuple[str, Any]]:
    """What a transport makes of these chunks: values, or the reasons why there is none."""
    lines = Lines(LIMIT)
    found: list[tuple[str, Any]] = []
    for chunk in chunks:
        for line in lines.feed(chunk):
            if isinstance(line, Malformed):
                found.append(("malformed", line.reason))
                continue
            assert len(line) <= LIMIT
            try:
                found.append(("value", decode(line)))
            except ParseError as error:
                found.append(("malformed", error.message))
    return found


@fuzz
@given(streams, st.lists(st.integers(0, 400), max_size=8))
@example(b"\xef\xbb\xbf1\n", [1])
def test_how_a_stream_is_cut_into_chunks_changes_nothing(stream: bytes, cuts: list[int]) -> None:
    # S-1, S-13
    edges = [0, *sorted(min(cut, len(stream)) for cut in cuts), len(stream)]
    chunks = [stream[start:end] for start, end in pairwise(edges)]
    assert read(chunks) == read([stream])


@fuzz
@given(st.one_of(st.binary(max_size=200), streams, values.map(json.dumps).map(str.encode)))
def test_reading_bytes_gives_a_value_or_a_parse_error(data: bytes) -> None:
    # S-13: anything but a ParseError fails this test
    try:
        value = decode(data)
    except ParseError:
        return
    assert value == json.loads(data)


@fuzz
@given(streams)
def test_whatever_bytes_arrive_the_session_lives(stream: bytes) -> None:
    # S-13
    watch = Watch("2025-03-26")
    for kind, value in read([stream]):
        watch.feed(value if kind == "value" else Malformed(value))
    watch.settle()
    watch.survive()


# 4. There and back

texts = st.text(st.one_of(st.characters(exclude_categories=()), st.characters(categories=["Cs"])))


@fuzz
@given(values)
def test_writing_what_was_read_is_stable_and_has_no_line_breaks(value: Any) -> None:
    # S-1, S-12, D-7
    written = encode(decode(json.dumps(value).encode()))
    assert (decode(written), encode(decode(written)), b"\n" in written) == (value, written, False)


@fuzz
@given(st.recursive(texts, lambda inner: st.lists(inner) | st.dictionaries(texts, inner), max_leaves=8))
def test_any_text_can_be_written_even_with_lone_surrogates(value: Any) -> None:
    # J-1
    written = encode(value)
    assert (written.count(b"\n"), encode(decode(written))) == (0, written)


@fuzz
@given(st.dictionaries(st.text(max_size=5), values, max_size=6), st.randoms())
def test_the_canonical_form_is_the_same_for_any_order(value: Json, random: Any) -> None:
    # MR-9
    items = list(value.items())
    random.shuffle(items)
    assert canonical(dict(items)) == canonical(value)
