"""The recorded traffic of real gateways, and the reading of what a reducer makes of it."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from dragoman.protocols.gateway import (
    ChatEvent,
    ChatTextDelta,
    ClientInfo,
    ConnectParams,
    Credentials,
    Done,
    EventFrame,
    Reducer,
    decode_frame,
)

_T = TypeVar("_T")

VECTORS = Path(__file__).parents[2] / "vectors" / "gateway"
NAMES = sorted(path.stem for path in VECTORS.glob("v*.jsonl"))


@dataclass(frozen=True)
class Line:
    direction: str
    frame: dict[str, Any]

    @property
    def data(self) -> bytes:
        return json.dumps(self.frame, ensure_ascii=False).encode()


@dataclass
class Socket:
    """One connection of a transcript."""

    case: str
    lines: list[Line] = field(default_factory=list)

    def of(self, direction: str) -> list[Line]:
        return [line for line in self.lines if line.direction == direction]

    def answer_to(self, request: dict[str, Any]) -> dict[str, Any] | None:
        found = (line.frame for line in self.of("in") if line.frame.get("id") == request["id"])
        return next(found, None)


def sockets(name: str) -> list[Socket]:
    found = [Socket("")]
    for text in next(VECTORS.glob(f"{name}*.jsonl")).read_text(encoding="utf-8").splitlines():
        line = json.loads(text)
        if "frame" in line:
            found[-1].lines.append(Line(line["dir"], line["frame"]))
        else:
            found.append(Socket(line["case"]))
    return [socket for socket in found if socket.lines]


def handshakes() -> list[tuple[str, Socket]]:
    """Every recorded socket whose client spoke at all."""
    return [(f"{name}: {socket.case}", socket) for name in NAMES for socket in sockets(name) if socket.of("out")]


def event_frames(name: str) -> list[EventFrame]:
    frames = [decode_frame(line.data) for socket in sockets(name) for line in socket.of("in")]
    return [frame for frame in frames if isinstance(frame, EventFrame)]


def reduced(frames: Iterable[EventFrame], reducer: Reducer | None = None) -> list[ChatEvent]:
    reducer = reducer or Reducer()
    return [event for frame in frames for event in reducer.feed(frame)]


def text_of(events: Iterable[ChatEvent], run_id: str) -> str:
    """What a chat shows in the end, by the rule of the vocabulary."""
    segments: list[str] = []
    for event in events:
        if isinstance(event, ChatTextDelta) and event.run_id == run_id:
            segments += [""] * (event.segment + 1 - len(segments))
            if event.replace:
                segments[event.segment :] = [event.content]
            else:
                segments[event.segment] += event.content
    return "".join(segments)


def of_type(events: Iterable[ChatEvent], kind: type[_T]) -> list[_T]:
    return [event for event in events if isinstance(event, kind)]


def ended_runs(events: Iterable[ChatEvent]) -> list[str]:
    return [event.run_id for event in events if isinstance(event, Done)]


def printed_by_chat(name: str) -> dict[str, str]:
    """The text that the gateway itself put into the first terminal message of every run."""
    texts: dict[str, str] = {}
    for frame in (line.frame for socket in sockets(name) for line in socket.of("in")):
        payload = frame.get("payload", {})
        if frame.get("event") == "chat" and payload["state"] in {"final", "aborted", "error"}:
            parts = payload.get("message", {}).get("content", [])
            texts.setdefault(payload["runId"], "".join(part["text"] for part in parts))
    return texts


def params(**changed: Any) -> ConnectParams:
    wanted: dict[str, Any] = {
        "min_protocol": 3,
        "max_protocol": 4,
        "client": ClientInfo("cli", "0.1.0", "linux", "cli"),
        "role": "operator",
        "scopes": ("operator.read", "operator.write"),
        "auth": Credentials(token="test-token"),
    }
    return ConnectParams(**(wanted | changed))
