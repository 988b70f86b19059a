"""Runs: one message to an agent and what it does about it. One at a time a conversation, each with exactly one end."""

from __future__ import annotations

import logging
from collections import OrderedDict, deque
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Literal, Protocol

import anyio
from anyio.abc import TaskGroup

from dragoman.chat import faults
from dragoman.chat.conversations import Conversations, Said
from dragoman.chat.voice import Voice
from dragoman.errors import DragomanError
from dragoman.phrases import Language, say
from dragoman.wire.gateway import canonical_session_key
from dragoman.wire.gateway.vocabulary import ChatEvent, Done, Outcome

log = logging.getLogger(__name__)

WAITING_AT_MOST = 10
"""Messages of one conversation behind the one that runs."""
REMEMBERED_AT_MOST = 1_000
KEPT_WITHIN_S = 5.0
CLEARED_WITHIN_S = 2 * KEPT_WITHIN_S
HISTORY_GIVEN = 50

_PROGRAM_GOES_ON = say(
    "Nobody waits for it any more, but a program that runs by now goes on: see Debugger. `/stop` ends it."
)
_GOES_ON = {
    **dict.fromkeys(("start_debugging", "restart_debugging", "continue_debugging"), _PROGRAM_GOES_ON),
    "run_in_terminal": say(
        "Nobody waits for it any more, but the command goes on in its terminal: see Terminals. "
        "`/run_in_terminal interrupt=true` ends it."
    ),
}
"""What a tool began and its end does not take along."""

CONVERSATION: ContextVar[str] = ContextVar("conversation", default="")
"""The key of the session whose run the present task works for; empty outside of one. Whatever a run causes, however far
down, can be told whose it is."""

Taken = Literal["started", "in_flight", "ok"]


@dataclass(frozen=True, slots=True)
class Question:
    session_key: str
    run_id: str
    text: str
    by: str
    history: Sequence[Said]
    is_person: bool = False
    """Said in the page or in the editor, by what their token is, not by what a client calls itself."""
    workspace: str = ""
    """The folder that the conversation is about; empty where it is the daemon's own."""
    language: Language = "en"
    """Of who asked: two who share a conversation may each read another."""


class Agent(Protocol):
    async def answer(self, asked: Question, voice: Voice) -> None:
        """Returns when everything is said; raises a DragomanError where it cannot; is cancelled to be stopped."""
        ...


@dataclass(slots=True, eq=False)
class Run:
    id: str
    session_key: str
    text: str
    by: str
    is_person: bool = False
    workspace: str = ""
    language: Language = "en"
    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)
    voice: Voice | None = None


