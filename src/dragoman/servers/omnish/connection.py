"""One connection of a shell wrapper: its messages are recorded in order, its questions are answered beside them.

Clients of protocol 25 authenticate with a token first. Requests that Dragoman has no use for get a reply that changes
nothing.
"""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import anyio
from anyio.abc import TaskGroup

from dragoman.core.errors import DragomanError, RemoteProtocolError
from dragoman.core.localization import localize, preferred_language
from dragoman.io.drivers.omnish_driver import HangUp, OmnishDriver
from dragoman.io.net.streams import TcpStream
from dragoman.protocols.omnish import BASE_REVISION
from dragoman.protocols.omnish import messages as m
from dragoman.protocols.omnish import messages_v25 as v25
from dragoman.protocols.omnish.messages import Ack
from dragoman.servers.omnish.recording import DeferredAcks, SessionOwners, SessionRecorder
from dragoman.servers.omnish.requests import CompletionRequests, QuestionRequests, WrapperQuestion
from dragoman.servers.omnish.services import AnswerSource, CompletionSource, RecordingService, TerminalScope
from dragoman.terminal.consent import ConsentBroker, RunRequest
from dragoman.terminal.model import terminal_name

PROTOCOL_VERSION = 25

TokenCheck = Callable[[str], bool]
"""Whether a token is the one for wrappers."""


class TokenGate:
    """Admits a client whose first message is `Auth` with the right token. A client of another protocol version may
    stay and ask for updates.
    """

    def __init__(self, accepts_token: TokenCheck, version: str) -> None:
        self.is_open = False
        self._accepts_token = accepts_token
        self._version = version

    def authenticate(self, auth: v25.Auth) -> v25.AuthResult:
        self.is_open = self._accepts_token(auth.token) and auth.protocol_version == PROTOCOL_VERSION
        return self._result()

    def is_known_token(self, auth: v25.Auth) -> bool:
        return self._accepts_token(auth.token)

    def refusal(self, message: object) -> object:
        """The reply to a client of another version: the normal one about updates, to anything else the same error as
        before."""
        return default_reply(message) if type(message) in _UPDATE_REQUESTS else self._result()

    def _result(self) -> v25.AuthResult:
        return v25.AuthResult(self.is_open, PROTOCOL_VERSION, self._version)


def default_reply(message: object) -> object:
    """A reply of the type that the sender waits for, which changes nothing; `Ack` if any type will do."""
    return _DEFAULT_REPLIES.get(type(message), lambda _: Ack())(message)


def new_thread(start: v25.ChatStart) -> v25.ChatReady:
    """Dragoman needs no thread for a question, but the client needs one to ask in."""
    return v25.ChatReady(
        request_id=start.request_id,
        thread_id=start.thread_id or secrets.token_hex(8),
        last_exchange=None,
        earlier_count=0,
        model_name=None,
        history=None,
        thread_host=None,
        thread_cwd=None,
        thread_summary=None,
        error=None,
        error_display=None,
        sandbox_disabled=None,
        thread_title_word=None,
    )


def _no_update(_: object) -> v25.UpdateChunk:
    words = localize("Dragoman does not distribute other programs.").in_language(preferred_language())
    return v25.UpdateChunk(seq=0, total_size=0, checksum="", data=b"", done=True, error=words)


def _no_config_change(_: object) -> v25.ConfigUpdateResult:
    words = localize("Change Dragoman's settings with `dragoman config`.").in_language(preferred_language())
    return v25.ConfigUpdateResult(ok=False, error=words)


_DEFAULT_REPLIES: dict[type, Callable[[Any], object]] = {
    v25.ChatStart: new_thread,
    v25.ConfigQuery: lambda _: v25.ConfigResponse(items=[], handlers=[]),
    v25.ConfigUpdate: _no_config_change,
    v25.UpdateCheck: lambda check: v25.UpdateInfo(latest_version=check.current_version, checksum="", available=False),
    v25.UpdateRequest: _no_update,
    v25.PluginSyncCheck: lambda check: v25.PluginSyncInfo(
        checksum=check.current_checksum, available=False, total_size=0
    ),
    v25.PluginSyncRequest: _no_update,
}
_UPDATE_REQUESTS = {v25.UpdateCheck, v25.UpdateRequest, v25.PluginSyncCheck, v25.PluginSyncRequest}


