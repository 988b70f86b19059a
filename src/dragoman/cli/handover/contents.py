"""Makes the parts of a shared session from what the daemon recorded.

Everything passes the redactor here, once more and even if the setting `redact` is off, before a part is made. Paths
below the user's home begin with `~`, because the name of a home is nobody's business.
"""

from __future__ import annotations

import codecs
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import msgspec

from dragoman.cli.debug.report import ReportContent, as_html
from dragoman.cli.handover.home_folder import HomeFolder
from dragoman.cli.handover.variables import harmless_variables, with_harmless_variables
from dragoman.core.redaction import Redactor
from dragoman.protocols.share import (
    PART_BYTES,
    SharedBreakpoint,
    SharedEvent,
    SharedFrame,
    SharedLaunch,
    SharedStop,
    SharedValue,
    encode_lines,
)

_MARK = b"<redacted "
_PART_ROOM = PART_BYTES - (1 << 16)
_MAX_ROWS = 20_000
_SIZE_KEYS = ("width", "height")
_BEFORE_S, _AFTER_S = 2.0, 5.0
"""Around the session: the command that started it, and what it printed last."""


@dataclass(frozen=True, slots=True)
class RecordedSession:
    """A session as the daemon told it."""

    content: ReportContent
    output: str
    launch: Mapping[str, Any] | None
    breakpoints: Sequence[Mapping[str, Any]]
    recording: bytes


@dataclass(frozen=True, slots=True)
class ShareContents:
    """The parts of the file, and what the person is shown of them."""

    parts: Mapping[str, bytes]
    title: str
    events: int
    stops: int
    breakpoints: int
    redactions: int
    left_out: Mapping[str, int]


@dataclass(slots=True)
class ShareBuilder:
    redactor: Redactor
    home: HomeFolder
    left_out: dict[str, int] = field(default_factory=dict)

    def contents(self, recorded: RecordedSession) -> ShareContents:
        entries = recorded.content.entries
        events = self._newest("events.jsonl", [self._event(it) for it in entries])
        stops = self._newest("stops.jsonl", [self._stop(it["stop"]) for it in entries if it.get("stop")])
        launch = self._launch(recorded, self.text(str(recorded.content.about["workspace"])))
        output = self._end("output.txt", self.text(recorded.output).encode("utf-8", "replace"))
        recording = redacted_recording(recorded.recording, _span(entries), self.redactor, self.home)
        report = self._report(recorded.content, output.decode("utf-8", "replace"), {it.number: it for it in stops})
        found = {
            "events.jsonl": encode_lines(events),
            "stops.jsonl": encode_lines(stops),
            "output.txt": output,
            "recording.cast": self._fitting("recording.cast", recording),
            "launch.json": encode_lines([launch]) if launch else b"",
            "report.html": self._fitting("report.html", report),
        }
        parts = {name: data for name, data in found.items() if data}
        return ShareContents(
            parts,
            self.text(recorded.content.title),
            len(events),
            len(stops),
            len(launch.breakpoints) if launch else 0,
            sum(data.count(_MARK) for name, data in parts.items() if name != "report.html"),
            self.left_out,
        )

    def text(self, text: str) -> str:
        return self.home.hide(self.redactor.text(text))

    def _document(self, document: Any) -> Any:
        return _mapped(self.redactor.document(document), self.home.hide)

    def _event(self, entry: Mapping[str, Any]) -> SharedEvent:
        by = {"by": entry["by"]} if entry["by"] else {}
        body = self._document({**entry["body"], **by})
        return SharedEvent(at_ns=entry["at_ns"], kind=entry["kind"], text=self.text(entry["text"]), body=body)

    def _stop(self, stop: Mapping[str, Any]) -> SharedStop:
        frames, variables, changed, at, (type, message), *_ = stop["seen"]
        return SharedStop(
            number=stop["number"],
            at_ns=stop["at_ns"],
            reason=self.text(stop["reason"]),
            frames=tuple(SharedFrame(self.text(name), self.text(path), *rest) for name, path, *rest in frames),
            variables=tuple(self._variable(*it) for it in variables),
            changed=tuple(map(self.text, changed)),
            at=at,
            raised=(self.text(type), self.text(message)),
        )

    def _variable(self, name: str, value: str, type: str = "") -> SharedValue:
        """Names and types are texts of the program too: a key of a table, a path in a type."""
        shown = self.home.hide(self.redactor.value(name, value))
        return SharedValue(self.text(name), shown, self.text(type))

    def _report(self, content: ReportContent, output: str, stops: Mapping[int, SharedStop]) -> bytes:
        """The same page as `dragoman report` writes, of what the file has."""
        about = {**content.about, "output": output}
        entries = [self._report_entry(it, stops) for it in content.entries]
        return as_html(ReportContent(self._document(about), entries)).encode("utf-8", "replace")

    def _report_entry(self, entry: Mapping[str, Any], stops: Mapping[int, SharedStop]) -> dict[str, Any]:
        shown = {**entry, "text": self.text(entry["text"]), "body": self._document(entry["body"])}
        stop = stops.get(entry["stop"]["number"]) if entry.get("stop") else None
        if stop is None:
            return {**shown, "stop": None}
        frames = [(it.name, it.path, it.line, it.is_library) for it in stop.frames]
        variables = [(it.name, it.value, it.type) for it in stop.variables]
        return {**shown, "stop": {"seen": (frames, variables, stop.changed, stop.at, stop.raised)}}

    def _launch(self, recorded: RecordedSession, workspace: str) -> SharedLaunch | None:
        given = recorded.launch
        if given is None:
            return None
        env, left = harmless_variables(given.get("env") or {})
        configuration, more = with_harmless_variables(given.get("configuration") or {})
        words = self._document({"args": list(given.get("args") or ())})["args"]
        stdin = given.get("stdin")
        return SharedLaunch(
            workspace=workspace,
            configuration_name=self.text(given.get("configuration_name", "")),
            configuration=self._document(configuration),
            program=self.text(given.get("program", "")),
            args=tuple(words),
            cwd=self.text(given.get("cwd", "")),
            env=self._document(env),
            left_out=tuple(sorted(map(self.text, {*left, *more, *(given.get("inputs") or {})}))),
            stdin=None if stdin is None else self.text(stdin),
            no_debug=bool(given.get("no_debug")),
            breakpoints=tuple(self._breakpoint(it) for it in recorded.breakpoints),
        )

    def _breakpoint(self, given: Mapping[str, Any]) -> SharedBreakpoint:
        names = SharedBreakpoint.__struct_fields__
        values = {name: given[name] for name in names if name in given}
        shown = {name: self.text(value) if isinstance(value, str) else value for name, value in values.items()}
        return msgspec.convert(shown, SharedBreakpoint)

    def _newest(self, name: str, rows: Sequence[Any]) -> list[Any]:
        """The newest rows that fit into a part."""
        kept: list[Any] = []
        size = 0
        for row in reversed(rows):
            size += len(encode_lines([row]))
            if size > _PART_ROOM or len(kept) >= _MAX_ROWS:
                break
            kept.append(row)
        if len(kept) < len(rows):
            self.left_out[name] = len(rows) - len(kept)
        return kept[::-1]

    def _end(self, name: str, data: bytes) -> bytes:
        if len(data) <= _PART_ROOM:
            return data
        self.left_out[name] = len(data) - _PART_ROOM
        return data[-_PART_ROOM:].decode("utf-8", "ignore").encode()

    def _fitting(self, name: str, data: bytes) -> bytes:
        """A part that cannot be cut is left out as a whole."""
        if len(data) <= _PART_ROOM:
            return data
        self.left_out[name] = len(data)
        return b""


