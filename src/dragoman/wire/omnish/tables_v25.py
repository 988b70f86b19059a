"""The table of protocol version 25: 37 variants. The shared ones keep their fields, not their indices."""

from __future__ import annotations

from dragoman.wire.omnish import messages_v25 as m
from dragoman.wire.omnish.layout import Choice, Option, Pair, Record, Scalar, Sequence, Symbol
from dragoman.wire.omnish.tables import (
    ACK,
    ATTRS,
    BOOL,
    BYTES,
    COMMAND_COMPLETE,
    COMPLETION_REQUEST,
    COMPLETION_RESPONSE,
    EVENT,
    IO_DATA,
    OPT_STR,
    REQUEST,
    RESPONSE,
    SESSION_END,
    SESSION_START,
    STR,
    U64,
)

U32 = Scalar.U32
OPT_LINES = Option(Sequence(STR))
CHANGES = Sequence(Record(m.ConfigChange, {"path": STR, "value": STR}))

ITEM_KIND = Choice(
    [
        Record(m.Toggle, {"value": BOOL}),
        Record(m.Select, {"options": Sequence(STR), "selected": U64}),
        Record(m.TextInput, {"value": STR}),
        Record(m.Label, {}),
        Record(m.Data, {"value": STR}),
        Record(m.Button, {"style": Symbol(m.ButtonStyle)}),
    ]
)
PREFILLS = Sequence(Pair(STR, Sequence(Pair(STR, STR))))
CONFIG_ITEM = Record(m.ConfigItem, {"path": STR, "label": STR, "kind": ITEM_KIND, "prefills": PREFILLS})
CONFIG_HANDLER = Record(m.ConfigHandlerInfo, {"path": STR, "label": STR, "handler": STR})

CHAT_READY = Record(
    m.ChatReady,
    {
        "request_id": STR,
        "thread_id": STR,
        "last_exchange": Option(Pair(STR, STR)),
        "earlier_count": U32,
        "model_name": OPT_STR,
        "history": OPT_LINES,
        "thread_host": OPT_STR,
        "thread_cwd": OPT_STR,
        "thread_summary": OPT_STR,
        "error": OPT_STR,
        "error_display": OPT_STR,
        "sandbox_disabled": Option(BOOL),
        "thread_title_word": OPT_STR,
    },
)
CHAT_TOOL_STATUS = Record(
    m.ChatToolStatus,
    {
        "request_id": STR,
        "thread_id": STR,
        "tool_name": STR,
        "status": STR,
        "tool_call_id": OPT_STR,
        "status_icon": Option(Symbol(m.StatusIcon)),
        "display_name": OPT_STR,
        "param_desc": OPT_STR,
        "result_compact": OPT_LINES,
        "result_full": OPT_LINES,
    },
)
CHAT_TOOL_CALL = Record(
    m.ChatToolCall,
    {
        "request_id": STR,
        "thread_id": STR,
        "tool_name": STR,
        "tool_call_id": STR,
        "input": STR,
        "plugin_name": STR,
        "sandboxed": BOOL,
    },
)
CHAT_TOOL_RESULT = Record(
    m.ChatToolResult,
    {
        "request_id": STR,
        "thread_id": STR,
        "tool_call_id": STR,
        "content": STR,
        "is_error": BOOL,
        "needs_summarization": BOOL,
    },
)
CHAT_MESSAGE = Record(
    m.ChatMessage,
    {
        "request_id": STR,
        "session_id": STR,
        "thread_id": STR,
        "query": STR,
        "model": OPT_STR,
        "project_instructions": OPT_STR,
    },
)
COMPLETION_SUMMARY = Record(
    m.CompletionSummary,
    {
        "session_id": STR,
        "sequence_id": U64,
        "prompt": STR,
        "completion": STR,
        "accepted": BOOL,
        "latency_ms": U64,
        "dwell_time_ms": Option(U64),
        "cwd": OPT_STR,
        "extra": ATTRS,
    },
)
UPDATE_CHUNK = Record(
    m.UpdateChunk,
    {"seq": U32, "total_size": U64, "checksum": STR, "data": BYTES, "done": BOOL, "error": OPT_STR},
)

V25_VARIANTS = [
    SESSION_START,
    SESSION_END,
    Record(m.SessionUpdate, {"session_id": STR, "timestamp_ms": U64, "attrs": ATTRS}),
    IO_DATA,
    EVENT,
    REQUEST,
    RESPONSE,
    COMMAND_COMPLETE,
    Record(COMPLETION_REQUEST.of, {**COMPLETION_REQUEST.fields, "cwd": OPT_STR}),
    COMPLETION_RESPONSE,
    COMPLETION_SUMMARY,
    Record(m.ChatStart, {"request_id": STR, "session_id": STR, "new_thread": BOOL, "thread_id": OPT_STR}),
    CHAT_READY,
    Record(m.ChatEnd, {"session_id": STR, "thread_id": STR}),
    CHAT_MESSAGE,
    Record(m.ChatResponse, {"request_id": STR, "thread_id": STR, "content": STR}),
    Record(m.ChatInterrupt, {"request_id": STR, "session_id": STR, "thread_id": STR, "query": STR}),
    CHAT_TOOL_STATUS,
    CHAT_TOOL_CALL,
    CHAT_TOOL_RESULT,
    ACK,
    Record(m.Auth, {"token": STR, "protocol_version": U32}),
    Record(m.AuthResult, {"ok": BOOL, "protocol_version": U32, "daemon_version": STR}),
    Record(m.ConfigQuery, {}),
    Record(m.ConfigResponse, {"items": Sequence(CONFIG_ITEM), "handlers": Sequence(CONFIG_HANDLER)}),
    Record(m.ConfigUpdate, {"changes": CHANGES}),
    Record(m.ConfigUpdateResult, {"ok": BOOL, "error": OPT_STR}),
    Record(m.UpdateCheck, {"os": STR, "arch": STR, "current_version": STR, "hostname": STR}),
    Record(m.UpdateInfo, {"latest_version": STR, "checksum": STR, "available": BOOL}),
    Record(m.UpdateRequest, {"os": STR, "arch": STR, "version": STR, "hostname": STR}),
    UPDATE_CHUNK,
    Record(m.ConfigClient, {"changes": CHANGES}),
    Record(m.TestDisconnect, {"delay_secs": U64}),
    Record(m.NoticePush, {"level": Symbol(m.NoticeLevel), "text": STR, "kind": OPT_STR}),
    Record(m.PluginSyncCheck, {"current_checksum": STR, "hostname": STR}),
    Record(m.PluginSyncInfo, {"checksum": STR, "available": BOOL, "total_size": U64}),
    Record(m.PluginSyncRequest, {"hostname": STR}),
]
