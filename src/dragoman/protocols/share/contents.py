"""What a shared session has: events, stops with their values, output, a recording and how it was started."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from typing import Annotated, Any, TypeVar

import msgspec

from dragoman.core.localization import localize
from dragoman.protocols.json_input import PartLimits
from dragoman.protocols.share import container, errors
from dragoman.protocols.share.manifest import (
    Nanoseconds,
    ShareManifest,
    ShareSignature,
    decode_manifest,
    encode_manifest,
    encode_signature,
    require_parts,
    verify_signature,
)

_T = TypeVar("_T")
_MAX_LINES = 20_000
Number = Annotated[int, msgspec.Meta(ge=-(1 << 53), le=1 << 53)]
_LIMITS = PartLimits(strings=500_000, others=1_000_000, unchecked_bytes=0, is_exact=True)


class _ContentStruct(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    pass


class SharedFrame(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    name: str
    path: str = ""
    line: Number = 0
    is_library: bool = False


class SharedValue(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    name: str
    value: str
    type: str = ""


class SharedStop(_ContentStruct, frozen=True):
    number: Number
    at_ns: Nanoseconds
    reason: str
    frames: tuple[SharedFrame, ...] = ()
    variables: tuple[SharedValue, ...] = ()
    changed: tuple[str, ...] = ()
    at: Number = 0
    """The frame of the variables."""
    raised: tuple[str, str] = ("", "")

    @property
    def frame(self) -> SharedFrame | None:
        return self.frames[self.at] if 0 <= self.at < len(self.frames) else None


class SharedEvent(_ContentStruct, frozen=True):
    at_ns: Nanoseconds
    kind: str
    text: str = ""
    body: dict[str, Any] = {}


class SharedBreakpoint(_ContentStruct, frozen=True):
    """Its condition and its message are code that the debugged program would run."""

    kind: str = "line"
    path: str = ""
    line: Number = 0
    column: Number | None = None
    function: str = ""
    condition: str = ""
    hit_condition: str = ""
    log_message: str = ""
    filter: str = ""


class SharedLaunch(_ContentStruct, frozen=True):
    """How the session was started. Paths in `workspace` are written with it as their beginning."""

    workspace: str
    configuration_name: str = ""
    configuration: dict[str, Any] = {}
    program: str = ""
    args: tuple[str, ...] = ()
    cwd: str = ""
    env: dict[str, str] = {}
    left_out: tuple[str, ...] = ()
    """Names of variables and inputs whose values are not in the file."""
    stdin: str | None = None
    no_debug: bool = False
    breakpoints: tuple[SharedBreakpoint, ...] = ()


class SharedSession(_ContentStruct, frozen=True):
    """A file that was read and verified as a whole. All of its texts are somebody else's."""

    id: str
    manifest: ShareManifest
    signature: ShareSignature
    events: tuple[SharedEvent, ...]
    stops: tuple[SharedStop, ...]
    output: str
    recording: bytes
    launch: SharedLaunch | None
    report: bytes


def write_share(manifest: ShareManifest, signature: ShareSignature, parts: Mapping[str, bytes]) -> bytes:
    head = {container.MANIFEST: encode_manifest(manifest), container.SIGNATURE: encode_signature(signature)}
    return container.write_container({**head, **parts})


def read_share(data: bytes) -> SharedSession:
    """Everything is verified before anything is returned."""
    parts = container.read_container(data)
    text = parts[container.MANIFEST]
    manifest = decode_manifest(text)
    signature = verify_signature(parts[container.SIGNATURE], text)
    require_parts(manifest, parts)
    launch = parts.get(container.LAUNCH)
    return SharedSession(
        id=f"shared-{hashlib.sha256(text).hexdigest()[:16]}",
        manifest=manifest,
        signature=signature,
        events=_lines(container.EVENTS, parts, SharedEvent),
        stops=_lines(container.STOPS, parts, SharedStop),
        output=_text(container.OUTPUT, parts),
        recording=parts.get(container.RECORDING, b""),
        launch=None if launch is None else _decoded(container.LAUNCH, launch, SharedLaunch),
        report=parts.get(container.REPORT, b""),
    )


def encode_lines(rows: Iterable[msgspec.Struct]) -> bytes:
    return b"".join(msgspec.json.encode(row) + b"\n" for row in rows)


def _lines(name: str, parts: Mapping[str, bytes], kind: type[_T]) -> tuple[_T, ...]:
    data = parts.get(name, b"")
    if data.count(b"\n") > _MAX_LINES or _LIMITS.exceeded_by(data):
        raise errors.oversized(reason=localize("{name} has too many values", name=name))
    return tuple(_decoded(name, line, kind) for line in data.split(b"\n") if line)


def _decoded(name: str, data: bytes, kind: type[_T]) -> _T:
    if _LIMITS.exceeded_by(data):
        raise errors.oversized(reason=localize("{name} has too many values", name=name))
    try:
        return msgspec.json.decode(data, type=kind)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        raise errors.damaged(reason=localize("{name} cannot be read", name=name)) from error


def _text(name: str, parts: Mapping[str, bytes]) -> str:
    try:
        return parts.get(name, b"").decode()
    except UnicodeDecodeError as error:
        raise errors.damaged(reason=localize("{name} cannot be read", name=name)) from error