def _span(entries: Sequence[Mapping[str, Any]]) -> RecordingSpan:
    return RecordingSpan(entries[0]["at_ns"] / 1e9, entries[-1]["at_ns"] / 1e9)


def _mapped(value: Any, shown: Callable[[str], str]) -> Any:
    if isinstance(value, Mapping):
        return {_mapped(key, shown): _mapped(inner, shown) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_mapped(inner, shown) for inner in value]
    return shown(value) if isinstance(value, str) else value


class RecordingSpan(NamedTuple):
    """The time of a session, in seconds since 1970."""

    began_s: float
    ended_s: float


def redacted_recording(recording: bytes, span: RecordingSpan, redactor: Redactor, home: HomeFolder) -> bytes:
    """Only output is kept: keys and marks of the shell are not."""
    if not recording:
        return b""
    header, *lines = (json.loads(line) for line in recording.splitlines())
    start_s = header["dragoman"]["started_ms"] / 1000
    begin, end = span.began_s - _BEFORE_S - start_s, span.ended_s + _AFTER_S - start_s
    rows = [row for row in lines if begin <= row[0] <= end]
    if not rows:
        return b""
    first = rows[0][0]
    head = {"version": 2, **{key: header[key] for key in _SIZE_KEYS}, "timestamp": int(start_s + first)}
    outputs = _outputs(rows, first, _OutputFilter(redactor, home))
    return b"".join(json.dumps(it, separators=(",", ":")).encode() + b"\n" for it in (head, *outputs))


class _OutputFilter:
    """A secret, or the name of the home, may be cut into several pieces: what could become one is held back."""

    def __init__(self, redactor: Redactor, home: HomeFolder) -> None:
        self._secrets = redactor.stream()
        self._home = home.stream()
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def feed(self, text: str) -> str:
        return self._home.feed(self._decoder.decode(self._secrets.feed(text.encode("utf-8", "replace"))))

    def flush(self) -> str:
        rest = self._decoder.decode(self._secrets.flush(), final=True)
        return self._home.feed(rest) + self._home.flush()


def _outputs(rows: list[list[Any]], first: float, output: _OutputFilter) -> Iterator[list[Any]]:
    at = 0.0
    for row in rows:
        at = round(row[0] - first, 3)
        if row[1] == "r":
            yield [at, "r", row[2]]
        elif row[1] == "o" and (text := output.feed(row[2])):
            yield [at, "o", text]
    if held := output.flush():
        yield [at, "o", held]
