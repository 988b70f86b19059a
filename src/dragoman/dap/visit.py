"""One editor's connection: the handshake, then whatever its part in the session serves."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import anyio
from anyio.abc import ByteStream, TaskGroup

from dragoman.dap import arguments as take
from dragoman.dap import refusals
from dragoman.dap.capabilities import capabilities
from dragoman.dap.guests import Guest
from dragoman.dap.part import Manners, Part, Served
from dragoman.dap.places import Places
from dragoman.dap.wishes import starts_something, wish_of
from dragoman.debug.faults import already_ended
from dragoman.debug.persons import person_at
from dragoman.debug.service import DebugService
from dragoman.debug.session import Session
from dragoman.debug.wishes import Client, RunInTerminal, Wish
from dragoman.errors import DragomanError, RemoteProtocolError
from dragoman.phrases import Language, say
from dragoman.transport.dap_host import DapHost
from dragoman.visible import visible
from dragoman.wire import dap

log = logging.getLogger(__name__)

_IN_TERMINAL_WITHIN_S = 30.0
_OPENED_WITHIN_S = 60.0
_ASKED_WITHIN_S = 600.0


class Visit:
    def __init__(self, stream: ByteStream, service: DebugService, guest: Guest) -> None:
        self.spoke = anyio.Event()
        """The first whole request came."""
        self._service = service
        self._guest = guest
        self._host = DapHost(stream)
        self._scope = anyio.CancelScope()
        self._followings = ExitStack()
        self._in_order = anyio.Lock()
        self._group: TaskGroup
        self._id = ""
        self._asked: take.Initialize | None = None
        self._part: Part | None = None
        self._is_joining = False
        self._said_goodbye = False

    def end(self) -> None:
        self._scope.cancel("the connection is ended")

    @property
    def fault(self) -> RemoteProtocolError | None:
        return self._host.fault

    async def run(self, rest: bytes = b"") -> None:
        try:
            with self._scope, self._followings:
                async with anyio.create_task_group() as group:
                    self._group = group
                    await self._host.run(self._take, self._leaving, rest)
                    group.cancel_scope.cancel("the editor left")
        finally:
            if self._part is not None:
                await self._part.leave()

    def _leaving(self) -> None:
        """An editor that did not leave by itself is told that it is over, and why."""
        if self._host.fault is not None:
            text = say("Dragoman ends this connection: {reason}", reason=self._host.fault).in_language(self._language)
            self._host.event("output", {"category": "important", "output": f"{text}\n"})
        if not self._said_goodbye and not (self._part and self._part.teller.is_over):
            self._host.event("terminated")

    # Requests.

    def _take(self, request: dap.Request) -> None:
        self.spoke.set()
        self._group.start_soon(self._serve, request)

    async def _serve(self, request: dap.Request) -> None:
        try:
            await self._answer(request)
        except DragomanError as error:
            self._refuse(request, error)
        except RemoteProtocolError as error:
            self._refuse(request, refusals.bad_arguments(request.command, error.message))
        except Exception:
            log.exception("the request %s of an editor failed", ascii(request.command[:40]))
            self._refuse(request, refusals.fault())

    async def _answer(self, request: dap.Request) -> None:
        if request.command == "initialize":
            self._initialize(request)
            return
        if self._asked is None:
            raise refusals.not_initialized(request.command)
        own = {"attach": self._attach, "launch": self._launch, "disconnect": self._disconnect}.get(request.command)
        if own is not None:
            await own(request)
            return
        if request.command == "configurationDone":
            async with self._in_order:
                await self._configured(request)
            return
        await self._within_session(request)

    async def _within_session(self, request: dap.Request) -> None:
        part = self._joined(request.command)
        served = part.served.get(request.command)
        if served is None:
            raise refusals.not_served(request.command)
        if served.changes and not part.manners.may_change:
            raise refusals.read_only(request.command)
        if served.needs and not part.followed.session.capabilities.has(served.needs):
            raise refusals.not_able(request.command, part.followed.session.launch.adapter_id)
        if served.in_order:
            async with self._in_order:
                self._host.respond(request, await _handled(served, request))
        else:
            self._host.respond(request, await _handled(served, request))

    def _refuse(self, request: dap.Request, error: DragomanError) -> None:
        message, body = refusals.shape_of(error, request.command, self._language)
        self._host.refuse(request, message, body)

    # The handshake.

    def _initialize(self, request: dap.Request) -> None:
        if self._asked is not None:
            raise refusals.initialized_twice()
        self._asked = dap.read_arguments(request, take.Initialize)
        self._id = person_at(self._asked.name)
        self._host.respond(request, self._first_capabilities())

    def _first_capabilities(self) -> dict[str, Any]:
        """Of the session that it was started for, where there is one: some editors never look at them again."""
        if not self._guest.session:
            return capabilities(None, read_only=self._guest.read_only, language=self._language)
        return capabilities(self._service.known(self._guest.session).session, read_only=self._guest.read_only)

    async def _attach(self, request: dap.Request) -> None:
        given = dap.read_arguments(request, take.Configuration)
        if not self._guest.session and starts_something(given):
            await self._start(request, given)
            return
        asked = dap.read_arguments(request, take.Join)
        with self._joining():
            id = self._guest.session or asked.session or self._active(given)
            part = await self._join(id, self._manners(asked))
            self._host.respond(request)
            self._introduce()
            self._tell_folder(part, self._guest.at(given.get("workspace")).workspace)

    async def _launch(self, request: dap.Request) -> None:
        if self._guest.session:
            await self._attach(request)
            return
        await self._start(request, dap.read_arguments(request, take.Configuration))

    async def _start(self, request: dap.Request, given: Mapping[str, Any]) -> None:
        """The session is there before its program runs: the editor sets its breakpoints in between."""
        if self._guest.read_only:
            raise refusals.read_only(request.command)
        guest, hold = self._guest.at(given.get("workspace")), anyio.Event()
        with self._joining():
            client = guest.client(self._id, terminal=self._terminal)
            wish = wish_of(given, request.command)
            session = await self._opened(client, wish, hold)
            part = await self._join(session.id, self._manners(dap.read_arguments(request, take.Join)), hold)
            self._introduce()
        await part.followed.begun()
        self._host.respond(request)

    async def _opened(self, client: Client, wish: Wish, hold: anyio.Event) -> Session:
        """Who leaves meanwhile leaves a session to be ended. One of launch.json may ask the person what its variables
        stand for, and a person takes their time."""
        within_s = _ASKED_WITHIN_S if wish.configuration_name else _OPENED_WITHIN_S
        try:
            with anyio.fail_after(within_s, shield=True):
                return await self._service.open(client, wish, hold)
        except TimeoutError:
            raise refusals.not_opened(within_s) from None

    def _active(self, given: Mapping[str, Any]) -> str:
        """Of the folder; where that has none, the only one that there is: an editor may be opened in a folder below."""
        try:
            return self._service.newest(self._guest.at(given.get("workspace")).client(self._id)).id
        except DragomanError:
            lives = self._service.live()
            if len(lives) != 1:
                raise
            return lives[0].id

    async def _join(self, id: str, manners: Manners, hold: anyio.Event | None = None) -> Part:
        followed = self._followings.enter_context(self._service.followed(id, self._id))
        client = self._guest.client(self._id, followed.workspace, self._terminal)
        part = Part(self._service, client, followed, self._host, manners, hold)
        self._part = part if hold is not None else None  # who leaves now leaves a start behind
        await followed.session.configurable()
        if followed.is_over:
            await followed.begun()
            if hold is None:  # else it was short, and the editor hears how it went
                raise already_ended()
        self._part = part
        return part

    def _introduce(self) -> None:
        assert self._part is not None
        told = capabilities(self._part.followed.session, read_only=not self._part.manners.may_change)
        self._host.event("capabilities", {"capabilities": told})
        self._host.event("initialized")

    def _tell_folder(self, part: Part, here: Path) -> None:
        """By its id, or as the only one that there is, an editor may come to a session of quite another project."""
        there = part.followed.workspace
        if here == Path("/") or here.is_relative_to(there) or there.is_relative_to(here):
            return
        text = say("This session is of {folder}.", folder=visible(str(there))).in_language(self._language)
        self._host.event("output", {"category": "console", "output": f"{text}\n"})

    async def _configured(self, request: dap.Request) -> None:
        part = self._joined(request.command)
        is_first = await part.configured()
        self._host.respond(request)
        if is_first:
            self._group.start_soon(part.teller.run)

    async def _disconnect(self, request: dap.Request) -> None:
        asked = dap.read_arguments(request, take.Disconnect)
        if self._part is not None and self._part.is_ended_by_leaving(asked):
            if not self._part.manners.may_change:
                raise refusals.read_only(request.command)
            await self._part.end()
        if self._part is not None:
            await self._part.leave()  # before the answer: what it set is gone when it is told so
        self._said_goodbye = True
        self._host.respond(request)
        await self._host.sent()
        self._scope.cancel("the editor left")

    # Inside.

    @contextmanager
    def _joining(self) -> Iterator[None]:
        """Once: while one attach or launch is under way, another is refused."""
        if self._part is not None or self._is_joining:
            raise refusals.joined_twice()
        self._is_joining = True
        try:
            yield
        finally:
            self._is_joining = False

    def _joined(self, command: str) -> Part:
        if self._part is None:
            raise refusals.not_joined(command)
        return self._part

    def _manners(self, wanted: take.Join) -> Manners:
        asked = self._asked or take.Initialize()
        places = Places(int(asked.lines_start_at1), int(asked.columns_start_at1), as_uri=asked.path_format == "uri")
        return Manners(
            places,
            self._language,
            invalidates=asked.supports_invalidated_event,
            mirrors=wanted.mirrors_breakpoints,
            may_change=not (self._guest.read_only or wanted.read_only),
        )

    @property
    def _language(self) -> Language:
        locale = (self._asked.locale or "").lower() if self._asked else ""
        return "zh" if locale.startswith("zh") else self._guest.language if not locale else "en"

    @property
    def _terminal(self) -> RunInTerminal | None:
        has_one = self._asked is not None and self._asked.supports_run_in_terminal_request
        return self._run_in_terminal if has_one else None

    async def _run_in_terminal(self, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        response = await self._host.ask("runInTerminal", dict(arguments), timeout_s=_IN_TERMINAL_WITHIN_S)
        if not response.success:
            raise DragomanError(
                "terminal_refused",
                say("The editor did not open a terminal: {reason}", reason=(response.message or "?")[:300]),
            )
        return dap.read_body(response, dict[str, Any])


async def _handled(served: Served, request: dap.Request) -> dict[str, Any]:
    return await served.handle(dap.read_arguments(request, served.arguments))