@dataclass(frozen=True, slots=True)
class OmnishServices:
    """The services behind every connection."""

    record: RecordingService
    answers: AnswerSource
    completions: CompletionSource
    wrappers: ConsentBroker
    accepts_token: TokenCheck
    version: str


class WrapperConnection:
    """One wrapper's connection.

    `run` lasts as long as the connection. `end` ends it at once; a recording in progress completes.
    """

    def __init__(self, stream: TcpStream, services: OmnishServices, owners: SessionOwners) -> None:
        self.driver = OmnishDriver(stream, self._handle)
        self.ended = anyio.Event()
        self._wrappers = services.wrappers
        self._gate = TokenGate(services.accepts_token, services.version)
        self._recorder = SessionRecorder(services.record, services.wrappers, owners, owner=self, link=self)
        self._deferred_acks = DeferredAcks(services.record, self.driver.reply)
        self._question_requests = QuestionRequests(services.answers, self.driver.reply)
        self._completion_requests = CompletionRequests(services.completions, self.driver.reply)
        self._scope = anyio.CancelScope()
        self._group: TaskGroup
        self._handlers: dict[type, Callable[[int, Any], Awaitable[None]]] = {
            m.Request: self._on_request,
            m.CompletionRequest: self._on_completion_request,
            m.Response: self._on_response,
            v25.Auth: self._on_auth,
            v25.ChatMessage: self._on_chat_message,
            v25.ChatInterrupt: self._on_interrupt,
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
        if self.driver.schema is not BASE_REVISION and not self._gate.is_open and not isinstance(message, v25.Auth):
            self.driver.reply(frame_id, self._gate.refusal(message))
        elif self._recorder.handles(message):
            await self._record(frame_id, message)
        elif type(message) in self._handlers:
            await self._handlers[type(message)](frame_id, message)
        else:
            self.driver.reply(frame_id, default_reply(message))

    async def _record(self, frame_id: int, message: Any) -> None:
        """Record a message.

        An Ack means that the kernel has the data. Without one, the sender retries on another connection.
        """
        try:
            await self._recorder.handle(message)
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

    async def _on_chat_message(self, frame_id: int, message: v25.ChatMessage) -> None:
        question = WrapperQuestion(
            frame_id,
            message.request_id,
            message.query,
            None,
            terminal_name(message.session_id),
            self._recorder.language(message.session_id),
            shape=lambda text, _streaming, _final: v25.ChatResponse(message.request_id, message.thread_id, text),
        )
        self._question_requests.ask(question, self._group)

    async def _on_interrupt(self, frame_id: int, message: v25.ChatInterrupt) -> None:
        self._question_requests.interrupt(message.request_id)
        self.driver.reply(frame_id, m.Ack())

    async def _on_completion_request(self, frame_id: int, request: m.CompletionRequest) -> None:
        self._completion_requests.ask(frame_id, request, self._recorder.cwd(request.session_id), self._group)

    async def _on_response(self, frame_id: int, message: m.Response) -> None:
        self._wrappers.answered(self, message.request_id, message.content)
        self.driver.reply(frame_id, m.Ack())

    async def _on_auth(self, frame_id: int, auth: v25.Auth) -> None:
        self.driver.reply(frame_id, self._gate.authenticate(auth))
        if not self._gate.is_known_token(auth):
            raise HangUp("a client of protocol 25 brought a wrong token")


def _scope(request: m.Request) -> TerminalScope:
    """The terminals that are meant; None means all. A request that names none means its own terminal."""
    if isinstance(request.scope, m.AllSessions):
        return None
    named = request.scope.session_ids if isinstance(request.scope, m.Sessions) else []
    return tuple(map(terminal_name, named or [request.session_id]))
