"""The tool calls of one run, joined by their id from up to three streams, and the diffs derived from them.

The streams are `tool`, `item` and `command_output`. No gateway sends a diff, but the arguments of an agent's file
tools say what they changed.
"""

from __future__ import annotations

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from dragoman.protocols.gateway.chat_events import ChatDiff, ChatEvent, ToolResult, ToolStart, ToolUpdate
from dragoman.protocols.gateway.payloads import ResultBody, ToolData, joined_text, read, result_body, size_of

MAX_CALLS = 512
_UNFINISHED = "the run ended before the tool did"
_NOT_FOLLOWED = "too many tools at once: this one is not followed any more"


class FileChange(Struct, frozen=True):
    path: str
    original: str | None
    modified: str
    partial: bool


class _Edit(Struct, frozen=True):
    """One passage, under the names that agents' edit tools use for it."""

    old: str | None = None
    old_text: str | None = msgspec.field(default=None, name="oldText")
    old_string: str | None = None
    new: str | None = None
    new_text: str | None = msgspec.field(default=None, name="newText")
    new_string: str | None = None

    def replacement(self) -> tuple[str, str] | None:
        before = _first(self.old_text, self.old_string, self.old)
        after = _first(self.new_text, self.new_string, self.new)
        return None if before is None or after is None else (before, after)


class _FileArgs(_Edit, frozen=True):
    path: str | None = None
    file_path: str | None = None
    content: str | None = None
    edits: tuple[_Edit, ...] = ()


_ARGS = msgspec.json.Decoder(_FileArgs)
_WRITES = frozenset({"write", "write_file", "create_file"})
_EDITS = frozenset({"edit", "edit_file", "multi_edit", "str_replace"})


def changes_files(tool: str) -> bool:
    return tool.lower() in _WRITES | _EDITS


def changes(tool: str, args: Raw | UnsetType) -> list[FileChange]:
    """What a successful call changed. A write may have replaced a file whose earlier content is unknown."""
    read_args = read(args, _ARGS)
    path = _first(read_args.path, read_args.file_path) if read_args else None
    if read_args is None or not path:
        return []
    if tool.lower() in _WRITES:
        return [] if read_args.content is None else [FileChange(path, None, read_args.content, partial=False)]
    replacements = [edit.replacement() for edit in (read_args, *read_args.edits)]
    return [FileChange(path, *replacement, partial=True) for replacement in replacements if replacement]


def _first(*values: str | None) -> str | None:
    return next((value for value in values if value is not None), None)


_ENDS = frozenset({"end", "result"})
_FAILED = frozenset({"failed", "error", "cancelled"})


class ToolCallState:
    """One call's state. A field of `result` is filled by whichever side knows it."""

    __slots__ = (
        "command",
        "derives",
        "diff_input",
        "end",
        "error",
        "finished",
        "name",
        "output",
        "reported",
        "seq",
        "streamed",
    )

    def __init__(self, name: str, *, derives: bool) -> None:
        self.name = name
        self.derives = derives  # whether diffs are derived here: a gateway of the `kind` form sends them itself
        self.reported: set[str] = set()
        self.output = ""
        self.error: str | None = None
        self.diff_input: Raw | UnsetType = UNSET
        self.end: ToolData | None = None
        self.seq = -1
        self.streamed = self.command = self.finished = False

    @property
    def size(self) -> int:
        """The approximate bytes that are kept until the call ends."""
        end = self.end or ToolData()
        texts = len(self.output) + len(end.output or "") + len(end.summary or "")
        return texts + size_of(self.diff_input) + size_of(end.args) + size_of(end.result)


