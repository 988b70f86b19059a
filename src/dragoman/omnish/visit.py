"""One connection of a shell wrapper: what it tells is recorded in order, what it asks is answered beside."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import anyio
from anyio.abc import TaskGroup

from dragoman.errors import DragomanError, RemoteProtocolError
from dragoman.omnish.completing import Completing
from dragoman.omnish.holders import Holders
from dragoman.omnish.newer import Admits, Gate, harmless
from dragoman.omnish.owing import Owing
from dragoman.omnish.ports import Answers, Completions, Record, Scope
from dragoman.omnish.questions import Question, Questions
from dragoman.omnish.recording import Recording
from dragoman.terminal.names import terminal_name
from dragoman.terminal.wrappers import Wish, Wrappers
from dragoman.transport.omnish_driver import HangUp, OmnishDriver
from dragoman.transport.streams import TcpStream
from dragoman.wire.omnish import SEED
from dragoman.wire.omnish import messages as m
from dragoman.wire.omnish import messages_v25 as newer


@dataclass(frozen=True, slots=True)
class Services:
    """What stands behind every connection."""

    record: Record
    answers: Answers
    completions: Completions
    wrappers: Wrappers
    admits: Admits
    version: str


class Visit:
    """`run` lives as long as the connection. `end` ends it at once; what is being recorded is recorded to its end."""

    def __init__(self, stream: TcpStream, services: Services, holders: Holders) -> None:
        self.driver = OmnishDriver(stream, self._take)
        self.ended = anyio.Event()
        self._wrappers = services.wrappers
        self._gate = Gate(services.admits, services.version)
        self._recording = Recording(services.record, services.wrappers, holders, holder=self, link=self)
        self._owing = Owing(services.record, self.driver.reply)
        self._questions = Questions(services.answers, self.driver.reply)
        self._completing = Completing(services.completions, self.driver.reply)
        self._scope = anyio.CancelScope()
        self._group: TaskGroup
        self._takers: dict[type, Callable[[int, Any], Awaitable[None]]] = {
            m.Request: self._asked,
            m.CompletionRequest: self._completes,
            m.Response: self._answered,
            newer.Auth: self._authenticates,
            newer.ChatMessage: self._chatted,
            newer.ChatInterrupt: self._interrupts,
        }

    @property
    def came_by_token(self) -> bool:
        return self._gate.is_open

    @property
    def is_ending(self) -> bool:
        return self._scope.cancel_called

    async def run(self) -> None:
        try:
            with self._scope:
                async with anyio.create_task_group() as group:
                    self._group = group
                    group.start_soon(self._owing.run)
                    await self.driver.run()
                    group.cancel_scope.cancel("the wrapper left")
        finally:
            self._recording.leave()
            self.ended.set()

    def end(self) -> None:
        self._scope.cancel("the connection is not wanted any more")

    def put(self, wish: Wish) -> None:
        session_id = self._recording.session_of(wish.terminal)
        self.driver.push(m.Request(wish.id, session_id, wish.command, m.Sessions([wish.by])))

    def withdraw(self, wish: Wish) -> None:
        self.driver.push(m.Response(wish.id, "withdrawn", is_streaming=False, is_final=True))

    async def _take(self, frame_id: int, message: object) -> None:
        if self.driver.schema is not SEED and not self._gate.is_open and not isinstance(message, newer.Auth):
            self.driver.reply(frame_id, self._gate.refusal(message))
        elif self._recording.knows(message):
            await self._record(frame_id, message)
        elif type(message) in self._takers:
            await self._takers[type(message)](frame_id, message)
        else:
            self.driver.reply(frame_id, harmless(message))

    async def _record(self, frame_id: int, message: Any) -> None:
        """The Ack says that the kernel has it. Without one its sender tries again on another connection."""
        try:
            await self._recording.take(message)
        except (DragomanError, RemoteProtocolError, TimeoutError) as error:
            raise HangUp(f"what it told could not be recorded: {error}") from error
        self._owing.taken(message.session_id, frame_id, resumes=self._recording.resumes(message.session_id))

    async def _asked(self, frame_id: int, asked: m.Request) -> None:
        is_newer = self.driver.schema is not SEED
        question = Question(
            frame_id,
            asked.request_id,
            asked.query,
            _scope(asked),
            terminal_name(asked.session_id),
            self._recording.language(asked.session_id),
            shape=lambda text, streaming, final: m.Response(asked.request_id, text, streaming, final),
            streams=is_newer or self._recording.streams(asked.session_id),
            closes=is_newer,
        )
        self._questions.ask(question, self._group)

    async def _chatted(self, frame_id: int, said: newer.ChatMessage) -> None:
        question = Question(
            frame_id,
            said.request_id,
            said.query,
            None,
            terminal_name(said.session_id),
            self._recording.language(said.session_id),
            shape=lambda text, _streaming, _final: newer.ChatResponse(said.request_id, said.thread_id, text),
        )
        self._questions.ask(question, self._group)

    async def _interrupts(self, frame_id: int, said: newer.ChatInterrupt) -> None:
        self._questions.interrupt(said.request_id)
        self.driver.reply(frame_id, m.Ack())

    async def _completes(self, frame_id: int, asked: m.CompletionRequest) -> None:
        self._completing.ask(frame_id, asked, self._recording.cwd(asked.session_id), self._group)

    async def _answered(self, frame_id: int, said: m.Response) -> None:
        self._wrappers.answered(self, said.request_id, said.content)
        self.driver.reply(frame_id, m.Ack())

    async def _authenticates(self, frame_id: int, auth: newer.Auth) -> None:
        self.driver.reply(frame_id, self._gate.judged(auth))
        if not self._gate.lets_stay(auth):
            raise HangUp("a client of protocol 25 brought a wrong token")


def _scope(asked: m.Request) -> Scope:
    """None is every terminal. Whoever names none means their own."""
    if isinstance(asked.scope, m.AllSessions):
        return None
    named = asked.scope.session_ids if isinstance(asked.scope, m.Sessions) else []
    return tuple(map(terminal_name, named or [asked.session_id]))
