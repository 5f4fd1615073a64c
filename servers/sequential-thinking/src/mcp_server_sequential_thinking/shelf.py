"""The chains that are held: how many, for how long, and whose they are.

What is on the shelf follows from the thoughts that were put on it, in their order: whoever reads the same journal
holds the same chains. A handle opens its chain for anyone who has it, and nobody is told another's. Blocks only
where there is a journal; safe to use from several threads. Knows nothing of MCP.
"""

import os
import time
from base64 import b32encode
from collections import OrderedDict
from collections.abc import Callable, Iterator
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple

from .thoughts import Chain, Misfit, Step, Thought, count

if TYPE_CHECKING:
    from .journal import Journal

MAX_PEERS = 32  # that are remembered with a chain
_SLACK = 1000  # thoughts in the journal that may be dead before it is rewritten


class Limits(NamedTuple):
    """What a shelf holds at most. A chain has bounds of its own."""

    chains: int = 200
    bytes: int = 64 * 1024 * 1024
    age: float = 7 * 24 * 3600.0  # seconds since its last thought


class Who(NamedTuple):
    """Whoever is asking: the handle they gave, the connection they came over, and whether calls build on calls."""

    handle: str | None = None
    peer: str | None = None
    continues: bool = False


class Added(NamedTuple):
    """What came of a step. `changed` are the handles of all chains that changed or went, for whoever watches."""

    id: str
    thought: Thought
    branches: list[str]
    length: int
    note: str
    changed: list[str]


class Known(NamedTuple):
    """A chain in a list of chains."""

    id: str
    title: str
    length: int


class Held:
    """A chain, and the peers that may be told of it."""

    __slots__ = ("chain", "peers", "used")

    def __init__(self, chain: Chain) -> None:
        self.chain = chain
        self.peers: list[str] = []
        self.used = 0.0


