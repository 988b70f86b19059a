"""Runs: one message to an agent, what the agent does, and exactly one end. Each conversation has one run at a time."""

from __future__ import annotations

import logging
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

import anyio
import msgspec
from anyio.abc import TaskGroup

from dragoman.chat import errors as chat_errors
from dragoman.chat.conversations import Conversations, RecordedToolCall, StoredMessage
from dragoman.core.errors import DragomanError
from dragoman.core.localization import Language, localize
from dragoman.protocols.gateway import canonical_session_key
from dragoman.protocols.gateway.chat_events import (
    ChatDiff,
    ChatEvent,
    ChatStatus,
    ChatTextDelta,
    ChatUsage,
    Done,
    Outcome,
    ToolResult,
    ToolStart,
    ToolUpdate,
)
from dragoman.workspace.caller import PAGE_ON_OTHER_MACHINE, RemoteCaller

TEXT_BYTES = 1 << 20
OUTPUT_CHARACTERS = 100_000
log = logging.getLogger(__name__)
WAITING_AT_MOST = 10
"""Messages of one conversation that wait behind the running one."""
REMEMBERED_AT_MOST = 1_000
STORE_TIMEOUT_S = 5.0
HISTORY_GIVEN = 50


class RunOutput:
    """What an agent writes in a run: text in segments, and tool calls with one start and one result.

    It publishes each piece at once and keeps it for the history. Nothing is published after the end of the run.
    """

    def __init__(self, run_id: str, session_key: str, publish: Callable[[ChatEvent], None]) -> None:
        self._run_id = run_id
        self._session_key = session_key
        self._publish = publish
        self._segments = [""]
        self._calls: dict[str, RecordedToolCall] = {}
        self._started_s: dict[str, float] = {}
        self.open_calls: set[str] = set()
        """Ids of the calls that have not ended."""
        self._is_closed = False

    @property
    def text(self) -> str:
        return "\n\n".join(filter(None, self._segments))

    @property
    def calls(self) -> tuple[RecordedToolCall, ...]:
        return tuple(self._calls.values())

    def say(self, text: str) -> None:
        room = TEXT_BYTES - sum(map(len, self._segments))
        if text and room > 0:
            self._segments[-1] += text[:room]
            self._event(ChatTextDelta(content=text[:room], segment=len(self._segments) - 1))

    def begin_tool(self, id: str, tool: str, *, title: str = "", input: Any = None) -> str:
        """Begin a tool call.

        Later text is another segment, so that text and tools keep their order. Returns the id to end it by: some models
        reuse ids in each turn, and an ended call cannot start again.
        """
        id = id if id not in self._calls else f"{id}-{len(self._calls)}"
        after = len(self.text)
        if self._segments[-1]:
            self._segments.append("")
        raw = msgspec.Raw(msgspec.json.encode(input))
        self._calls[id] = RecordedToolCall(id=id, tool=tool, title=title, input=input, after=after)
        self._started_s[id] = time.monotonic()
        self.open_calls.add(id)
        self._event(ToolStart(id=id, tool=tool, title=title, input=raw))
        return id

    def update_tool(self, id: str, output: str) -> None:
        self._event(ToolUpdate(id=id, output=output[-OUTPUT_CHARACTERS:]))

    def end_tool(self, id: str, output: str, *, error: str | None = None, duration_ms: float | None = None) -> None:
        output = output[:OUTPUT_CHARACTERS]
        self.open_calls.discard(id)
        begun = self._calls.get(id)
        if begun is not None:
            took_ms = round(1000 * (time.monotonic() - self._started_s[id]))
            self._calls[id] = msgspec.structs.replace(begun, output=output, error=error, took_ms=took_ms)
        self._event(ToolResult(id=id, output=output, error=error, duration_ms=duration_ms))

    def diff(self, path: str, original: str | None, modified: str, *, tool_id: str = "") -> None:
        self._event(ChatDiff(path=path, original=original, modified=modified, tool_id=tool_id))

    def status(self, phase: str) -> None:
        self._event(ChatStatus(phase=phase))

    def used(self, input_tokens: int, output_tokens: int) -> None:
        total = input_tokens + output_tokens
        self._event(ChatUsage(input_tokens=input_tokens, output_tokens=output_tokens, total_tokens=total))

    def close(self) -> None:
        self._is_closed = True

    def _event(self, event: ChatEvent) -> None:
        if not self._is_closed:
            self._publish(msgspec.structs.replace(event, run_id=self._run_id, session_key=self._session_key))


CLEAR_TIMEOUT_S = 2 * STORE_TIMEOUT_S


