"""Bodies we look into, typed on demand. Fields that nobody here reads stay in the raw body."""

from __future__ import annotations

from typing import Any, Literal, TypeVar

import msgspec
from msgspec import UNSET

from dragoman.errors import RemoteProtocolError
from dragoman.wire.dap.messages import Event, Request, Response, decode_mended

_B = TypeVar("_B")


_LONGEST_CAPABILITIES = 128 * 1024  # of what an adapter can do and later adds to it; real ones have 5,000 bytes


class _Body(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    pass


class StoppedBody(_Body, frozen=True):
    reason: str
    description: str | None = None
    thread_id: int | None = None
    preserve_focus_hint: bool | None = None
    text: str | None = None
    all_threads_stopped: bool | None = None
    hit_breakpoint_ids: tuple[int, ...] | None = None


class ContinuedBody(_Body, frozen=True):
    thread_id: int
    all_threads_continued: bool | None = None


class ExitedBody(_Body, frozen=True):
    exit_code: int


class TerminatedBody(_Body, frozen=True):
    restart: Any = None


class ThreadBody(_Body, frozen=True):
    reason: str
    thread_id: int


class Source(_Body, frozen=True):
    name: str | None = None
    path: str | None = None
    source_reference: int | None = None


class OutputBody(_Body, frozen=True):
    output: str
    category: str | None = "console"  # what the specification says of a missing one
    group: str | None = None
    variables_reference: int | None = None
    source: Source | None = None
    line: int | None = None
    column: int | None = None


class Breakpoint(_Body, frozen=True):
    verified: bool
    id: int | None = None
    message: str | None = None
    source: Source | None = None
    line: int | None = None
    column: int | None = None
    reason: str | None = None


class BreakpointBody(_Body, frozen=True):
    reason: str
    breakpoint: Breakpoint


class ProcessBody(_Body, frozen=True):
    name: str
    system_process_id: int | None = None
    is_local_process: bool | None = None
    start_method: str | None = None


class CapabilitiesBody(_Body, frozen=True):
    capabilities: msgspec.Raw


class InvalidatedBody(_Body, frozen=True):
    areas: tuple[str, ...] | None = None
    thread_id: int | None = None
    stack_frame_id: int | None = None


class ProgressStartBody(_Body, frozen=True):
    progress_id: str
    title: str
    request_id: int | None = None
    cancellable: bool | None = None
    message: str | None = None
    percentage: float | None = None


class ProgressUpdateBody(_Body, frozen=True):
    progress_id: str
    message: str | None = None
    percentage: float | None = None


class ProgressEndBody(_Body, frozen=True):
    progress_id: str
    message: str | None = None


class InitializedBody(_Body, frozen=True):
    pass


class CancelArguments(_Body, frozen=True):
    request_id: int | None = None
    progress_id: str | None = None


class RunInTerminalArguments(_Body, frozen=True):
    args: tuple[str, ...]
    cwd: str | None = None
    """Required by the protocol; debugpy leaves it out for a module."""
    kind: str | None = None
    title: str | None = None
    env: dict[str, str | None] | None = None
    args_can_be_interpreted_by_shell: bool | None = None


class StartDebuggingArguments(_Body, frozen=True):
    configuration: dict[str, Any]
    request: Literal["launch", "attach"]


class Capabilities:
    """What an adapter says it can do: any flag by its name, and all of it as it came."""

    def __init__(self, raw: msgspec.Raw) -> None:
        if len(bytes(raw)) > _LONGEST_CAPABILITIES:
            reason = f"Capabilities of more than {_LONGEST_CAPABILITIES} bytes are not taken."
            raise RemoteProtocolError("capabilities_too_long", reason)
        self.raw = raw
        self._fields: dict[str, Any] = _read(msgspec.json.Decoder(dict[str, Any]), raw, "capabilities")

    def has(self, name: str) -> bool:
        """`has("supportsStepBack")`; a missing flag means no."""
        return self._fields.get(name) is True

    def get(self, name: str) -> Any:
        return self._fields.get(name)

    def merged(self, changed: msgspec.Raw) -> Capabilities:
        """With what a `capabilities` event changed; the rest stays, as the specification says."""
        fields = self._fields | Capabilities(changed)._fields
        return Capabilities(msgspec.Raw(msgspec.json.encode(fields)))


EVENT_BODIES: dict[str, type[_Body]] = {
    "breakpoint": BreakpointBody,
    "capabilities": CapabilitiesBody,
    "continued": ContinuedBody,
    "exited": ExitedBody,
    "initialized": InitializedBody,
    "invalidated": InvalidatedBody,
    "output": OutputBody,
    "process": ProcessBody,
    "progressEnd": ProgressEndBody,
    "progressStart": ProgressStartBody,
    "progressUpdate": ProgressUpdateBody,
    "stopped": StoppedBody,
    "terminated": TerminatedBody,
    "thread": ThreadBody,
}
_EVENT_DECODERS = {name: msgspec.json.Decoder(kind) for name, kind in EVENT_BODIES.items()}
_EMPTY = msgspec.Raw(b"{}")


def typed_body(event: Event) -> _Body | None:
    """The body of an event we know, or None for one we do not."""
    decoder = _EVENT_DECODERS.get(event.event)
    return None if decoder is None else _read(decoder, event.body, event.event)


def read_body(message: Event | Response, kind: type[_B]) -> _B:
    what = message.event if isinstance(message, Event) else message.command
    return _read(msgspec.json.Decoder(kind), message.body, what)


def read_arguments(request: Request, kind: type[_B]) -> _B:
    return _read(msgspec.json.Decoder(kind), request.arguments, request.command)


def read_value(value: Any, kind: type[_B], what: str) -> _B:
    """Of what was read already, as plain values."""
    try:
        return msgspec.convert(value, kind)
    except (msgspec.ValidationError, RecursionError) as error:
        raise RemoteProtocolError("bad_body", f"The body of {what!r} is malformed: {error}.") from error


def _read(decoder: msgspec.json.Decoder[_B], raw: msgspec.Raw | msgspec.UnsetType, what: str) -> _B:
    # Adapters leave an empty body out or send null; both mean an empty object.
    data = _EMPTY if raw is UNSET or bytes(raw) == b"null" else raw
    try:
        return decode_mended(decoder, data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise RemoteProtocolError("bad_body", f"The body of {what!r} is malformed: {error}.") from error