class RunTools:
    def __init__(self, run_id: str, session_key: str) -> None:
        self._run_id, self._session_key = run_id, session_key
        self._calls: dict[str, ToolCallState] = {}

    @property
    def size(self) -> int:
        return sum(call.size for call in self._calls.values() if not call.finished)

    def note(self, stream: str, data: ToolData, seq: int | None) -> list[ChatEvent]:
        """Process one frame about a call. Only what it adds is published; known or late data is not."""
        call_id = data.tool_call_id
        call = self._calls.get(call_id)
        if call is not None and call.finished and not _is_used_again(call, data, seq):
            return []
        events: list[ChatEvent] = []
        if call is None or call.finished:
            self._calls.pop(call_id, None)
            events += self._make_room()
            call = self._calls[call_id] = ToolCallState(data.name, derives=stream != "kind")
            events.append(self._started(call_id, call, data))
        call.streamed |= stream == "tool"
        call.command |= data.kind == "command" or data.command_bearing or stream == "command_output"
        events += self._progressed(call_id, call, data, seq)
        if data.phase in _ENDS:
            events += self._ended(call_id, call, stream, data)
        return events

    def settle(self) -> list[ChatEvent]:
        """End calls whose result never arrived: the run continued, so no more is coming."""
        ended = [(call_id, call) for call_id, call in self._calls.items() if call.end and not call.finished]
        return [event for call_id, call in ended for event in self._finish(call_id, call, call.end or ToolData())]

    def close(self) -> list[ChatEvent]:
        """The run is over: every start gets its result."""
        events = self.settle()
        for call_id, call in self._calls.items():
            events += self._given_up(call_id, call, _UNFINISHED)
        return events

    def _make_room(self) -> list[ChatEvent]:
        """Drop the oldest call, preferring finished ones."""
        if len(self._calls) < MAX_CALLS:
            return []
        oldest = next((known for known, other in self._calls.items() if other.finished), next(iter(self._calls)))
        return self._given_up(oldest, self._calls.pop(oldest), _NOT_FOLLOWED)

    def _given_up(self, call_id: str, call: ToolCallState, why: str) -> list[ChatEvent]:
        if call.finished:
            return []
        call.error = call.error if call.end else call.error or why
        return self._finish(call_id, call, call.end or ToolData())

    def _started(self, call_id: str, call: ToolCallState, data: ToolData) -> ToolStart:
        self._record_call(call, data)
        return ToolStart(
            run_id=self._run_id,
            session_key=self._session_key,
            id=call_id,
            tool=data.name,
            title=data.title,
            input=data.args,
        )

    def _progressed(self, call_id: str, call: ToolCallState, data: ToolData, seq: int | None) -> list[ChatEvent]:
        news = self._record_call(call, data)
        output = _progress(data)
        if seq is not None and seq <= call.seq:
            output = None
        call.seq = max(call.seq, seq if seq is not None else -1)
        if output is not None and output.rstrip() == call.output.rstrip():
            output = None
        if output is not None:
            call.output = output
        if output is None and not news:
            return []
        update = ToolUpdate(
            run_id=self._run_id,
            session_key=self._session_key,
            id=call_id,
            title=data.title if "title" in news else "",
            input=data.args if "args" in news else UNSET,
            output=output,
        )
        return [update]

    def _record_call(self, call: ToolCallState, data: ToolData) -> set[str]:
        """Which of title and arguments this frame is the first to contain."""
        call.name = call.name or data.name
        news = {name for name in ("title", "args") if getattr(data, name)} - call.reported
        call.reported |= news
        if call.derives and data.args and "args" in news and changes_files(call.name):
            call.diff_input = Raw(bytes(data.args))
        return news

    def _ended(self, call_id: str, call: ToolCallState, stream: str, data: ToolData) -> list[ChatEvent]:
        if data.status in _FAILED or data.is_error:
            call.error = data.error or call.error or data.status or "failed"
        call.output = _first_text(data.output, data.summary, call.output)
        call.end = _more_informative(call.end, data)
        is_reported_elsewhere = call.streamed if stream != "tool" else False
        is_command_item = stream == "item" and call.command
        return [] if is_reported_elsewhere or is_command_item else self._finish(call_id, call, call.end)

    def _finish(self, call_id: str, call: ToolCallState, end: ToolData) -> list[ChatEvent]:
        call.finished, diff_input, call.diff_input = True, call.diff_input, UNSET
        body = result_body(end.result) if end.result else ResultBody(content=call.output)
        output = joined_text(body.content)
        error = output if output and end.is_error and not end.error else call.error
        result = ToolResult(
            run_id=self._run_id,
            session_key=self._session_key,
            id=call_id,
            output=output,
            error=error,
            exit_code=body.details.exit_code if body.details else end.exit_code,
            duration_ms=body.details.duration_ms if body.details else end.duration_ms,
            result=end.result,
        )
        call.output, call.end = "", None
        return [result, *([] if error else self._diffs(call_id, call.name, diff_input))]

    def _diffs(self, call_id: str, tool: str, args: Raw | UnsetType) -> list[ChatEvent]:
        return [
            ChatDiff(
                run_id=self._run_id,
                session_key=self._session_key,
                path=change.path,
                original=change.original,
                modified=change.modified,
                tool_id=call_id,
                partial=change.partial,
            )
            for change in changes(tool, args)
        ]


def _is_used_again(call: ToolCallState, data: ToolData, seq: int | None) -> bool:
    """Some models give every call the same id: a start newer than all known frames of the call is a new call."""
    return data.phase == "start" and seq is not None and seq > call.seq


def _progress(data: ToolData) -> str | None:
    if data.phase in _ENDS:
        return None
    if data.partial_result:
        return joined_text(result_body(data.partial_result).content)
    return data.output if data.output is not None else data.progress_text


def _first_text(*texts: str | None) -> str:
    return next((text for text in texts if text), "")


def _more_informative(known: ToolData | None, news: ToolData) -> ToolData:
    """Of two ends of the same call, the more informative one: with an exit code or a result."""
    if known is None or news.result or news.exit_code is not None:
        return news
    return known
