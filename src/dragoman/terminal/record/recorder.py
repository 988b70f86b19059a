"""Records what clients report about their terminals, in order per terminal."""

from __future__ import annotations

import itertools
import secrets
from collections.abc import Callable, Mapping
from functools import partial
from typing import Literal

import msgspec

from dragoman.core.clock import Clock
from dragoman.core.errors import DragomanError
from dragoman.core.events import Event
from dragoman.core.redaction import Redactor
from dragoman.journal import AppendBytes, Journal, Statement
from dragoman.protocols.osc import SUSPENDED
from dragoman.terminal.errors import not_kept
from dragoman.terminal.model import (
    AGENT,
    ENDED_BY,
    GAP,
    RESUMES_AT,
    UNVERIFIED,
    CommandFailedNotice,
    CommandReport,
    EndedBy,
    PatternNotice,
    RecordedCommand,
    RecordedTerminal,
    TerminalNotice,
    command_name,
    terminal_name,
)
from dragoman.terminal.record.command_store import CommandStore, command_from_row
from dragoman.terminal.record.live_terminals import MOMENTARY_ATTRIBUTES, KnownTerminal, LiveTerminal, parse_count
from dragoman.terminal.record.stream import FrameKind, StreamBoundary, StreamWriter
from dragoman.terminal.record.stream_reader import read_resume_state
from dragoman.terminal.record.watchers import TerminalWatchers

_KINDS: dict[str, FrameKind] = {"input": FrameKind.INPUT, "output": FrameKind.OUTPUT}
_LINE_CHARACTERS = 32_000
_ATTRIBUTES = 100
_VALUE_CHARACTERS = 4_000
_MS = 1_000_000
_LATEST_MS = (1 << 63) // _MS - 1  # the limit of 63-bit nanoseconds
_PRIVATE_KEY, _KEY_MASK = "PRIVATE KEY", "<redacted private key>"


