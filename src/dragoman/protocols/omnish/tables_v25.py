"""The message table of protocol version 25: 37 variants. Shared ones keep their fields, not their indices."""

from __future__ import annotations

from dragoman.protocols.omnish import messages_v25 as m
from dragoman.protocols.omnish.layout import (
    ChoiceLayout,
    EnumLayout,
    OptionLayout,
    PairLayout,
    RecordLayout,
    Scalar,
    SequenceLayout,
)
from dragoman.protocols.omnish.schema import (
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
OPT_LINES = OptionLayout(SequenceLayout(STR))
CHANGES = SequenceLayout(RecordLayout(m.ConfigChange, {"path": STR, "value": STR}))

ITEM_KIND = ChoiceLayout(
    [
        RecordLayout(m.Toggle, {"value": BOOL}),
        RecordLayout(m.Select, {"options": SequenceLayout(STR), "selected": U64}),
        RecordLayout(m.TextInput, {"value": STR}),
        RecordLayout(m.Label, {}),
        RecordLayout(m.Data, {"value": STR}),
        RecordLayout(m.Button, {"style": EnumLayout(m.ButtonStyle)}),
    ]
)
PREFILLS = SequenceLayout(PairLayout(STR, SequenceLayout(PairLayout(STR, STR))))
CONFIG_ITEM = RecordLayout(m.ConfigItem, {"path": STR, "label": STR, "kind": ITEM_KIND, "prefills": PREFILLS})
CONFIG_HANDLER = RecordLayout(m.ConfigHandlerInfo, {"path": STR, "label": STR, "handler": STR})

CHAT_READY = RecordLayout(
    m.ChatReady,
    {
        "request_id": STR,
        "thread_id": STR,
        "last_exchange": OptionLayout(PairLayout(STR, STR)),
        "earlier_count": U32,
        "model_name": OPT_STR,
        "history": OPT_LINES,
        "thread_host": OPT_STR,
        "thread_cwd": OPT_STR,
        "thread_summary": OPT_STR,
        "error": OPT_STR,
        "error_display": OPT_STR,
        "sandbox_disabled": OptionLayout(BOOL),
        "thread_title_word": OPT_STR,
    },
)
CHAT_TOOL_STATUS = RecordLayout(
    m.ChatToolStatus,
    {
        "request_id": STR,
        "thread_id": STR,
        "tool_name": STR,
        "status": STR,
        "tool_call_id": OPT_STR,
        "status_icon": OptionLayout(EnumLayout(m.StatusIcon)),
        "display_name": OPT_STR,
        "param_desc": OPT_STR,
        "result_compact": OPT_LINES,
        "result_full": OPT_LINES,
    },
)
CHAT_TOOL_CALL = RecordLayout(
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
CHAT_TOOL_RESULT = RecordLayout(
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
CHAT_MESSAGE = RecordLayout(
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
COMPLETION_SUMMARY = RecordLayout(
    m.CompletionSummary,
    {
        "session_id": STR,
        "sequence_id": U64,
        "prompt": STR,
        "completion": STR,
        "accepted": BOOL,
        "latency_ms": U64,
        "dwell_time_ms": OptionLayout(U64),
        "cwd": OPT_STR,
        "extra": ATTRS,
    },
)
UPDATE_CHUNK = RecordLayout(
    m.UpdateChunk,
    {"seq": U32, "total_size": U64, "checksum": STR, "data": BYTES, "done": BOOL, "error": OPT_STR},
)

V25_VARIANTS = [
    SESSION_START,
    SESSION_END,
    RecordLayout(m.SessionUpdate, {"session_id": STR, "timestamp_ms": U64, "attrs": ATTRS}),
    IO_DATA,
    EVENT,
    REQUEST,
    RESPONSE,
    COMMAND_COMPLETE,
    RecordLayout(COMPLETION_REQUEST.of, {**COMPLETION_REQUEST.fields, "cwd": OPT_STR}),
    COMPLETION_RESPONSE,
    COMPLETION_SUMMARY,
    RecordLayout(m.ChatStart, {"request_id": STR, "session_id": STR, "new_thread": BOOL, "thread_id": OPT_STR}),
    CHAT_READY,
    RecordLayout(m.ChatEnd, {"session_id": STR, "thread_id": STR}),
    CHAT_MESSAGE,
    RecordLayout(m.ChatResponse, {"request_id": STR, "thread_id": STR, "content": STR}),
    RecordLayout(m.ChatInterrupt, {"request_id": STR, "session_id": STR, "thread_id": STR, "query": STR}),
    CHAT_TOOL_STATUS,
    CHAT_TOOL_CALL,
    CHAT_TOOL_RESULT,
    ACK,
    RecordLayout(m.Auth, {"token": STR, "protocol_version": U32}),
    RecordLayout(m.AuthResult, {"ok": BOOL, "protocol_version": U32, "daemon_version": STR}),
    RecordLayout(m.ConfigQuery, {}),
    RecordLayout(m.ConfigResponse, {"items": SequenceLayout(CONFIG_ITEM), "handlers": SequenceLayout(CONFIG_HANDLER)}),
    RecordLayout(m.ConfigUpdate, {"changes": CHANGES}),
    RecordLayout(m.ConfigUpdateResult, {"ok": BOOL, "error": OPT_STR}),
    RecordLayout(m.UpdateCheck, {"os": STR, "arch": STR, "current_version": STR, "hostname": STR}),
    RecordLayout(m.UpdateInfo, {"latest_version": STR, "checksum": STR, "available": BOOL}),
    RecordLayout(m.UpdateRequest, {"os": STR, "arch": STR, "version": STR, "hostname": STR}),
    UPDATE_CHUNK,
    RecordLayout(m.ConfigClient, {"changes": CHANGES}),
    RecordLayout(m.TestDisconnect, {"delay_secs": U64}),
    RecordLayout(m.NoticePush, {"level": EnumLayout(m.NoticeLevel), "text": STR, "kind": OPT_STR}),
    RecordLayout(m.PluginSyncCheck, {"current_checksum": STR, "hostname": STR}),
    RecordLayout(m.PluginSyncInfo, {"checksum": STR, "available": BOOL, "total_size": U64}),
    RecordLayout(m.PluginSyncRequest, {"hostname": STR}),
]
