"""The composition root: it opens everything in order, runs it in one task group, and closes it within a deadline."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import secrets
import signal
import socket
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import anyio

from dragoman import __version__
from dragoman.access.proof import Keyring
from dragoman.access.request_guard import AllowedNames
from dragoman.access.tokens import AccessLinks, Tokens
from dragoman.canvas import service as canvas
from dragoman.chat import conversations
from dragoman.core.clock import SystemClock
from dragoman.core.errors import DragomanError
from dragoman.core.events import Event
from dragoman.core.paths import Paths
from dragoman.core.redaction import Redactor
from dragoman.core.settings.loader import load_settings, unknown_variables
from dragoman.core.settings.schema import Settings
from dragoman.daemon import emergency_stop
from dragoman.daemon.chat_wiring import ChatWiring, canvas_subjects, wire_chat
from dragoman.daemon.debug_wiring import DebugWiring, wire_debugging
from dragoman.daemon.emergency_stop import EmergencyStop
from dragoman.daemon.gateway_control import EditorGateway, GatewayMethods
from dragoman.daemon.instance import Instance
from dragoman.daemon.listeners import last_port, remember_port, wrapper_sockets
from dragoman.daemon.logs import start_logging, summarize_logs
from dragoman.daemon.maintenance import enforce_retention, save_token_uses, scrub_journal
from dragoman.daemon.signals import ending_signals
from dragoman.daemon.terminal_wiring import COMMAND_STORE, TerminalWiring, wire_terminals
from dragoman.daemon.upstream_gateway import UpstreamGateway, open_upstream_gateway
from dragoman.debug.backends.adapters import BUILT_IN
from dragoman.debug.backends.adapters.user_adapters import with_user_adapters
from dragoman.debug.session.countdown import HaltLimits
from dragoman.debug.stops.history import store as stops
from dragoman.io.event_loop import EventLoopLagMeter
from dragoman.io.net.http_server import HttpServer
from dragoman.io.net.peers import known_uids
from dragoman.io.net.tcp_listener import TcpListeners, listen_tcp, listen_tcp_or_any
from dragoman.io.net.unix_socket import bind_private_socket
from dragoman.io.processes.process_info import process_start_s
from dragoman.journal import Journal
from dragoman.protocols.control import DaemonState
from dragoman.servers.control.methods import ApprovalMethods, ControlMethods, DebugMethods, StopMethods
from dragoman.servers.control.server import ControlServer
from dragoman.servers.control.status import LiveSessions, StatusReport
from dragoman.servers.control.tool_calls import ToolCallServer
from dragoman.servers.dap.editor_context import EditorContext
from dragoman.servers.dap.server import DapServer
from dragoman.servers.mcp.client_options import ClientOptions
from dragoman.servers.mcp.http_endpoint import McpHttpEndpoint, login_environment
from dragoman.servers.mcp.stdio_endpoint import McpEndpoint
from dragoman.servers.web.app import WebApis, build_app
from dragoman.servers.web.canvas_api import CanvasApi
from dragoman.servers.web.debug_api import DebugApi
from dragoman.servers.web.editor_api import EditorApi
from dragoman.servers.web.feed import EventFeed
from dragoman.servers.web.onboarding.clients_api import ClientsApi
from dragoman.servers.web.onboarding.demo_api import DemoApi
from dragoman.servers.web.onboarding.start_api import StartApi
from dragoman.servers.web.page_forwarder import PageForwarder
from dragoman.servers.web.replay_api import ReplayApi
from dragoman.servers.web.settings_api import PreferencesApi, SettingsApi
from dragoman.servers.web.sockets import SocketAuthenticator
from dragoman.servers.web.status_api import StatusApi
from dragoman.servers.web.stop_api import StopApi
from dragoman.servers.web.terminal_api import TerminalApi
from dragoman.servers.web.tool_api import ToolApi
from dragoman.tools import Tool, build_tool_registry
from dragoman.tools.editor import editor_tools
from dragoman.tools.registry import AgentPause
from dragoman.workspace import breakpoints, trust
from dragoman.workspace.caller import Caller
from dragoman.workspace.file_access import FileAccessPolicy

log = logging.getLogger(__name__)
_HTTP_SHUTDOWN_TIMEOUT_S = 3.0
_JOURNAL_TIMEOUT_S = 1.0


def install_signal_handlers(stop: anyio.Event) -> None:
    """Handle signals from before the lock until the process exits.

    An event loop removes its own handlers when it ends, and a second Ctrl-C at that moment would interrupt the
    shutdown; these handlers stay.
    """
    loop = asyncio.get_running_loop()

    def note(number: int) -> None:
        if not stop.is_set():
            log.info("received %s", signal.Signals(number).name)
        stop.set()

    def received(number: int, _: object) -> None:
        with contextlib.suppress(RuntimeError):  # the loop has ended, and the process is about to exit
            loop.call_soon_threadsafe(note, number)

    for number in ending_signals():
        signal.signal(number, received)


STORES = (
    breakpoints.STORE, trust.STORE, COMMAND_STORE, conversations.STORE, *canvas.STORES, stops.STORE,
    emergency_stop.STORE,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class DaemonOptions:
    workspace: Path
    port: int | None = None
    """The port that the user named: it is used, or the start fails. None: the port of the settings, the last one, or
    any free port.
    """
    terminal_logs: bool = False
    verbose: bool = False
    wait_for_lock_s: float = 0.0
    owns_process: bool = True
    """Whether signals to this process are for the daemon; false if a test runs it beside other things."""


@dataclass(frozen=True, slots=True)
class RunningDaemon:
    """What the starter of the daemon gets once everything is ready."""

    state: DaemonState
    login_code: str


ReadyCallback = Callable[[RunningDaemon], None]


async def run(
    options: DaemonOptions,
    paths: Paths,
    ready: ReadyCallback,
    *,
    live_sessions: LiveSessions | None = None,
    instance: Instance | None = None,
) -> None:
    """Run the daemon until a signal, a `shutdown` call or a cancellation; then close everything in order.

    It acquires the lock, unless `instance` already has it.
    """
    stop = anyio.Event()
    if options.owns_process:
        install_signal_handlers(stop)
    try:
        if instance is None:
            instance = Instance(paths)
            await instance.acquire(wait_s=options.wait_for_lock_s)
        await _run_instance(options, paths, instance, stop, ready, live_sessions or LiveSessions())
    except BaseExceptionGroup as errors:
        error = _first_error(errors)
        raise error from error.__cause__


async def _run_instance(
    options: DaemonOptions,
    paths: Paths,
    instance: Instance,
    stop: anyio.Event,
    ready: ReadyCallback,
    live_sessions: LiveSessions,
) -> None:
    # The daemon's own process keeps the lock until it exits, so that the next daemon never runs beside it.
    release = instance.withdraw if options.owns_process else instance.release
    try:
        settings = load_settings(paths)
        tokens = Tokens(paths.tokens_folder)
        links = AccessLinks(tokens)
        _start_logging(options, paths, settings, tokens)
        with (
            _listen(options, paths, settings) as tcp,
            bind_private_socket(paths.socket) as control,
            wrapper_sockets(paths) as wrappers,
            bind_private_socket(paths.dap_socket) as editors,
        ):
            state = _state(options, paths, settings, tcp.port)
            async with (
                Journal.open(paths.journal_folder, stores=STORES, redact=_redactor(settings).event) as journal,
                wire_debugging(
                    journal,
                    live_sessions,
                    linger_s=settings.session_linger_s,
                    limits=HaltLimits.of(settings.halt_s),
                    redactor=_redactor(settings),
                    rule=_path_rule(settings, paths),
                    adapters=with_user_adapters(BUILT_IN, settings.adapters),
                    port_users=known_uids(settings.debug_port_users),
                    paths=paths,
                ) as debugger,
                wire_terminals(
                    journal, paths, settings, tokens, debugger, _redactor(settings), live_sessions
                ) as terminal,
                wire_chat(journal, tokens, links) as chat,
                open_upstream_gateway(settings, paths, chat.canvas, journal) as gateway,
            ):
                services = _Services(
                    state, paths, tokens, links, settings, journal, debugger, terminal, chat, gateway,
                    live_sessions=live_sessions, stop=stop,
                )  # fmt: skip
                await services.run(tcp, control, wrappers, editors, lambda: instance.publish(state), ready)
    finally:
        release()


async def _reload_after_erase(chat: ChatWiring, feed: EventFeed) -> None:
    await chat.load()
    chat.hub.publish_erased()
    feed.publish_erased()


def _client_left(chat: ChatWiring, terminal: TerminalWiring, debugger: DebugWiring, client: str) -> None:
    debugger.service.registry.drop_holder(client)
    terminal.left(client)
    chat.canvas.left(client)


def _redactor(settings: Settings) -> Redactor:
    return Redactor(settings.redact, tuple(settings.redact_names))


def _path_rule(settings: Settings, paths: Paths) -> FileAccessPolicy:
    return FileAccessPolicy(
        allowed=tuple(Path(folder).expanduser() for folder in settings.allowed_folders),
        private=(paths.config, paths.state, paths.runtime),
    )


def _every_tool(
    debugger: DebugWiring,
    terminal: TerminalWiring,
    chat: ChatWiring,
    readers: Callable[[], int],
    rule: FileAccessPolicy,
    redactor: Redactor,
) -> list[Tool]:
    """All tools, in display order."""
    shown = canvas_subjects(debugger.service, terminal.tools, rule=rule, redactor=redactor)
    return [
        *debugger.tools,
        *debugger.evidence(terminal.record),
        *terminal.tools,
        *chat.tools(readers, shown),
        *editor_tools(debugger.editors, rule, redactor),
    ]


class _Services:
    """Everything that runs between start and shutdown: it connects the domains with the tools and the servers."""

    def __init__(
        self,
        state: DaemonState,
        paths: Paths,
        tokens: Tokens,
        links: AccessLinks,
        settings: Settings,
        journal: Journal,
        debugger: DebugWiring,
        terminal: TerminalWiring,
        chat: ChatWiring,
        gateway: UpstreamGateway,
        *,
        live_sessions: LiveSessions,
        stop: anyio.Event,
    ) -> None:
        self._state = state
        self._wrapped = terminal.server
        self._settings = settings
        self._tokens = tokens
        self._journal = journal
        self._stop = stop
        self._http_ended = anyio.Event()
        self._lag = EventLoopLagMeter()
        clock, pause = SystemClock(), AgentPause()
        self._emergency = EmergencyStop(pause, debugger.service, chat.abort_all, terminal.end_all, journal, clock)
        self._keys = Keyring(tokens, clock)
        report = StatusReport(
            state, live_sessions, links, self._lag, journal, clock, clock.monotonic_s(), terminal.report,
            gateway.status, lambda: pause.since_ns,
        )  # fmt: skip
        names = AllowedNames.of(state.bind, state.port, page=state.page_host)
        feed = EventFeed(journal, report)
        erased = partial(_reload_after_erase, chat, feed)
        methods = ControlMethods(
            report, tokens, self._keys, journal, state, self._stop, debugger.trust, debugger.handover.shared, erased
        )
        tools = _every_tool(
            debugger, terminal, chat, lambda: feed.readers, _path_rule(settings, paths), _redactor(settings)
        )
        registry = build_tool_registry(report, journal, tools, _redactor(settings), debugger.handover.shared, pause)
        mcp_endpoint = McpEndpoint(
            registry,
            journal,
            links,
            __version__,
            debugger.resources,
            partial(_client_left, chat, terminal, debugger),
            ClientOptions(tuple(settings.tools), settings.structured),
        )
        self._mcp = McpHttpEndpoint(mcp_endpoint, names, Path(state.workspace))
        relay = gateway.relay if settings.gateway_relay else None
        if relay is not None:
            gateway.listen(chat.hub.relay_event, chat.hub.publish)
        methods_of_gateway = GatewayMethods(gateway, chat.approvals)
        gateway.watch(chat.hub.upstream_changed)
        self._gateway = chat.serve(
            registry,
            settings,
            Path(state.workspace),
            self._health,
            relay,
            methods_of_gateway.gateway_status,
            debugger.trust,
            debugger.evaluators,
        )
        waits, debugged = debugger.waits, debugger.service.registry.workspaces
        calls = ToolApi(
            registry,
            _page_caller(state),
            lambda session: waits.interrupt(session_id=session),
            debugged,
            lambda folder, seen: debugger.trust.trust(folder, seen=seen),
        )
        self._editor_gateway = EditorGateway(debugger.editors, gateway, methods_of_gateway.gateway_status)
        chosen = SettingsApi(paths, settings, report, journal, gateway, methods_of_gateway.gateway_status)
        debug = DebugApi(lambda session: debugger.service.find_in_any_workspace(session).session, _redactor(settings))
        served = WebApis(
            StatusApi(journal, self._lag, __version__, report, mcp_endpoint.usage), feed, CanvasApi(chat.canvas), calls,
            TerminalApi(terminal.record, terminal.answers_of, state.workspace), chosen,
            EditorApi(debugger.editors), PreferencesApi(paths.preferences_file), StopApi(self._emergency),
            ReplayApi(debugger.replays), debug, StartApi(journal, calls, debugger.trust.trusts),
            ClientsApi(state.address), DemoApi(),
        )  # fmt: skip
        pages, forwarders = PageForwarder(names, state.instance, state.bind, state.port), settings.debug_port_users
        prover = SocketAuthenticator(self._keys, links, state.instance, names, pages.remote_of, known_uids(forwarders))
        self._http = HttpServer(build_app(served, self._mcp, self._gateway, prover, names, tokens))
        debugged_of = {**DebugMethods(debugger.reports).table(), **debugger.handover.table(self._agent_processes)}
        approved = ApprovalMethods(chat.approvals, self._agent_processes).table()
        of_persons = {**approved, **StopMethods(self._emergency, self._agent_processes).table()}
        table = {**methods.table(), **terminal.methods, **methods_of_gateway.table(), **debugged_of, **of_persons}
        shells = ToolCallServer(registry, waits, debugger.runs, debugger.worktrees, self._agent_processes)
        self._editors = DapServer(debugger.service, _anonymous_editor(state))
        checks = {"mcp": mcp_endpoint.check_access, "dap": self._editors.check_access, "page": pages.check_access}
        self._control = ControlServer(
            __version__,
            table,
            roles={"mcp": mcp_endpoint, "tools": shells, "dap": self._editors, "page": pages},
            access_checks=checks,
            instance=state.instance,
        )

    async def run(
        self,
        tcp: TcpListeners,
        control: socket.socket,
        wrappers: Sequence[socket.socket],
        editors: socket.socket,
        publish: Callable[[], None],
        ready: ReadyCallback,
    ) -> None:
        await self._emergency.load()
        async with anyio.create_task_group() as group:
            group.start_soon(self._serve_http, tcp)
            group.start_soon(self._mcp.run)
            group.start_soon(self._control.serve, control)
            for listener in wrappers:
                group.start_soon(self._wrapped.serve, listener)
            group.start_soon(self._editors.serve, editors)
            group.start_soon(self._editor_gateway.publish)
            group.start_soon(self._lag.run)
            group.start_soon(summarize_logs)
            group.start_soon(enforce_retention, self._journal, self._settings)
            group.start_soon(save_token_uses, self._tokens)
            group.start_soon(scrub_journal, self._journal, self._settings)
            await self._until_listening()
            publish()
            await self._journal.append([_lifecycle_event("daemon.started", self._state)])
            log.info("version %s at %s, workspace %s", __version__, self._state.address, self._state.workspace)
            ready(RunningDaemon(self._state, self._keys.issue_code()))
            await self._stop.wait()
            log.info("ending")
            await self._record_end()
            self._mcp.end()
            self._gateway.end()
            await self._end_http()
            group.cancel_scope.cancel("the daemon ends")

    def _agent_processes(self) -> list[int]:
        """Through which MCP clients are connected now."""
        return self._control.processes("mcp")

    def _health(self) -> dict[str, Any]:
        return {"version": __version__, "lag_ms": self._lag.latest_ms()}

    async def _record_end(self) -> None:
        """Record the end. A full or broken disk must not delay the shutdown: the log then says why the event is
        missing.
        """
        try:
            with anyio.fail_after(_JOURNAL_TIMEOUT_S):
                await self._journal.append([_lifecycle_event("daemon.ended", self._state)])
        except (DragomanError, TimeoutError) as error:
            log.warning("the end could not be recorded: %s", str(error) or "the journal does not answer")

    async def _serve_http(self, tcp: TcpListeners) -> None:
        try:
            await self._http.serve_on(*tcp.sockets)
        finally:
            self._http_ended.set()

    async def _end_http(self) -> None:
        self._http.should_exit = True
        with anyio.move_on_after(_HTTP_SHUTDOWN_TIMEOUT_S):
            await self._http_ended.wait()

    async def _until_listening(self) -> None:
        with anyio.fail_after(5):
            while not self._http.started:  # noqa: ASYNC110  uvicorn has no event for it
                await anyio.sleep(0.002)


def _start_logging(options: DaemonOptions, paths: Paths, settings: Settings, tokens: Tokens) -> None:
    start_logging(
        paths.log_file,
        level="debug" if options.verbose else settings.log_level,
        terminal=options.terminal_logs,
        secrets=tokens.values,
    )
    for warning in unknown_variables():
        log.warning("%s", warning)


def _listen(options: DaemonOptions, paths: Paths, settings: Settings) -> TcpListeners:
    """Listen. If the user named no port, prefer the last one: clients may have its address."""
    wanted = settings.port if options.port is None else options.port
    if options.port:
        tcp = listen_tcp(settings.bind, wanted)
    else:
        tcp = listen_tcp_or_any(settings.bind, wanted, last_port(paths.port_file))
    remember_port(paths.port_file, tcp.port)
    return tcp


def _state(options: DaemonOptions, paths: Paths, settings: Settings, port: int) -> DaemonState:
    return DaemonState(
        pid=os.getpid(),
        process_started=process_start_s(os.getpid()),
        version=__version__,
        bind=settings.bind,
        port=port,
        wanted_port=settings.port if options.port is None else options.port,
        socket=str(paths.socket),
        omnish_socket=str(paths.omnish_socket),
        dap_socket=str(paths.dap_socket),
        workspace=str(options.workspace),
        started_at_ns=SystemClock().wall_ns(),
        port_was_named=options.port is not None,
        instance=secrets.token_hex(16),
    )


def _page_caller(state: DaemonState) -> Caller:
    """The user of the page, in the folder where the daemon was started."""
    workspace = Path(state.workspace)
    return Caller("page", workspace, workspace, name="the page", environment=login_environment(), is_shared=True)


def _anonymous_editor(state: DaemonState) -> EditorContext:
    """An editor that connects to the socket directly: its configuration says where and how a program runs."""
    workspace = Path(state.workspace)
    return EditorContext(workspace, workspace, login_environment())


def _first_error(errors: BaseExceptionGroup[BaseException]) -> BaseException:
    """The first error of a group: the others are its consequences."""
    first = errors.exceptions[0]
    return _first_error(first) if isinstance(first, BaseExceptionGroup) else first


def _lifecycle_event(kind: str, state: DaemonState) -> Event:
    text = f"{kind.replace('.', ' ')} at {state.address}"
    return Event(kind=kind, text=text, body={"pid": state.pid, "version": state.version}, workspace=state.workspace)
