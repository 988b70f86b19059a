"""A far side that misbehaves on purpose: `python far_side.py KIND`, in place of `dragoman pipe`."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Mapping

from dragoman.protocols.pipe import Greeting, PipeConnection, PipeFailure, PipeFrame, PipeFrameKind

_OURS = PipeConnection(skips_noise=False)
_WELCOME = b'{"dragoman":1,"version":"0.1.0","pid":1,"instance":""}\n'
_ESCAPE = "\x1b]0;owned\x07\x1b[2J"
_ANSWER = b'{"id":1,"result":{"ok":true}}\n'


def _write(data: bytes) -> None:
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def _serve(after: Callable[[], bytes] = bytes) -> None:
    """Welcomes the caller as a daemon does, and does what is wrong when a call arrives."""
    _write(Greeting("0.1.0").encode() + _OURS.send(PipeFrameKind.READY) + _OURS.send_data(_WELCOME))
    received = b""
    while b'"method"' not in received:
        received += os.read(0, 65536)
    _write(after())


def _hang() -> None:
    _serve()
    while True:
        time.sleep(1)


def _wait_silently(before: bytes = b"", error: str = "") -> None:
    _write(before)
    sys.stderr.write(error)
    sys.stderr.flush()
    while os.read(0, 65536):
        pass


def _answer_queries() -> None:
    near = PipeConnection(skips_noise=False)
    _write(Greeting("0.1.0").encode() + _OURS.send(PipeFrameKind.READY))
    while data := os.read(0, 65536):
        for frame in near.receive_data(data):
            if isinstance(frame, PipeFrame) and frame.kind is PipeFrameKind.QUERY:
                _write(_OURS.send_reply(frame, b"{}"))


def _start_slowly() -> None:
    _write(Greeting("0.1.0").encode())
    for _ in range(10):
        time.sleep(0.2)
        _write(_OURS.send(PipeFrameKind.KEEP_ALIVE))
    _write(_OURS.send(PipeFrameKind.READY) + _OURS.send_data(_WELCOME))
    os.read(0, 65536)


def _die() -> None:
    _serve()
    sys.stderr.write("Connection to build1 closed by remote host.\n")
    sys.exit(255)


def _print_first() -> None:
    _write(b"Last login: today\n")
    _serve()


def _refuse() -> None:
    failure = PipeFailure("far_error", f"{_ESCAPE}No.\nSecond line", _ESCAPE)
    _write(Greeting("0.1.0").encode() + _OURS.send_failure(failure))


# What the far side sends or does.
_ACTIONS: Mapping[str, Callable[[], None]] = {
    "old": lambda: _write(Greeting("0.0.9").encode()),
    "new": lambda: _write(Greeting("9.0.0", oldest="8.0.0").encode()),
    "other_protocol": lambda: _write(Greeting("9.0.0", protocol=2).encode()),
    "not_dragoman": lambda: _write(b"Welcome to the router\n" * 10_000),
    "long_line": lambda: _write(b"A" * (1 << 20)),
    "prints_first": _print_first,
    "refuses": _refuse,
    "hangs": _hang,
    "says_nothing": _wait_silently,
    "asks_for_a_touch": lambda: _wait_silently(error="Confirm user presence for key ED25519-SK\r\n"),
    "greets_and_hangs": lambda: _wait_silently(Greeting("0.1.0").encode()),
    "answers_no_query": lambda: _wait_silently(Greeting("0.1.0").encode() + _OURS.send(PipeFrameKind.READY)),
    "answers_queries": _answer_queries,
    "starts_slowly": _start_slowly,
    "dies": _die,
    "half_a_frame": lambda: _serve(lambda: _OURS.send_data(_ANSWER)[:30]),
    "damaged": lambda: _serve(lambda: _OURS.send_data(_ANSWER)[1:] + bytes(100)),
    "huge_answer": lambda: _serve(lambda: b"".join(_OURS.send_data(b"A" * (1 << 20)) for _ in range(80))),
}
# What the target's command prints when it fails, and its exit status.
_FAILURES: Mapping[str, tuple[str, int]] = {
    "no_host_key": ("Host key verification failed.\r\n", 255),
    "changed_host_key": ("@ WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED! @\n", 255),
    "no_login": ("ada@build1: Permission denied (publickey,password).\r\n", 255),
    "no_network": ("ssh: connect to host build1 port 22: Connection refused\r\n", 255),
    "no_name": ("ssh: Could not resolve hostname build1: Name or service not known\r\n", 255),
    "no_container": ("Error response from daemon: No such container: web\n", 1),
    "no_pod": ('Error from server (NotFound): pods "api" not found\n', 1),
    "no_dragoman": ("bash: line 1: exec: dragoman: not found\n", 127),
    "no_dragoman_in_container": (
        'OCI runtime exec failed: exec: "dragoman": executable file not found in $PATH: unknown\n',
        126,
    ),
    # As Podman with runc, and Docker, put it; then kubectl for a container that is not in the pod.
    "no_dragoman_by_runc": (
        (
            'Error: runc: exec failed: unable to start container process: exec: "dragoman": executable file not found '
            "in $PATH: OCI runtime attempted to invoke a command that was not found\n"
        ),
        127,
    ),
    "no_container_in_pod": ('error: unable to upgrade connection: container not found ("web")\n', 1),
    "old_dragoman": ("dragoman: Unknown command `pipe`.\n", 2),
    "escapes": (f"{_ESCAPE}something went wrong{_ESCAPE}\n", 3),
    "floods_errors": ("x" * (1 << 20) + "\nthe last line\n", 3),
}


def main(kind: str) -> None:
    if kind in _ACTIONS:
        _ACTIONS[kind]()
        return
    text, status = _FAILURES[kind]
    sys.stderr.write(text)
    sys.exit(status)


if __name__ == "__main__":
    main(sys.argv[1])
