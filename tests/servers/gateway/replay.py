"""The recorded clients of real gateways, played against ours: what each said, in its order, with a token of ours."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import msgspec

from dragoman.chat.runs import AgentRequest, RunOutput
from dragoman.core.errors import DragomanError
from dragoman.core.localization import localize
from dragoman.protocols.gateway import Challenge, ConnectParams, sign_connect
from tests.protocols.gateway.transcripts import Line, Socket, sockets
from tests.servers.gateway.gateway_fixture import GatewayUnderTest, ManualClient, running_gateway
from tests.servers.gateway.test_connections import is_end

Json = dict[str, Any]

CHANGES = frozenset(
    {"ts", "updatedAt", "sessionId", "connId", "uptimeMs", "endedAt", "startedAt", "timestamp", "messageId", "id"}
    | {"deviceToken", "issuedAtMs"}
)
"""Names whose values are each gateway's own; that they are there, and of the same kind, is still compared."""

_UNRECORDED = (1000, 1009)
"""Closes by the client itself, and for what was too large to be written into a transcript."""


def differences(recorded: Any, ours: Any, path: str = "") -> Iterator[str]:
    """Field by field: what one has and the other lacks, what is of another kind, what has another value."""
    if isinstance(recorded, dict) and isinstance(ours, dict):
        for name in sorted({*recorded, *ours}):
            yield from _member(recorded, ours, name, f"{path}.{name}")
    elif isinstance(recorded, list) and isinstance(ours, list) and len(recorded) == len(ours):
        for one, other in zip(recorded, ours, strict=True):
            yield from differences(one, other, f"{path}[]")
    elif isinstance(recorded, list) and isinstance(ours, list):
        yield f"{path} has other members"
    elif _kind(recorded) != _kind(ours):
        yield f"{path} is of another kind"
    elif recorded != ours and path.rpartition(".")[2] not in CHANGES:
        yield f"{path} differs"


def _member(recorded: Json, ours: Json, name: str, path: str) -> Iterator[str]:
    if name not in ours:
        yield f"{path} is left out"
    elif name not in recorded:
        yield f"{path} is added"
    else:
        yield from differences(recorded[name], ours[name], path)


def _kind(value: Any) -> str:
    return "number" if isinstance(value, int | float) and not isinstance(value, bool) else type(value).__name__


@dataclass
class Replay:
    """Transcripts that were recorded at one gateway, and so are played at one: socket after socket."""

    names: Sequence[str]
    found: set[str] = field(default_factory=set)
    answers: int = 0
    device_token: str = ""
    sent_runs: set[str] = field(default_factory=set)

    async def play(self, folder: Path) -> None:
        recorded = [socket for name in self.names for socket in sockets(name)]
        async with running_gateway(folder, _Stub(recorded).answer) as it:
            for socket in recorded:
                if socket.of("out"):
                    async with it.open_client() as peer:
                        await _Played(self, it, peer, socket).play()

    def compare(self, what: str, recorded: Json, ours: Json) -> None:
        self.answers += 1
        if recorded["ok"] and not ours["ok"]:
            self.found.add(f"{what}: refused here ({ours['error']['message']})")
        elif ours["ok"] and not recorded["ok"]:
            self.found.add(f"{what}: taken here, refused there ({_reason(recorded['error'])})")
        else:
            part = "payload" if ours["ok"] else "error"
            self.found.update(f"{what}{it}" for it in differences(recorded.get(part), ours.get(part)))


def _reason(error: Json) -> str:
    return str(error.get("details", {}).get("code") or error["message"])


@dataclass
class _Stub:
    """The agent says what the recorded model said in that run, and takes as long."""

    recorded: list[Socket]

    async def answer(self, asked: AgentRequest, run_output: RunOutput) -> None:
        end = self._end_of(asked.run_id)
        if end is None or end["state"] == "aborted":
            run_output.say(_text(end or {}) or "so far")
            await anyio.sleep_forever()
        elif end["state"] == "error":
            raise DragomanError("stub", localize("{text}", text=end["errorMessage"]))
        else:
            run_output.say(_text(end))

    def _end_of(self, run_id: str) -> Json | None:
        frames = (line.frame for socket in self.recorded for line in socket.of("in"))
        return next((it["payload"] for it in frames if is_end(it) and it["payload"]["runId"] == run_id), None)


def _text(payload: Json) -> str:
    return "".join(part.get("text", "") for part in payload.get("message", {}).get("content", []))


