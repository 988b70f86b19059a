"""The first line of each side, and the failure that the far side sends instead of a connection."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any, Literal

from dragoman.core.errors import RemoteProtocolError

PROTOCOL = 1
# The oldest version of Dragoman that this one works with over a pipe. Raise it with any change that older ones do not
# understand, in the frames or in the control protocol inside them.
OLDEST_PEER = "0.1.0"

MAGIC = b"dragoman-pipe "
MAX_GREETING = 4096
MAX_NOISE = 1 << 16
"""What a login script may print before the first line of the far side."""
_MAX_TEXT = 2000
_VERSION = re.compile(r"(\d{1,6})\.(\d{1,6})(?:\.(\d{1,6}))?[A-Za-z0-9.+-]{0,40}")

Agreement = Literal["agreed", "peer_too_old", "peer_too_new"]


@dataclass(frozen=True, slots=True)
class Greeting:
    version: str
    protocol: int = PROTOCOL
    oldest: str = OLDEST_PEER
    """The oldest version of Dragoman that the sender works with."""
    starts_daemon: bool = False
    """Sent by the near side: its command may start a daemon."""

    def encode(self) -> bytes:
        fields = {
            "protocol": self.protocol,
            "version": self.version,
            "oldest": self.oldest,
            "starts_daemon": self.starts_daemon,
        }
        return MAGIC + json.dumps(fields, separators=(",", ":")).encode() + b"\n"

    @classmethod
    def decode(cls, line: bytes) -> Greeting:
        fields = _object(line.removeprefix(MAGIC))
        version, protocol, oldest = fields.get("version"), fields.get("protocol"), fields.get("oldest")
        if not (isinstance(protocol, int) and _is_version(version) and _is_version(oldest)):
            raise RemoteProtocolError("bad_greeting", "the first line does not name its versions")
        return cls(str(version), protocol, str(oldest), fields.get("starts_daemon") is True)

    def compare(self, peer: Greeting) -> Agreement:
        """Whether the two work together. The protocol is compared first: it says how to read the rest."""
        if peer.protocol != self.protocol:
            return "peer_too_old" if peer.protocol < self.protocol else "peer_too_new"
        if _numbers(peer.version) < _numbers(self.oldest):
            return "peer_too_old"
        return "peer_too_new" if _numbers(self.version) < _numbers(peer.oldest) else "agreed"


@dataclass(frozen=True, slots=True)
class PipeFailure:
    """Why the far side cannot connect, in English: it does not know the language of the near side yet."""

    code: str
    message: str
    hint: str = ""

    def encode(self) -> bytes:
        texts = {"code": self.code, "message": self.message[:_MAX_TEXT], "hint": self.hint[:_MAX_TEXT]}
        return json.dumps(texts).encode()

    @classmethod
    def decode(cls, payload: bytes) -> PipeFailure:
        fields = _object(payload)
        code, message, hint = (str(fields.get(name, ""))[:_MAX_TEXT] for name in ("code", "message", "hint"))
        return cls(code if re.fullmatch("[a-z_]{1,60}", code) else "far_error", message, hint)


def _object(data: bytes) -> dict[str, Any]:
    try:
        value = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise RemoteProtocolError("not_json", f"not JSON: {type(error).__name__}") from error
    if not isinstance(value, dict):
        raise RemoteProtocolError("not_an_object", "JSON, but not an object")
    return value


def _is_version(value: object) -> bool:
    return isinstance(value, str) and _VERSION.fullmatch(value) is not None


def _numbers(version: str) -> tuple[int, ...]:
    match = _VERSION.fullmatch(version)
    assert match is not None
    return tuple(int(part or 0) for part in match.groups())
