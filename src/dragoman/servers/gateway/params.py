"""The params of each gateway method. They are closed, as in the real gateway: an unknown property is an error that
names it.
"""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from msgspec import Meta

_Key = Annotated[str, Meta(min_length=1, max_length=512)]
_Text = Annotated[str, Meta(max_length=1 << 20)]
_Short = Annotated[str, Meta(max_length=500)]
_Milliseconds = Annotated[int, Meta(ge=0, le=3_600_000)]


class _Closed(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, rename="camel"):
    pass


class NoParams(_Closed, frozen=True):
    pass


class ChatSendParams(_Closed, frozen=True):
    session_key: _Key
    message: _Text
    idempotency_key: Annotated[str, Meta(min_length=1, max_length=200)]
    thinking: str | None = None
    deliver: bool | None = None
    attachments: list[Any] | None = None
    timeout_ms: _Milliseconds | None = None
    session_id: str | None = None


class ChatAbortParams(_Closed, frozen=True):
    session_key: _Key
    run_id: str | None = None


class ChatHistoryParams(_Closed, frozen=True):
    session_key: _Key
    limit: Annotated[int, Meta(ge=1, le=1000)] = 200
    max_chars: Annotated[int, Meta(ge=1, le=500_000)] | None = None


class ChatInjectParams(_Closed, frozen=True):
    session_key: _Key
    message: _Text
    label: _Short | None = None


class AgentWaitParams(_Closed, frozen=True):
    run_id: str
    timeout_ms: _Milliseconds = 30_000


class SessionsListParams(_Closed, frozen=True):
    limit: Annotated[int, Meta(ge=1, le=1000)] = 100
    include_derived_titles: bool = False
    include_last_message: bool = False
    search: _Short = ""


class SessionsCreateParams(_Closed, frozen=True):
    key: _Key | None = None
    agent_id: str | None = None
    label: _Short | None = None


class OpenConversationParams(_Closed, frozen=True):
    workspace: Annotated[str, Meta(pattern="^/", max_length=4096)]
    key: _Key | None = None


class SessionsPatchParams(_Closed, frozen=True):
    key: _Key
    label: _Short | None = None


class SessionParams(_Closed, frozen=True):
    key: _Key


class SessionsDeleteParams(_Closed, frozen=True):
    key: _Key
    delete_transcript: bool | None = None


class SessionsPreviewParams(_Closed, frozen=True):
    keys: Annotated[list[_Key], Meta(max_length=100)]
    limit: Annotated[int, Meta(ge=1, le=100)] = 12
    max_chars: Annotated[int, Meta(ge=20, le=10_000)] = 240


class ModelsListParams(_Closed, frozen=True):
    view: str | None = None


class DocumentCreateParams(_Closed, frozen=True):
    """The protocol document's own name."""

    key: _Key | None = None
    agent: str | None = None
    agent_id: str | None = None
    label: _Short | None = None

    @property
    def as_real(self) -> SessionsCreateParams:
        return SessionsCreateParams(self.key, self.agent_id or self.agent, self.label)


class NodeParams(_Closed, frozen=True):
    node_id: _Short


class PairingRequestParams(_Closed, frozen=True):
    request_id: _Short


class NodeInvokeParams(_Closed, frozen=True):
    node_id: _Short
    command: _Short
    idempotency_key: Annotated[str, Meta(min_length=1, max_length=200)]
    params: Any = None
    timeout_ms: Annotated[int, Meta(ge=1, le=120_000)] = 30_000


class NodeInvokeResult(_Closed, frozen=True):
    id: _Short
    ok: bool
    node_id: _Short = ""
    payload: Any = None
    payload_json: str | None = msgspec.field(name="payloadJSON", default=None)
    error: dict[str, Any] | None = None


class NodeEventParams(_Closed, frozen=True):
    event: _Short
    payload: Any = None
    payload_json: _Text | None = msgspec.field(name="payloadJSON", default=None)


class NodeMessage(msgspec.Struct, frozen=True, rename="camel"):
    """The members of a node's event that a chat needs."""

    message: str = ""
    session_key: str = ""


class CompleteParams(_Closed, frozen=True):
    text: Annotated[str, Meta(max_length=2_000)]
    session_key: str = "main"


class ApprovalResolveParams(_Closed, frozen=True):
    id: str
    decision: Annotated[str, Meta(pattern="^(allow|deny)$")]
