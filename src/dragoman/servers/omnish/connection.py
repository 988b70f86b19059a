"""One connection of a shell wrapper: its messages are recorded in order, its questions are answered beside them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import anyio
from anyio.abc import TaskGroup

from dragoman.core.errors import DragomanError, RemoteProtocolError
from dragoman.io.drivers.omnish_driver import HangUp, OmnishDriver
from dragoman.io.net.streams import TcpStream
from dragoman.protocols.omnish import BASE_REVISION
from dragoman.protocols.omnish import messages as m
from dragoman.protocols.omnish import messages_v25 as newer
from dragoman.servers.omnish.protocol_v25 import TokenCheck, TokenGate, default_reply
from dragoman.servers.omnish.recording import DeferredAcks, SessionOwners, SessionRecorder
from dragoman.servers.omnish.requests import CompletionRequests, QuestionRequests, WrapperQuestion
from dragoman.servers.omnish.services import AnswerSource, CompletionSource, RecordingService, TerminalScope
from dragoman.terminal.consent import ConsentBroker, RunRequest
from dragoman.terminal.model import terminal_name


@dataclass(frozen=True, slots=True)
class OmnishServices:
    """The services behind every connection."""

    record: RecordingService
    answers: AnswerSource
    completions: CompletionSource
    wrappers: ConsentBroker
    admits: TokenCheck
    version: str


class WrapperConnection:
    """One wrapper's connection.

    `run` lasts as long as the connection. `end` ends it at once; a recording in progress completes.
    """

    def __init__(self, stream: TcpStream, services: OmnishServices, owners: SessionOwners) -> None:
        self.driver = OmnishDriver(stream, self._handle)
        self.ended = anyio.Event()
        self._wrappers = services.wrappers
        self._gate = TokenGate(services.admits, services.version)
        self._recorder = SessionRecorder(services.record, services.wrappers, owners, owner=self, link=self)
        self._deferred_acks = DeferredAcks(services.record, self.driver.reply)
        self._question_requests = QuestionRequests(services.answers, self.driver.reply)
        self._completion_requests = CompletionRequests(services.completions, self.driver.reply)
        self._scope = anyio.CancelScope()
        self._group: TaskGroup
        self._takers: dict[type, Callable[[int, Any], Awaitable[None]]] = {
            m.Request: self._on_request,
            m.CompletionRequest: self._on_completion_request,
            m.Response: self._on_response,
            newer.Auth: self._on_auth,
            newer.ChatMessage: self._on_chat_message,
            newer.ChatInterrupt: self._on_interrupt,
        }

    @property
    def has_token(self) -> bool:
        return self._gate.is_open

    @property
    def is_ending(self) -> bool:
        return self._scope.cancel_called

    async def run(self) -> None:
        try:
            with self._scope:
                async with anyio.create_task_group() as group:
                    self._group = group
                    group.start_soon(self._deferred_acks.run)
                    await self.driver.run()
                    group.cancel_scope.cancel("the wrapper left")
        finally:
            self._recorder.release_sessions()
            self.ended.set()

    def end(self) -> None:
        self._scope.cancel("the connection is not wanted any more")

    def put(self, request: RunRequest) -> None:
        session_id = self._recorder.session_of(request.terminal)
        self.driver.push(m.Request(request.id, session_id, request.command, m.Sessions([request.by])))

    def withdraw(self, request: RunRequest) -> None:
        self.driver.push(m.Response(request.id, "withdrawn", is_streaming=False, is_final=True))

    async def _handle(self, frame_id: int, message: object) -> None:
        if self.driver.schema is not BASE_REVISION and not self._gate.is_open and not isinstance(message, newer.Auth):
            self.driver.reply(frame_id, self._gate.refusal(message))
        elif self._recorder.handles(message):
            await self._record(frame_id, message)
        elif type(message) in self._takers:
            await self._takers[type(message)](frame_id, message)
        else:
            self.driver.reply(frame_id, default_reply(message))

    async def _record(self, frame_id: int, message: Any) -> None:
        """Record a message.

        An Ack means that the kernel has the data. Without one, the sender retries on another connection.
        """
        try:
            await self._recorder.take(message)
        except (DragomanError, RemoteProtocolError, TimeoutError) as error:
            raise HangUp(f"its message could not be recorded: {error}") from error
        self._deferred_acks.acknowledge(
            message.session_id, frame_id, resumes=self._recorder.resumes(message.session_id)
        )

    async def _on_request(self, frame_id: int, request: m.Request) -> None:
        is_newer = self.driver.schema is not BASE_REVISION
        question = WrapperQuestion(
            frame_id,
            request.request_id,
            request.query,
            _scope(request),
            terminal_name(request.session_id),
            self._recorder.language(request.session_id),
            shape=lambda text, streaming, final: m.Response(request.request_id, text, streaming, final),
            streams=is_newer or self._recorder.streams(request.session_id),
            closes=is_newer,
        )
        self._question_requests.ask(question, self._group)

    async def _on_chat_message(self, frame_id: int, message: newer.ChatMessage) -> None:
        question = WrapperQuestion(
            frame_id,
            message.request_id,
            message.query,
            None,
            terminal_name(message.session_id),
            self._recorder.language(message.session_id),
            shape=lambda text, _streaming, _final: newer.ChatResponse(message.request_id, message.thread_id, text),
        )
        self._question_requests.ask(question, self._group)

    async def _on_interrupt(self, frame_id: int, message: newer.ChatInterrupt) -> None:
        self._question_requests.interrupt(message.request_id)
        self.driver.reply(frame_id, m.Ack())

    async def _on_completion_request(self, frame_id: int, request: m.CompletionRequest) -> None:
        self._completion_requests.ask(frame_id, request, self._recorder.cwd(request.session_id), self._group)

    async def _on_response(self, frame_id: int, message: m.Response) -> None:
        self._wrappers.answered(self, message.request_id, message.content)
        self.driver.reply(frame_id, m.Ack())

    async def _on_auth(self, frame_id: int, auth: newer.Auth) -> None:
        self.driver.reply(frame_id, self._gate.authenticate(auth))
        if not self._gate.is_known_token(auth):
            raise HangUp("a client of protocol 25 brought a wrong token")


def _scope(request: m.Request) -> TerminalScope:
    """The terminals that are meant; None means all. A request that names none means its own terminal."""
    if isinstance(request.scope, m.AllSessions):
        return None
    named = request.scope.session_ids if isinstance(request.scope, m.Sessions) else []
    return tuple(map(terminal_name, named or [request.session_id]))
