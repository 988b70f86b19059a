"""The messages that protocol version 25 added; fields stand in their order on the wire."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class StatusIcon(Enum):
    RUNNING = "Running"
    SUCCESS = "Success"
    ERROR = "Error"


class ButtonStyle(Enum):
    DEFAULT = "Default"
    DESTRUCTIVE = "Destructive"


class NoticeLevel(Enum):
    INFO = "Info"
    ERROR = "Error"


@dataclass(slots=True)
class Auth:
    """The first message of a client."""

    token: str
    protocol_version: int


@dataclass(slots=True)
class AuthResult:
    """With `ok` false an outdated client may still ask for updates."""

    ok: bool
    protocol_version: int
    daemon_version: str


@dataclass(slots=True)
class SessionUpdate:
    """Changed attributes, or none as a heartbeat."""

    session_id: str
    timestamp_ms: int
    attrs: dict[str, str]


@dataclass(slots=True)
class CompletionSummary:
    """The outcome of a suggestion."""

    session_id: str
    sequence_id: int
    prompt: str
    completion: str
    accepted: bool
    latency_ms: int
    dwell_time_ms: int | None
    cwd: str | None
    extra: dict[str, str]


@dataclass(slots=True)
class ChatStart:
    """Open a thread, or go on with one."""

    request_id: str
    session_id: str
    new_thread: bool
    thread_id: str | None


@dataclass(slots=True)
class ChatReady:
    """A thread, and one message in it."""

    request_id: str
    thread_id: str
    last_exchange: tuple[str, str] | None
    earlier_count: int
    model_name: str | None
    history: list[str] | None
    thread_host: str | None
    thread_cwd: str | None
    thread_summary: str | None
    error: str | None
    error_display: str | None
    sandbox_disabled: bool | None
    thread_title_word: str | None


@dataclass(slots=True)
class ChatEnd:
    """The thread is left."""

    session_id: str
    thread_id: str


@dataclass(slots=True)
class ChatMessage:
    """A person's turn."""

    request_id: str
    session_id: str
    thread_id: str
    query: str
    model: str | None
    project_instructions: str | None


@dataclass(slots=True)
class ChatResponse:
    """The model's turn."""

    request_id: str
    thread_id: str
    content: str


@dataclass(slots=True)
class ChatInterrupt:
    """Stop the running turn."""

    request_id: str
    session_id: str
    thread_id: str
    query: str


@dataclass(slots=True)
class ChatToolStatus:
    """The state of a running tool, for the screen."""

    request_id: str
    thread_id: str
    tool_name: str
    status: str
    tool_call_id: str | None
    status_icon: StatusIcon | None
    display_name: str | None
    param_desc: str | None
    result_compact: list[str] | None
    result_full: list[str] | None


@dataclass(slots=True)
class ChatToolCall:
    """A tool to run at the client; `input` is JSON."""

    request_id: str
    thread_id: str
    tool_name: str
    tool_call_id: str
    input: str
    plugin_name: str
    sandboxed: bool


@dataclass(slots=True)
class ChatToolResult:
    """The result of a tool."""

    request_id: str
    thread_id: str
    tool_call_id: str
    content: str
    is_error: bool
    needs_summarization: bool


@dataclass(slots=True)
class Toggle:
    """On or off."""

    value: bool


@dataclass(slots=True)
class Select:
    """One of several."""

    options: list[str]
    selected: int


@dataclass(slots=True)
class TextInput:
    """Free text."""

    value: str


@dataclass(slots=True)
class Label:
    """Text without a value."""


@dataclass(slots=True)
class Data:
    """JSON for the handler."""

    value: str


@dataclass(slots=True)
class Button:
    """Something to press."""

    style: ButtonStyle


@dataclass(slots=True)
class ConfigItem:
    """One line of the settings menu; `prefills` set other items for a chosen value."""

    path: str
    label: str
    kind: Toggle | Select | TextInput | Label | Data | Button
    prefills: list[tuple[str, list[tuple[str, str]]]]


@dataclass(slots=True)
class ConfigHandlerInfo:
    """A submenu with its own handler."""

    path: str
    label: str
    handler: str


@dataclass(slots=True)
class ConfigChange:
    """A new value of one item."""

    path: str
    value: str


@dataclass(slots=True)
class ConfigQuery:
    """Ask for the settings menu."""


@dataclass(slots=True)
class ConfigResponse:
    """The settings menu."""

    items: list[ConfigItem]
    handlers: list[ConfigHandlerInfo]


@dataclass(slots=True)
class ConfigUpdate:
    """Change settings."""

    changes: list[ConfigChange]


@dataclass(slots=True)
class ConfigUpdateResult:
    """Whether they were changed."""

    ok: bool
    error: str | None


@dataclass(slots=True)
class ConfigClient:
    """The daemon's push of the client's own settings."""

    changes: list[ConfigChange]


@dataclass(slots=True)
class UpdateCheck:
    """Is there a newer version?"""

    os: str
    arch: str
    current_version: str
    hostname: str


@dataclass(slots=True)
class UpdateInfo:
    """The newest version."""

    latest_version: str
    checksum: str
    available: bool


@dataclass(slots=True)
class UpdateRequest:
    """Send it."""

    os: str
    arch: str
    version: str
    hostname: str


@dataclass(slots=True)
class UpdateChunk:
    """A part of it; `done` marks the last."""

    seq: int
    total_size: int
    checksum: str
    data: bytes
    done: bool
    error: str | None


@dataclass(slots=True)
class TestDisconnect:
    """Drop the connection after this time."""

    delay_secs: int


@dataclass(slots=True)
class NoticePush:
    """The daemon's notice for the screen."""

    level: NoticeLevel
    text: str
    kind: str | None


@dataclass(slots=True)
class PluginSyncCheck:
    """Are these plugins current?"""

    current_checksum: str
    hostname: str


@dataclass(slots=True)
class PluginSyncInfo:
    """The daemon's plugins."""

    checksum: str
    available: bool
    total_size: int


@dataclass(slots=True)
class PluginSyncRequest:
    """Send them, as update chunks."""

    hostname: str
