"""What a handler may do besides returning: report, ask, announce. The same words in every revision."""

from collections.abc import Callable, Mapping, Sequence
from time import monotonic, time
from typing import TYPE_CHECKING, Any, Generic, TypeVar, TypeVarTuple, Unpack, cast, get_origin

import anyio.lowlevel

from ..errors import InternalError
from ..protocol.messages import Json
from ..protocol.revisions import MAY_ASK, LogLevel
from ..protocol.scope import Scope

if TYPE_CHECKING:
    from ..places import Places
    from .asking import Accepted, Cancelled, Declined, Question, Root, Sampled
    from .caller import Caller
    from .connection import Connection
    from .replay import Replay

S = TypeVar("S")
T = TypeVar("T")
Ts = TypeVarTuple("Ts")
# PR-4: the first reports always go out, later ones at most twenty times a second.
_FREE_REPORTS = 32
_REPORT_INTERVAL = 0.05


class Context(Generic[S]):
    """One request, as its handler sees it. Ask for it by type: `ctx: Context[MyState]`."""

    __slots__ = ("_asked", "_caller", "_last_report", "_replay", "_reports", "_roots", "_scope", "state")

    def __init__(self, caller: "Caller", scope: Scope, state: S) -> None:
        self.state: S = state
        """What the server's `state` opened; the same object for every request."""
        self._caller = caller
        self._scope = scope
        self._replay: Replay | None = None
        self._asked: dict[str, int] = {}
        self._roots: list[Root] | None = None
        self._reports = 0
        self._last_report = 0.0

    @property
    def client(self) -> Mapping[str, Any]:
        """The client's own description: name, version. A label, not a proof (L-33)."""
        return self._scope.client

    @property
    def meta(self) -> Mapping[str, Any]:
        """`_meta` of the request: trace context and whatever else the client sent along."""
        return self._scope.meta

    @property
    def session(self) -> str | None:
        """A name for this client's session, or None for a client that has none (stateless)."""
        return None if self._scope.era.stateless else self._connection.name

    @property
    def peer(self) -> str | None:
        """A name for whoever is at the other end of this connection, in either era; None for a stateless request
        over HTTP. Says whose something is; `session` says whether the protocol lets one call build on another.
        """
        return self._caller.name

    @property
    def cancelled(self) -> bool:
        """Whether the client no longer wants the answer. Long work in a thread looks here now and then."""
        return self._scope.closed

    def supports(self, capability: str) -> bool:
        """Whether the client declared `elicitation`, `sampling` or `roots`."""
        return capability in self._scope.capabilities

    async def progress(self, done: float, total: float | None = None, message: str | None = None) -> None:
        """Say how far the work is. Nothing is sent unless the client asked for it and `done` grew."""
        scope = self._scope
        if scope.progress_token is None:
            return
        now = monotonic()
        if self._reports >= _FREE_REPORTS and now - self._last_report < _REPORT_INTERVAL:
            return
        notice = scope.progress(done, total, message)
        if notice is not None:
            self._reports += 1
            self._last_report = now
            await self._caller.send(notice, about=scope.id)

    async def log(self, level: LogLevel, data: Any, *, logger: str | None = None) -> None:
        """Tell the client something about this request, if it wants that level. Never put secrets here."""
        notice = self._scope.log(level, data, logger)
        if notice is not None:
            await self._caller.send(notice, about=self._scope.id)

    async def changed(self, uri: str) -> None:
        """Tell everyone who watches this resource that it changed."""
        # Whoever watches is given a turn to be told. A turn for nobody would only make a short call longer.
        if self._caller.server.subscriptions.publish_updated(uri):
            await anyio.lowlevel.checkpoint()

    async def resources_changed(self) -> None:
        """Tell everyone who wants to know that the list of resources changed."""
        await self._caller.server.resources_changed()

    async def in_thread(self, function: Callable[[Unpack[Ts]], T], *args: *Ts) -> T:
        """Run blocking work in one of the server's worker threads."""
        return await self._caller.server.threads.run(function, *args)

    async def elicit(
        self, message: str, form: type[T], *, key: str | None = None
    ) -> "Accepted[T] | Declined | Cancelled":
        """Ask the user to fill in a form, a flat data type. Ask first, act last: the handler may run again."""
        from .asking import Question

        return await self._ask_one(Question.form(message, form), key)

    async def elicit_url(
        self, message: str, url: str, *, key: str | None = None
    ) -> "Accepted[None] | Declined | Cancelled":
        """Ask the user to open a page, for secrets and payments: they must not pass through the client."""
        from .asking import Question

        return await self._ask_one(Question.url(message, url), key)

    async def sample(
        self,
        messages: str | Sequence[Json],
        *,
        max_tokens: int,
        system_prompt: str | None = None,
        temperature: float | None = None,
        key: str | None = None,
    ) -> "Sampled":
        """Ask the client's model to write something. `Question.sample` has more knobs; `ask` takes it."""
        from .asking import Question

        question = Question.sample(
            messages, max_tokens=max_tokens, system_prompt=system_prompt, temperature=temperature
        )
        return await self._ask_one(question, key)

    async def roots(self) -> "list[Root]":
        """The places the client says it works in; none when the client has no such notion."""
        from .asking import Question

        if not self.supports("roots"):
            return []
        if not self._scope.era.stateless:
            return await self._connection.roots(self._scope)
        if self._scope.method not in MAY_ASK:
            return self._caller.told_roots  # MR-1: a list cannot ask
        if self._roots is None:
            self._roots = await self._ask_one(Question.roots(), "roots")
            await self._caller.hear_roots(self._roots)
        return self._roots

    async def places(self) -> "Places":
        """The directories this client may use: what the operator granted, narrowed by the client's roots."""
        server = self._caller.server
        return await server.places(await self.roots() if server.access.wants_roots else [])

    @property
    def max_chars(self) -> int:
        """How many characters a result may have. Longer ones are cut by the tool, which says how to go on."""
        return self._caller.server.max_result_chars

    async def ask(self, **questions: "Question[Any]") -> dict[str, Any]:
        """Ask several things at once; the answers come back under the names of the questions."""
        for question in questions.values():
            question.require(self._scope.capabilities)
        if self._scope.era.stateless:
            return self._answers(questions)
        return await self._connection.ask_all(questions, self._scope)

    async def _ask_one(self, question: "Question[T]", key: str | None) -> T:
        name = key or question.kind
        answers = await self.ask(**{name: question})
        return answers[name]

    def _key(self, name: str) -> str:
        """A key for a question of this name. A replayed handler asks in the same order, and so finds its answers."""
        ordinal = self._asked[name] = self._asked.get(name, 0) + 1
        return name if ordinal == 1 else f"{name}-{ordinal}"

    def _answers(self, questions: "Mapping[str, Question[Any]]") -> dict[str, Any]:
        from .asking import InputRequired

        if self._scope.method not in MAY_ASK:
            raise InternalError(f"{self._scope.method} cannot ask the client")  # MR-1
        replay = self.replay()
        keys = {name: self._key(name) for name in questions}
        found = {name: replay.find(keys[name], question) for name, question in questions.items()}
        missing = {keys[name]: questions[name] for name, answer in found.items() if answer is None}
        if missing:
            raise InputRequired(missing)
        return {name: questions[name].read(answer) for name, answer in found.items() if answer is not None}

    async def release_stream(self, *, retry_ms: int = 1000) -> None:
        """Let a client of 2025-11-25 over HTTP hang up and come back for the answer, so that long work holds no
        connection. Other clients do not notice.
        """
        if not self._scope.era.stateless:
            await self._connection.release_stream(self._scope, retry_ms)

    @property
    def _connection(self) -> "Connection":
        """The connection of a handshake client."""
        return cast("Connection", self._caller)

    def replay(self) -> "Replay":
        """The answers this request brought along; read once."""
        if self._replay is None:
            from .replay import Replay

            self._replay = Replay(self._scope, self._caller.server.sealer(), self._caller.principal, time())
        return self._replay


def is_context(hint: Any) -> bool:
    """Whether a parameter's type asks for the Context."""
    return hint is Context or get_origin(hint) is Context
