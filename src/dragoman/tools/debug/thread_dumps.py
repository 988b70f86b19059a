"""A thread dump as a result and as lines: one line per thread, and one sentence per deadlock."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from dragoman.core.labels import comma_list
from dragoman.core.localization import LocalizedText, localize
from dragoman.debug.thread_dump import DumpedThread, ThreadDump
from dragoman.tools.agent_text import path
from dragoman.tools.debug.results import DumpedThreadAnswer
from dragoman.tools.debug.stop_results import short_path
from dragoman.tools.debug.values import name
from dragoman.workspace.caller import Caller

_SHOWN = 40
_LINES = 24
_DEADLOCKS = 3

_WaitText = Callable[[str], LocalizedText]
# The name of each kind of wait; the argument is the program's name for the object, if it has one.
_WAITS: Mapping[str, _WaitText] = {
    "lock": lambda _: localize("a lock"),
    "condition": lambda _: localize("a condition variable"),
    "event": lambda _: localize("an event to be set"),
    "semaphore": lambda _: localize("a semaphore"),
    "barrier": lambda _: localize("the other threads of a barrier"),
    "group": lambda _: localize("a wait group"),
    "thread": lambda thread: (
        localize("thread {thread} to end", thread=thread) if thread else localize("a thread to end")
    ),
    "threads": lambda _: localize("the threads of a pool to end"),
    "shutdown": lambda _: localize("the other threads to end"),
    "queue_item": lambda _: localize("an item in a queue"),
    "queue_room": lambda _: localize("room in a queue"),
    "queue_done": lambda _: localize("all items of a queue to be processed"),
    "channel_receive": lambda _: localize("a value from a channel"),
    "channel_send": lambda _: localize("a receiver on a channel"),
    "select": lambda _: localize("one of several channels"),
    "future": lambda _: localize("a result"),
    "work": lambda _: localize("work"),
    "process": lambda pid: localize("process {pid} to end", pid=pid) if pid.isdigit() else localize("a process to end"),
    "data": lambda _: localize("data to read"),
    "writing": lambda _: localize("its output to be read"),
    "connection": lambda _: localize("a connection"),
    "connecting": lambda _: localize("a connection to be accepted"),
    "name": lambda _: localize("a host name to be resolved"),
    "descriptors": lambda _: localize("a file or socket to be ready"),
    "events": lambda what: localize("an event ({what})", what=what) if what else localize("an event"),
    "notification": lambda _: localize("a notification (Atomics.wait) or a native lock"),
    "event_loop": lambda _: localize("the tasks of its event loop"),
    "tasks": lambda tasks: localize("task {tasks}", tasks=tasks) if tasks else localize("other tasks"),
    "sleep": lambda _: localize("the end of a sleep"),
    "signal": lambda _: localize("a signal"),
    "file_lock": lambda _: localize("a file lock"),
    "input": lambda _: localize("input"),
    "call": lambda call: localize("{call} to return", call=f"{call}()") if call else localize("native code to return"),
}
_NAMES_ITS_TARGET = frozenset({"thread", "process", "tasks", "events"})


class ThreadDumpFields(Protocol):
    """A result with a thread dump."""

    threads: list[DumpedThreadAnswer] | None
    tasks: list[DumpedThreadAnswer] | None
    threads_left_out: int | None
    deadlock: str | None


def dump_fields(dump: ThreadDump, caller: Caller, *, short: bool = False) -> dict[str, Any]:
    """The fields of `ThreadDumpFields`; with `short`, paths are relative to the workspace."""
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


def dump_lines(answer: ThreadDumpFields, workspace: Path | None = None) -> list[LocalizedText]:
    """The dump as localized lines."""
    every: list[tuple[str | LocalizedText, DumpedThreadAnswer]] = [(name(it.name), it) for it in answer.threads or ()]
    every += [(localize("task {tasks}", tasks=name(it.name)), it) for it in answer.tasks or ()]
    lines = [_line(who, it, workspace) for who, it in every[:_LINES]]
    left = len(every) - len(lines) + (answer.threads_left_out or 0)
    more = [localize("  and {count} more threads or tasks", count=left)] if left > 0 else []
    return [*([localize("{text}", text=answer.deadlock)] if answer.deadlock else []), *lines, *more]


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


def _waits_for(thread: DumpedThread) -> LocalizedText | None:
    if thread.held is not None and thread.held.is_itself:
        return localize("a lock that it holds itself")
    if thread.held is not None:
        return localize("a lock held by {holder}", holder=name(thread.held.name))
    words = _WAITS.get(thread.kind)
    return words(name(thread.target)) if words else None


def _line(who: str | LocalizedText, thread: DumpedThreadAnswer, workspace: Path | None) -> LocalizedText:
    file = thread.file_path
    where = short_path(file, workspace) if file and workspace else file
    place = f"{where}:{thread.line_number} {thread.function_name or ''}".rstrip() if where else "?"
    who = localize("{name} (pid {pid})", name=who, pid=thread.process_id) if thread.process_id else who
    if thread.waits_for:
        return localize("  {thread} waits for {what}: {place}", thread=who, what=thread.waits_for, place=place)
    runs = localize("  {thread} runs: {place}", thread=who, place=place)
    return runs if thread.state == "running" else localize("  {thread}: {place}", thread=who, place=place)


def _deadlock(dump: ThreadDump, circle: Sequence[str]) -> LocalizedText:
    """Each thread waits for the next, and the last one for the first."""
    by_name = {it.name: it for it in dump.threads if not it.is_task}
    links = [(it, wait) for it in circle if it in by_name and (wait := _waits_for(by_name[it])) is not None]
    waits = [localize("{thread} waits for {what}", thread=name(who), what=what) for who, what in links]
    return localize("Deadlock: {waits}.", waits=comma_list(waits))
