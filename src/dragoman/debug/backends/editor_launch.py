"""A program that only an editor has a debugger for: the editor asks the person, starts it and shares the session.

Breakpoints set before `configurationDone` are kept and sent with the request to start, because the editor needs them
before its debugger asks. `configurationDone` answers once the editor has started the program; from then on it is a
shared session, except that ending it ends the program. `launch` answers at once, so that a program that ends before
it is shared counts as one that ran.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from dragoman.core.errors import DragomanError
from dragoman.core.localization import localize, localized_str
from dragoman.debug.backends.editor import AskEditor, EditorBackend, SessionOffer, observer_quirks
from dragoman.debug.backends.port import AdapterRefusedError, make_response
from dragoman.debug.backends.quirks import AdapterQuirks
from dragoman.debug.launch import LaunchError, ResolvedConfiguration
from dragoman.protocols.dap import Response

if TYPE_CHECKING:
    from dragoman.debug.session.session import DebugSession

log = logging.getLogger(__name__)

EDITOR_START_TIMEOUT_S = 180.0
"""The person reads and decides; then the debugger may build the program first."""
_BIND_TIMEOUT_S = 10.0
_FIRST_BREAKPOINT_ID = 1 << 30
"""Ids for breakpoints that are set before there is an adapter; larger than the ids that adapters use."""
_MAX_EARLY_EVENTS = 1000
_EXPANDED_BY_EDITOR = ("${command:", "${input:")
_STARTS_ANOTHER = "serverReadyAction"


@dataclass(frozen=True, slots=True)
class EditorLaunch:
    """What an editor is asked to start. Its offer names the id."""

    id: str
    configuration: Mapping[str, Any] = field(repr=False)
    folder: str
    by: str
    no_debug: bool = False

    def to_params(self) -> dict[str, Any]:
        asked = {"start": self.id, "configuration": dict(self.configuration), "folder": self.folder, "by": self.by}
        return {**asked, "noDebug": self.no_debug}


class EditorLaunchBackend(EditorBackend):
    may_start_late = True

    def __init__(
        self,
        launch: EditorLaunch,
        editor: str,
        ask: AskEditor,
        person: str,
        released: Callable[[str], None],
        on_over: Callable[[], None],
    ) -> None:
        """`on_over`: nobody waits any more for the editor to lend it."""
        super().__init__(SessionOffer("", "", "", {}), ask, person, released)
        self.made: Callable[[DebugSession | None], None] = lambda _: None
        self._on_over = on_over
        self._launch = launch
        self._editor = editor
        self._is_held = False
        self._is_started = False
        self._early_breakpoints: dict[str, dict[str, Any]] = {}
        self._ids: dict[int, int] = {}
        self._next_id = _FIRST_BREAKPOINT_ID
        self._early_events: list[Mapping[str, Any]] | None = []
        """The adapter's reports about breakpoints, kept until it is known which breakpoints they mean."""

    async def request(self, command: str, arguments: dict[str, Any] | None = None, *, timeout_s: float) -> Response:
        if command in {"launch", "attach"}:
            self._put("initialized", {})
            return make_response(command, {})
        if command == "configurationDone":
            await self._start()
            return make_response(command, {})
        if command == "disconnect":
            await self._stop(timeout_s)
            return make_response(command, {})
        if command == "setBreakpoints" and not self._is_started:
            return make_response(command, self._keep(arguments or {}))
        return await super().request(command, arguments, timeout_s=timeout_s)

    async def end(self) -> None:
        self._on_over()
        await super().end()

    @property
    def editor_session_id(self) -> str:
        """The editor's own name for the session."""
        return self._offer.session

    def lent(self, offer: SessionOffer) -> None:
        """The editor has started it. What it tells from now on comes after this."""
        self._offer = offer
        self._is_held = True
        self._put("capabilities", {"capabilities": super()._capabilities()})
        for stop in offer.stops:
            self.handle_event("stopped", stop)

    def handle_event(self, event: str, body: Mapping[str, Any]) -> None:
        if event == "breakpoint" and self._early_events is not None:
            self._early_events.append(body)
            del self._early_events[:-_MAX_EARLY_EVENTS]
            return
        super().handle_event(event, self._by_our_ids(event, body))

    def _capabilities(self) -> Mapping[str, Any]:
        """The adapter's capabilities are known, and reported, once it runs."""
        return {"supportsConfigurationDoneRequest": True}

    def _keep(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        path, wanted = str(arguments["source"]["path"]), arguments["breakpoints"]
        self._early_breakpoints[path] = {**arguments, "ids": range(self._next_id, self._next_id + len(wanted))}
        self._next_id += len(wanted)
        return _not_yet_bound(wanted, self._early_breakpoints[path]["ids"])

    async def _start(self) -> None:
        word = localize("{editor} is asking the user to allow the launch.", editor=self._editor)
        self._put("output", {"category": "console", "output": f"{word}\n"})
        breakpoints = [
            {key: kept[key] for key in ("source", "breakpoints")} for kept in self._early_breakpoints.values()
        ]
        try:
            await self._ask(
                "debug.start", {**self._launch.to_params(), "breakpoints": breakpoints}, EDITOR_START_TIMEOUT_S
            )
        finally:
            self._on_over()
        if not self._offer.session:
            raise session_not_shared(self._editor)
        self._is_started = True
        for kept in self._early_breakpoints.values():
            await self._bind(kept)
        early, self._early_events = self._early_events or [], None
        for body in early:
            self.handle_event("breakpoint", body)

    async def _bind(self, kept: Mapping[str, Any]) -> None:
        """The adapter's answer for a file's breakpoints, under the ids that were used here."""
        asked = {key: kept[key] for key in ("source", "breakpoints")}
        try:
            response = await self._ask_editor("debug.breakpoints", "setBreakpoints", asked, _BIND_TIMEOUT_S)
        except DragomanError as error:
            log.info("what became of breakpoints in an editor is not known: %s", error)
            return
        bound = response.get("breakpoints")
        for ours, answer in zip(kept["ids"], bound if isinstance(bound, list) else (), strict=False):
            if not isinstance(answer, dict):
                continue
            if isinstance(answer.get("id"), int):
                self._ids[answer["id"]] = ours
            self._put("breakpoint", {"reason": "changed", "breakpoint": {**answer, "id": ours}})

    async def _ask_editor(self, method: str, command: str, arguments: dict[str, Any] | None, timeout_s: float) -> Any:
        answer = await super()._ask_editor(method, command, arguments, timeout_s)
        if command != "setBreakpoints" or not isinstance(answer.get("breakpoints"), list):
            return answer
        return {**answer, "breakpoints": [self._with_our_id(it) for it in answer["breakpoints"]]}

    async def _stop(self, timeout_s: float) -> None:
        """If the start is cancelled before the editor has answered, the editor withdraws its question."""
        if not self._is_held:
            return
        try:
            await self._ask("debug.stop", {"session": self._offer.session}, timeout_s)
        except DragomanError as error:
            log.info("an editor did not end what it had started: %s", error)

    def _by_our_ids(self, event: str, body: Mapping[str, Any]) -> Mapping[str, Any]:
        if event == "breakpoint" and isinstance(body.get("breakpoint"), dict):
            return {**body, "breakpoint": self._with_our_id(body["breakpoint"])}
        if event == "stopped" and isinstance(body.get("hitBreakpointIds"), list):
            return {**body, "hitBreakpointIds": [self._ours(it) for it in body["hitBreakpointIds"]]}
        return body

    def _with_our_id(self, answer: Any) -> Any:
        return {**answer, "id": self._ours(answer["id"])} if isinstance(answer, dict) and "id" in answer else answer

    def _ours(self, id: Any) -> Any:
        return self._ids.get(id, id) if isinstance(id, int) else id


def launch_quirks(quirks: AdapterQuirks) -> AdapterQuirks:
    return replace(observer_quirks(quirks), ready_timeout_s=EDITOR_START_TIMEOUT_S + _BIND_TIMEOUT_S)


def editor_configuration(session: ResolvedConfiguration) -> dict[str, Any]:
    """The configuration for the editor: expanded, with environment variables in the form they were written in.

    It has no tasks, because they run here, and nothing that would start another configuration by name: the person sees
    all that starts, or it does not start.
    """
    configuration = {key: value for key, value in session.arguments.items() if key not in {"env", _STARTS_ANOTHER}}
    ready = session.arguments.get(_STARTS_ANOTHER)
    if isinstance(ready, dict) and ready.get("action", "openExternally") == "openExternally":
        configuration[_STARTS_ANOTHER] = ready
    if session.env and session.lists_environment:
        configuration["environment"] = [{"name": name, "value": value or ""} for name, value in session.env.items()]
    elif session.env:
        configuration["env"] = dict(session.env)
    configuration |= {"name": session.name, "type": session.type, "request": session.request}
    if (variable := _find_variable(configuration)) is not None:
        raise LaunchError(
            "bad_configuration",
            localize("The editor would expand {text} in this configuration again.", text=ascii(variable[:80])),
            hint=localize("Replace it with the value itself."),
        )
    return configuration


def _find_variable(value: object) -> str | None:
    if isinstance(value, str):
        return value if any(it in value for it in _EXPANDED_BY_EDITOR) else None
    members = [*value, *value.values()] if isinstance(value, dict) else value if isinstance(value, list) else ()
    return next((variable for it in members if (variable := _find_variable(it)) is not None), None)


def _not_yet_bound(wanted: list[dict[str, Any]], ids: range) -> dict[str, Any]:
    pairs = zip(ids, wanted, strict=True)
    return {"breakpoints": [{"id": id, "verified": False, "line": it["line"]} for id, it in pairs]}


def session_not_shared(editor: str) -> DragomanError:
    return AdapterRefusedError(
        "launch", localized_str(localize("{editor} started the program but did not lend the session.", editor=editor))
    )