class TerminalRecorder:
    """Writes reports of clients to the journal.

    It owns the live terminals and their stream writers; each terminal has a lock, so its reports are handled one at a
    time. Data that a client sends again is dropped. It never reads back what it wrote, except to resume.
    """

    def __init__(
        self,
        journal: Journal,
        store: CommandStore,
        redactor: Redactor,
        clock: Clock,
        known: dict[str, KnownTerminal],
        watchers: TerminalWatchers,
    ) -> None:
        self._journal = journal
        self._store = store
        self._redactor = redactor
        self._clock = clock
        self._known = known
        self._watchers = watchers
        self._salt = itertools.count(secrets.randbelow(_MS))
        self.holding: dict[LiveTerminal, float] = {}
        """The terminals that hold bytes back, and since when."""
        self.grown: dict[str, int] = {}
        """Streams with bytes that are not indexed, and how often they grew."""

    async def begin(
        self, terminal_id: str, *, parent: str, at_ms: int, attributes: Mapping[str, str], reopens: bool = True
    ) -> None:
        """Without `reopens`, an ended terminal stays ended: late data is still recorded."""
        at_ms = self._clamp_to_now(at_ms)
        live = await self._live_terminal(terminal_id, at_ms, parent=parent, attributes=attributes, reopens=reopens)
        async with live.lock:
            await self._change(live.known, self._stored_attributes(attributes))
            at_ms = max(at_ms, live.last_at_ms)
            if RESUMES_AT in attributes:
                await self._record_missing(live, at_ms, live.resume_at(parse_count(attributes[RESUMES_AT])))
            lost = parse_count(attributes.get(GAP))
            if lost and not live.private and not live.repeats_gap(lost):
                await self._write(live, at_ms, partial(live.recorder.gap, at_ms=at_ms, count=lost))

    async def record(self, terminal_id: str, kind: Literal["input", "output"], at_ms: int, data: bytes) -> None:
        at_ms = self._clamp_to_now(at_ms)
        live = await self._live_terminal(terminal_id, at_ms)
        async with live.lock:
            fresh = live.fresh(_KINDS[kind], at_ms, data)
            if not fresh:
                return
            at_ms = max(at_ms, live.last_at_ms)
            if live.private:
                await self._skip(live, kind, at_ms, len(fresh))
            else:
                # A client that cannot send again is acknowledged at once, so the data must be durable now.
                may_hold = live.resends
                work = partial(live.recorder.append, kind=_KINDS[kind], at_ms=at_ms, data=fresh, may_hold=may_hold)
                await self._write(live, at_ms, work)

    async def command_began(self, terminal_id: str, at_ms: int, line: str) -> None:
        at_ms = self._clamp_to_now(at_ms)
        live = await self._live_terminal(terminal_id, at_ms)
        async with live.lock:
            line = self._redacted(line)
            if live.private or live.repeats(at_ms, line):
                return
            await self._boundary(live, FrameKind.BEGAN, at_ms, line)
            live.run(line, at_ms)

    async def command_ended(self, report: CommandReport) -> RecordedCommand:
        live = await self._live_terminal(report.terminal, self._clamp_to_now(report.started_ms))
        async with live.lock:
            name = command_name(report.id, report.terminal)
            command = await self._already_recorded(live, name)
            if command is None:
                command = self._command(live, name, report)
                if not live.private:
                    command = await self._save(live, command, report)
                    self._watchers.publish_command(command)
            elif live.running:
                await self._boundary(live, FrameKind.ENDED, live.last_at_ms, name)
            live.running = None
            return command

    async def notice(self, terminal_id: str, at_ms: int, notice: TerminalNotice) -> None:
        live = await self._live_terminal(terminal_id, self._clamp_to_now(at_ms))
        if isinstance(notice, CommandFailedNotice) and notice.exit_code in SUSPENDED:
            return
        if isinstance(notice, PatternNotice):
            notice = PatternNotice(self._redacted(notice.text))
        if not live.private:
            await self._journal.append([notice_event(live.known.terminal, notice, live.line)])

    async def end(self, terminal_id: str, at_ms: int, exit_code: int | None) -> None:
        ended = self._known.get(terminal_name(terminal_id))
        if ended and ended.terminal.ended_ns is not None:
            await self.close_ended(ended)
            return
        at_ms = self._clamp_to_now(at_ms)
        live = await self._live_terminal(terminal_id, at_ms)
        async with live.lock:
            await self.flush(live, max(at_ms, live.last_at_ms))
            known = live.known
            known.terminal = msgspec.structs.replace(known.terminal, ended_ns=at_ms * _MS, exit_code=exit_code)
            await self._journal.append([terminal_ended(known.terminal)], writes=[self._put_statement(known.terminal)])
            known.live = None
            self._watchers.ended(known.terminal.id)

    async def close_ended(self, known: KnownTerminal) -> None:
        """Close an ended terminal: no more late data is expected."""
        if known.live is not None and known.terminal.ended_ns is not None:
            live, known.live = known.live, None
            async with live.lock:
                await self.flush(live, live.last_at_ms)

    async def end_with_reason(self, terminal_id: str, by: EndedBy) -> None:
        known = self._known.get(terminal_name(terminal_id))
        if known is None:
            return
        attributes = {**known.terminal.attributes, ENDED_BY: by}
        known.terminal = msgspec.structs.replace(known.terminal, attributes=attributes)
        if known.terminal.ended_ns is None:
            await self.end(terminal_id, self._clock.wall_ns() // _MS, None)
        else:
            await self._journal.append([], writes=[self._put_statement(known.terminal)])

    def has_unwritten(self, live: LiveTerminal | None) -> bool:
        """Whether something is not written yet. The recorder tracks this, since a thread may have just released what
        it wrote."""
        return live is not None and (live.broken or live in self.holding)

    async def flush(self, live: LiveTerminal, at_ms: int) -> None:
        await self._write(live, at_ms, partial(live.recorder.flush, at_ms=at_ms))

    async def _live_terminal(
        self,
        terminal_id: str,
        at_ms: int,
        *,
        parent: str = "",
        attributes: Mapping[str, str] | None = None,
        reopens: bool = False,
    ) -> LiveTerminal:
        """Data that arrives before its session's start is kept: it begins the terminal."""
        name = terminal_name(terminal_id)
        known = self._known.get(name)
        if known is None:
            started = RecordedTerminal(
                id=name,
                parent=terminal_name(parent) if parent else "",
                attributes=self._stored_attributes(attributes or {}),
                started_ns=at_ms * _MS,
            )
            known = self._known[name] = KnownTerminal(started, live=self._new_live_terminal(started))
            assert known.live is not None
            known.live.known = known
            await self._store_new(known)
        elif known.live is None or (known.live.broken and RESUMES_AT in (attributes or {})):
            await self._reopen(known)
        if reopens and known.terminal.ended_ns is not None:
            known.terminal = msgspec.structs.replace(known.terminal, ended_ns=None, exit_code=None)
            await self._journal.append([], writes=[self._put_statement(known.terminal)])
        assert known.live is not None
        if known.live.broken:
            raise not_kept()
        return known.live

    async def _store_new(self, known: KnownTerminal) -> None:
        """Store a new terminal. If that fails it stays unknown, and its client reports it again."""
        try:
            await self._journal.append([terminal_began(known.terminal)], writes=[self._put_statement(known.terminal)])
        except DragomanError:
            self._known.pop(known.terminal.id, None)
            raise

    def _new_live_terminal(self, terminal: RecordedTerminal) -> LiveTerminal:
        recorder = StreamWriter(terminal.id, self._redactor.stream(), self._redactor.stream())
        return LiveTerminal(KnownTerminal(terminal), recorder)

    async def _reopen(self, known: KnownTerminal) -> None:
        """Reopen a terminal of an earlier daemon, one that came back after its end, or one that must send again."""
        before = known.live
        live = self._new_live_terminal(known.terminal)
        live.known = known
        live.after(await read_resume_state(self._journal, known.terminal.id))
        if known.live is before:  # another call may have written it first
            known.live = live

    async def _change(self, known: KnownTerminal, attributes: dict[str, str]) -> None:
        changed = {**known.terminal.attributes, **attributes}
        if changed != known.terminal.attributes:
            known.terminal = msgspec.structs.replace(known.terminal, attributes=changed)
            await self._journal.append([], writes=[self._put_statement(known.terminal)])

    async def _record_missing(self, live: LiveTerminal, at_ms: int, lost: int) -> None:
        if lost and live.private:
            await self._skip(live, "output", at_ms, lost)
        elif lost:
            await self._write(live, at_ms, partial(live.recorder.miss, at_ms=at_ms, count=lost))

    async def _write(self, live: LiveTerminal, at_ms: int, work: Callable[[AppendBytes], bytes]) -> None:
        self._publish(live, at_ms, await self._journal.recording(work))

    async def _skip(self, live: LiveTerminal, kind: str, at_ms: int, length: int) -> None:
        if kind == "output":
            await self._journal.recording(partial(live.recorder.skip, at_ms=at_ms, count=length))

    async def _boundary(self, live: LiveTerminal, kind: FrameKind, at_ms: int, text: str) -> StreamBoundary:
        at_ms = max(at_ms, live.last_at_ms)
        work = partial(live.recorder.boundary, kind=kind, at_ms=at_ms, text=text)
        boundary = await self._journal.recording(work)
        self._publish(live, at_ms, boundary.shown)
        return boundary

    def _publish(self, live: LiveTerminal, at_ms: int, shown: bytes) -> None:
        name = live.known.terminal.id
        if live.broken:
            self.holding.pop(live, None)  # the client will send it again together with the unwritten data
            raise not_kept()
        live.last_at_ms = max(live.last_at_ms, at_ms)
        self.grown[name] = self.grown.get(name, 0) + 1
        if live.recorder.holds:
            self.holding[live] = self._clock.monotonic_s()
        else:
            self.holding.pop(live, None)
        self._watchers.shown(name, shown)

    async def _already_recorded(self, live: LiveTerminal, name: str) -> RecordedCommand | None:
        for command in live.recent:
            if command.id == name:
                return command
        if not live.resumed:
            return None
        found = (await self._journal.query(self._store.one(name))).rows
        return command_from_row(found[0]) if found else None

    def _command(self, live: LiveTerminal, name: str, report: CommandReport) -> RecordedCommand:
        line = live.running.line if report.line is None and live.running else self._redacted(report.line or "")
        started_ms = max(self._clamp_to_now(report.started_ms), live.last_started_ms)
        return RecordedCommand(
            id=name,
            terminal=live.known.terminal.id,
            line="" if live.private else line,
            cwd="" if live.private else self._redacted(report.cwd or ""),
            started_ns=started_ms * _MS + next(self._salt) % _MS,
            ended_ns=None if report.ended_ms is None else self._clamp_to_now(report.ended_ms) * _MS,
            exit_code=report.exit_code,
            verified=live.verifies and not name.endswith(UNVERIFIED),
            summary="" if live.private else self._summary(report.summary),
            line_told=report.line is not None,
            claimed_ns=None if started_ms == report.started_ms else min(report.started_ms, _LATEST_MS) * _MS,
        )

    async def _save(self, live: LiveTerminal, command: RecordedCommand, report: CommandReport) -> RecordedCommand:
        """Save the command in one transaction with its event, after its bytes are on disk."""
        at_ms = self._clamp_to_now(report.started_ms if report.ended_ms is None else report.ended_ms)
        boundary = await self._boundary(live, FrameKind.ENDED, at_ms, command.id)
        output_range = live.unsaved.get(command.id, boundary.done)
        live.unsaved = {command.id: output_range}
        command = msgspec.structs.replace(
            command,
            output=output_range.span,
            output_bytes=output_range.output_bytes,
            lost_bytes=output_range.lost_bytes,
        )
        await self._append(live, command, self._store.add(command, boundary.place, arrived_ns=self._clock.wall_ns()))
        live.unsaved = {}
        live.recent.append(command)
        live.known.commands += 1
        return command

    async def _append(self, live: LiveTerminal, command: RecordedCommand, write: Statement) -> None:
        """Append the event; its bytes are synced first. If their disk failed before, the command is recorded without
        that guarantee."""
        event = command_ended(command, live.known.terminal)
        try:
            await self._journal.append([event], writes=[write], spans=[command.output] if command.output else [])
        except DragomanError as error:
            if error.code != "journal_io_failed":
                raise
            await self._journal.append([event], writes=[write])

    def _stored_attributes(self, attributes: Mapping[str, str]) -> dict[str, str]:
        kept = [(name, value) for name, value in attributes.items() if name not in MOMENTARY_ATTRIBUTES][:_ATTRIBUTES]
        return {self._redacted(name)[:200]: self._attribute(name, value) for name, value in kept}

    def _attribute(self, name: str, value: str) -> str:
        """Redact with the attribute's name, as if it were assigned: that finds secrets by their variable's name."""
        value = self._redactor.setting(name, value[:_VALUE_CHARACTERS])
        before, after = (f'{name}="', '"') if '"' not in value else (f"{name}=", "")
        assigned = self._redacted(f"{before}{value}{after}")
        return assigned.removeprefix(before).removesuffix(after)

    def _summary(self, text: str) -> str:
        """The summary omits the middle lines, and with them where a private key begins or ends."""
        return _KEY_MASK if _PRIVATE_KEY in text else self._redacted(text)

    def _clamp_to_now(self, claimed_ms: int) -> int:
        """Clamp a client's clock to now. Queries for the newest sort by these times: one command of the year 9999
        would hide all later ones."""
        return min(claimed_ms, self._clock.wall_ns() // _MS)

    def _redacted(self, text: str) -> str:
        return self._redactor.line(text[:_LINE_CHARACTERS])

    def _put_statement(self, terminal: RecordedTerminal) -> Statement:
        return self._store.put_terminal(terminal, at_ns=self._clock.wall_ns())


_TEXT_CHARACTERS = 4_000
PERSON = "terminal"


def terminal_began(terminal: RecordedTerminal) -> Event:
    body = {
        "parent": terminal.parent,
        "owner": terminal.owner,
        "attributes": terminal.attributes,
        "by": _owner_name(terminal),
    }
    return Event(kind="terminal.began", session=terminal.id, body=body, workspace=terminal.attributes.get("cwd", ""))


def terminal_ended(terminal: RecordedTerminal) -> Event:
    why = terminal.attributes.get(ENDED_BY, "")
    body = {"exit_code": terminal.exit_code, "why": why, "by": "" if why else _owner_name(terminal)}
    return Event(kind="terminal.ended", session=terminal.id, body=body, workspace=terminal.attributes.get("cwd", ""))


def command_ended(command: RecordedCommand, terminal: RecordedTerminal) -> Event:
    body = {
        "by": _owner_name(terminal),
        "command": command.id,
        "line": command.line[:_TEXT_CHARACTERS],
        "cwd": command.cwd,
        "exit_code": command.exit_code,
        "verified": command.verified,
        "output_bytes": command.output_bytes,
        "lost_bytes": command.lost_bytes,
    }
    text = command.line[:_TEXT_CHARACTERS]
    return Event(
        kind="terminal.command_ended",
        session=command.terminal,
        cause=command.id,
        text=text,
        body=body,
        workspace=command.cwd,
    )


def notice_event(terminal: RecordedTerminal, notice: TerminalNotice, line: str) -> Event:
    """A search for the command finds its own event, so the text here does not repeat the line."""
    by, place = _owner_name(terminal), terminal.attributes.get("cwd", "")
    if isinstance(notice, CommandFailedNotice):
        body = {"exit_code": notice.exit_code, "line": line[:_TEXT_CHARACTERS], "by": by}
        text = f"failed with exit code {notice.exit_code}"
        return Event(kind="terminal.command_failed", session=terminal.id, text=text, body=body, workspace=place)
    text = notice.text[:_TEXT_CHARACTERS]
    body = {"text": text, "by": by}
    return Event(kind="terminal.pattern_seen", session=terminal.id, text=text, body=body, workspace=place)


def _owner_name(terminal: RecordedTerminal) -> str:
    """The id of the client that it runs for, or the person who uses it."""
    return terminal.attributes.get(AGENT) or PERSON
