"""The methods of the control socket: state, tokens, journal, trust, approvals and debug reports. Each yields parts,
then its result.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, cast

import anyio
import anyio.to_thread
import msgspec

from dragoman.access.proof import Keyring
from dragoman.access.tokens import DEFAULT, PURPOSES, Purpose, TokenHolder, Tokens
from dragoman.chat.approvals import Approvals
from dragoman.core.errors import DragomanError, system_refused
from dragoman.core.events import RecordedEvent
from dragoman.core.localization import localize
from dragoman.debug.shared_sessions import SharedSessions
from dragoman.debug.stops.history.stop_history import SessionReports
from dragoman.io.processes.process_info import is_descendant_of, is_in_foreground, is_run_by
from dragoman.journal import BeforeScope, EverythingScope, Journal, Scope, SessionScope
from dragoman.protocols.control import DaemonState
from dragoman.servers.control.server import CALLING_PROCESS, ControlMethod, Params, ResultPart
from dragoman.servers.control.status import StatusReport
from dragoman.servers.gateway.methods import approval_payload
from dragoman.servers.web.stop_api import StopsEverything
from dragoman.workspace.trust import TrustedFolders

_BATCH = 500
_MAX_LINES = 10_000

_EMPTY: dict[str, Any] = {"session": "", "cause": "", "text": "", "body": {}}


@dataclass(frozen=True, slots=True)
class ControlMethods:
    report: StatusReport
    tokens: Tokens
    keys: Keyring
    journal: Journal
    state: DaemonState
    stop: anyio.Event
    trust: TrustedFolders
    shared: SharedSessions
    on_erased: Callable[[], Awaitable[None]]
    """Events were erased: every copy of stored state in memory is loaded again."""

    def table(self) -> Mapping[str, ControlMethod]:
        return {
            "status": self._status,
            "state": self._state,
            "shutdown": self._shutdown,
            "login_link": self._login_link,
            "token_show": self._token_show,
            "token_rotate": self._token_rotate,
            "token_list": self._token_list,
            "token_create": self._token_create,
            "token_revoke": self._token_revoke,
            "journal_tail": self._journal_tail,
            "journal_search": self._journal_search,
            "journal_export": self._journal_export,
            "journal_count": self._journal_count,
            "journal_forget": self._journal_forget,
            "journal_scrubbed": self._journal_scrubbed,
            "trust_list": self._trust_list,
            "trust_add": self._trust_add,
            "trust_check": self._trust_check,
            "trust_revoke": self._trust_revoke,
        }

    async def _status(self, _: Params) -> AsyncIterator[Any]:
        yield self.report()

    async def _state(self, _: Params) -> AsyncIterator[Any]:
        yield asdict(self.state)

    async def _shutdown(self, _: Params) -> AsyncIterator[Any]:
        yield {"ending": True}
        self.stop.set()

    async def _login_link(self, _: Params) -> AsyncIterator[Any]:
        yield {"link": f"{self.state.page_address}/#code={self.keys.issue_code()}"}

    async def _token_show(self, params: Params) -> AsyncIterator[Any]:
        yield {"token": self.tokens.of(*_holder(params))}

    async def _token_rotate(self, params: Params) -> AsyncIterator[Any]:
        purposes = [_purpose(params)] if "purpose" in params else list(PURPOSES)
        try:
            for purpose in purposes:
                self.tokens.rotate(purpose)
        except OSError as error:
            raise system_refused(error) from error
        yield {"rotated": purposes}

    async def _token_list(self, _: Params) -> AsyncIterator[Any]:
        """List the tokens without their values."""
        yield {"tokens": self.report.tokens()}

    async def _token_create(self, params: Params) -> AsyncIterator[Any]:
        """Create a token. With `or_show`, return the existing token of that name instead of failing."""
        holder = _holder(params)
        is_new = not (params.get("or_show") is True and holder in self.tokens.clients.tokens)
        try:
            token = self.tokens.clients.create(holder) if is_new else self.tokens.of(*holder)
        except OSError as error:
            raise system_refused(error) from error
        yield {**holder._asdict(), "token": token, "is_new": is_new}

    async def _token_revoke(self, params: Params) -> AsyncIterator[Any]:
        """Revoke the tokens of this name: of one purpose if it is given, else of every purpose."""
        name = _holder({**params, "purpose": "mcp"}).name
        if name == DEFAULT:
            raise DragomanError(
                "default_token",
                localize("The default token cannot be revoked, only replaced."),
                hint=localize("Run `dragoman token rotate mcp` or `dragoman token rotate gateway`."),
            )
        named = [it for it in self.tokens.clients.tokens if it.name == name and params.get("purpose") in (None, it[0])]
        try:
            for holder in named:
                self.tokens.clients.revoke(holder)
        except OSError as error:
            raise system_refused(error) from error
        if not named:
            self.tokens.clients.require(TokenHolder(_purpose({"purpose": "mcp", **params}), name))
        yield {"revoked": [it._asdict() for it in named]}

    async def _journal_tail(self, params: Params) -> AsyncIterator[Any]:
        """Yield the newest lines and, with `follow`, those that are added later.

        Lines that were erased meanwhile are skipped.
        """
        last = self.journal.last_sequence
        after = max(0, last - _count(params, "lines", _MAX_LINES))
        rows = self.journal.tail(after) if params.get("follow") else self._upto(after, last)
        async for row in rows:
            if isinstance(row, RecordedEvent):
                yield ResultPart(_exported_row(row))
        yield {"last_sequence": self.journal.last_sequence}

    async def _upto(self, after: int, last: int) -> AsyncIterator[RecordedEvent]:
        while rows := await self.journal.read(after, limit=min(_BATCH, max(1, last - after))):
            for row in rows:
                yield row
            after = rows[-1].sequence
            if after >= last:
                break

    async def _journal_search(self, params: Params) -> AsyncIterator[Any]:
        rows = await self.journal.search(
            str(params.get("words", "")),
            limit=_count(params, "limit", 1000),
            ranked=bool(params.get("ranked")),
            workspace=None if params.get("workspace") is None else str(_folder(params, "workspace")),
        )
        yield {"events": [_exported_row(row) for row in rows]}

    async def _journal_export(self, _: Params) -> AsyncIterator[Any]:
        count = 0
        async for row in self.journal.export():
            yield ResultPart(row)
            count += 1
        yield {"events": count}

    async def _journal_count(self, params: Params) -> AsyncIterator[Any]:
        yield {"events": await self.journal.count(_scope(params))}

    async def _journal_scrubbed(self, _: Params) -> AsyncIterator[Any]:
        yield {**(await self.journal.scrubbed())._asdict(), "failure": self.journal.scrub_failure}

    async def _journal_forget(self, params: Params) -> AsyncIterator[Any]:
        scope = _scope(params)
        events = await self.journal.forget(scope)
        if isinstance(scope, SessionScope):
            self.shared.forget(scope.session)
        elif isinstance(scope, EverythingScope):
            self.shared.forget()
        await self.on_erased()
        yield {"events": events}

    async def _trust_list(self, _: Params) -> AsyncIterator[Any]:
        yield {"trusted": [msgspec.to_builtins(trusted) for trusted in await self.trust.folders()]}

    async def _trust_add(self, params: Params) -> AsyncIterator[Any]:
        """Trust a folder."""
        await self._require_no_own_process()
        trusted = await self.trust.trust(_folder(params), however_wide=params.get("however_wide") is True)
        yield msgspec.to_builtins(trusted)

    async def _trust_check(self, _: Params) -> AsyncIterator[Any]:
        """Whether the caller may trust a folder: before it does so on another machine, which cannot see who calls."""
        await self._require_no_own_process()
        yield {"allowed": True}

    async def _require_no_own_process(self) -> None:
        """A script or an editor of the person may trust a folder, but no descendant of the daemon: agents' terminals
        and the programs that they debug run there.
        """
        pid = CALLING_PROCESS.get()  # 0 across containers: such a process is not a descendant of the daemon
        if pid and await anyio.to_thread.run_sync(is_descendant_of, pid, os.getpid()):
            raise DragomanError(
                "not_a_person",
                localize("Only a person can trust a folder, not an agent's terminal or program."),
                hint=localize("Trust the folder on the page, in the editor, or in your own terminal."),
            )

    async def _trust_revoke(self, params: Params) -> AsyncIterator[Any]:
        yield {"folder": await self.trust.revoke(_folder(params))}


def _folder(params: Params, name: str = "folder") -> Path:
    """The folder must be absolute: a relative path would be resolved against the daemon's working folder."""
    folder = params.get(name)
    if not isinstance(folder, str) or not folder.startswith("/") or "\0" in folder:
        raise DragomanError("bad_request", localize("`{name}` must be the absolute path of a folder.", name=name))
    return Path(folder)


