"""A far side that is against us: `python hostile_daemon.py KIND`, in place of `dragoman pipe`.

It greets as it should, then answers every call of every command with what its kind says.
"""

from __future__ import annotations

import itertools
import json
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from dragoman.protocols.control import ControlLines, encode_line
from dragoman.protocols.pipe import Greeting, PipeConnection, PipeFrame, PipeFrameKind

ESCAPE = "\x1b]0;owned\x07\x1b[2J\x9b31m\u202e"
_EVENT = {"sequence": 1, "at_ns": 10**18, "kind": ESCAPE, "session": ESCAPE, "text": ESCAPE, "body": {ESCAPE: ESCAPE}}
_COMMAND = {
    **dict.fromkeys(("command_id", "command", "cwd", "terminal", "shell", "owner", "agent"), ESCAPE),
    "started_at": "2026-01-01T00:00:00Z",
    "exit_code": 1,
    "duration_s": 1.0,
    "verified": True,
    "commands": 1,
    "running": {"command": ESCAPE},
    "state": ESCAPE,
    "ended_by": ESCAPE,
    "truncated": False,
    "signal": None,
}
_STATUS = {
    **dict.fromkeys(("address", "version", "workspace"), ESCAPE),
    "pid": ESCAPE,
    "uptime_s": 1,
    "resident_mb": ESCAPE,
    "port": 1,
    "wanted_port": 2,
    "tokens": [],
    "sessions": [{"kind": ESCAPE, "title": ESCAPE, "id": ESCAPE}],
    "write_fault": {"code": ESCAPE, "reason": ESCAPE},
    "gateway": {"state": ESCAPE, "address": ESCAPE},
}
_STOP = {"seen": [[[ESCAPE, ESCAPE, 1, False]], [[ESCAPE, ESCAPE]], [], 0, [ESCAPE, ESCAPE]]}
_ENTRY = {"at_ns": 10**18, "by": ESCAPE, "kind": "stopped", "body": {"path": ESCAPE, "reason": ESCAPE}, "stop": _STOP}
_TOOL = {
    "data": {"found": True, "command": _COMMAND, "error_lines": [ESCAPE], "commands": [_COMMAND],
             "terminals": [_COMMAND],
             "output_hits": [{"command_id": ESCAPE, "terminal": ESCAPE, "line": ESCAPE}],
             "output_search": {"complete": False, "back_to": ESCAPE},
             "output": ESCAPE, "next_offset": None, "sessions": [], "status": ESCAPE, "code": ESCAPE, "folders": []},
    "lines": [ESCAPE, f"a{ESCAPE}b"],
    "is_error": False,
}  # fmt: skip
_APPROVAL = dict.fromkeys(
    ("approval_id", "id", "kind", "subject", "title", "tool", "action", "by", "agent", "workspace"), ESCAPE
)
# The shapes that commands expect, with an escape wherever text may stand: items, then the result.
_SHAPES: Mapping[str, tuple[list[Any], Any]] = {
    "status": ([], _STATUS),
    "journal_tail": ([_EVENT], None),
    "journal_export": ([_EVENT], None),
    "journal_search": ([], {"events": [_EVENT]}),
    "debug_report": ([_ENTRY], {"session": ESCAPE, "title": ESCAPE, "workspace": ESCAPE, "output": ESCAPE}),
    "terminal_ask": ([{"text": ESCAPE}], None),
    "terminal_export": ([{"file": ESCAPE, "data": "G10wO293bmVkBw=="}], None),
    "trust_list": ([], {"trusted": [{"folder": ESCAPE, "since_ns": 10**18}]}),
    "trust_add": ([], {"folder": ESCAPE}),
    "approvals": ([], {"approvals": [_APPROVAL], "may_answer": False}),
    "stop_waiting": ([], {"count": ESCAPE}),
}


def _answers(kind: str, method: str) -> Iterator[Any]:
    """The items of an answer, and its result as the last."""
    if kind == "escapes":
        items, result = _SHAPES.get(method, ([], _TOOL))
        yield from (*items, result)
    else:
        yield _VALUES[kind]()


_VALUES: Mapping[str, Callable[[], Any]] = {
    "null": lambda: None,
    "text": lambda: ESCAPE,
    "list": lambda: [ESCAPE] * 3,
    "empty": dict,
    "numbers": lambda: dict.fromkeys((*_STATUS, "data", "lines", "events", "folders", "terminals"), 10**30),
    "lists": lambda: {name: [[]] for name in (*_STATUS, "data", "lines", "events", "folders", "terminals")},
}