class Runs:
    """Owns the runs. Whoever watches is told by `tell`, in order."""

    def __init__(
        self, group: TaskGroup, conversations: Conversations, agent: Agent, tell: Callable[[ChatEvent], None]
    ) -> None:
        self._group = group
        self._conversations = conversations
        self._agent = agent
        self._tell = tell
        self._waiting: dict[str, deque[Run]] = {}
        self._running: dict[str, Run] = {}
        self._ended: OrderedDict[str, Outcome] = OrderedDict()
        self._bell = anyio.Event()

    def running(self, session_key: str) -> Run | None:
        return self._running.get(canonical_session_key(session_key))

    def session_of(self, run_id: str) -> str | None:
        """Of a run that has not ended."""
        every = [run for key in {*self._running, *self._waiting} for run in self._all_of(key)]
        return next((run.session_key for run in every if run.id == run_id), None)

    def is_known(self, run_id: str) -> bool:
        """Whether it runs, waits, or has ended lately."""
        return run_id in self._ended or self.session_of(run_id) is not None

    async def outcome(self, run_id: str) -> Outcome:
        """When it has ended, at once; the deadline is the caller's."""
        while run_id not in self._ended:
            await self._bell.wait()
        return self._ended[run_id]

    def announce(self, session_key: str, run_id: str, text: str) -> None:
        """What was put into a conversation without a run is told as one that ended at once."""
        run = Run(run_id, session_key, "", "")
        Voice(run_id, session_key, self._tell).say(text)
        self._tell_end(run, "final", "end_turn")

    async def send(
        self, session_key: str, text: str, *, run_id: str, by: str, is_person: bool = False, language: Language = "en"
    ) -> Taken:
        """The same run id again is the same message: nothing runs twice, whatever was lost on the way."""
        conversation = await self._conversations.create(session_key)
        key = conversation.key
        was_asked = await self._conversations.was_asked(key, run_id)
        if self.session_of(run_id) is not None:
            return "in_flight"
        if was_asked or run_id in self._ended:
            return "ok"
        waiting = self._waiting.setdefault(key, deque())
        if len(waiting) >= WAITING_AT_MOST:
            raise faults.too_many_waiting(WAITING_AT_MOST)
        waiting.append(Run(run_id, key, text, by, is_person, conversation.workspace, language))
        if key not in self._running:
            self._next(key)
        return "started"

    async def abort(self, session_key: str, run_id: str = "") -> tuple[str, ...]:
        """The run and what waits behind it; with an id that one alone. Nothing running is no error, and a run that was
        stopped runs no more, though it may still be writing down what was said."""
        key = canonical_session_key(session_key)
        found = [run for run in self._all_of(key) if run_id in ("", run.id) and not run.scope.cancel_called]
        for run in found:
            if run in self._waiting.get(key, ()):
                self._waiting[key].remove(run)
                self._tell_end(run, "aborted", "aborted")
            run.scope.cancel("somebody stopped it")
        return tuple(run.id for run in found)

    async def clear(self, session_key: str) -> None:
        """Nothing of it runs afterwards, and nothing more is written down: its conversation can be taken away."""
        await self.abort(session_key)
        key = canonical_session_key(session_key)
        with anyio.move_on_after(CLEARED_WITHIN_S):
            while key in self._running:
                await self._bell.wait()

    def _all_of(self, key: str) -> list[Run]:
        running = self._running.get(key)
        return [*([running] if running else []), *self._waiting.get(key, ())]

    def _next(self, key: str) -> None:
        waiting = self._waiting.get(key)
        if not waiting:
            self._waiting.pop(key, None)
            return
        self._running[key] = run = waiting.popleft()
        self._group.start_soon(self._run, run)

    async def _run(self, run: Run) -> None:
        outcome: Outcome = "aborted"
        reason = "aborted"
        try:
            with run.scope:
                outcome, reason = await self._answered(run)
            if run.voice is not None:
                _leave_calls(run.voice, run.language)
            with anyio.CancelScope(shield=True), anyio.move_on_after(KEPT_WITHIN_S):
                await self._keep(run, outcome, reason)
        except DragomanError as error:
            log.warning("what was said in a run could not be kept: %s", error)
        finally:
            self._tell_end(run, outcome, reason)
            del self._running[run.session_key]
            self._next(run.session_key)

    async def _answered(self, run: Run) -> tuple[Outcome, str]:
        try:
            history = await self._conversations.history(run.session_key, limit=HISTORY_GIVEN)
            await self._conversations.say(run.session_key, "user", run.text, run_id=run.id, by=run.by)
            CONVERSATION.set(run.session_key)
            run.voice = Voice(run.id, run.session_key, self._tell)
            await self._agent.answer(_question(run, history), run.voice)
        except DragomanError as error:
            return "error", error.in_language(run.language)
        except Exception:
            log.exception("a run failed")
            return "error", "internal error"
        return "final", "end_turn"

    async def _keep(self, run: Run, outcome: Outcome, reason: str) -> None:
        """What failed without a word is kept too: who comes later must see why there is no answer."""
        text, calls = (run.voice.text, run.voice.calls) if run.voice else ("", ())
        if text or calls or outcome != "aborted":
            error = reason if outcome == "error" else ""
            await self._conversations.say(
                run.session_key, "assistant", text, run_id=run.id, calls=calls, outcome=outcome, error=error
            )

    def _tell_end(self, run: Run, outcome: Outcome, reason: str) -> None:
        if run.voice is not None:
            run.voice.mute()
        self._ended[run.id] = outcome
        while len(self._ended) > REMEMBERED_AT_MOST:
            self._ended.popitem(last=False)
        self._bell.set()
        self._bell = anyio.Event()
        self._tell(Done(run_id=run.id, session_key=run.session_key, stop_reason=reason, outcome=outcome))


def _question(run: Run, history: Sequence[Said]) -> Question:
    return Question(run.session_key, run.id, run.text, run.by, history, run.is_person, run.workspace, run.language)


def _leave_calls(voice: Voice, language: Language) -> None:
    """Each that was stopped ends here, so that nobody takes it for done later."""
    for call in [it for it in voice.calls if it.id in voice.open_calls]:
        voice.end_tool(call.id, "", error=say("Stopped before it answered.").in_language(language))
        if call.tool in _GOES_ON:
            voice.say(_GOES_ON[call.tool].in_language(language))