def _exported_row(row: RecordedEvent) -> dict[str, Any]:
    """A row in the same shape as an exported one."""
    return {"sequence": row.sequence, "at_ns": row.at_ns, **_EMPTY, **msgspec.to_builtins(row.event)}


def _purpose(params: Params) -> Purpose:
    purpose = params.get("purpose")
    if purpose not in PURPOSES:
        raise DragomanError(
            "unknown_purpose",
            localize("Token not found."),
            hint=localize("Purposes: {purposes}.", purposes=", ".join(PURPOSES)),
        )
    return cast("Purpose", purpose)


def _holder(params: Params) -> TokenHolder:
    name = params.get("name", DEFAULT)
    if not isinstance(name, str):
        raise DragomanError("bad_request", localize("`{name}` must be a string.", name="name"))
    return TokenHolder(_purpose(params), name)


def _count(params: Params, name: str, at_most: int) -> int:
    value = params.get(name)
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise DragomanError("bad_request", localize("`{name}` must be a non-negative integer.", name=name))
    return min(value, at_most)


def _scope(params: Params) -> Scope:
    kinds: dict[str, tuple[type, Callable[[Any], Scope]]] = {
        "session": (str, SessionScope),
        "before_ns": (int, BeforeScope),
        "all": (bool, lambda _: EverythingScope()),
    }
    scopes = [make(params[name]) for name, (kind, make) in kinds.items() if isinstance(params.get(name), kind)]
    if len(scopes) != 1:
        raise DragomanError("bad_request", localize("Pass exactly one of --session, --before and --all."))
    return scopes[0]


