"""What clients tell of their terminals, in order for each one, into the record."""

from __future__ import annotations

import itertools
import secrets
from collections.abc import Callable, Mapping
from functools import partial
from typing import Literal

import msgspec

from dragoman.clock import Clock
from dragoman.errors import DragomanError
from dragoman.journal import AppendBytes, Journal, Statement
from dragoman.phrases import say
from dragoman.redaction import Redactor
from dragoman.terminal import happenings
from dragoman.terminal.commands import CommandStore, command_of
from dragoman.terminal.lives import MOMENTARY, Known, Life, count
from dragoman.terminal.model import ENDED_BY, GAP, RESUMES_AT, UNVERIFIED, Command, EndedBy, Terminal
from dragoman.terminal.names import command_name, terminal_name
from dragoman.terminal.recorder import Boundary, Recorder
from dragoman.terminal.resuming import left_in
from dragoman.terminal.stream import Kind
from dragoman.terminal.told import CommandTold, Failed, Notice, PatternSeen
from dragoman.terminal.watching import Watchers
from dragoman.wire.osc import SUSPENDED

_KINDS: dict[str, Kind] = {"input": Kind.INPUT, "output": Kind.OUTPUT}
_LINE_CHARACTERS = 32_000
_ATTRIBUTES = 100
_VALUE_CHARACTERS = 4_000
_MS = 1_000_000
_LATEST_MS = (1 << 63) // _MS - 1  # what the record's nanoseconds can hold
_PRIVATE_KEY, _KEPT_BACK = "PRIVATE KEY", "<redacted private key>"


