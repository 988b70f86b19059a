"""The composition root: opens everything in order, runs it in one task group, closes it within a deadline."""

from __future__ import annotations

import logging
import os
import secrets
import socket
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import anyio

from dragoman import __version__
from dragoman.access.guard import OwnNames
from dragoman.access.keys import Keyring
from dragoman.access.links import Links
from dragoman.access.tokens import Tokens
from dragoman.canvas import service as canvas
from dragoman.chat import conversations
from dragoman.clock import SystemClock
from dragoman.daemon.approval_methods import ApprovalMethods
from dragoman.daemon.chatting import Chatting, chatting
from dragoman.daemon.control import ControlServer
from dragoman.daemon.debug_methods import DebugMethods
from dragoman.daemon.debugging import Debugging, debugging
from dragoman.daemon.editor_gateway import EditorGateway
from dragoman.daemon.ending import take_signals
from dragoman.daemon.gateway_methods import GatewayMethods
from dragoman.daemon.instance import Instance
from dragoman.daemon.last_port import last_port, remember_port
from dragoman.daemon.lives import Lives
from dragoman.daemon.logs import start_logging, summarize_logs
from dragoman.daemon.methods import Methods
from dragoman.daemon.outward import Outward, outward
from dragoman.daemon.report import Report
from dragoman.daemon.subjects import subjects
from dragoman.daemon.terminals import STORE, Terminals, terminals
from dragoman.daemon.tool_calls import ToolCalls
from dragoman.daemon.upkeep import keep_token_uses, keep_within_bounds, scrub_once
from dragoman.daemon.wrapper_sockets import wrapper_sockets
from dragoman.dap.guests import Guest
from dragoman.dap.server import DapServer
from dragoman.debug.adapters import BUILT_IN
from dragoman.debug.adapters.declared import with_declared
from dragoman.debug.history import store as stops
from dragoman.errors import DragomanError
from dragoman.events import Event
from dragoman.journal import Journal
from dragoman.mcp.asked import login_environment
from dragoman.mcp.door import Door
from dragoman.mcp.http_door import HttpDoor
from dragoman.places import Places
from dragoman.redaction import Redactor
from dragoman.setting_table import Settings
from dragoman.settings import load_settings, unknown_variables
from dragoman.tools import Caller, Operation, build_toolbox
from dragoman.tools.editor import editor_operations
from dragoman.transport.http_server import HttpServer
from dragoman.transport.lag import LagMeter
from dragoman.transport.peers import known_uids
from dragoman.transport.processes import started_s
from dragoman.transport.tcp import Listeners, listen, listen_or_any
from dragoman.transport.unix_socket import bind_private_socket
from dragoman.web.api import Api
from dragoman.web.app import Served, build_app
from dragoman.web.calls import CallsApi
from dragoman.web.canvas_api import CanvasApi
from dragoman.web.editor_api import EditorApi
from dragoman.web.feed import Feed
from dragoman.web.preferences_api import PreferencesApi
from dragoman.web.proving import Prover
from dragoman.web.settings_api import SettingsApi
from dragoman.web.terminal_api import TerminalApi
from dragoman.wire.control import DaemonState
from dragoman.workspace import breakpoints, trust
from dragoman.workspace.paths import PathRule

log = logging.getLogger(__name__)

_SERVER_ENDS_WITHIN_S = 3.0
_RECORDED_WITHIN_S = 1.0
STORES = (breakpoints.STORE, trust.STORE, STORE, conversations.STORE, *canvas.STORES, stops.STORE)


@dataclass(frozen=True, slots=True)
class Options:
    workspace: Path
    port: int | None = None
    """The port a person asked for: that one, or the start fails. None: the settings' port, or else the last one, or any
    that is free."""
    terminal_logs: bool = False
    verbose: bool = False
    wait_for_lock_s: float = 0.0
    owns_process: bool = True
    """Whether signals to this process are for the daemon; not so where a test runs it beside other things."""