_PROGRAM_STILL_RUNNING = localize(
    "No longer waiting, but a program that has started keeps running: see Debugger. `/stop` ends it."
)
_STILL_RUNNING_TEXTS = {
    **dict.fromkeys(("start_debugging", "restart_debugging", "continue_debugging"), _PROGRAM_STILL_RUNNING),
    "run_in_terminal": localize(
        "No longer waiting, but the command keeps running in its terminal: see Terminals. `/run_in_terminal "
        "interrupt=true` ends it."
    ),
}
"""What continues after the end of the tool that started it."""


CONVERSATION: ContextVar[str] = ContextVar("conversation", default="")
"""The key of the session whose run the current task works for; empty outside of a run.

It attributes everything that a run causes.
"""


SendStatus = Literal["started", "in_flight", "ok"]


@dataclass(frozen=True, slots=True)
class AgentRequest:
    session_key: str
    run_id: str
    text: str
    by: str
    history: Sequence[StoredMessage]
    is_person: bool = False
    """The message came from the page or the editor. The token decides this, not the name that a client gives itself."""
    workspace: str = ""
    """The folder that the conversation is about; empty for the daemon's own."""
    language: Language = "en"
    """The language of the sender: two people in a conversation may use different ones."""


class ChatAgent(Protocol):
    async def answer(self, request: AgentRequest, run_output: RunOutput) -> None:
        """Returns when the answer is complete; raises a DragomanError if it fails; is cancelled to stop it."""
        ...


@dataclass(slots=True, eq=False)
class ChatRun:
    id: str
    session_key: str
    text: str
    by: str
    is_person: bool = False
    workspace: str = ""
    language: Language = "en"
    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)
    run_output: RunOutput | None = None
    remote: RemoteCaller | None = field(default_factory=PAGE_ON_OTHER_MACHINE.get)
    """Who sent it from another machine: the agent may halt no more than the sender."""


