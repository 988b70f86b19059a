"""A program that an agent starts and that only an editor has the debugger for: the editor asks the person, starts it,
and lends the session.

Towards our session this is a backend like any other. What is set before `configurationDone` is kept and goes with the
request to start: the editor must have the breakpoints before its debugger asks for them. `configurationDone` answers
once the editor has started the program. From then on it is a lent session, except that ending it ends the program:
whoever started it may do that. `launch` answers at once, so that a program which is over by the time it is lent counts
as one that ran.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from dragoman.debug.backend import AdapterRefusedError
from dragoman.debug.dialect import Dialect
from dragoman.debug.launch import LaunchError, Resolved
from dragoman.debug.lent import Ask, LentSession, Offer, as_watcher
from dragoman.debug.messages import answer
from dragoman.errors import DragomanError
from dragoman.phrases import say, spoken
from dragoman.wire.dap import Response

if TYPE_CHECKING:
    from dragoman.debug.session import Session

log = logging.getLogger(__name__)

STARTED_WITHIN_S = 180.0
"""The person reads and decides; then the debugger may build the program first."""
_BOUND_WITHIN_S = 10.0
_FIRST_ID = 1 << 30
"""Of breakpoints that are set before there is an adapter: beyond the ids that adapters give."""
_EARLY_AT_MOST = 1000
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

    def told(self) -> dict[str, Any]:
        asked = {"start": self.id, "configuration": dict(self.configuration), "folder": self.folder, "by": self.by}
        return {**asked, "noDebug": self.no_debug}


class EditorLaunchSession(LentSession):
    takes_its_time = True

    def __init__(
        self,
        launch: EditorLaunch,
        editor: str,
        ask: Ask,
        person: str,
        released: Callable[[str], None],
        over: Callable[[], None],
    ) -> None:
        """`over`: nobody waits any more for the editor to lend it."""
        super().__init__(Offer("", "", "", {}), ask, person, released)
        self.made: Callable[[Session | None], None] = lambda _: None
        self._over = over
        self._launch = launch
        self._editor = editor
        self._is_held = False
        self._is_started = False
        self._kept: dict[str, dict[str, Any]] = {}
        self._ids: dict[int, int] = {}
        self._given = _FIRST_ID
        self._early: list[Mapping[str, Any]] | None = []
        """What the adapter tells of breakpoints before it is known which of them it means."""

    async def request(self, command: str, arguments: dict[str, Any] | None = None, *, timeout_s: float) -> Response:
        if command in {"launch", "attach"}:
            self._events.put("initialized", {})
            return answer(command, {})
        if command == "configurationDone":
            await self._start()
            return answer(command, {})
        if command == "disconnect":
            await self._stop(timeout_s)
            return answer(command, {})
        if command == "setBreakpoints" and not self._is_started:
            return answer(command, self._keep(arguments or {}))
        return await super().request(command, arguments, timeout_s=timeout_s)

    async def end(self) -> None:
        self._over()
        await super().end()

    @property
    def lent_as(self) -> str:
        """The editor's own name for the session."""
        return self._offer.session

    def lent(self, offer: Offer) -> None:
        """The editor has started it. What it tells from now on comes after this."""
        self._offer = offer
        self._is_held = True
        self._events.put("capabilities", {"capabilities": super()._capabilities()})
        for stop in offer.stops:
            self.heard("stopped", stop)

    def heard(self, event: str, body: Mapping[str, Any]) -> None:
        if event == "breakpoint" and self._early is not None:
            self._early.append(body)
            del self._early[:-_EARLY_AT_MOST]
            return
        super().heard(event, self._by_our_ids(event, body))

    def _capabilities(self) -> Mapping[str, Any]:
        """The adapter's own are known once it runs, and are told then."""
        return {"supportsConfigurationDoneRequest": True}

    def _keep(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        path, wanted = str(arguments["source"]["path"]), arguments["breakpoints"]
        self._kept[path] = {**arguments, "ids": range(self._given, self._given + len(wanted))}
        self._given += len(wanted)
        return _not_yet_bound(wanted, self._kept[path]["ids"])

    async def _start(self) -> None:
        word = say("{editor} asks the person whether this may be started.", editor=self._editor)
        self._events.put("output", {"category": "console", "output": f"{word}\n"})
        breakpoints = [{key: kept[key] for key in ("source", "breakpoints")} for kept in self._kept.values()]
        try:
            await self._ask("debug.start", {**self._launch.told(), "breakpoints": breakpoints}, STARTED_WITHIN_S)
        finally:
            self._over()
        if not self._offer.session:
            raise not_lent(self._editor)
        self._is_started = True
        for kept in self._kept.values():
            await self._bind(kept)
        early, self._early = self._early or [], None
        for body in early:
            self.heard("breakpoint", body)

    async def _bind(self, kept: Mapping[str, Any]) -> None:
        """What the adapter made of a file's breakpoints; told under the ids that they were given here."""
        asked = {key: kept[key] for key in ("source", "breakpoints")}
        try:
            response = await self._asked("debug.breakpoints", "setBreakpoints", asked, _BOUND_WITHIN_S)
        except DragomanError as error:
            log.info("what became of breakpoints in an editor is not known: %s", error)
            return
        bound = response.get("breakpoints")
        for ours, told in zip(kept["ids"], bound if isinstance(bound, list) else (), strict=False):
            if not isinstance(told, dict):
                continue
            if isinstance(told.get("id"), int):
                self._ids[told["id"]] = ours
            self._events.put("breakpoint", {"reason": "changed", "breakpoint": {**told, "id": ours}})

    async def _asked(self, method: str, command: str, arguments: dict[str, Any] | None, timeout_s: float) -> Any:
        told = await super()._asked(method, command, arguments, timeout_s)
        if command != "setBreakpoints" or not isinstance(told.get("breakpoints"), list):
            return told
        return {**told, "breakpoints": [self._with_our_id(it) for it in told["breakpoints"]]}

    async def _stop(self, timeout_s: float) -> None:
        """Before the editor has started it, the question is withdrawn with whoever asked it."""
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

    def _with_our_id(self, told: Any) -> Any:
        return {**told, "id": self._ours(told["id"])} if isinstance(told, dict) and "id" in told else told

    def _ours(self, id: Any) -> Any:
        return self._ids.get(id, id) if isinstance(id, int) else id


def launch_dialect(dialect: Dialect) -> Dialect:
    return replace(as_watcher(dialect), ready_within_s=STARTED_WITHIN_S + _BOUND_WITHIN_S)


def editor_configuration(session: Resolved) -> dict[str, Any]:
    """As the editor takes it: expanded, with the variables of its environment in the form that it was written in.

    Tasks are not in it, they run here. Nor is what would start another configuration by its name alone: the person
    sees all of what is started, or it is not started.
    """
    told = {key: value for key, value in session.arguments.items() if key not in {"env", _STARTS_ANOTHER}}
    ready = session.arguments.get(_STARTS_ANOTHER)
    if isinstance(ready, dict) and ready.get("action", "openExternally") == "openExternally":
        told[_STARTS_ANOTHER] = ready
    if session.env and session.lists_environment:
        told["environment"] = [{"name": name, "value": value or ""} for name, value in session.env.items()]
    elif session.env:
        told["env"] = dict(session.env)
    told |= {"name": session.name, "type": session.type, "request": session.request}
    if (found := _expanded_again(told)) is not None:
        raise LaunchError(
            "bad_configuration",
            say("The editor would expand {text} once more in this configuration.", text=ascii(found[:80])),
            hint=say("Give the value itself in its place."),
        )
    return told


def _expanded_again(value: object) -> str | None:
    if isinstance(value, str):
        return value if any(it in value for it in _EXPANDED_BY_EDITOR) else None
    members = [*value, *value.values()] if isinstance(value, dict) else value if isinstance(value, list) else ()
    return next((found for it in members if (found := _expanded_again(it)) is not None), None)


def _not_yet_bound(wanted: list[dict[str, Any]], ids: range) -> dict[str, Any]:
    pairs = zip(ids, wanted, strict=True)
    return {"breakpoints": [{"id": id, "verified": False, "line": it["line"]} for id, it in pairs]}


def not_lent(editor: str) -> DragomanError:
    return AdapterRefusedError(
        "launch", spoken(say("{editor} started it and did not lend the session.", editor=editor))
    )