def _for_ever(data: bytes) -> Iterator[bytes]:
    while True:
        yield data


# Bytes that are no answer of a daemon, for the id of a call.
_RAW: Mapping[str, Callable[[bytes], Iterable[bytes]]] = {
    "deep": lambda call: [b'{"id":%b,"result":%b%b}\n' % (call, b"[" * 500_000, b"]" * 500_000)],
    "digits": lambda call: [b'{"id":%b,"result":%b}\n' % (call, b"9" * 50_000)],
    "infinite": lambda call: [b'{"id":%b,"result":{"uptime_s":1e999,"at_ns":1e999}}\n' % call],
    "many_parts": lambda call: [b'{"id":%b,"result":[%b[]]}\n' % (call, b"[]," * 5_000_000)],
    "endless_line": lambda call: itertools.chain([b'{"id":%b,"result":"' % call], _for_ever(b"A" * (1 << 20))),
    "wrong_id": lambda _: [b'{"id":4711,"result":{}}\n'],
    "welcomes": lambda _: _for_ever(b'{"dragoman":1,"version":"0.1.0","pid":1}\n' * 100),
    "endless_items": lambda call: _for_ever(b'{"id":%b,"item":{}}\n' % call * 100),
    "refusal": lambda call: [
        encode_line({"id": int(call), "error": dict.fromkeys(("code", "message", "hint"), ESCAPE)})
    ],
}
RAW_KINDS = ("deep", "digits", "infinite", "many_parts", "endless_line", "wrong_id", "refusal")
VALUE_KINDS = tuple(_VALUES)


class HostileDaemon:
    def __init__(self, kind: str) -> None:
        self._kind = kind
        self._connection = PipeConnection(skips_noise=False)

    def run(self) -> None:
        self._before_ready()
        self._write(self._connection.send(PipeFrameKind.READY))
        self._send(encode_line({"dragoman": 1, "version": "0.1.0", "pid": 1, "instance": ESCAPE}))
        if self._kind == "commands":
            self._ask_for_commands()
        if self._kind == "never_reads":
            while True:
                time.sleep(0.5)
                self._write(self._connection.send(PipeFrameKind.KEEP_ALIVE))
        lines = ControlLines(1 << 24)
        while data := os.read(0, 1 << 16):
            for frame in self._connection.receive_data(data):
                if isinstance(frame, PipeFrame) and frame.kind is PipeFrameKind.DATA:
                    for line in lines.feed(frame.payload):
                        self._answer(line)

    def _ask_for_commands(self) -> None:
        """As a debug adapter may ask its editor; what follows the refusals is no message."""
        received = b""
        while b"initialize" not in received:
            received += os.read(0, 1 << 16)
        for command in ("runInTerminal", "startDebugging"):
            asked = {"seq": 1, "type": "request", "command": command, "arguments": {"args": ["touch", "owned"]}}
            body = json.dumps(asked).encode()
            self._send(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
        body = b'{"seq":2,"type":"event","event":"output","body":{"output":"here"}}'
        self._send(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
        while received.count(b'"success":false') < 2:
            received += os.read(0, 1 << 16)
        self._send(b"no frame\r\n\r\n")

    def _before_ready(self) -> None:
        if self._kind == "endless_noise":
            while True:
                self._write(b"noise\n" * 1000)
        version = f"0.0.1\n{ESCAPE}" if self._kind == "odd_version" else "0.1.0"
        self._write(Greeting(version).encode())
        while self._kind == "endless_frames":
            self._write(self._connection.send(PipeFrameKind.KEEP_ALIVE))

    def _answer(self, line: dict[str, Any]) -> None:
        if "method" not in line:
            return
        if make := _RAW.get(self._kind):
            for data in make(b"%d" % line["id"]):
                self._send(data)
            return
        *items, result = _answers(self._kind, line["method"])
        for item in items:
            self._send(encode_line({"id": line["id"], "item": item}))
        self._send(encode_line({"id": line["id"], "result": result}))

    def _send(self, data: bytes) -> None:
        self._write(self._connection.send_data(data))

    def _write(self, data: bytes) -> None:
        while data:
            data = data[os.write(1, data) :]


if __name__ == "__main__":
    try:
        HostileDaemon(sys.argv[1]).run()
    except OSError:
        sys.exit(1)
