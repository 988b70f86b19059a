"""The table of the protocol document: ten variants, each with its fields in order."""

from __future__ import annotations

from dragoman.wire.omnish import messages as m
from dragoman.wire.omnish.layout import Choice, Mapping, Option, Record, Scalar, Sequence, Symbol

STR, BYTES, BOOL = Scalar.STR, Scalar.BYTES, Scalar.BOOL
U64, I32, F32 = Scalar.U64, Scalar.I32, Scalar.F32
OPT_STR, ATTRS = Option(STR), Mapping(STR, STR)

EVENT_TYPE = Choice(
    [
        Record(m.NonZeroExit, {"exit_code": I32}, bare=True),
        Record(m.PatternMatch, {"pattern": STR}, bare=True),
        Record(m.CommandBoundary, {"command": STR}),
    ]
)
SCOPE = Choice(
    [
        Record(m.CurrentSession, {}),
        Record(m.AllSessions, {}),
        Record(m.Sessions, {"session_ids": Sequence(STR)}, bare=True),
    ]
)
COMMAND_RECORD = Record(
    m.CommandRecord,
    {
        "command_id": STR,
        "session_id": STR,
        "command_line": OPT_STR,
        "cwd": OPT_STR,
        "started_at": U64,
        "ended_at": Option(U64),
        "output_summary": STR,
        "stream_offset": U64,
        "stream_length": U64,
        "exit_code": Option(I32),
    },
)
SUGGESTION = Record(m.CompletionSuggestion, {"text": STR, "confidence": F32})

SESSION_START = Record(
    m.SessionStart,
    {"session_id": STR, "parent_session_id": OPT_STR, "timestamp_ms": U64, "attrs": ATTRS},
)
SESSION_END = Record(m.SessionEnd, {"session_id": STR, "timestamp_ms": U64, "exit_code": Option(I32)})
IO_DATA = Record(
    m.IoData,
    {"session_id": STR, "direction": Symbol(m.IoDirection), "timestamp_ms": U64, "data": BYTES},
)
EVENT = Record(m.Event, {"session_id": STR, "timestamp_ms": U64, "event_type": EVENT_TYPE})
REQUEST = Record(m.Request, {"request_id": STR, "session_id": STR, "query": STR, "scope": SCOPE})
RESPONSE = Record(m.Response, {"request_id": STR, "content": STR, "is_streaming": BOOL, "is_final": BOOL})
COMMAND_COMPLETE = Record(m.CommandComplete, {"session_id": STR, "record": COMMAND_RECORD})
COMPLETION_REQUEST = Record(
    m.CompletionRequest, {"session_id": STR, "input": STR, "cursor_pos": U64, "sequence_id": U64}
)
COMPLETION_RESPONSE = Record(m.CompletionResponse, {"sequence_id": U64, "suggestions": Sequence(SUGGESTION)})
ACK = Record(m.Ack, {})

SEED_VARIANTS = [
    SESSION_START,
    SESSION_END,
    IO_DATA,
    EVENT,
    REQUEST,
    RESPONSE,
    COMMAND_COMPLETE,
    COMPLETION_REQUEST,
    COMPLETION_RESPONSE,
    ACK,
]