class Shelf:
    """Chains by handle, the one without a thought for longest first."""

    def __init__(
        self,
        journal: "Journal | None" = None,
        *,
        limits: Limits = Limits(),  # noqa: B008 - a NamedTuple does not change
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.limits = limits
        self._journal = journal
        self._clock = clock
        self._lock = Lock()
        self._held: OrderedDict[str, Held] = OrderedDict()
        self._current: dict[str, str] = {}  # by peer: the chain it is at
        self._size = 0
        self._touched: set[str] = set()
        self._let_go: list[Held] = []

    @property
    def blocks(self) -> bool:
        """Whether a call may wait for a disk."""
        return self._journal is not None

    def is_kept_at(self, path: str) -> bool:
        """Whether this path is the file that keeps the thoughts."""
        return self._journal is not None and self._journal.is_at(path)

    # Thinking.

    def add(self, step: Step, who: Who) -> Added:
        """Put a thought on the chain it belongs to, and keep it for good where there is a journal."""
        with self._lock:
            if self._journal is None:
                return self._add(step, who)
            with self._journal.turn():
                self._catch_up(self._journal)
                added = self._add(step, who)
                live = sum(len(held.chain.thoughts) for held in self._held.values())
                if self._journal.count > 2 * live + _SLACK:
                    self._journal.tidy(self._records())
                return added

    def _add(self, step: Step, who: Who) -> Added:
        now = self._clock()
        self._expire(now)
        chain = self._choose(step, who)
        thought, remark = chain.consider(step, now), chain.remark(step)
        if not chain.length and step.number > 1:
            remark = "This began a new chain, for there was none to go on with: pass thinkingId to name one."
        if self._journal is not None:
            self._journal.append(chain.id, thought)
        held, dropped = self._put(chain.id, thought)
        if who.peer is not None:
            self._introduce(held, who.peer)
        note = self._note(remark, dropped, who.peer)
        return Added(chain.id, thought, held.chain.branches, held.chain.length, note, self._changes())

    def _choose(self, step: Step, who: Who) -> Chain:
        """The chain that is named, or the one this peer is at, unless that ended and a new one opens."""
        if who.handle:
            return self._find(who)
        held = self._held.get(self._current.get(who.peer or "", "")) if who.continues else None
        if held is None or (step.opens and held.chain.ended):
            return Chain(new_handle())
        return held.chain

    def _note(self, remark: str, dropped: int, peer: str | None) -> str:
        parts = [remark] if remark else []
        if dropped:
            parts.append(f"Let go: the oldest {count(dropped, 'thought')} of this chain.")
        if self._let_go:
            own = [held.chain.id for held in self._let_go if peer in held.peers]
            named = f", of yours {', '.join(own)}" if own else ""
            parts.append(f"Let go: {count(len(self._let_go), 'unused chain')}{named}.")
            self._let_go.clear()
        return " ".join(parts)

    # Looking.

    def look(self, who: Who) -> Chain:
        """A chain as it is now: the one that is named, or the one this peer is at."""
        with self._lock:
            if self._journal is not None:
                self._catch_up(self._journal)
            self._expire(self._clock())
            self._let_go.clear()
            handle = who.handle or (self._current.get(who.peer or "") if who.continues else None)
            return self._find(who._replace(handle=handle)).copy()

    def known_to(self, peer: str | None) -> list[Known]:
        """The chains that a peer has added to, the newest first."""
        with self._lock:
            self._expire(self._clock())
            self._let_go.clear()
            return [
                Known(held.chain.id, next(iter(held.chain)).text, held.chain.length)
                for held in reversed(self._held.values())
                if peer in held.peers
            ]

    def refresh(self) -> list[str]:
        """Look for what other processes put into the journal; the handles of all chains that changed or went."""
        with self._lock:
            if self._journal is not None:
                self._catch_up(self._journal)
            self._expire(self._clock())
            return self._changes()

    def _find(self, who: Who) -> Chain:
        if not who.handle:
            raise Misfit("Which chain? Pass the thinkingId that sequentialthinking gave back.")
        held = self._held.get(who.handle)
        if held is not None:
            return held.chain
        yours = [held.chain.id for held in self._held.values() if who.peer in held.peers][-5:]
        there = f"There are: {', '.join(yours)}." if yours else "Without a thinkingId a new one begins."
        days = self.limits.age / 86400
        raise Misfit(
            f"There is no chain {who.handle[:40]!r}; a chain is let go after {days:g} days without a thought, "
            f"or when there are too many. {there}"
        )

    # Holding.

    def _put(self, id: str, thought: Thought) -> tuple[Held, int]:
        self._expire(thought.at)
        held = self._held.get(id)
        if held is None:
            held = self._held[id] = Held(Chain(id))
        before = held.chain.size
        dropped = held.chain.add(thought)
        self._size += held.chain.size - before
        held.used = thought.at
        self._held.move_to_end(id)
        self._touched.add(id)
        while len(self._held) > self.limits.chains or (
            self._size > self.limits.bytes and len(self._held) > 1
        ):
            self._drop_oldest()
        return held, dropped

    def _changes(self) -> list[str]:
        changed = list(self._touched)
        self._touched.clear()
        return changed

    def _expire(self, now: float) -> None:
        while self._held and next(iter(self._held.values())).used < now - self.limits.age:
            self._drop_oldest()

    def _drop_oldest(self) -> None:
        id, held = self._held.popitem(last=False)
        self._size -= held.chain.size
        self._touched.add(id)
        self._let_go.append(held)
        for peer in held.peers:
            self._leave(peer, id)

    def _introduce(self, held: Held, peer: str) -> None:
        self._current[peer] = held.chain.id
        if peer not in held.peers:
            held.peers.append(peer)
            if len(held.peers) > MAX_PEERS:
                self._leave(held.peers.pop(0), held.chain.id)

    def _leave(self, peer: str, id: str) -> None:
        if self._current.get(peer) == id:
            del self._current[peer]

    # The journal.

    def _catch_up(self, journal: "Journal") -> None:
        anew, records = journal.read_new()
        before = self._held
        if anew:
            self._held, self._size = OrderedDict(), 0
        for id, thought in records:
            self._put(id, thought)
        if anew:
            self._touched.update(before)
            for id, held in self._held.items():
                held.peers = before[id].peers if id in before else []
            self._current = {peer: id for peer, id in self._current.items() if id in self._held}
        self._let_go.clear()
        if len(self._touched) > 10 * self.limits.chains:
            self._touched.clear()  # nobody watches, or they would have been asked for

    def _records(self) -> Iterator[tuple[str, Thought]]:
        for id, held in self._held.items():
            for thought in held.chain:
                yield id, thought


def new_handle() -> str:
    """A handle that nobody can guess: 128 random bits in 26 letters and digits."""
    return b32encode(os.urandom(16)).decode().rstrip("=").lower()