@dataclass(frozen=True, slots=True)
class Running:
    """What the one who started us is told when everything answers."""

    state: DaemonState
    login_code: str


Ready = Callable[[Running], None]


async def run(
    options: Options, places: Places, ready: Ready, *, lives: Lives | None = None, instance: Instance | None = None
) -> None:
    """Be the daemon until a signal, a `shutdown` call or a cancellation; then let go of everything in order.

    The right to be it is asked for here, unless it is held already.
    """
    stop = anyio.Event()
    if options.owns_process:
        take_signals(stop)
    try:
        if instance is None:
            instance = Instance(places)
            await instance.acquire(wait_s=options.wait_for_lock_s)
        await _hold(options, places, instance, stop, ready, lives or Lives())
    except BaseExceptionGroup as errors:
        error = _first_of(errors)
        raise error from error.__cause__


async def _hold(
    options: Options, places: Places, instance: Instance, stop: anyio.Event, ready: Ready, lives: Lives
) -> None:
    # A process of our own keeps the lock to its last breath: who gets it next is alone in the process table too.
    let_go = instance.withdraw if options.owns_process else instance.release
    try:
        settings = load_settings(places)
        tokens = Tokens(places.tokens_folder)
        links = Links(tokens)
        _start_logging(options, places, settings, tokens)
        with (
            _listen(options, places, settings) as tcp,
            bind_private_socket(places.socket) as control,
            wrapper_sockets(places) as wrappers,
            bind_private_socket(places.dap_socket) as editors,
        ):
            state = _state(options, places, settings, tcp.port)
            async with (
                Journal.open(places.journal_folder, stores=STORES, redact=_redactor(settings).event) as journal,
                debugging(
                    journal,
                    lives,
                    linger_s=settings.session_linger_s,
                    redactor=_redactor(settings),
                    rule=_path_rule(settings, places),
                    adapters=with_declared(BUILT_IN, settings.adapters),
                    port_users=known_uids(settings.debug_port_users),
                ) as debugger,
                terminals(journal, places, settings, tokens, debugger, _redactor(settings), lives) as terminal,
                chatting(journal, tokens, links) as chat,
                outward(settings, places, chat.canvas, journal) as gateway,
            ):
                parts = _Parts(
                    state, places, tokens, links, settings, journal, debugger, terminal, chat, gateway,
                    lives=lives, stop=stop,
                )  # fmt: skip
                await parts.live(tcp, control, wrappers, editors, lambda: instance.publish(state), ready)
    finally:
        let_go()


async def _erased(chat: Chatting, feed: Feed) -> None:
    await chat.load()
    chat.hub.tell_erased()
    feed.tell_erased()


def _left(chat: Chatting, terminal: Terminals, client: str) -> None:
    terminal.left(client)
    chat.canvas.left(client)


def _redactor(settings: Settings) -> Redactor:
    return Redactor(settings.redact, tuple(settings.redact_names))


def _path_rule(settings: Settings, places: Places) -> PathRule:
    return PathRule(
        allowed=tuple(Path(folder).expanduser() for folder in settings.allowed_folders),
        private=(places.config, places.state, places.runtime),
    )


def _operations(
    debugger: Debugging,
    terminal: Terminals,
    chat: Chatting,
    readers: Callable[[], int],
    rule: PathRule,
    redactor: Redactor,
) -> list[Operation]:
    """All tools, in the order in which they are shown."""
    shown = subjects(debugger.service, terminal.operations, rule=rule, redactor=redactor)
    return [
        *debugger.operations,
        *debugger.evidence(terminal.record),
        *terminal.operations,
        *chat.operations(readers, shown),
        *editor_operations(debugger.editors, rule, redactor),
    ]


