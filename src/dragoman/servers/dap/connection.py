"""One editor's connection: the handshake, then every request that its session handles."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import anyio
from anyio.abc import ByteStream, TaskGroup

from dragoman.core.errors import DragomanError, RemoteProtocolError, internal_error
from dragoman.core.localization import Language, localize
from dragoman.core.safe_text import printable
from dragoman.debug.errors import already_ended, not_served
from dragoman.debug.model import LaunchRequest, new_person_id
from dragoman.debug.service import DebugService
from dragoman.debug.session.session import DebugSession
from dragoman.io.drivers.dap_editor_driver import DapEditorDriver
from dragoman.protocols import dap
from dragoman.servers.dap import arguments as take
from dragoman.servers.dap import errors as dap_errors
from dragoman.servers.dap.bodies import EditorCoordinates
from dragoman.servers.dap.editor_context import EditorContext, launch_request_from, starts_program
from dragoman.servers.dap.editor_session import EditorOptions, EditorSession, RequestHandler
from dragoman.workspace.caller import Caller, RunInTerminal

_OWN_CAPABILITIES = (
    "supportsConfigurationDoneRequest",
    "supportsHitConditionalBreakpoints",  # Dragoman counts hits where the debugger cannot.
    "supportsLogPoints",  # Dragoman writes log messages.
    "supportsDelayedStackTraceLoading",
)
_CAPABILITIES_TO_CHANGE = ("supportsRestartRequest", "supportsTerminateRequest", "supportTerminateDebuggee")
_ADAPTER_CAPABILITIES = (
    "supportsEvaluateForHovers",
    "supportsExceptionInfoRequest",
    "supportsLoadedSourcesRequest",
    "supportsModulesRequest",
    "supportsCompletionsRequest",
    "supportsFunctionBreakpoints",
    "supportsDataBreakpoints",
    "supportsExceptionFilterOptions",
    "supportsReadMemoryRequest",
    "supportsDisassembleRequest",
    "supportsStepInTargetsRequest",
    "supportsGotoTargetsRequest",
    "supportsBreakpointLocationsRequest",
    "supportsSteppingGranularity",
)
_ADAPTER_CAPABILITIES_TO_CHANGE = (
    "supportsWriteMemoryRequest",
    "supportsTerminateThreadsRequest",
    "supportsRestartFrame",
    "supportsStepBack",
)
_COPIED_CAPABILITIES = ("exceptionBreakpointFilters", "completionTriggerCharacters", "additionalModuleColumns")
log = logging.getLogger(__name__)
_RUN_IN_TERMINAL_TIMEOUT_S = 30.0
_OPENED_WITHIN_S = 60.0
_ASKED_WITHIN_S = 600.0


def capabilities(session: DebugSession | None, *, read_only: bool, language: Language = "en") -> dict[str, Any]:
    """Before there is a session, only what is certain. The rest follows in a `capabilities` event."""
    body: dict[str, Any] = dict.fromkeys(_OWN_CAPABILITIES, True)
    body |= dict.fromkeys(_CAPABILITIES_TO_CHANGE, not read_only)
    body |= {"supportsConditionalBreakpoints": True}
    return body | (
        _default_filters(language) if session is None else _session_capabilities(session, read_only=read_only)
    )


def _default_filters(language: Language) -> dict[str, Any]:
    """Dragoman's own filters, which are mapped to those of each debugger:

    VS Code reads the filters from the first response alone.
    """
    filters = [("raised", localize("Raised Exceptions"), False), ("uncaught", localize("Uncaught Exceptions"), True)]
    body = [{"filter": name, "label": label.in_language(language), "default": on} for name, label, on in filters]
    return {"exceptionBreakpointFilters": body}


def _session_capabilities(session: DebugSession, *, read_only: bool) -> dict[str, Any]:
    can, quirks = session.capabilities, session.launch.quirks
    body: dict[str, Any] = {name: can.has(name) for name in _ADAPTER_CAPABILITIES}
    sets = can.has("supportsSetVariable") or can.has("supportsSetExpression") or bool(quirks.assignment_expression)
    body |= {"supportsSetVariable": sets, "supportsSetExpression": sets}
    body |= {name: can.has(name) for name in _ADAPTER_CAPABILITIES_TO_CHANGE}
    if read_only:
        body |= dict.fromkeys(("supportsSetVariable", "supportsSetExpression", *_ADAPTER_CAPABILITIES_TO_CHANGE), False)
    body["supportsConditionalBreakpoints"] = can.has("supportsConditionalBreakpoints") or bool(
        quirks.condition_expression
    )
    return body | {name: can.get(name) for name in _COPIED_CAPABILITIES if can.get(name) is not None}


class EditorConnection:
    """One editor's DAP connection, from `initialize` to `disconnect`.

    It owns the handshake and the lifetime of the connection. What happens inside a session belongs to
    `EditorSession`.
    """

    def __init__(self, stream: ByteStream, service: DebugService, context: EditorContext) -> None:
        self.first_request = anyio.Event()
        """The first complete request arrived."""
        self._service = service
        self._context = context
        self._host = DapEditorDriver(stream)
        self._scope = anyio.CancelScope()
        self._subscriptions = ExitStack()
        self._in_order = anyio.Lock()
        self._group: TaskGroup
        self._id = ""
        self._initialize_args: take.InitializeArguments | None = None
        self._editor_session: EditorSession | None = None
        self._is_joining = False
        self._has_disconnected = False

    def end(self) -> None:
        self._scope.cancel("the connection is ended")

    @property
    def fault(self) -> RemoteProtocolError | None:
        return self._host.fault

    async def run(self, rest: bytes = b"") -> None:
        try:
            with self._scope, self._subscriptions:
                async with anyio.create_task_group() as group:
                    self._group = group
                    await self._host.run(self._start_request, self._before_close, rest)
                    group.cancel_scope.cancel("the editor left")
        finally:
            if self._editor_session is not None:
                await self._editor_session.detach()

    def _before_close(self) -> None:
        """Report the end and its reason to an editor that did not disconnect by itself."""
        if self._host.fault is not None:
            text = localize("Dragoman closed the connection: {reason}", reason=self._host.fault).in_language(
                self._language
            )
            self._host.event("output", {"category": "important", "output": f"{text}\n"})
        if not self._has_disconnected and not (self._editor_session and self._editor_session.publisher.is_over):
            self._host.event("terminated")

    # Requests.

    def _start_request(self, request: dap.Request) -> None:
        self.first_request.set()
        self._group.start_soon(self._serve, request)

    async def _serve(self, request: dap.Request) -> None:
        try:
            await self._answer(request)
        except DragomanError as error:
            self._refuse(request, error)
        except RemoteProtocolError as error:
            self._refuse(request, dap_errors.bad_arguments(command=request.command, reason=error.message))
        except Exception:
            log.exception("the request %s of an editor failed", ascii(request.command[:40]))
            self._refuse(request, internal_error())

    async def _answer(self, request: dap.Request) -> None:
        if request.command == "initialize":
            self._initialize(request)
            return
        if self._initialize_args is None:
            raise dap_errors.not_initialized(command=request.command)
        own = {"attach": self._attach, "launch": self._launch, "disconnect": self._disconnect}.get(request.command)
        if own is not None:
            await own(request)
            return
        if request.command == "configurationDone":
            async with self._in_order:
                await self._finish_configuration(request)
            return
        await self._answer_in_session(request)

    async def _answer_in_session(self, request: dap.Request) -> None:
        editor_session = self._require_session(request.command)
        served = editor_session.served.get(request.command)
        if served is None:
            raise not_served(command=request.command)
        editor_session.require_permitted(request.command, served)
        if served.needs and not editor_session.followed.session.capabilities.has(served.needs):
            raise dap_errors.not_supported(
                command=request.command, debugger=editor_session.followed.session.launch.adapter_id
            )
        if served.in_order:
            async with self._in_order:
                self._host.respond(request, await _call_handler(served, request))
        else:
            self._host.respond(request, await _call_handler(served, request))

    def _refuse(self, request: dap.Request, error: DragomanError) -> None:
        message, body = dap_errors.error_body(error, request.command, self._language)
        self._host.refuse(request, message, body)

    # The handshake.

    def _initialize(self, request: dap.Request) -> None:
        if self._initialize_args is not None:
            raise dap_errors.initialized_twice()
        self._initialize_args = dap.read_arguments(request, take.InitializeArguments)
        self._id = new_person_id(self._initialize_args.name)
        self._host.respond(request, self._initial_capabilities())

    def _initial_capabilities(self) -> dict[str, Any]:
        """The capabilities of the session that the editor was started for, if there is one: some editors never read
        them again."""
        if not self._context.session:
            return capabilities(None, read_only=self._context.read_only, language=self._language)
        return capabilities(
            self._service.find_in_any_workspace(self._context.session).session, read_only=self._context.read_only
        )

    async def _attach(self, request: dap.Request) -> None:
        given = dap.read_arguments(request, take.Configuration)
        if not self._context.session and starts_program(given):
            await self._start(request, given)
            return
        args = dap.read_arguments(request, take.JoinArguments)
        with self._joining_once():
            id = self._context.session or args.session or self._active_session_id(given)
            editor_session = await self._join(id, self._editor_options(args))
            self._host.respond(request)
            self._send_initialized()
            self._report_other_workspace(editor_session, self._context.at(given.get("workspace")).workspace)

    async def _launch(self, request: dap.Request) -> None:
        if self._context.session:
            await self._attach(request)
            return
        await self._start(request, dap.read_arguments(request, take.Configuration))

    async def _start(self, request: dap.Request, given: Mapping[str, Any]) -> None:
        """Start a session. It exists before its program runs, so that the editor can set breakpoints in between."""
        if self._context.read_only:
            raise dap_errors.read_only(command=request.command)
        context, hold = self._context.at(given.get("workspace")), anyio.Event()
        with self._joining_once():
            client = context.client(self._id, terminal=self._terminal)
            launch_request = launch_request_from(given, request.command)
            session = await self._open_session(client, launch_request, hold)
            editor_session = await self._join(
                session.id, self._editor_options(dap.read_arguments(request, take.JoinArguments)), hold
            )
            self._send_initialized()
        await editor_session.followed.wait_until_started()
        self._host.respond(request)

    async def _open_session(self, caller: Caller, launch_request: LaunchRequest, hold: anyio.Event) -> DebugSession:
        """Open the session.

        If the editor leaves meanwhile, the session is ended. A configuration of launch.json may ask the person for
        variables, so this can take long.
        """
        within_s = _ASKED_WITHIN_S if launch_request.configuration_name else _OPENED_WITHIN_S
        try:
            with anyio.fail_after(within_s, shield=True):
                return await self._service.open(caller, launch_request, hold)
        except TimeoutError:
            raise dap_errors.not_opened(seconds=within_s) from None

    def _active_session_id(self, given: Mapping[str, Any]) -> str:
        """The active session of the folder.

        If the folder has none, the only session that exists: an editor may be open in a subfolder.
        """
        try:
            return self._service.registry.newest(self._context.at(given.get("workspace")).client(self._id)).session.id
        except DragomanError:
            live_sessions = self._service.live()
            if len(live_sessions) != 1:
                raise
            return live_sessions[0].id

    async def _join(self, id: str, options: EditorOptions, hold: anyio.Event | None = None) -> EditorSession:
        followed = self._subscriptions.enter_context(
            self._service.keep_open(id, self._id, is_remote=self._context.remote is not None)
        )
        client = self._context.client(self._id, followed.workspace, self._terminal)
        editor_session = EditorSession(self._service, client, followed, self._host, options, hold)
        # If the editor leaves now, the start must still be cleaned up.
        self._editor_session = editor_session if hold is not None else None
        await followed.session.configurable()
        if followed.is_over:
            await followed.wait_until_started()
            if hold is None:  # Otherwise the program ended quickly, and the editor gets its exit.
                raise already_ended()
        self._editor_session = editor_session
        return editor_session

    def _send_initialized(self) -> None:
        assert self._editor_session is not None
        body = capabilities(
            self._editor_session.followed.session, read_only=not self._editor_session.options.may_change
        )
        self._host.event("capabilities", {"capabilities": body})
        self._host.event("initialized")

    def _report_other_workspace(self, editor_session: EditorSession, here: Path) -> None:
        """Report that the session belongs to another workspace.

        An editor reaches one by its id, or because it is the only session.
        """
        there = editor_session.followed.workspace
        if here == Path("/") or here.is_relative_to(there) or there.is_relative_to(here):
            return
        text = localize("This session belongs to {folder}.", folder=printable(str(there))).in_language(self._language)
        self._host.event("output", {"category": "console", "output": f"{text}\n"})

    async def _finish_configuration(self, request: dap.Request) -> None:
        editor_session = self._require_session(request.command)
        is_first = await editor_session.finish_configuration()
        self._host.respond(request)
        if is_first:
            self._group.start_soon(editor_session.publisher.run)

    async def _disconnect(self, request: dap.Request) -> None:
        args = dap.read_arguments(request, take.DisconnectArguments)
        if self._editor_session is not None and self._editor_session.ends_on_disconnect(args):
            if not self._editor_session.options.may_change:
                raise dap_errors.read_only(command=request.command)
            await self._editor_session.end()
        if self._editor_session is not None:
            # Before the response: once the editor has it, its breakpoints are gone.
            await self._editor_session.detach()
        self._has_disconnected = True
        self._host.respond(request)
        await self._host.sent()
        self._scope.cancel("the editor left")

    # Helpers.

    @contextmanager
    def _joining_once(self) -> Iterator[None]:
        """While one attach or launch is in progress, another is refused."""
        if self._editor_session is not None or self._is_joining:
            raise dap_errors.attached_twice()
        self._is_joining = True
        try:
            yield
        finally:
            self._is_joining = False

    def _require_session(self, command: str) -> EditorSession:
        if self._editor_session is None:
            raise dap_errors.not_attached(command=command)
        return self._editor_session

    def _editor_options(self, wanted: take.JoinArguments) -> EditorOptions:
        args = self._initialize_args or take.InitializeArguments()
        coordinates = EditorCoordinates(
            int(args.lines_start_at1), int(args.columns_start_at1), as_uri=args.path_format == "uri"
        )
        return EditorOptions(
            coordinates,
            self._language,
            invalidates=args.supports_invalidated_event,
            mirrors=wanted.mirrors_breakpoints,
            may_change=not (self._context.read_only or wanted.read_only),
        )

    @property
    def _language(self) -> Language:
        locale = (self._initialize_args.locale or "").lower() if self._initialize_args else ""
        return "zh" if locale.startswith("zh") else self._context.language if not locale else "en"

    @property
    def _terminal(self) -> RunInTerminal | None:
        """Not over `--on`: the program runs on this machine, the editor's terminal is on the other one."""
        has_one = self._initialize_args is not None and self._initialize_args.supports_run_in_terminal_request
        return self._run_in_terminal if has_one and self._context.remote is None else None

    async def _run_in_terminal(self, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        response = await self._host.ask("runInTerminal", dict(arguments), timeout_s=_RUN_IN_TERMINAL_TIMEOUT_S)
        if not response.success:
            raise DragomanError(
                "terminal_refused",
                localize("The editor could not open a terminal: {reason}", reason=(response.message or "?")[:300]),
            )
        return dap.read_body(response, dict[str, Any])


async def _call_handler(served: RequestHandler, request: dap.Request) -> dict[str, Any]:
    return await served.handle(dap.read_arguments(request, served.arguments))