@dataclass
class _Played:
    replay: Replay
    gateway: GatewayUnderTest
    peer: ManualClient
    socket: Socket
    sent: set[str] = field(default_factory=set)
    begun: set[str] = field(default_factory=set)
    ended: dict[str, Json] = field(default_factory=dict)
    compared: set[str] = field(default_factory=set)

    async def play(self) -> None:
        challenge = (await self.peer.next())["payload"]
        for number, line in enumerate(self.socket.lines):
            if line.direction == "out":
                if not await self._say(line.frame, challenge, self.socket.lines[number:]):
                    return
            elif line.direction == "in" and line.frame.get("event") == "shutdown":
                self.gateway.hub.end()
            elif line.direction == "in" and line.frame.get("event") == "chat":
                await self._see_chat(line.frame["payload"])
            elif line.direction == "close" and line.frame["code"] not in _UNRECORDED:
                await self._see_close(line.frame)

    async def _say(self, frame: Json, challenge: Json, rest: list[Line]) -> bool:
        """Whether both gateways go on from here."""
        answer = next((it.frame for it in rest if it.direction == "in" and it.frame.get("id") == frame["id"]), None)
        method = frame["method"]
        if method == "connect":
            frame = {**frame, "params": self._introduced(frame["params"], challenge, answer or {})}
        await self.peer.send(frame)
        if answer is None:
            return True
        ours = await self._until(lambda it: it.get("id") == frame["id"])
        self._keep(method, ours)
        self.replay.compare(method, answer, ours)
        return method != "connect" or bool(ours["ok"] == answer["ok"])

    def _introduced(self, params: Json, challenge: Json, answer: Json) -> Json:
        """With a token of ours, and a device that signs our challenge, or fails to in the way that was recorded."""
        auth = {name: self._credential(value) for name, value in params.get("auth", {}).items()}
        data = {**params, **({"auth": auth} if auth else {})}
        if "device" not in params:
            return data
        seed = hashlib.sha256(params["device"]["id"].encode()).digest()
        fault = answer.get("error", {}).get("details", {}).get("code", "")
        bare = msgspec.convert({name: value for name, value in data.items() if name != "device"}, ConnectParams)
        ts = challenge["ts"] - (600_000 if fault == "DEVICE_AUTH_SIGNATURE_EXPIRED" else 0)
        signed = sign_connect(bare, seed, Challenge(challenge["nonce"], ts))
        return {**data, "device": {**msgspec.to_builtins(signed.device), **_FAULTS.get(fault, {})}}

    def _credential(self, value: str) -> str:
        return {"<token>": self.gateway.token, "<deviceToken>": self.replay.device_token}.get(value, value)

    def _keep(self, method: str, ours: Json) -> None:
        payload = ours.get("payload", {})
        if method == "connect" and ours["ok"]:
            self.replay.device_token = payload["auth"].get("deviceToken", self.replay.device_token)
        elif method == "chat.send" and payload.get("status") == "started":
            self.sent.add(payload["runId"])
            self.replay.sent_runs.add(payload["runId"])

    async def _see_chat(self, recorded: Json) -> None:
        """Of runs that this transcript's client sent; others were somebody else's."""
        run = recorded["runId"]
        if run not in self.replay.sent_runs or run in self.compared:
            return
        if is_end({"event": "chat", "payload": recorded}):
            self.compared.add(run)
            await self._until(lambda _: run in self.ended)
            self.replay.found.update(f"chat{it}" for it in differences(recorded, self.ended[run]))
        elif recorded["state"] == "delta" and run in self.sent:
            await self._until(lambda _: run in self.begun)

    async def _see_close(self, recorded: Json) -> None:
        code = await self.peer.closed()
        ours = {"code": code, "reason": self.peer.socket.close_reason or ""}
        self.replay.found.update(f"close{it}" for it in differences(recorded, ours))

    async def _until(self, condition: Any) -> Json:
        """Whatever passes by, the first end of each run is kept."""

        def seen(frame: Json) -> bool:
            if frame.get("event") == "chat":
                self.begun.add(frame["payload"]["runId"])
            if is_end(frame):
                self.ended.setdefault(frame["payload"]["runId"], frame["payload"])
            return bool(condition(frame))

        return {} if condition({}) else await self.peer.until(seen)


_FAULTS: dict[str, Json] = {
    "DEVICE_AUTH_NONCE_MISMATCH": {"nonce": "another"},
    "DEVICE_AUTH_NONCE_REQUIRED": {"nonce": " "},
    "DEVICE_AUTH_SIGNATURE_INVALID": {"signature": "A" * 86},
    "DEVICE_AUTH_DEVICE_ID_MISMATCH": {"id": "0" * 64},
}
