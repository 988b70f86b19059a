"""The frames of Gateway protocols 3 and 4, the messages of the handshake, and session keys.

Payloads stay `msgspec.Raw` until somebody reads them: most of the traffic is passed on, and a hostile payload (a
million keys, say) then costs its own bytes and nothing else.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, Raw, Struct, UnsetType

PROTOCOLS = (3, 4)
TOOL_EVENTS = "tool-events"
_OF_THE_DOCUMENT = 3

# The largest integer that JavaScript counts exactly; a larger sequence number is invalid.
Counter = Annotated[int, Meta(ge=0, le=2**53 - 1)]


ClientId = Literal[
    "webchat-ui",
    "openclaw-control-ui",
    "openclaw-tui",
    "webchat",
    "cli",
    "gateway-client",
    "openclaw-macos",
    "openclaw-ios",
    "openclaw-android",
    "node-host",
    "test",
    "fingerprint",
    "openclaw-probe",
]
ClientMode = Literal["webchat", "cli", "ui", "backend", "node", "probe", "test"]


class _Wire(Struct, frozen=True, rename="camel", omit_defaults=True):
    """Wire names are camelCase, and an absent field is left out rather than null (the peers' schemas want that)."""


class GatewayError(_Wire, frozen=True):
    """Why a request failed. Branch on `code` and `detail_code`; the message is for people."""

    code: str = "UNSPECIFIED"
    message: str = ""
    details: Raw | UnsetType = UNSET
    retryable: bool | None = None
    retry_after_ms: int | float | None = None

    @property
    def detail(self) -> ErrorDetail:
        """The details that a client acts on; details of another shape are ignored."""
        if isinstance(self.details, UnsetType):
            return ErrorDetail()
        try:
            return _DETAIL.decode(self.details)
        except msgspec.DecodeError:
            return ErrorDetail()


class ErrorDetail(_Wire, frozen=True):
    code: str = ""
    reason: str = ""
    request_id: str = ""
    remediation_hint: str = ""
    recommended_next_step: str = ""
    can_retry_with_device_token: bool = False
    missing_scope: str = ""
    expected_protocol: int | None = None
    requested_scopes: tuple[str, ...] = ()
    approved_scopes: tuple[str, ...] = ()


_DETAIL = msgspec.json.Decoder(ErrorDetail)


class StateVersion(Struct, frozen=True):
    presence: int = 0
    health: int = 0


class RequestFrame(_Wire, frozen=True, tag_field="type", tag="req"):
    id: str
    method: str
    params: Raw | UnsetType = UNSET
    traceparent: str | None = None
    expected_profile_id: str | None = None


class ResponseFrame(_Wire, frozen=True, tag_field="type", tag="res"):
    """A real gateway echoes even a number as the id when it refuses a malformed request."""

    id: str | int
    ok: bool
    payload: Raw | UnsetType = UNSET
    error: GatewayError | str | None = None

    @property
    def failure(self) -> GatewayError:
        """The error as one type: real gateways send an object, the specification a plain string."""
        if isinstance(self.error, GatewayError):
            return self.error
        return GatewayError(message=self.error or "the gateway gave no reason")


class EventFrame(_Wire, frozen=True, tag_field="type", tag="event"):
    """`seq` counts one connection's broadcasts; targeted frames have none. It is not `payload.seq`."""

    event: str
    payload: Raw | UnsetType = UNSET
    seq: Counter | None = None
    state_version: StateVersion | None = None
    recipient_profile_id: str | None = None


Frame = RequestFrame | ResponseFrame | EventFrame


class Challenge(_Wire, frozen=True):
    nonce: str
    ts: int
    capabilities: tuple[str, ...] | None = None


class ClientInfo(_Wire, frozen=True, forbid_unknown_fields=True):
    id: ClientId
    version: str
    platform: str
    mode: ClientMode
    display_name: str | None = None
    device_family: str | None = None
    model_identifier: str | None = None
    instance_id: str | None = None


class Credentials(_Wire, frozen=True, forbid_unknown_fields=True):
    token: str | None = None
    password: str | None = None
    device_token: str | None = None
    bootstrap_token: str | None = None

    @property
    def signed(self) -> str:
        """The credential that the device's signature covers."""
        return self.token or self.device_token or self.bootstrap_token or ""


class Device(_Wire, frozen=True, forbid_unknown_fields=True):
    id: str
    public_key: str
    signature: str
    signed_at: int
    nonce: str = ""


class ConnectParams(_Wire, frozen=True, forbid_unknown_fields=True):
    """`None` means "not sent": `auth` must be left out altogether when there is no credential."""

    min_protocol: Annotated[int, Meta(ge=1)]
    max_protocol: Annotated[int, Meta(ge=1)]
    client: ClientInfo
    role: str | None = None
    scopes: tuple[str, ...] | None = None
    caps: tuple[str, ...] | None = None
    commands: tuple[str, ...] | None = None
    permissions: dict[str, Any] | None = None
    auth: Credentials | None = None
    device: Device | None = None
    locale: str | None = None
    user_agent: str | None = None
    path_env: str | None = None

    @property
    def asked_role(self) -> str:
        return self.role or "operator"

    @property
    def reads_kinds(self) -> bool:
        """Whether it needs tools, diffs and surfaces as `payload.kind`: protocol 3 sends it no tool stream."""
        is_operator = self.asked_role == "operator"
        return is_operator and self.max_protocol == _OF_THE_DOCUMENT and TOOL_EVENTS not in (self.caps or ())

    @property
    def follows_document(self) -> bool:
        """Whether it knows the protocol by its document alone. Real clients ask for reading and writing by name; the
        document does not have those scopes. It also has errors as text, and no repair of a gap."""
        scopes = self.scopes or ()
        return self.reads_kinds and bool(scopes) and not {"operator.read", "operator.write"} & {*scopes}

    @property
    def signed_token(self) -> str:
        return self.auth.signed if self.auth else ""


class _Hello(Struct, frozen=True, rename="camel"):
    """Parts of the hello are sent even where they hold the default: clients validate it. `UNSET` is left out."""


class ServerInfo(_Hello, frozen=True):
    version: str = ""
    conn_id: str = ""


class Features(_Hello, frozen=True):
    methods: tuple[str, ...] = ()
    events: tuple[str, ...] = ()
    capabilities: tuple[str, ...] | UnsetType = UNSET


class SessionDefaults(_Hello, frozen=True):
    default_agent_id: str = "main"
    main_key: str = "main"
    main_session_key: str = "agent:main:main"
    scope: str = "per-sender"


class GatewaySnapshot(_Hello, frozen=True):
    presence: Raw = Raw(b"[]")
    health: Raw = Raw(b"{}")
    state_version: StateVersion = StateVersion()
    uptime_ms: int | float = 0
    session_defaults: SessionDefaults = SessionDefaults()


class Grant(_Hello, frozen=True):
    """What the gateway really granted: a connection without scopes is "ok" and can do nothing."""

    role: str = "operator"
    scopes: tuple[str, ...] = ()
    device_token: str | UnsetType | None = UNSET
    issued_at_ms: int | float | UnsetType = UNSET


class Policy(_Hello, frozen=True):
    max_payload: int = 26_214_400
    max_buffered_bytes: int = 52_428_800
    tick_interval_ms: int = 30_000


_NO_SNAPSHOT, _NO_POLICY = GatewaySnapshot(), Policy()


class HelloOk(_Hello, frozen=True, tag_field="type", tag="hello-ok"):
    """The specification's hello has `protocol` alone; everything else may be missing."""

    protocol: int
    server: ServerInfo = ServerInfo()
    features: Features = Features()
    snapshot: GatewaySnapshot = _NO_SNAPSHOT
    auth: Grant | UnsetType = UNSET
    policy: Policy = _NO_POLICY
    canvas_host_url: str | UnsetType | None = UNSET
    plugin_surface_urls: dict[str, str] | UnsetType = UNSET

    @property
    def promises_ticks(self) -> bool:
        return self.policy is not _NO_POLICY

    @property
    def is_bare(self) -> bool:
        """As in the specification: such a gateway does not describe itself, and has one spelling of a session's key."""
        return not self.promises_ticks and self.snapshot is _NO_SNAPSHOT


_DEFAULTS = SessionDefaults()
_WITHOUT_AGENT = frozenset({"", "global", "unknown"})


def canonical_session_key(key: str, defaults: SessionDefaults = _DEFAULTS) -> str:
    """The key as the gateway's events spell it: `agent:<agent>:<rest>`."""
    if key.startswith("agent:") or key in _WITHOUT_AGENT:
        return key
    if key == defaults.main_key:
        return defaults.main_session_key
    return f"agent:{defaults.default_agent_id}:{key}"


def short_session_key(key: str, defaults: SessionDefaults = _DEFAULTS) -> str:
    """The key as a client of the protocol document chose it, where that is still the same session: `acp:x`."""
    short = key.removeprefix(f"agent:{defaults.default_agent_id}:")
    return short if canonical_session_key(short, defaults) == key else key
