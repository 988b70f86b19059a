"""The chat events of a run: the `kind` events of the specification, and what real gateways add to them.

Text comes in segments: a new one starts after every tool call, so that text and tools can be shown in their order.
The text of a run is its segments joined. A `text_delta` without `replace` is appended to its segment; with `replace`
its content *is* that segment from now on, and later segments are gone. That one rule expresses every correction: of a
client that joined late, of a gap, and of a final message that differs from what was streamed.
"""

from __future__ import annotations

from typing import Literal

from msgspec import UNSET, Raw, Struct, UnsetType

Outcome = Literal["final", "aborted", "error"]


class _RunEvent(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True, tag_field="kind"):
    """The run and the (canonical) session that it belongs to. A run that was not announced is found by its session."""

    run_id: str = ""
    session_key: str = ""


class ChatTextDelta(_RunEvent, frozen=True, kw_only=True, tag="text_delta"):
    content: str
    segment: int = 0
    replace: bool = False


class ToolStart(_RunEvent, frozen=True, kw_only=True, tag="tool_start"):
    """Once per tool call, with what is known by then; `tool_update` adds the rest."""

    id: str
    tool: str
    title: str = ""
    input: Raw | UnsetType = UNSET


class ToolUpdate(_RunEvent, frozen=True, kw_only=True, tag="tool_update"):
    """An update of a running tool. `output` is everything that it has written so far."""

    id: str
    title: str = ""
    input: Raw | UnsetType = UNSET
    output: str | None = None


class ToolResult(_RunEvent, frozen=True, kw_only=True, tag="tool_result"):
    """Once per tool call. `result` is the structured result, which only some clients receive."""

    id: str
    output: str
    error: str | None
    exit_code: int | None = None
    duration_ms: int | float | None = None
    result: Raw | UnsetType = UNSET


class ChatDiff(_RunEvent, frozen=True, kw_only=True, tag="diff"):
    """`original` is None for a new file. A `partial` diff shows the changed passages, not the whole file."""

    path: str
    original: str | None
    modified: str
    tool_id: str = ""
    partial: bool = False


class ChatStatus(_RunEvent, frozen=True, kw_only=True, tag="status"):
    phase: str


class ChatUsage(_RunEvent, frozen=True, kw_only=True, tag="usage"):
    """Totals of the run so far."""

    input_tokens: int | float | None = None
    output_tokens: int | float | None = None
    total_tokens: int | float | None = None


class Done(_RunEvent, frozen=True, kw_only=True, tag="done"):
    """Once per run.

    `stop_reason` is `end_turn`, `aborted`, or the message of the error; `outcome` distinguishes them.
    """

    stop_reason: str
    outcome: Outcome = "final"


class ChatGap(_RunEvent, frozen=True, kw_only=True, tag="gap"):
    """Frames of any run were lost: reload the history."""

    expected: int
    received: int


class A2ui(_RunEvent, frozen=True, kw_only=True, tag="a2ui"):
    """For the canvas, unchanged."""

    payload: Raw


class ApprovalRequest(_RunEvent, frozen=True, kw_only=True, tag="approval"):
    """The run waits for a person of the gateway; `subject` is what would run, or the folder to trust."""

    id: str
    tool: str
    subject: str
    for_trust: bool = False


ChatEvent = (
    ChatTextDelta
    | ToolStart
    | ToolUpdate
    | ToolResult
    | ChatDiff
    | ChatStatus
    | ChatUsage
    | Done
    | ChatGap
    | A2ui
    | ApprovalRequest
)
