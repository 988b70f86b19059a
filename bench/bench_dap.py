"""Reading DAP: bytes in chunks into typed messages, against bare `json.loads` of the same bodies in the same run."""

from __future__ import annotations

import json
from collections.abc import Callable

from bench.claims import Claim, median_s
from dragoman.protocols.dap import Connection, frame

GOAL = 0.5
UNIT = "x json.loads"
ROUNDS = 200


def run() -> list[Claim]:
    stop, smallest = traffic(), [traffic()[1]]
    return [
        Claim("dap: a stop, read in 4 KiB chunks", ratio(stop * ROUNDS, 4 * 1024), UNIT, GOAL, "higher"),
        Claim("dap: a stop, read in 64 KiB chunks", ratio(stop * ROUNDS, 64 * 1024), UNIT, GOAL, "higher"),
        Claim("dap: smallest events, 4 KiB chunks", ratio(smallest * 5_000, 4 * 1024), UNIT, GOAL, "higher"),
    ]


def ratio(bodies: list[bytes], chunk: int) -> float:
    """How many times as fast as `json.loads` alone: above 1, framing, typing and matching cost nothing extra."""
    stream = b"".join(map(frame, bodies))
    bare_s = median_s(lambda: [json.loads(body) for body in bodies])
    return bare_s / median_s(reading(stream, chunk))


def reading(stream: bytes, size: int) -> Callable[[], int]:
    def read() -> int:
        connection = Connection()
        count = 0
        for at in range(0, len(stream), size):
            connection.receive_data(stream[at : at + size])
            count += sum(1 for _ in connection.events())
        return count

    return read


def traffic() -> list[bytes]:
    """What one stop of a real session looks like: small events, a stack, scopes, variables, program output."""
    frames = [
        {
            "id": number,
            "name": f"handle_{number}",
            "line": 10 + number,
            "column": 1,
            "source": {"name": "app.py", "path": f"/home/me/project/package_{number}/app.py", "sourceReference": 0},
        }
        for number in range(20)
    ]
    variables = [
        {"name": f"value_{number}", "value": f"'text {number}'", "type": "str", "variablesReference": 0}
        for number in range(60)
    ]
    bodies = [
        event("output", {"category": "stdout", "output": "a line of the program\n"}),
        event("continued", {"threadId": 1, "allThreadsContinued": True}),
        response("next", {}),
        event("stopped", {"reason": "step", "threadId": 1, "allThreadsStopped": True}),
        response("threads", {"threads": [{"id": 1, "name": "MainThread"}]}),
        response("stackTrace", {"stackFrames": frames, "totalFrames": 20}),
        response("scopes", {"scopes": [{"name": "Locals", "variablesReference": 5, "expensive": False}]}),
        response("variables", {"variables": variables}),
        event("output", {"category": "stdout", "output": "x" * 2000}),
    ]
    return [json.dumps(body, separators=(",", ":")).encode() for body in bodies]


def event(name: str, body: object) -> dict[str, object]:
    return {"seq": 1, "type": "event", "event": name, "body": body}


def response(command: str, body: object) -> dict[str, object]:
    return {"seq": 1, "type": "response", "request_seq": 1, "success": True, "command": command, "body": body}
