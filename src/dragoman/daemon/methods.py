"""What the command line may ask of the daemon, as a table of names. Each yields parts, then its answer."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, cast

import anyio
import anyio.to_thread
import msgspec

from dragoman.access.keys import Keyring
from dragoman.access.tokens import DEFAULT, PURPOSES, Holder, Purpose, Tokens
from dragoman.daemon.control import CALLING_PROCESS, Method, Params, Part
from dragoman.daemon.report import Report
from dragoman.errors import DragomanError, system_refused
from dragoman.events import Recorded
from dragoman.journal import Before, Everything, Journal, OfSession, Scope
from dragoman.phrases import say
from dragoman.transport.foreground import is_below
from dragoman.wire.control import DaemonState
from dragoman.workspace.trust import TrustBook

_BATCH = 500
_MOST_LINES = 10_000
_EMPTY: dict[str, Any] = {"session": "", "cause": "", "text": "", "body": {}}


@dataclass(frozen=True, slots=True)
class Methods:
    report: Report
    tokens: Tokens
    keys: Keyring
    journal: Journal
    state: DaemonState
    stop: anyio.Event
    trust: TrustBook
    forgotten: Callable[[], Awaitable[None]]
    """Something was erased: whoever holds in memory what the stores had looks again."""

    def table(self) -> Mapping[str, Method]:
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
        """Without their values."""
        yield {"tokens": self.report.tokens()}

    async def _token_create(self, params: Params) -> AsyncIterator[Any]:
        """With `or_show` the one that exists already is answered with."""
        holder = _holder(params)
        is_new = not (params.get("or_show") is True and holder in self.tokens.clients.tokens)
        try:
            token = self.tokens.clients.create(holder) if is_new else self.tokens.of(*holder)
        except OSError as error:
            raise system_refused(error) from error
        yield {**holder._asdict(), "token": token, "is_new": is_new}

    async def _token_revoke(self, params: Params) -> AsyncIterator[Any]:
        """Of every purpose that has one of this name, unless one is given."""
        name = _holder({**params, "purpose": "mcp"}).name
        if name == DEFAULT:
            raise DragomanError(
                "default_token",
                say("The default token is replaced, not revoked."),
                hint=say("Run `dragoman token rotate mcp` or `dragoman token rotate gateway`."),
            )
        named = [it for it in self.tokens.clients.tokens if it.name == name and params.get("purpose") in (None, it[0])]
        try:
            for holder in named:
                self.tokens.clients.revoke(holder)
        except OSError as error:
            raise system_refused(error) from error
        if not named:
            self.tokens.clients.require(Holder(_purpose({"purpose": "mcp", **params}), name))
        yield {"revoked": [it._asdict() for it in named]}

    async def _journal_tail(self, params: Params) -> AsyncIterator[Any]:
        """The newest lines, and with `follow` what comes; what has been erased meanwhile is passed over."""
        last = self.journal.last_sequence
        after = max(0, last - _count(params, "lines", _MOST_LINES))
        rows = self.journal.tail(after) if params.get("follow") else self._upto(after, last)
        async for row in rows:
            if isinstance(row, Recorded):
                yield Part(_plain(row))
        yield {"last_sequence": self.journal.last_sequence}

    async def _upto(self, after: int, last: int) -> AsyncIterator[Recorded]:
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
        yield {"events": [_plain(row) for row in rows]}

    async def _journal_export(self, _: Params) -> AsyncIterator[Any]:
        count = 0
        async for row in self.journal.export():
            yield Part(row)
            count += 1
        yield {"events": count}

    async def _journal_count(self, params: Params) -> AsyncIterator[Any]:
        yield {"events": await self.journal.count(_scope(params))}

    async def _journal_scrubbed(self, _: Params) -> AsyncIterator[Any]:
        yield {**(await self.journal.scrubbed())._asdict(), "failure": self.journal.scrub_failure}

    async def _journal_forget(self, params: Params) -> AsyncIterator[Any]:
        events = await self.journal.forget(_scope(params))
        await self.forgotten()
        yield {"events": events}

    async def _trust_list(self, _: Params) -> AsyncIterator[Any]:
        yield {"trusted": [msgspec.to_builtins(trusted) for trusted in await self.trust.folders()]}

    async def _trust_add(self, params: Params) -> AsyncIterator[Any]:
        """From a script or an editor of the person's too, but never from below ourselves, where agents' terminals and
        the programs that they debug run."""
        pid = CALLING_PROCESS.get()  # 0 across containers, which is not below us
        if pid and await anyio.to_thread.run_sync(is_below, pid, os.getpid()):
            raise DragomanError(
                "not_a_person",
                say("Trust is given by a person, not in a terminal or program of an agent."),
                hint=say("Give it on the page, in the editor, or in a terminal of your own."),
            )
        trusted = await self.trust.trust(_folder(params), however_wide=params.get("however_wide") is True)
        yield msgspec.to_builtins(trusted)

    async def _trust_revoke(self, params: Params) -> AsyncIterator[Any]:
        yield {"folder": await self.trust.revoke(_folder(params))}


def _folder(params: Params, name: str = "folder") -> Path:
    """Whole: what is relative would be looked for where the daemon stands."""
    folder = params.get(name)
    if not isinstance(folder, str) or not folder.startswith("/") or "\0" in folder:
        raise DragomanError("bad_request", say("`{name}` must be the whole path of a folder.", name=name))
    return Path(folder)


def _plain(row: Recorded) -> dict[str, Any]:
    """The same shape as an exported row."""
    return {"sequence": row.sequence, "at_ns": row.at_ns, **_EMPTY, **msgspec.to_builtins(row.event)}


def _purpose(params: Params) -> Purpose:
    purpose = params.get("purpose")
    if purpose not in PURPOSES:
        raise DragomanError(
            "unknown_purpose",
            say("There is no such token."),
            hint=say("The purposes are: {purposes}.", purposes=", ".join(PURPOSES)),
        )
    return cast("Purpose", purpose)


def _holder(params: Params) -> Holder:
    name = params.get("name", DEFAULT)
    if not isinstance(name, str):
        raise DragomanError("bad_request", say("`{name}` must be a text.", name="name"))
    return Holder(_purpose(params), name)


def _count(params: Params, name: str, at_most: int) -> int:
    value = params.get(name)
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise DragomanError("bad_request", say("`{name}` must be a whole number from 0 on.", name=name))
    return min(value, at_most)


def _scope(params: Params) -> Scope:
    kinds: dict[str, tuple[type, Callable[[Any], Scope]]] = {
        "session": (str, OfSession),
        "before_ns": (int, Before),
        "all": (bool, lambda _: Everything()),
    }
    scopes = [make(params[name]) for name, (kind, make) in kinds.items() if isinstance(params.get(name), kind)]
    if len(scopes) != 1:
        raise DragomanError("bad_request", say("Say what to forget: exactly one of --session, --before and --all."))
    return scopes[0]