class ChatRuns:
    """The runs of all conversations. Events are published in order.

    It owns the queue of each conversation. It never runs the same run id twice.
    """

    def __init__(
        self,
        group: TaskGroup,
        conversations: Conversations,
        agent: ChatAgent,
        publish: Callable[[ChatEvent], None],
        require_allowed: Callable[[], None] = lambda: None,
    ) -> None:
        """`require_allowed` raises while no agent may run."""
        self._require_allowed = require_allowed
        self._group = group
        self._conversations = conversations
        self._agent = agent
        self._publish = publish
        self._waiting: dict[str, deque[ChatRun]] = {}
        self._running: dict[str, ChatRun] = {}
        self._ended: OrderedDict[str, Outcome] = OrderedDict()
        self._ended_event = anyio.Event()

    def running(self, session_key: str) -> ChatRun | None:
        return self._running.get(canonical_session_key(session_key))

    def session_of(self, run_id: str) -> str | None:
        """The session of a run that has not ended."""
        every = [run for key in {*self._running, *self._waiting} for run in self._all_of(key)]
        return next((run.session_key for run in every if run.id == run_id), None)

    def is_known(self, run_id: str) -> bool:
        """Whether the run is running, waiting, or ended recently."""
        return run_id in self._ended or self.session_of(run_id) is not None

    async def outcome(self, run_id: str) -> Outcome:
        """The outcome; returns at once if the run has ended. The caller sets the deadline."""
        while run_id not in self._ended:
            await self._ended_event.wait()
        return self._ended[run_id]

    def announce(self, session_key: str, run_id: str, text: str) -> None:
        """Publish a message that was added without a run, as a run that ended at once."""
        run = ChatRun(run_id, session_key, "", "")
        RunOutput(run_id, session_key, self._publish).say(text)
        self._publish_end(run, "final", "end_turn")

    async def send(
        self, session_key: str, text: str, *, run_id: str, by: str, is_person: bool = False, language: Language = "en"
    ) -> SendStatus:
        """Send a message. The same run id again is the same message: nothing runs twice, whatever was lost."""
        self._require_allowed()
        conversation = await self._conversations.create(session_key)
        key = conversation.key
        is_stored = await self._conversations.was_asked(key, run_id)
        if self.session_of(run_id) is not None:
            return "in_flight"
        if is_stored or run_id in self._ended:
            return "ok"
        waiting = self._waiting.setdefault(key, deque())
        if len(waiting) >= WAITING_AT_MOST:
            raise chat_errors.too_many_waiting(most=WAITING_AT_MOST)
        waiting.append(ChatRun(run_id, key, text, by, is_person, conversation.workspace, language))
        if key not in self._running:
            self._next(key)
        return "started"

    async def abort(self, session_key: str, run_id: str = "") -> tuple[str, ...]:
        """Stop the run and those that wait behind it; with an id, only that run.

        It is not an error if nothing runs. A stopped run no longer counts as running, though its messages may still be
        stored.
        """
        key = canonical_session_key(session_key)
        found = [run for run in self._all_of(key) if run_id in ("", run.id) and not run.scope.cancel_called]
        for run in found:
            if run in self._waiting.get(key, ()):
                self._waiting[key].remove(run)
                self._publish_end(run, "aborted", "aborted")
            run.scope.cancel("somebody stopped it")
        return tuple(run.id for run in found)

    async def abort_all(self) -> int:
        return sum([len(await self.abort(key)) for key in {*self._running, *self._waiting}])

    async def clear(self, session_key: str) -> None:
        """Stop everything and store nothing more, so that the conversation can be removed."""
        await self.abort(session_key)
        key = canonical_session_key(session_key)
        with anyio.move_on_after(CLEAR_TIMEOUT_S):
            while key in self._running:
                await self._ended_event.wait()

    def _all_of(self, key: str) -> list[ChatRun]:
        running = self._running.get(key)
        return [*([running] if running else []), *self._waiting.get(key, ())]

    def _next(self, key: str) -> None:
        waiting = self._waiting.get(key)
        if not waiting:
            self._waiting.pop(key, None)
            return
        self._running[key] = run = waiting.popleft()
        self._group.start_soon(self._run, run)

    async def _run(self, run: ChatRun) -> None:
        outcome: Outcome = "aborted"
        reason = "aborted"
        try:
            with run.scope:
                outcome, reason = await self._run_agent(run)
            if run.run_output is not None:
                _end_open_calls(run.run_output, run.language)
            with anyio.CancelScope(shield=True), anyio.move_on_after(STORE_TIMEOUT_S):
                await self._keep(run, outcome, reason)
        except DragomanError as error:
            log.warning("what was said in a run could not be kept: %s", error)
        finally:
            self._publish_end(run, outcome, reason)
            del self._running[run.session_key]
            self._next(run.session_key)

    async def _run_agent(self, run: ChatRun) -> tuple[Outcome, str]:
        try:
            history = await self._conversations.history(run.session_key, limit=HISTORY_GIVEN)
            await self._conversations.say(run.session_key, "user", run.text, run_id=run.id, by=run.by)
            CONVERSATION.set(run.session_key)
            PAGE_ON_OTHER_MACHINE.set(run.remote)
            run.run_output = RunOutput(run.id, run.session_key, self._publish)
            await self._agent.answer(_agent_request(run, history), run.run_output)
        except DragomanError as error:
            return "error", error.in_language(run.language)
        except Exception:
            log.exception("a run failed")
            return "error", "internal error"
        return "final", "end_turn"

    async def _keep(self, run: ChatRun, outcome: Outcome, reason: str) -> None:
        """Store the outcome.

        A failure without text is stored too, because later readers must see why there is no answer.
        """
        text, calls = (run.run_output.text, run.run_output.calls) if run.run_output else ("", ())
        if text or calls or outcome != "aborted":
            error = reason if outcome == "error" else ""
            await self._conversations.say(
                run.session_key, "assistant", text, run_id=run.id, calls=calls, outcome=outcome, error=error
            )

    def _publish_end(self, run: ChatRun, outcome: Outcome, reason: str) -> None:
        if run.run_output is not None:
            run.run_output.close()
        self._ended[run.id] = outcome
        while len(self._ended) > REMEMBERED_AT_MOST:
            self._ended.popitem(last=False)
        self._ended_event.set()
        self._ended_event = anyio.Event()
        self._publish(Done(run_id=run.id, session_key=run.session_key, stop_reason=reason, outcome=outcome))


def _agent_request(run: ChatRun, history: Sequence[StoredMessage]) -> AgentRequest:
    return AgentRequest(run.session_key, run.id, run.text, run.by, history, run.is_person, run.workspace, run.language)


def _end_open_calls(run_output: RunOutput, language: Language) -> None:
    """End each open call, so that nobody takes it for done later."""
    for call in [it for it in run_output.calls if it.id in run_output.open_calls]:
        run_output.end_tool(call.id, "", error=localize("Stopped before it returned a result.").in_language(language))
        if call.tool in _STILL_RUNNING_TEXTS:
            run_output.say(_STILL_RUNNING_TEXTS[call.tool].in_language(language))