@dataclass(frozen=True, slots=True)
class ApprovalMethods:
    approvals: Approvals
    agents: Callable[[], Collection[int]]
    """The processes through which MCP clients are connected now."""

    def table(self) -> Mapping[str, ControlMethod]:
        return {"approvals": self._list, "approval_answer": self._answer}

    async def _list(self, _: Params) -> AsyncIterator[Any]:
        """List what waits for an answer. `may_answer` is false for a caller that may only read."""
        waiting = [approval_payload(it) for it in self.approvals.waiting()]
        try:
            await self._require_person()
        except DragomanError:
            yield {"approvals": waiting, "may_answer": False}
        else:
            yield {"approvals": waiting, "may_answer": True}

    async def _answer(self, params: Params) -> AsyncIterator[Any]:
        """Answer an approval.

        The kernel says which process calls and where it runs; claims of the caller do not count.
        """
        await self._require_person()
        allowed = params.get("decision") == "allow"
        yield {"counted": self.approvals.answer(str(params.get("id", "")), allowed=allowed, by_person=True)}

    async def _require_person(self) -> None:
        await anyio.to_thread.run_sync(require_person, CALLING_PROCESS.get(), self.agents())


def require_person(pid: int, agents: Collection[int] = ()) -> None:
    """Require that a person calls, not an agent.

    Agents' terminals and the programs that they debug are descendants of the daemon. Any other shell of an agent, even
    one in its own terminal, is a descendant of the connected MCP client.
    """
    if is_run_by(pid, agents):
        raise DragomanError(
            "not_a_person",
            localize("Only a person can approve, not an agent's terminal or program."),
            hint=localize("Answer on the page, in the editor, or in your own terminal."),
        )
    if not is_in_foreground(pid):
        raise DragomanError(
            "no_terminal",
            localize("Approvals require an interactive terminal."),
            hint=localize("Answer on the page, in the editor, or with `dragoman approvals` in your own terminal."),
        )


@dataclass(frozen=True, slots=True)
class StopMethods:
    """Stop everything, and let agents go on. A script of the person may call them, but no agent."""

    stop: StopsEverything
    agents: Callable[[], Collection[int]]
    """The processes through which MCP clients are connected now."""

    def table(self) -> Mapping[str, ControlMethod]:
        return {"stop_all": self._stop_all, "agents_continue": self._lift, "stop_check": self._check}

    async def _stop_all(self, _: Params) -> AsyncIterator[Any]:
        await self._require_no_agent()
        yield await self.stop.stop_all("`dragoman stop --all`")

    async def _lift(self, _: Params) -> AsyncIterator[Any]:
        await self._require_no_agent()
        yield await self.stop.lift("`dragoman stop --all --undo`")

    async def _check(self, _: Params) -> AsyncIterator[Any]:
        """Whether the caller may do either: before it does so on another machine, which cannot see who calls."""
        await self._require_no_agent()
        yield {"allowed": True}

    async def _require_no_agent(self) -> None:
        if await is_run_by_agent(self.agents):
            raise DragomanError(
                "not_a_person",
                localize("Only a person can stop all agents or let them go on, not an agent's terminal or program."),
                hint=localize("Use the page, or your own terminal."),
            )


async def is_run_by_agent(agents: Callable[[], Collection[int]]) -> bool:
    """Whether the calling process is an agent's: its terminal, a program that it debugs, or below its MCP client."""
    pid = CALLING_PROCESS.get()  # 0 across containers: such a process is nobody's descendant here
    return bool(pid) and await anyio.to_thread.run_sync(is_run_by, pid, agents())


@dataclass(frozen=True, slots=True)
class DebugMethods:
    reports: SessionReports

    def table(self) -> Mapping[str, ControlMethod]:
        return {"debug_report": self._report}

    async def _report(self, params: Params) -> AsyncIterator[Any]:
        """Yield the entries one by one, because a line of the socket has a size limit. The summary comes last."""
        workspace = None if params.get("workspace") is None else str(params["workspace"])
        session = str(params.get("session") or await self.reports.newest(workspace))
        report = await self.reports.of(session, workspace)
        for entry in report.entries:
            yield ResultPart(msgspec.to_builtins(entry))
        yield {
            "session": report.session,
            "title": report.title,
            "workspace": report.workspace,
            "output": report.output,
        }