class _Parts:
    """Everything that lives between ready and the end."""

    def __init__(
        self,
        state: DaemonState,
        places: Places,
        tokens: Tokens,
        links: Links,
        settings: Settings,
        journal: Journal,
        debugger: Debugging,
        terminal: Terminals,
        chat: Chatting,
        gateway: Outward,
        *,
        lives: Lives,
        stop: anyio.Event,
    ) -> None:
        self._state = state
        self._wrapped = terminal.server
        self._settings = settings
        self._tokens = tokens
        self._journal = journal
        self._stop = stop
        self._http_ended = anyio.Event()
        self._lag = LagMeter()
        clock = SystemClock()
        self._keys = Keyring(tokens, clock)
        report = Report(
            state, lives, links, self._lag, journal, clock, clock.monotonic_s(), terminal.report, gateway.status
        )
        api = Api(journal, self._lag, __version__, report)
        names = OwnNames.of(state.bind, state.port, page=state.page_host)
        feed = Feed(journal, report)
        erased = partial(_erased, chat, feed)
        methods = Methods(report, tokens, self._keys, journal, state, self._stop, debugger.trust, erased)
        operations = _operations(
            debugger, terminal, chat, lambda: feed.readers, _path_rule(settings, places), _redactor(settings)
        )
        toolbox = build_toolbox(report, journal, operations, _redactor(settings))
        door = Door(toolbox, journal, links, __version__, debugger.readings, partial(_left, chat, terminal))
        self._mcp = HttpDoor(door, names, Path(state.workspace))
        relay = gateway.relay if settings.gateway_relay else None
        if relay is not None:
            gateway.overhear(chat.hub.pass_on, chat.hub.tell)
        methods_of_gateway = GatewayMethods(gateway, chat.approvals)
        gateway.watch(chat.hub.outer_changed)
        self._gateway = chat.serve(
            toolbox,
            settings,
            Path(state.workspace),
            self._health,
            relay,
            methods_of_gateway.standing,
            debugger.trust,
            debugger.evaluators,
        )
        waits, debugged = debugger.waits, debugger.service.workspaces
        calls = CallsApi(
            toolbox,
            _person(state),
            lambda session: waits.interrupt(session_id=session),
            debugged,
            lambda folder, seen: debugger.trust.trust(folder, seen=seen),
        )
        self._editor_gateway = EditorGateway(debugger.editors, gateway, methods_of_gateway.standing)
        watched = TerminalApi(terminal.record, terminal.answers_of, state.workspace)
        chosen = SettingsApi(places, settings, report, journal, gateway, methods_of_gateway.standing)
        editor = EditorApi(debugger.editors)
        served = Served(
            api, feed, CanvasApi(chat.canvas), calls, watched, chosen, editor, PreferencesApi(places.preferences_file)
        )
        prover = Prover(self._keys, links, state.instance, names.dialled, known_uids(settings.debug_port_users))
        self._http = HttpServer(build_app(served, self._mcp, self._gateway, prover, names, tokens))
        debugged_of = DebugMethods(debugger.reports).table()
        approved = ApprovalMethods(chat.approvals, lambda: self._control.processes("mcp")).table()
        table = {**methods.table(), **terminal.methods, **methods_of_gateway.table(), **debugged_of, **approved}
        self._editors = DapServer(debugger.service, _nameless_editor(state))
        self._control = ControlServer(
            __version__,
            table,
            roles={"mcp": door, "tools": ToolCalls(toolbox, waits, debugger.runs), "dap": self._editors},
            admits={"mcp": door.admit, "dap": self._editors.admit},
            instance=state.instance,
        )

    async def live(
        self,
        tcp: Listeners,
        control: socket.socket,
        wrappers: Sequence[socket.socket],
        editors: socket.socket,
        publish: Callable[[], None],
        ready: Ready,
    ) -> None:
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
            group.start_soon(keep_within_bounds, self._journal, self._settings)
            group.start_soon(keep_token_uses, self._tokens)
            group.start_soon(scrub_once, self._journal, self._settings)
            await self._until_listening()
            publish()
            await self._journal.append([_told("daemon.started", self._state)])
            log.info("version %s at %s, workspace %s", __version__, self._state.address, self._state.workspace)
            ready(Running(self._state, self._keys.issue_code()))
            await self._stop.wait()
            log.info("ending")
            await self._record_the_end()
            self._mcp.end()
            self._gateway.end()
            await self._end_http()
            group.cancel_scope.cancel("the daemon ends")

    def _health(self) -> dict[str, Any]:
        return {"version": __version__, "lag_ms": self._lag.latest_ms()}

    async def _record_the_end(self) -> None:
        """A full disk or a dead one must not keep us: the record then lacks its last line, and the log says why."""
        try:
            with anyio.fail_after(_RECORDED_WITHIN_S):
                await self._journal.append([_told("daemon.ended", self._state)])
        except (DragomanError, TimeoutError) as error:
            log.warning("the end could not be recorded: %s", str(error) or "the journal does not answer")

    async def _serve_http(self, tcp: Listeners) -> None:
        try:
            await self._http.serve_on(*tcp.sockets)
        finally:
            self._http_ended.set()

    async def _end_http(self) -> None:
        self._http.should_exit = True
        with anyio.move_on_after(_SERVER_ENDS_WITHIN_S):
            await self._http_ended.wait()

    async def _until_listening(self) -> None:
        with anyio.fail_after(5):
            while not self._http.started:  # noqa: ASYNC110  uvicorn has no event for it
                await anyio.sleep(0.002)


