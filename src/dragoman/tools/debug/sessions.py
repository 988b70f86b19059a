"""The tools about sessions as a whole: what there is to start, what runs, and what it printed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import anyio
import anyio.to_thread

from dragoman.clock import Clock
from dragoman.debug.model import ThreadSeen
from dragoman.debug.output import Output, Reading
from dragoman.debug.service import Client, DebugService
from dragoman.debug.session import Session
from dragoman.debug.states import LIVE, State
from dragoman.errors import DragomanError
from dragoman.phrases import Phrase, joined, say
from dragoman.tools.debug import answers
from dragoman.tools.debug import parameters as take
from dragoman.tools.debug.client import client_of, meant_without_id, who
from dragoman.tools.debug.ends import runs_with
from dragoman.tools.debug.threads import ThreadList, thread_answers
from dragoman.tools.debug.values import Values, name, timestamp
from dragoman.tools.operation import Caller, Outcome
from dragoman.tools.showing import one_line
from dragoman.words import labelled, word_of

_ENDED = 10
_NAME_IN_TEXT = 100
_PROBLEM = 400
_IN_MEGABYTES = 10_000_000


class Listing(Protocol):
    """What a launch.json offers, as written."""

    @property
    def configurations(self) -> Sequence[dict[str, Any]]: ...

    @property
    def compounds(self) -> Sequence[dict[str, Any]]: ...

    @property
    def problems(self) -> Sequence[DragomanError]: ...


Configurations = Callable[[Path], Listing]
NotLent = Callable[[Path], Sequence[str]]
"""What a person debugs in an editor in that folder, and has not lent to agents."""


@dataclass(frozen=True, slots=True)
class SessionTools:
    service: DebugService
    configurations: Configurations
    threads: ThreadList
    values: Values
    clock: Clock
    not_lent: NotLent = lambda _: ()

    async def offered(self, caller: Caller, _: take.Nothing) -> Outcome:
        listing = await anyio.to_thread.run_sync(self.configurations, caller.workspace)
        problems = [_problem(error, caller) for error in listing.problems]
        answer = answers.Configurations(
            configurations=self.values.written(list(listing.configurations)),
            compounds=self.values.written(list(listing.compounds)) or None,
            problems=problems or None,
        )
        lines = [_configuration_line(it) for it in (*listing.configurations, *listing.compounds)]
        shown = lines or [say("launch.json has no configurations.")]
        return Outcome([*shown, *(labelled(say("problem"), it["message"]) for it in problems)], answer)

    async def sessions(self, caller: Caller, _: take.Nothing) -> Outcome:
        client = client_of(caller)
        active = meant_without_id(self.service, client)
        sessions, left_out = _listed(self.service.sessions(client))
        seen = await self._seen(client, sessions)
        found = [_session(session, active, seen[session.id], caller) for session in sessions]
        lines = [line for session in found for line in _session_lines(session)]
        lines += [say("{count} older ones that have ended are not listed.", count=left_out)] if left_out else []
        held = [name(it) for it in self.not_lent(caller.workspace)]
        answer = answers.Sessions(
            timestamp=timestamp(self.clock.wall_ns()),
            sessions=found,
            ended_left_out=left_out or None,
            not_lent=held or None,
        )
        return Outcome([*(lines or [say("No debug sessions in this workspace.")]), *_not_lent_lines(held)], answer)

    async def _seen(self, client: Client, sessions: Sequence[Session]) -> dict[str, _Seen]:
        """All at once: one whose debugger is stuck must not keep the others waiting."""
        seen = {session.id: _Seen() for session in sessions}

        async def look(session: Session) -> None:
            threads = await self.threads.of(client, session, placed=True)
            alive = session.state in LIVE
            memory = await anyio.to_thread.run_sync(session.memory_bytes) if alive else None
            seen[session.id] = _Seen(threads, memory)

        async with anyio.create_task_group() as group:
            for session in sessions:
                group.start_soon(look, session)
        return seen

    async def output(self, caller: Caller, wanted: take.GetOutput) -> Outcome:
        session = self.service.find_or_last(client_of(caller), wanted.session_id)
        categories = frozenset({wanted.category}) if wanted.category else frozenset[str]()
        read = self._onward if wanted.cursor is not None else self._newest
        shown, seen = read(session.output, wanted, categories)
        answer = answers.ProgramOutput(
            session_id=session.id,
            state=session.state.value,
            output=shown,
            cursor=seen.next,
            missed=seen.missed,
            left=session.output.end - seen.next,
        )
        return Outcome(_output_lines(answer), answer)

    def _newest(self, output: Output, wanted: take.GetOutput, categories: frozenset[str]) -> tuple[str, Reading]:
        seen = Reading(*output.since(0, most=wanted.max_chars, categories=categories), output.end)
        return self.values.tail(seen.text, wanted.max_chars), seen

    def _onward(self, output: Output, wanted: take.GetOutput, categories: frozenset[str]) -> tuple[str, Reading]:
        """Nothing of a page is cut: where escapes make it too long, it is a shorter page."""
        most = wanted.max_chars
        while True:
            seen = output.page(wanted.cursor or 0, most=most, categories=categories)
            shown = self.values.whole(seen.text)
            if len(shown) <= wanted.max_chars or most == 1:
                return shown, seen
            most = max(1, most // 2)


def _not_lent_lines(names: Sequence[str]) -> list[Phrase]:
    if not names:
        return []
    head = say(
        "A person debugs these in an editor and has not lent them. Ask them to: *Dragoman: Lend this debug session to "
        "agents…*"
    )
    return [head, *(say("{text}", text=f"  | {one_line(it, _NAME_IN_TEXT)}") for it in names)]


def _listed(sessions: Sequence[Session]) -> tuple[list[Session], int]:
    """All that live, and of those that have ended the newest."""
    ended = sorted((it for it in sessions if it.state not in LIVE), key=lambda it: it.changed_at_ns)
    old = ended[: max(0, len(ended) - _ENDED)]
    return [it for it in sessions if it not in old], len(old)


def _problem(error: DragomanError, caller: Caller) -> dict[str, Any]:
    return {"code": error.code, "message": one_line(error.message.in_language(caller.language), _PROBLEM)}


def _configuration_line(configuration: dict[str, Any]) -> Phrase:
    kind = " ".join(str(configuration[key]) for key in ("type", "request") if key in configuration)
    shown = one_line(kind, _NAME_IN_TEXT) if kind else say("compound")
    return say("  {name} ({kind})", name=one_line(str(configuration.get("name", "")), _NAME_IN_TEXT), kind=shown)


@dataclass(frozen=True, slots=True)
class _Seen:
    threads: Sequence[ThreadSeen] = ()
    memory_bytes: int | None = None


def _session(session: Session, active: str, seen: _Seen, caller: Caller) -> answers.SessionAnswer:
    stop = session.stop if session.state is State.STOPPED else None
    ended = session.ended
    return answers.SessionAnswer(
        session_id=session.id,
        name=name(session.title),
        state=session.state.value,
        since=timestamp(session.changed_at_ns),
        active=session.id == active,
        runs_with=runs_with(caller, session) or None,
        memory_bytes=seen.memory_bytes,
        threads=thread_answers(seen.threads) or None,
        total_threads=len(seen.threads) or None,
        stop_number=stop.number if stop else None,
        thread_id=stop.thread_id if stop else None,
        exit_code=ended.exit_code if ended else None,
        signal=(ended.signal or None) if ended else None,
        ended_by=who(ended.by, caller).in_language(caller.language) if ended and ended.by else None,
    )


def _session_lines(session: answers.SessionAnswer) -> list[Phrase]:
    head = labelled(joined("", _heading(session)), session.name)
    threads = [
        say(
            "    thread {id} {state} {place}: {name}",
            id=it.thread_id,
            state=word_of(it.state),
            place=_at(it),
            name=it.name,
        )
        for it in session.threads or ()
    ]
    left = (session.total_threads or 0) - len(threads)
    return [head, *threads, *([say("    [{count} more threads]", count=left)] if left > 0 else [])]


def _heading(session: answers.SessionAnswer) -> Iterator[object]:
    yield f"{'* ' if session.active else '  '}{session.session_id} "
    yield word_of(session.state)
    if session.exit_code is not None:
        yield say(" exit {code}", code=session.exit_code)
    yield f" {session.signal}" if session.signal else ""
    if session.ended_by:
        yield say(" (ended by {who})", who=session.ended_by)
    yield say(" since {time}", time=session.since)
    if session.memory_bytes:
        yield say(", {size}", size=_size(session.memory_bytes))


def _size(bytes: int) -> str:
    """A Lua state has some kilobytes."""
    return f"{bytes / 1e6:.0f} MB" if bytes >= _IN_MEGABYTES else f"{bytes / 1e3:.0f} kB"


def _at(thread: answers.ThreadAnswer) -> str:
    return one_line(f"{Path(thread.file_path).name}:{thread.line_number}") if thread.file_path else "-"


def _output_lines(answer: answers.ProgramOutput) -> list[Phrase]:
    head = say(
        "State: {state}; cursor {cursor} ({session}).",
        state=word_of(answer.state),
        cursor=answer.cursor,
        session=answer.session_id,
    )
    missed = [say("{count} characters before are not shown.", count=answer.missed)] if answer.missed else []
    lines = [say("{text}", text=f"  | {one_line(line)}") for line in answer.output.splitlines()]
    left = [say("{count} characters are left: read on with the cursor.", count=answer.left)] if answer.left else []
    return [head, *missed, *lines, *left]
