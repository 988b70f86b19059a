"""Which target a call goes to. This is the whole table; the first line that fits decides.

| A call | goes to |
| --- | --- |
| with `target` | that target |
| with `session_id`, a resource of a session | the target that first named the session |
| `initialize`, `server/discover` | all; the first answer counts |
| `list_sessions`, `get_breakpoints`, `list_terminals`, `resources/list` | all; one answer with all rows |
| `set_breakpoint`, `remove_breakpoint` with a file, a function, an exception or `clear_all` | all that have it |
| `set_breakpoint`, `remove_breakpoint` with `breakpoint_id` | the only target that has it, else an error |
| `wait_for_stop` | all with live sessions; the first stop or end counts |
| with a file (`program`, `file_path`, `file`) | the target that has it; of several, the last used |
| anything else | the target that was used last, else the first that is connected |

A target that cannot be reached is not waited for in a call to all: its part is its last error, and the search for it
begins again.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Mapping, Sequence
from typing import Any, Protocol

from dragoman.cli.output import render
from dragoman.cli.router.answer_merger import MERGED_ROWS, AnswerMerger
from dragoman.cli.router.sessions import RoutedSessions, WaitForStop
from dragoman.cli.router.target_requests import Answer, Reply, RequestBatch, Script, TargetRequest, tool_failure
from dragoman.core.errors import ErrorSpec

REQUEST_WITHIN_S = 10.0
"""For the parts of a call to all targets. A link that hangs is noticed within this time."""
_FILE_NAMES = ("program", "file_path", "file")
_SESSION_ADDRESS = re.compile(r"dragoman://session/([A-Za-z0-9_-]{1,64})/")
_FIRST = frozenset({"initialize", "server/discover"})
_MAX_BREAKPOINTS = 4096

_unknown_target = ErrorSpec("unknown_target", "Unknown target: {name}.", "Available: {names}.")
_target_needed = ErrorSpec("target_needed", "Several targets may have breakpoint {id}.", "Pass `target`: {names}.")


class Targets(Protocol):
    """The targets, as far as a route depends on their state."""

    @property
    def names(self) -> Sequence[str]: ...

    def is_connected(self, target: int) -> bool: ...

    def unreached(self, target: int) -> Reply | None:
        """The last error of a target that was not found; the search for it begins again."""


class Routes:
    def __init__(self, targets: Targets) -> None:
        self._targets = targets
        self._names = targets.names
        self._every = range(len(targets.names))
        self.merger = AnswerMerger(targets.names)
        self.sessions = RoutedSessions(len(targets.names))
        self._breakpoints: list[set[int]] = [set() for _ in targets.names]
        self._last: int | None = None

    def script(self, method: str, params: Mapping[str, Any]) -> Script:
        if method == "ping":
            return _replies({"result": {}})
        if method in _FIRST:
            return self._first(method, params)
        if method == "tools/call":
            return self._tool(params)
        if method == "resources/list":
            return self._resources(params)
        if method == "tools/list":
            return self._tools(params)
        address = _SESSION_ADDRESS.match(str(params.get("uri")))
        owner = self.sessions.owner(address[1]) if address else None
        return self._plain(method, params, self._any() if owner is None else owner)

    # Calls that are not of a tool.

    def _plain(self, method: str, params: Mapping[str, Any], target: int) -> Script:
        [answer] = yield RequestBatch([TargetRequest(target, method, params)])
        return answer.reply

    def _first(self, method: str, params: Mapping[str, Any]) -> Script:
        requests = [TargetRequest(it, method, params) for it in self._every]
        answers = yield RequestBatch(requests, enough=lambda it: "result" in it.reply, cancels_rest=False)
        return self.merger.welcome(answers[-1].reply)

    def _tools(self, params: Mapping[str, Any]) -> Script:
        [answer] = yield RequestBatch([TargetRequest(self._any(), "tools/list", params)])
        return self.merger.tools(answer.reply)

    def _resources(self, params: Mapping[str, Any]) -> Script:
        answers = yield from self._request_all("resources/list", params)
        merged: dict[str, Any] = {}
        for answer in answers:
            resources = answer.result.get("resources")
            for it in resources if isinstance(resources, list) else ():
                if isinstance(it, dict):
                    uri = str(it.get("uri"))
                    merged.setdefault(uri, it)
                    self._record_address(answer.target, uri)
        good = [it for it in answers if not it.is_unreached]
        if not good:
            return answers[-1].reply
        return {"result": {**good[0].result, "resources": list(merged.values())}}

    # Calls of tools.

    def _tool(self, params: Mapping[str, Any]) -> Script:
        given = params.get("arguments")
        arguments = dict(given) if isinstance(given, dict) else {}
        tool = params.get("name")
        target_name = arguments.pop("target", None)
        call = RoutedCall(str(tool), params, arguments)
        if target_name not in (None, ""):
            if target_name not in self._names:
                return _replies(_failure(_unknown_target, name=str(target_name)[:100], names=", ".join(self._names)))
            return self._call_one(call, self._names.index(target_name))
        if arguments.get("session_id"):
            return self._of_session(call, str(arguments["session_id"]))
        if call.tool in MERGED_ROWS:
            return self._rows(call)
        if call.tool in {"set_breakpoint", "remove_breakpoint"}:
            number = arguments.get("breakpoint_id")
            if arguments.get("kind") == "data":
                return self._call_one(call, self._any(), names_target=True)
            return self._places(call) if number is None else self._breakpoint(call, number)
        if call.tool == "wait_for_stop":
            return self._wait(call)
        path = _file(arguments)
        return self._with_file(call, path) if path else self._call_one(call, self._any(), names_target=True)

    def _call_one(self, call: RoutedCall, target: int, *, names_target: bool = False) -> Script:
        [answer] = yield RequestBatch([call.request_to(target)])
        return self._sent(call, answer, names_target=names_target)

    def _sent(self, call: RoutedCall, answer: Answer, *, names_target: bool) -> Reply:
        if not answer.is_unreached:
            self._last = answer.target
        self.sessions.record_sent(answer, ends=call.tool == "stop_debugging")
        return self.merger.one(answer, names_target=names_target and not answer.is_unreached)

    def _of_session(self, call: RoutedCall, session_id: str) -> Script:
        """An id that no target has named yet may be from an earlier connection: all are asked for theirs."""
        owner = self.sessions.owner(session_id)
        if owner is None:
            yield from self._request_all("tools/call", call.params_of("list_sessions", {}))
            owner = self.sessions.owner(session_id)
        return (yield from self._call_one(call, self._any() if owner is None else owner))

    def _rows(self, call: RoutedCall) -> Script:
        answers = yield from self._request_all("tools/call", call.params_of(call.tool, call.arguments))
        return self.merger.rows(call.tool, answers)

    def _places(self, call: RoutedCall) -> Script:
        answers = yield from self._request_all("tools/call", call.params_of(call.tool, call.arguments))
        return self.merger.places(answers)

    def _breakpoint(self, call: RoutedCall, number: object) -> Script:
        owners = [it for it in self._every if isinstance(number, int) and number in self._breakpoints[it]]
        if len(owners) != 1:
            return _failure(_target_needed, id=str(number)[:20], names=", ".join(self._names))
        return (yield from self._call_one(call, owners[0], names_target=True))

    def _with_file(self, call: RoutedCall, path: str) -> Script:
        """`get_source` says who has the file. One that cannot be shown counts where no target can show it."""
        parts = {"file_path": path, "count": 1}
        answers = yield from self._request_all("tools/call", call.params_of("get_source", parts), only_connected=True)
        having = [it for it in answers if self.merger.has_file(it)]
        owners = [it.target for it in having if not it.is_error] or [it.target for it in having]
        default = self._any()
        target = default if default in owners or not owners else owners[0]
        return (yield from self._call_one(call, target, names_target=True))

    def _wait(self, call: RoutedCall) -> Script:
        rows = yield from self._request_all("tools/call", call.params_of("list_sessions", {}))
        waiting = WaitForStop(self.sessions, rows)
        if waiting.unsent is not None:
            return self._sent(call, waiting.unsent, names_target=True)
        chosen = waiting.stopped[:1] or waiting.running
        if not chosen:
            return (yield from self._call_one(call, self._any(), names_target=True))
        answers = yield RequestBatch(
            [call.request_to(target, session_id=session_id) for target, session_id in chosen], enough=waiting.is_outcome
        )
        return self._sent(call, waiting.choose(answers), names_target=True)

    # Targets.

    def record_answer(self, answer: Answer) -> None:
        """From every answer of a tool, also one that nobody waits for any more."""
        self.sessions.record_ids(answer)
        data, known = answer.data, self._breakpoints[answer.target]
        removed = data.get("removed")
        known.difference_update(it for it in (removed if isinstance(removed, list) else ()) if isinstance(it, int))
        rows = data.get("breakpoints")
        for it in (data.get("breakpoint"), *(rows if isinstance(rows, list) else ())):
            number = it.get("id") if isinstance(it, dict) else None
            if isinstance(number, int) and len(known) < _MAX_BREAKPOINTS:
                known.add(number)

    def _record_address(self, target: int, uri: str) -> None:
        address = _SESSION_ADDRESS.match(uri)
        if address is not None:
            self.sessions.name(target, address[1])

    def _any(self) -> int:
        if self._last is not None:
            return self._last
        return next((it for it in self._every if self._targets.is_connected(it)), 0)

    def _request_all(
        self, method: str, params: Mapping[str, Any], *, only_connected: bool = False
    ) -> Generator[RequestBatch, list[Answer], list[Answer]]:
        unreached = [
            (it, None if self._targets.is_connected(it) else self._targets.unreached(it)) for it in self._every
        ]
        failed = [Answer(it, reply) for it, reply in unreached if reply is not None]
        reached = [it for it, reply in unreached if reply is None]
        if only_connected:
            reached = [it for it in reached if self._targets.is_connected(it)]
        requests = [TargetRequest(it, method, params) for it in reached]
        answers = (yield RequestBatch(requests, within_s=REQUEST_WITHIN_S)) if requests else []
        return sorted([*answers, *failed], key=lambda it: it.target)


class RoutedCall:
    """A call of a tool without its `target`. Other requests made for it carry the same `_meta`."""

    def __init__(self, tool: str, params: Mapping[str, Any], arguments: dict[str, Any]) -> None:
        self.tool = tool
        self.arguments = arguments
        self._params = params

    def request_to(self, target: int, **more: Any) -> TargetRequest:
        return TargetRequest(target, "tools/call", self.params_of(self.tool, {**self.arguments, **more}))

    def params_of(self, tool: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        return {**self._params, "name": tool, "arguments": dict(arguments)}


def _file(arguments: Mapping[str, Any]) -> str:
    """The path that says where a call belongs; empty if there is none, or a debugger has to complete it."""
    configuration = arguments.get("configuration")
    inner = configuration.get("program") if isinstance(configuration, dict) else None
    paths = [arguments.get(name) for name in _FILE_NAMES] + [inner]
    path = next((it for it in paths if isinstance(it, str) and it), "")
    return "" if "${" in path else path


def _failure(spec: Callable[..., Any], **values: str) -> Reply:
    error = spec(**values)
    return tool_failure(error.code, f"{render(error.message)} {render(error.hint)}")


def _replies(reply: Reply) -> Script:
    yield from ()
    return reply
