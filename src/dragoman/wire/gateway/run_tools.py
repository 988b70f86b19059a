"""The tool calls of one run, each told from up to three sides (`tool`, `item`, `command_output`), joined by its id."""

from __future__ import annotations

from msgspec import UNSET, Raw, UnsetType

from dragoman.wire.gateway.diffs import changes, changes_files
from dragoman.wire.gateway.payloads import ResultBody, ToolData, joined_text, result_body, size_of
from dragoman.wire.gateway.vocabulary import ChatEvent, Diff, ToolResult, ToolStart, ToolUpdate

MAX_CALLS = 512
_ENDS = frozenset({"end", "result"})
_FAILED = frozenset({"failed", "error", "cancelled"})
_UNFINISHED = "the run ended before the tool did"
_NOT_FOLLOWED = "too many tools at once: this one is not followed any more"


class Call:
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
        "seq",
        "streamed",
        "told",
    )

    def __init__(self, name: str, *, derives: bool) -> None:
        self.name = name
        self.derives = derives  # whether diffs are ours to find: a gateway of the `kind` form sends them itself
        self.told: set[str] = set()
        self.output = ""
        self.error: str | None = None
        self.diff_input: Raw | UnsetType = UNSET
        self.end: ToolData | None = None
        self.seq = -1
        self.streamed = self.command = self.finished = False

    @property
    def size(self) -> int:
        """Bytes kept until the call ends, nearly."""
        end = self.end or ToolData()
        texts = len(self.output) + len(end.output or "") + len(end.summary or "")
        return texts + size_of(self.diff_input) + size_of(end.args) + size_of(end.result)


class RunTools:
    def __init__(self, run_id: str, session_key: str) -> None:
        self._run_id, self._session_key = run_id, session_key
        self._calls: dict[str, Call] = {}

    @property
    def size(self) -> int:
        return sum(call.size for call in self._calls.values() if not call.finished)

    def note(self, stream: str, data: ToolData, seq: int | None) -> list[ChatEvent]:
        """One frame about a call. What it adds is told; what is known already, or late, is not."""
        call_id = data.tool_call_id
        call = self._calls.get(call_id)
        if call is not None and call.finished and not _is_used_again(call, data, seq):
            return []
        happened: list[ChatEvent] = []
        if call is None or call.finished:
            self._calls.pop(call_id, None)
            happened += self._make_room()
            call = self._calls[call_id] = Call(data.name, derives=stream != "kind")
            happened.append(self._started(call_id, call, data))
        call.streamed |= stream == "tool"
        call.command |= data.kind == "command" or data.command_bearing or stream == "command_output"
        happened += self._progressed(call_id, call, data, seq)
        if data.phase in _ENDS:
            happened += self._ended(call_id, call, stream, data)
        return happened

    def settle(self) -> list[ChatEvent]:
        """Calls that ended without the side that tells results: the run went on, so no more is coming."""
        ended = [(call_id, call) for call_id, call in self._calls.items() if call.end and not call.finished]
        return [event for call_id, call in ended for event in self._finish(call_id, call, call.end or ToolData())]

    def close(self) -> list[ChatEvent]:
        """The run is over: every start gets its result."""
        happened = self.settle()
        for call_id, call in self._calls.items():
            happened += self._given_up(call_id, call, _UNFINISHED)
        return happened

    def _make_room(self) -> list[ChatEvent]:
        """The oldest call is forgotten, rather one that is finished than one that is not."""
        if len(self._calls) < MAX_CALLS:
            return []
        oldest = next((known for known, other in self._calls.items() if other.finished), next(iter(self._calls)))
        return self._given_up(oldest, self._calls.pop(oldest), _NOT_FOLLOWED)

    def _given_up(self, call_id: str, call: Call, why: str) -> list[ChatEvent]:
        if call.finished:
            return []
        call.error = call.error if call.end else call.error or why
        return self._finish(call_id, call, call.end or ToolData())

    def _started(self, call_id: str, call: Call, data: ToolData) -> ToolStart:
        self._learn(call, data)
        return ToolStart(
            run_id=self._run_id,
            session_key=self._session_key,
            id=call_id,
            tool=data.name,
            title=data.title,
            input=data.args,
        )

    def _progressed(self, call_id: str, call: Call, data: ToolData, seq: int | None) -> list[ChatEvent]:
        news = self._learn(call, data)
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

    def _learn(self, call: Call, data: ToolData) -> set[str]:
        """Which of title and arguments this frame is the first to bring."""
        call.name = call.name or data.name
        news = {name for name in ("title", "args") if getattr(data, name)} - call.told
        call.told |= news
        if call.derives and data.args and "args" in news and changes_files(call.name):
            call.diff_input = Raw(bytes(data.args))
        return news

    def _ended(self, call_id: str, call: Call, stream: str, data: ToolData) -> list[ChatEvent]:
        if data.status in _FAILED or data.is_error:
            call.error = data.error or call.error or data.status or "failed"
        call.output = _first_text(data.output, data.summary, call.output)
        call.end = _fuller(call.end, data)
        is_told_elsewhere = call.streamed if stream != "tool" else False
        is_command_item = stream == "item" and call.command
        return [] if is_told_elsewhere or is_command_item else self._finish(call_id, call, call.end)

    def _finish(self, call_id: str, call: Call, end: ToolData) -> list[ChatEvent]:
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
            Diff(
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


def _is_used_again(call: Call, data: ToolData, seq: int | None) -> bool:
    """Some models give every call the same id: a start that is newer than all we saw of the call is a new one."""
    return data.phase == "start" and seq is not None and seq > call.seq


def _progress(data: ToolData) -> str | None:
    if data.phase in _ENDS:
        return None
    if data.partial_result:
        return joined_text(result_body(data.partial_result).content)
    return data.output if data.output is not None else data.progress_text


def _first_text(*texts: str | None) -> str:
    return next((text for text in texts if text), "")


def _fuller(known: ToolData | None, news: ToolData) -> ToolData:
    """Of two ends of the same call, the one that says more: an exit code or a result."""
    if known is None or news.result or news.exit_code is not None:
        return news
    return known
