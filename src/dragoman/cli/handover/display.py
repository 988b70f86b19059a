"""What `dragoman open` prints: a summary first, then the parts of the file, each under its name.

Every text is somebody else's: a line cannot end, colour or hide another one.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from dragoman.cli.debug.report import ReportContent, event_lines
from dragoman.cli.output import render
from dragoman.core.labels import label_of, with_label
from dragoman.core.localization import LocalizedText, join_texts, localize
from dragoman.core.safe_text import escape_invisible
from dragoman.protocols.share import SharedBreakpoint, SharedLaunch, SharedSession, SharedStop, ShareManifest

_STOPS_SHOWN = 20
_EVENTS_SHOWN = 20
_BREAKPOINTS_SHOWN = 50
_ARGUMENTS_SHOWN = 40
_VALUES_SHOWN = 8
_VALUE_CHARACTERS = 60
_OUTPUT_LINES = 15
_LINE_CHARACTERS = 200
_BOLD, _OFF = "\033[1m", "\033[0m"


@dataclass(frozen=True, slots=True)
class DisplaySection:
    title: LocalizedText
    lines: tuple[LocalizedText, ...]


def show_session(shared: SharedSession, signer: str) -> None:
    bold, off = _styles()
    for at, line in enumerate(_summary(shared, signer)):
        sys.stdout.write(f"{bold if at == 0 else ''}{_safe(line)}{off if at == 0 else ''}\n")
    for section in _sections(shared):
        sys.stdout.write(f"{bold}{_safe(section.title)}{off}\n")
        sys.stdout.writelines(f"{_safe(it)}\n" for it in section.lines)


def _styles() -> tuple[str, str]:
    """Colours only for a person who looks at it."""
    if not sys.stdout.isatty() or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return "", ""
    return _BOLD, _OFF


def _safe(line: LocalizedText) -> str:
    return escape_invisible(render(line).replace("\n", "\\n"))


def _summary(shared: SharedSession, signer: str) -> Iterator[LocalizedText]:
    manifest = shared.manifest
    written = datetime.fromtimestamp(manifest.created_at_ns / 1e9, UTC)
    yield localize(
        "Session {session} ({title}), shared {time} UTC",
        session=one_line(manifest.session),
        title=one_line(manifest.title),
        time=f"{written:%Y-%m-%d %H:%M}",
    )
    yield signer_text(shared, signer)
    yield with_label(localize("commit"), commit_text(manifest))
    if shared.events:
        yield with_label(localize("state"), one_line(_report(shared).conclusion))
    yield localize("This data comes from somebody else. Secrets removed: {count}.", count=manifest.redactions)
    for name, count in manifest.left_out.items():
        yield localize("Left out of {name}: {count}", name=one_line(name), count=count)


def signer_text(shared: SharedSession, signer: str) -> LocalizedText:
    if signer:
        return localize("signed by {name}", name=signer)
    return localize("signed with the unknown key {key}", key=shared.signature.fingerprint)


def commit_text(manifest: ShareManifest) -> LocalizedText:
    if not manifest.commit:
        return localize("none: the program was not in a git repository")
    commit = one_line(manifest.commit[:12])
    return (
        localize("{commit} with uncommitted or later changes", commit=commit)
        if manifest.is_dirty
        else localize("{commit}", commit=commit)
    )


def _sections(shared: SharedSession) -> Iterator[DisplaySection]:
    launch = shared.launch
    if launch is None:
        yield DisplaySection(with_label(localize("start"), localize("not in the file")), ())
    else:
        yield DisplaySection(localize("start:"), tuple(start_lines(launch)))
        points = launch.breakpoints
        lines = [_indented(breakpoint_text(it)) for it in points[:_BREAKPOINTS_SHOWN]]
        yield _counted(localize("breakpoints"), len(points), [*lines, *_more(len(points) - _BREAKPOINTS_SHOWN)])
    events = [_indented(one_line(it)) for it in event_lines(_report(shared))[-_EVENTS_SHOWN:]]
    yield _counted(localize("events"), len(shared.events), [*_earlier(len(shared.events) - _EVENTS_SHOWN), *events])
    stops = [line for it in shared.stops[-_STOPS_SHOWN:] for line in _stop_lines(it)]
    yield _counted(localize("stops"), len(shared.stops), [*_earlier(len(shared.stops) - _STOPS_SHOWN), *stops])
    printed = shared.output.splitlines()
    if printed:
        shown = [localize("{text}", text=f"  | {one_line(it)}") for it in printed[-_OUTPUT_LINES:]]
        yield DisplaySection(localize("output:"), (*_earlier(len(printed) - _OUTPUT_LINES), *shown))
    yield DisplaySection(with_label(localize("terminal recording"), _recording_text(shared.recording)), ())


def _counted(name: LocalizedText, count: int, lines: Iterable[LocalizedText]) -> DisplaySection:
    return DisplaySection(with_label(name, localize("{count}", count=count)), tuple(lines))


def _earlier(count: int) -> Iterator[LocalizedText]:
    if count > 0:
        yield localize("  {count} earlier ones are not shown.", count=count)


def _more(count: int) -> Iterator[LocalizedText]:
    if count > 0:
        yield localize("  {count} more are not shown.", count=count)


def start_lines(launch: SharedLaunch) -> Iterator[LocalizedText]:
    """How the program was started there."""
    configuration = launch.configuration
    name = launch.configuration_name or str(configuration.get("name") or "")
    if name or configuration:
        kind = " ".join(str(configuration[it]) for it in ("type", "request") if configuration.get(it))
        yield _fact(localize("configuration"), f"{name} ({kind})" if kind else name)
    program = launch.program or str(configuration.get("program") or configuration.get("module") or "")
    args = launch.args or configuration.get("args") or ()
    words = [args] if isinstance(args, str) else [str(it) for it in args] if isinstance(args, list | tuple) else []
    if program:
        more = ["…"] if len(words) > _ARGUMENTS_SHOWN else []
        yield _fact(localize("program"), " ".join([program, *words[:_ARGUMENTS_SHOWN], *more]))
    yield _fact(localize("folder"), launch.cwd or str(configuration.get("cwd") or "") or launch.workspace)
    if launch.stdin is not None:
        yield _fact(localize("input"), launch.stdin)
    env = configuration.get("env")
    variables = {**(env if isinstance(env, Mapping) else {}), **launch.env}
    if variables:
        yield _fact(localize("variables"), ", ".join(f"{key}={value}" for key, value in variables.items()))
    if launch.left_out:
        yield _fact(localize("values not in the file"), ", ".join(launch.left_out))
    others = {key: it for key, it in configuration.items() if key not in _SHOWN_KEYS}
    if others:
        yield _fact(localize("settings"), json.dumps(others, ensure_ascii=False, default=str))
    if launch.no_debug:
        yield localize("  without stopping")


_SHOWN_KEYS = frozenset({"name", "type", "request", "program", "module", "args", "cwd", "env"})


def _fact(name: LocalizedText, text: str) -> LocalizedText:
    return localize("  {row}", row=with_label(name, one_line(text)))


def breakpoint_text(point: SharedBreakpoint) -> LocalizedText:
    """Whole, however long: its condition and its message are code."""
    place = {"line": f"{point.path}:{point.line}", "function": point.function, "exception": point.filter}
    shown: LocalizedText = localize(
        "{text}",
        text=_whole(place.get(point.kind, "") if point.kind == "line" else f"{point.kind} {place.get(point.kind, '')}"),
    )
    if point.condition:
        shown = localize("{place} if {condition}", place=shown, condition=_whole(point.condition))
    if point.hit_condition:
        shown = localize("{place}, on hits {hits}", place=shown, hits=_whole(point.hit_condition))
    if point.log_message:
        shown = localize("{place}, prints {message}", place=shown, message=_whole(point.log_message))
    return shown


def _stop_lines(stop: SharedStop) -> Iterator[LocalizedText]:
    frame = stop.frame
    place = f"{one_line(frame.path)}:{frame.line} {one_line(frame.name)}" if frame else ""
    yield join_texts(" ", (f"  {stop.number}", label_of(one_line(stop.reason)), place))
    if stop.raised[0]:
        yield localize("{text}", text=f"      {one_line(': '.join(stop.raised))}")
    values = [f"{one_line(it.name)} = {one_line(it.value, _VALUE_CHARACTERS)}" for it in stop.variables]
    if values:
        more = ["…"] if len(values) > _VALUES_SHOWN else []
        yield localize("{text}", text=f"      {', '.join([*values[:_VALUES_SHOWN], *more])}")


def _recording_text(recording: bytes) -> LocalizedText:
    if not recording:
        return localize("none")
    try:
        last = json.loads(recording.splitlines()[-1])
        seconds = float(last[0]) if isinstance(last, list) else 0.0
    except (ValueError, TypeError, IndexError, RecursionError, OverflowError):
        return localize("unreadable")
    return localize("{seconds} s, recording.cast in the file", seconds=f"{min(max(seconds, 0.0), 1e9):.0f}")


def _report(shared: SharedSession) -> ReportContent:
    stops = {it.number: it for it in shared.stops}
    entries = [
        {
            "at_ns": it.at_ns,
            "kind": it.kind,
            "by": it.body["by"] if isinstance(it.body.get("by"), str) else "",
            "body": it.body,
            "stop": _report_stop(stops.get(number)) if isinstance(number := it.body.get("stop"), int) else None,
        }
        for it in shared.events
    ]
    return ReportContent({"title": shared.manifest.title, "session": shared.manifest.session}, entries)


def _report_stop(stop: SharedStop | None) -> dict[str, Any] | None:
    return None if stop is None else {"seen": ((), (), (), 0, stop.raised)}


def _indented(text: LocalizedText | str) -> LocalizedText:
    return localize("  {row}", row=text)


def one_line(text: str, most: int = _LINE_CHARACTERS) -> str:
    """One line without anything that a terminal would act on or that draws nothing."""
    shown = escape_invisible(text[:most].replace("\n", "\\n").replace("\t", " "))
    return shown if len(text) <= most else f"{shown}…"


def _whole(text: str) -> str:
    return one_line(text, len(text))
