"""A thread dump as an answer, and as lines: one per thread, and a sentence per deadlock."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from dragoman.debug.thread_dump import DumpedThread, ThreadDump
from dragoman.phrases import Phrase, say
from dragoman.tools.debug.answers import DumpedThreadAnswer
from dragoman.tools.debug.stops import short_path
from dragoman.tools.debug.values import name
from dragoman.tools.operation import Caller
from dragoman.tools.showing import path
from dragoman.words import listed

_SHOWN = 40
_LINES = 24
_DEADLOCKS = 3

_Words = Callable[[str], Phrase]
# What a wait is called, by its kind; the argument is what the program calls the thing, where it has a name.
_WAITS: Mapping[str, _Words] = {
    "lock": lambda _: say("a lock"),
    "condition": lambda _: say("a condition variable"),
    "event": lambda _: say("an event to be set"),
    "semaphore": lambda _: say("a semaphore"),
    "barrier": lambda _: say("the other threads of a barrier"),
    "group": lambda _: say("a wait group"),
    "thread": lambda thread: say("thread {thread} to end", thread=thread) if thread else say("a thread to end"),
    "threads": lambda _: say("the threads of a pool to end"),
    "shutdown": lambda _: say("the other threads to end"),
    "queue_item": lambda _: say("an item in a queue"),
    "queue_room": lambda _: say("room in a queue"),
    "queue_done": lambda _: say("all items of a queue to be processed"),
    "channel_receive": lambda _: say("a value from a channel"),
    "channel_send": lambda _: say("a receiver on a channel"),
    "select": lambda _: say("one of several channels"),
    "future": lambda _: say("a result"),
    "work": lambda _: say("work"),
    "process": lambda pid: say("process {pid} to end", pid=pid) if pid.isdigit() else say("a process to end"),
    "data": lambda _: say("data to read"),
    "writing": lambda _: say("its output to be read"),
    "connection": lambda _: say("a connection"),
    "connecting": lambda _: say("a connection to be accepted"),
    "name": lambda _: say("a host name to be resolved"),
    "descriptors": lambda _: say("a file or socket to be ready"),
    "events": lambda what: say("an event ({what})", what=what) if what else say("an event"),
    "notification": lambda _: say("a notification (Atomics.wait), or a lock of native code"),
    "event_loop": lambda _: say("the tasks of its event loop"),
    "tasks": lambda tasks: say("task {tasks}", tasks=tasks) if tasks else say("other tasks"),
    "sleep": lambda _: say("the end of a sleep"),
    "signal": lambda _: say("a signal"),
    "file_lock": lambda _: say("a file lock"),
    "input": lambda _: say("input"),
    "call": lambda call: say("{call} to return", call=f"{call}()") if call else say("native code to return"),
}
_NAMES_ITS_TARGET = frozenset({"thread", "process", "tasks", "events"})


class Dumped(Protocol):
    """An answer with a thread dump."""

    threads: list[DumpedThreadAnswer] | None
    tasks: list[DumpedThreadAnswer] | None
    threads_left_out: int | None
    deadlock: str | None


def dump_fields(dump: ThreadDump, caller: Caller, *, short: bool = False) -> dict[str, Any]:
    """Those of `Dumped`; with `short`, paths in the workspace as paths from it."""
    shown = [_answer(it, caller, short=short) for it in dump.threads]
    threads = [it for it, thread in zip(shown, dump.threads, strict=True) if not thread.is_task]
    tasks = [it for it, thread in zip(shown, dump.threads, strict=True) if thread.is_task]
    left = dump.total - len(threads[:_SHOWN]) - len(tasks[:_SHOWN])
    deadlocks = [_deadlock(dump, it).in_language(caller.language) for it in dump.deadlocks[:_DEADLOCKS]]
    return {
        "threads": threads[:_SHOWN] or None,
        "tasks": tasks[:_SHOWN] or None,
        "threads_left_out": left if left > 0 else None,
        "deadlock": " ".join(deadlocks) or None,
    }


def dump_lines(answer: Dumped, workspace: Path | None = None) -> list[Phrase]:
    """In the language of the answer."""
    every: list[tuple[str | Phrase, DumpedThreadAnswer]] = [(name(it.name), it) for it in answer.threads or ()]
    every += [(say("task {tasks}", tasks=name(it.name)), it) for it in answer.tasks or ()]
    lines = [_line(who, it, workspace) for who, it in every[:_LINES]]
    left = len(every) - len(lines) + (answer.threads_left_out or 0)
    more = [say("  and {count} more threads or tasks", count=left)] if left > 0 else []
    return [*([say("{text}", text=answer.deadlock)] if answer.deadlock else []), *lines, *more]


def _answer(thread: DumpedThread, caller: Caller, *, short: bool) -> DumpedThreadAnswer:
    waits, held = _waits_for(thread), thread.held

    def shown(file: str) -> str:
        return short_path(file, caller.workspace) if short and file else path(file)

    return DumpedThreadAnswer(
        name=name(thread.name),
        state=_state(thread),
        thread_id=thread.id,
        process_id=thread.process or None,
        function_name=name(thread.function) or None,
        file_path=shown(thread.path) or None,
        line_number=thread.line or None,
        waits_for=waits.in_language(caller.language) if waits else None,
        held_by=name(held.name) if held else None,
        held_at=f"{shown(held.path)}:{held.line}" if held and held.path else None,
        call=name(thread.target) if thread.target and thread.kind not in _NAMES_ITS_TARGET else None,
    )


def _state(thread: DumpedThread) -> str:
    return "running" if thread.runs else "waiting" if thread.kind else "unknown"


def _waits_for(thread: DumpedThread) -> Phrase | None:
    if thread.held is not None and thread.held.is_itself:
        return say("a lock that it holds itself")
    if thread.held is not None:
        return say("a lock held by {holder}", holder=name(thread.held.name))
    words = _WAITS.get(thread.kind)
    return words(name(thread.target)) if words else None


def _line(who: str | Phrase, thread: DumpedThreadAnswer, workspace: Path | None) -> Phrase:
    file = thread.file_path
    where = short_path(file, workspace) if file and workspace else file
    place = f"{where}:{thread.line_number} {thread.function_name or ''}".rstrip() if where else "?"
    who = say("{name} (pid {pid})", name=who, pid=thread.process_id) if thread.process_id else who
    if thread.waits_for:
        return say("  {thread} waits for {what}: {place}", thread=who, what=thread.waits_for, place=place)
    runs = say("  {thread} runs: {place}", thread=who, place=place)
    return runs if thread.state == "running" else say("  {thread}: {place}", thread=who, place=place)


def _deadlock(dump: ThreadDump, circle: Sequence[str]) -> Phrase:
    """Each waits for the next one; the last for the first."""
    by_name = {it.name: it for it in dump.threads if not it.is_task}
    links = [(it, waits) for it in circle if it in by_name and (waits := _waits_for(by_name[it])) is not None]
    told = [say("{thread} waits for {what}", thread=name(who), what=what) for who, what in links]
    return say("Deadlock: {waits}.", waits=listed(told))
