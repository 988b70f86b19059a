"""A debug adapter that lies as the JSON file of its first argument says: a process of its own, over standard streams.

`before` and `running` are messages that it sends unasked, before anybody spoke and once the program runs. `answers` has
bodies by command, `many` rows that are repeated: command, name of the list, row, how often. `forks` is how many
processes it makes at every `next`; they live as long as it does.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

FRAME = {"id": 1, "name": "main", "line": 1, "column": 1, "source": {"path": "/p/main.x"}}
ENTRY = {"reason": "entry", "threadId": 1, "allThreadsStopped": True}
HONEST: dict[str, Any] = {
    "initialize": {"supportsConfigurationDoneRequest": True},
    "threads": {"threads": [{"id": 1, "name": "main"}]},
    "stackTrace": {"stackFrames": [FRAME], "totalFrames": 1},
    "scopes": {"scopes": [{"name": "Locals", "variablesReference": 5, "presentationHint": "locals"}]},
    "variables": {"variables": [{"name": "n", "value": "1", "type": "int", "variablesReference": 0}]},
}


def write(body: bytes) -> None:
    sys.stdout.buffer.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
    sys.stdout.buffer.flush()


def send(message: Any) -> None:
    write(json.dumps({"seq": 1, **message}).encode())


def read() -> dict[str, Any] | None:
    length = 0
    while (line := sys.stdin.buffer.readline()) not in (b"\r\n", b""):
        if line.lower().startswith(b"content-length:"):
            length = int(line.split(b":")[1])
    return json.loads(sys.stdin.buffer.read(length)) if length else None


def answer(command: str) -> bytes:
    if command in LIES.get("many", {}):
        name, row, count = LIES["many"][command]
        return b'{"%b":[%b]}' % (name.encode(), ",".join([json.dumps(row)] * count).encode())
    return json.dumps(LIES.get("answers", {}).get(command, HONEST.get(command, {}))).encode()


def fork(count: int) -> None:
    """Each waits for the end of a pipe that we alone hold open."""
    for _ in range(count):
        if os.fork() == 0:
            os.close(HELD)
            os.read(GATE, 1)
            os._exit(0)


def serve(request: dict[str, Any]) -> bool:
    """Whether that was the last."""
    command = request["command"]
    is_last = command in ("disconnect", "terminate")
    if is_last and LIES.get("never_ends"):
        return False
    head = {"seq": 1, "type": "response", "request_seq": request["seq"], "success": True, "command": command}
    for _ in range(LIES.get("times", 1)):
        write(json.dumps(head).encode()[:-1] + b',"body":' + answer(command) + b"}")
    if command == "launch":
        send({"type": "event", "event": "initialized"})
    if command == "next":
        fork(LIES.get("forks", 0))
        send({"type": "event", "event": "stopped", "body": {**ENTRY, "reason": "step"}})
    if command == "configurationDone":
        for message in LIES.get("running", ()):
            send(message)
        sys.stdout.buffer.write(LIES.get("raw", "").encode())
        send({"type": "event", "event": "stopped", "body": ENTRY})
    return is_last


GATE, HELD = os.pipe()
LIES = json.loads(Path(sys.argv[1]).read_text())
for early in LIES.get("before", ()):
    send(early)
while (asked := read()) is not None and not serve(asked):
    pass