class Recording:
    def __init__(
        self,
        journal: Journal,
        store: CommandStore,
        redactor: Redactor,
        clock: Clock,
        known: dict[str, Known],
        watchers: Watchers,
    ) -> None:
        self._journal = journal
        self._store = store
        self._redactor = redactor
        self._clock = clock
        self._known = known
        self._watchers = watchers
        self._salt = itertools.count(secrets.randbelow(_MS))
        self.holding: dict[Life, float] = {}
        """What holds bytes back, and since when."""
        self.grown: dict[str, int] = {}
        """Streams with bytes that the index has not seen, and how often they grew."""

    async def begin(
        self, terminal_id: str, *, parent: str, at_ms: int, attributes: Mapping[str, str], reopens: bool = True
    ) -> None:
        """Without `reopens`, a terminal that has ended stays so: what comes late is kept, and it is not lost."""
        at_ms = self._not_ahead(at_ms)
        life = await self._life(terminal_id, at_ms, parent=parent, attributes=attributes, reopens=reopens)
        async with life.lock:
            await self._change(life.known, self._kept(attributes))
            at_ms = max(at_ms, life.last_at_ms)
            if RESUMES_AT in attributes:
                await self._missing(life, at_ms, life.resume_at(count(attributes[RESUMES_AT])))
            lost = count(attributes.get(GAP))
            if lost and not life.private and not life.repeats_gap(lost):
                await self._write(life, at_ms, partial(life.recorder.gap, at_ms=at_ms, count=lost))

    async def take(self, terminal_id: str, kind: Literal["input", "output"], at_ms: int, data: bytes) -> None:
        at_ms = self._not_ahead(at_ms)
        life = await self._life(terminal_id, at_ms)
        async with life.lock:
            fresh = life.fresh(_KINDS[kind], at_ms, data)
            if not fresh:
                return
            at_ms = max(at_ms, life.last_at_ms)
            if life.private:
                await self._skip(life, kind, at_ms, len(fresh))
            else:
                # Who has nothing to send again is told at once that it is kept: then it must be.
                may_hold = life.resends
                work = partial(life.recorder.take, kind=_KINDS[kind], at_ms=at_ms, data=fresh, may_hold=may_hold)
                await self._write(life, at_ms, work)

    async def command_began(self, terminal_id: str, at_ms: int, line: str) -> None:
        at_ms = self._not_ahead(at_ms)
        life = await self._life(terminal_id, at_ms)
        async with life.lock:
            line = self._text(line)
            if life.private or life.repeats(at_ms, line):
                return
            await self._boundary(life, Kind.BEGAN, at_ms, line)
            life.run(line, at_ms)

    async def command_ended(self, told: CommandTold) -> Command:
        life = await self._life(told.terminal, self._not_ahead(told.started_ms))
        async with life.lock:
            name = command_name(told.id, told.terminal)
            command = await self._told_before(life, name)
            if command is None:
                command = self._command(life, name, told)
                if not life.private:
                    command = await self._save(life, command, told)
                    self._watchers.finished(command)
            elif life.running:
                await self._boundary(life, Kind.ENDED, life.last_at_ms, name)
            life.running = None
            return command

    async def notice(self, terminal_id: str, at_ms: int, notice: Notice) -> None:
        life = await self._life(terminal_id, self._not_ahead(at_ms))
        if isinstance(notice, Failed) and notice.exit_code in SUSPENDED:
            return
        if isinstance(notice, PatternSeen):
            notice = PatternSeen(self._text(notice.text))
        if not life.private:
            await self._journal.append([happenings.noticed(life.known.terminal, notice, life.line)])

    async def end(self, terminal_id: str, at_ms: int, exit_code: int | None) -> None:
        ended = self._known.get(terminal_name(terminal_id))
        if ended and ended.terminal.ended_ns is not None:
            await self.let_go(ended)
            return
        at_ms = self._not_ahead(at_ms)
        life = await self._life(terminal_id, at_ms)
        async with life.lock:
            await self.flush(life, max(at_ms, life.last_at_ms))
            known = life.known
            known.terminal = msgspec.structs.replace(known.terminal, ended_ns=at_ms * _MS, exit_code=exit_code)
            await self._journal.append([happenings.ended(known.terminal)], writes=[self._put(known.terminal)])
            known.life = None
            self._watchers.ended(known.terminal.id)

    async def let_go(self, known: Known) -> None:
        """Of a terminal that has ended: nothing more is expected of what came late."""
        if known.life is not None and known.terminal.ended_ns is not None:
            life, known.life = known.life, None
            async with life.lock:
                await self.flush(life, life.last_at_ms)

    async def end_because(self, terminal_id: str, by: EndedBy) -> None:
        known = self._known.get(terminal_name(terminal_id))
        if known is None:
            return
        told = {**known.terminal.attributes, ENDED_BY: by}
        known.terminal = msgspec.structs.replace(known.terminal, attributes=told)
        if known.terminal.ended_ns is None:
            await self.end(terminal_id, self._clock.wall_ns() // _MS, None)
        else:
            await self._journal.append([], writes=[self._put(known.terminal)])

    def owes(self, life: Life | None) -> bool:
        """Whether something is not written: known here, since what a thread has just let go may not be there yet."""
        return life is not None and (life.broken or life in self.holding)

    async def flush(self, life: Life, at_ms: int) -> None:
        await self._write(life, at_ms, partial(life.recorder.flush, at_ms=at_ms))

    async def _life(
        self,
        terminal_id: str,
        at_ms: int,
        *,
        parent: str = "",
        attributes: Mapping[str, str] | None = None,
        reopens: bool = False,
    ) -> Life:
        """What comes before its session's start is kept as well: the terminal begins with it."""
        name = terminal_name(terminal_id)
        known = self._known.get(name)
        if known is None:
            started = Terminal(
                id=name,
                parent=terminal_name(parent) if parent else "",
                attributes=self._kept(attributes or {}),
                started_ns=at_ms * _MS,
            )
            known = self._known[name] = Known(started, life=self._new_life(started))
            assert known.life is not None
            known.life.known = known
            await self._first(known)
        elif known.life is None or (known.life.broken and RESUMES_AT in (attributes or {})):
            await self._revive(known)
        if reopens and known.terminal.ended_ns is not None:
            known.terminal = msgspec.structs.replace(known.terminal, ended_ns=None, exit_code=None)
            await self._journal.append([], writes=[self._put(known.terminal)])
        assert known.life is not None
        if known.life.broken:
            raise _not_kept()
        return known.life

    async def _first(self, known: Known) -> None:
        """What could not be stored is not known either: its client tells it again."""
        try:
            await self._journal.append([happenings.began(known.terminal)], writes=[self._put(known.terminal)])
        except DragomanError:
            self._known.pop(known.terminal.id, None)
            raise

    def _new_life(self, terminal: Terminal) -> Life:
        recorder = Recorder(terminal.id, self._redactor.stream(), self._redactor.stream())
        return Life(Known(terminal), recorder)

    async def _revive(self, known: Known) -> None:
        """A terminal of an earlier life of ours, one that came back after its end, or one that must send again."""
        before = known.life
        life = self._new_life(known.terminal)
        life.known = known
        life.after(await left_in(self._journal, known.terminal.id))
        if known.life is before:  # another call may have been faster
            known.life = life

    async def _change(self, known: Known, attributes: dict[str, str]) -> None:
        changed = {**known.terminal.attributes, **attributes}
        if changed != known.terminal.attributes:
            known.terminal = msgspec.structs.replace(known.terminal, attributes=changed)
            await self._journal.append([], writes=[self._put(known.terminal)])

    async def _missing(self, life: Life, at_ms: int, lost: int) -> None:
        if lost and life.private:
            await self._skip(life, "output", at_ms, lost)
        elif lost:
            await self._write(life, at_ms, partial(life.recorder.miss, at_ms=at_ms, count=lost))

    async def _write(self, life: Life, at_ms: int, work: Callable[[AppendBytes], bytes]) -> None:
        self._shown(life, at_ms, await self._journal.recording(work))

    async def _skip(self, life: Life, kind: str, at_ms: int, length: int) -> None:
        if kind == "output":
            await self._journal.recording(partial(life.recorder.skip, at_ms=at_ms, count=length))

    async def _boundary(self, life: Life, kind: Kind, at_ms: int, text: str) -> Boundary:
        at_ms = max(at_ms, life.last_at_ms)
        work = partial(life.recorder.boundary, kind=kind, at_ms=at_ms, text=text)
        boundary = await self._journal.recording(work)
        self._shown(life, at_ms, boundary.shown)
        return boundary

    def _shown(self, life: Life, at_ms: int, shown: bytes) -> None:
        name = life.known.terminal.id
        if life.broken:
            self.holding.pop(life, None)  # it comes again, with what could not be written
            raise _not_kept()
        life.last_at_ms = max(life.last_at_ms, at_ms)
        self.grown[name] = self.grown.get(name, 0) + 1
        if life.recorder.holds:
            self.holding[life] = self._clock.monotonic_s()
        else:
            self.holding.pop(life, None)
        self._watchers.shown(name, shown)

    async def _told_before(self, life: Life, name: str) -> Command | None:
        for command in life.recent:
            if command.id == name:
                return command
        if not life.resumed:
            return None
        found = (await self._journal.query(self._store.one(name))).rows
        return command_of(found[0]) if found else None

    def _command(self, life: Life, name: str, told: CommandTold) -> Command:
        line = life.running.line if told.line is None and life.running else self._text(told.line or "")
        started_ms = max(self._not_ahead(told.started_ms), life.last_started_ms)
        return Command(
            id=name,
            terminal=life.known.terminal.id,
            line="" if life.private else line,
            cwd="" if life.private else self._text(told.cwd or ""),
            started_ns=started_ms * _MS + next(self._salt) % _MS,
            ended_ns=None if told.ended_ms is None else self._not_ahead(told.ended_ms) * _MS,
            exit_code=told.exit_code,
            verified=life.verifies and not name.endswith(UNVERIFIED),
            summary="" if life.private else self._summary(told.summary),
            line_told=told.line is not None,
            claimed_ns=None if started_ms == told.started_ms else min(told.started_ms, _LATEST_MS) * _MS,
        )

    async def _save(self, life: Life, command: Command, told: CommandTold) -> Command:
        """In one transaction with its event, after its bytes are on the disk."""
        at_ms = self._not_ahead(told.started_ms if told.ended_ms is None else told.ended_ms)
        boundary = await self._boundary(life, Kind.ENDED, at_ms, command.id)
        stretch = life.unsaved.get(command.id, boundary.done)
        life.unsaved = {command.id: stretch}
        command = msgspec.structs.replace(
            command, output=stretch.span, output_bytes=stretch.output_bytes, lost_bytes=stretch.lost_bytes
        )
        await self._append(life, command, self._store.add(command, boundary.place, arrived_ns=self._clock.wall_ns()))
        life.unsaved = {}
        life.recent.append(command)
        life.known.commands += 1
        return command

    async def _append(self, life: Life, command: Command, write: Statement) -> None:
        """Its bytes are synced first; where their disk failed once, the command is kept without that certainty."""
        event = happenings.command_ended(command, life.known.terminal)
        try:
            await self._journal.append([event], writes=[write], spans=[command.output] if command.output else [])
        except DragomanError as error:
            if error.code != "journal_io_failed":
                raise
            await self._journal.append([event], writes=[write])

    def _kept(self, attributes: Mapping[str, str]) -> dict[str, str]:
        kept = [(name, value) for name, value in attributes.items() if name not in MOMENTARY][:_ATTRIBUTES]
        return {self._text(name)[:200]: self._attribute(name, value) for name, value in kept}

    def _attribute(self, name: str, value: str) -> str:
        """Told by its name as well, as if it were assigned."""
        value = self._redactor.setting(name, value[:_VALUE_CHARACTERS])
        before, after = (f'{name}="', '"') if '"' not in value else (f"{name}=", "")
        assigned = self._text(f"{before}{value}{after}")
        return assigned.removeprefix(before).removesuffix(after)

    def _summary(self, text: str) -> str:
        """The lines between its first and its last are left out, and with them where a key begins or ends."""
        return _KEPT_BACK if _PRIVATE_KEY in text else self._text(text)

    def _not_ahead(self, claimed_ms: int) -> int:
        """A client's clock may say anything. What is newest is asked for by these times, and nothing that has come
        is newer than now: one command of the year 9999 would hide all that follow it."""
        return min(claimed_ms, self._clock.wall_ns() // _MS)

    def _text(self, text: str) -> str:
        return self._redactor.line(text[:_LINE_CHARACTERS])

    def _put(self, terminal: Terminal) -> Statement:
        return self._store.put_terminal(terminal, at_ns=self._clock.wall_ns())


def _not_kept() -> DragomanError:
    return DragomanError(
        "not_kept",
        say("What a terminal showed could not be written."),
        hint=say("Its wrapper sends it again. Is the disk full? `dragoman doctor` says."),
    )