def _start_logging(options: Options, places: Places, settings: Settings, tokens: Tokens) -> None:
    start_logging(
        places.log_file,
        level="debug" if options.verbose else settings.log_level,
        terminal=options.terminal_logs,
        secrets=tokens.values,
    )
    for warning in unknown_variables():
        log.warning("%s", warning)


def _listen(options: Options, places: Places, settings: Settings) -> Listeners:
    """A port of nobody's choice is the one that was served last, where that is free: clients were given it."""
    wanted = settings.port if options.port is None else options.port
    if options.port:
        tcp = listen(settings.bind, wanted)
    else:
        tcp = listen_or_any(settings.bind, wanted, last_port(places.port_file))
    remember_port(places.port_file, tcp.port)
    return tcp


def _state(options: Options, places: Places, settings: Settings, port: int) -> DaemonState:
    return DaemonState(
        pid=os.getpid(),
        process_started=started_s(os.getpid()),
        version=__version__,
        bind=settings.bind,
        port=port,
        wanted_port=settings.port if options.port is None else options.port,
        socket=str(places.socket),
        omnish_socket=str(places.omnish_socket),
        dap_socket=str(places.dap_socket),
        workspace=str(options.workspace),
        started_at_ns=SystemClock().wall_ns(),
        port_was_named=options.port is not None,
        instance=secrets.token_hex(16),
    )


def _person(state: DaemonState) -> Caller:
    """Whoever is at the page, in the folder that the daemon was started in."""
    workspace = Path(state.workspace)
    return Caller(id="page", name="the page", workspace=workspace, cwd=workspace, environment=login_environment())


def _nameless_editor(state: DaemonState) -> Guest:
    """Whoever connects to the editors' socket itself: its configuration says where, and with what, a program runs."""
    workspace = Path(state.workspace)
    return Guest(workspace, workspace, login_environment())


def _first_of(errors: BaseExceptionGroup[BaseException]) -> BaseException:
    """One failure ends us; whatever else fails on the way down is its consequence."""
    first = errors.exceptions[0]
    return _first_of(first) if isinstance(first, BaseExceptionGroup) else first


def _told(kind: str, state: DaemonState) -> Event:
    text = f"{kind.replace('.', ' ')} at {state.address}"
    body = {"pid": state.pid, "version": state.version}
    return Event(kind=kind, text=text, body=body, workspace=state.workspace)
