"""The near side of `dragoman setup --on`: it runs `setup_script` on the target, over the stdio of one command."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import select
import signal
import subprocess
import time
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from types import TracebackType
from typing import Any

from dragoman.cli.remote.setup_script import MARK
from dragoman.core.errors import DragomanError, ErrorSpec
from dragoman.core.safe_text import printable
from dragoman.io.net.descriptors import nonblocking_writer, read_available
from dragoman.io.net.remote_errors import explain_exit, far_side_silent, foreign_far_side, last_line
from dragoman.io.net.remote_link import ErrorOutput
from dragoman.io.net.targets import Target

# Between single quotes in every shell, so without quotes itself. What follows on standard input is the conversation.
_LOADER = "import sys; exec(sys.stdin.buffer.read(int(sys.stdin.buffer.readline())))"
_CONNECTS_WITHIN_S = 30.0
"""ssh may need ten seconds to connect, and a login shell some."""
_SILENT_S = 10.0
"""From its first answer on, it says every two seconds that it lives."""
_ANSWERS_WITHIN_S = 600.0
_ENDS_WITHIN_S = 3.0
_MAX_UNREAD = 1 << 20
_MAX_SHOWN = 300

_refusals = {
    "not_ours": ErrorSpec(
        "not_ours",
        "{reason} on {target} was not made by `dragoman setup --on`, so nothing was changed.",
        "Move it away, then try again.",
    ),
    "full": ErrorSpec(
        "far_disk_full",
        "The disk of {target} is full: {reason}. What was copied was removed again.",
        "Free about 200 MB there, then try again.",
    ),
    "damaged": ErrorSpec(
        "far_copy_damaged",
        "The copy of {reason} on {target} was damaged and has been removed.",
        "Try again; if it happens often, check the connection.",
    ),
    "does_not_run": ErrorSpec(
        "does_not_run",
        "The installation on {target} does not run and was removed: {reason}.",
        "The Python there may lack a part of its standard library, or the system a library.",
    ),
    "busy": ErrorSpec(
        "far_daemon_busy",
        "A daemon with open sessions on {target} uses {reason}; nothing was removed.",
        "Pass --yes to end them.",
    ),
}
_far_setup_failed = ErrorSpec(
    "far_setup_failed",
    "{target} could not be set up: {reason}. What was copied was removed again.",
    "`dragoman doctor --on {target}` checks it step by step.",
)


class SetupSession:
    """Owns the target's process. Its answers are foreign text."""

    def __init__(self, target: Target, python: str) -> None:
        self._target = target
        self._unread = bytearray()
        self._silent_s = _CONNECTS_WITHIN_S
        self._errors = ErrorOutput()
        # A session of its own, as for `RemoteLink`: neither ssh nor a program it runs can ask anything.
        self._process = subprocess.Popen(  # noqa: S603  a list of arguments; the parts of the target have a strict form
            target.run_command(python, "-I", "-c", _LOADER),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=target.environment(os.environ),
            start_new_session=True,
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        assert self._process.stderr is not None
        self._stdin, self._stdout = self._process.stdin, self._process.stdout
        self._errors.follow(self._process.stderr)

    def __enter__(self) -> SetupSession:
        script = files("dragoman.cli.remote").joinpath("setup_script.py").read_bytes()
        self._send(b"%d\n" % len(script) + script)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """The end of its input ends it in order: it removes what is not finished. A command that hangs is killed."""
        with contextlib.suppress(OSError):
            self._stdin.close()
        try:
            self._process.wait(_ENDS_WITHIN_S)
        except subprocess.TimeoutExpired:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
        self._errors.join()
        self._stdout.close()

    def ask(self, do: str, **given: Any) -> dict[str, Any]:
        self._send(json.dumps({"do": do, **given}).encode() + b"\n")
        return self._answer()

    def send_file(self, path: Path) -> None:
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        size = path.stat().st_size
        self._send(json.dumps({"do": "file", "name": path.name, "size": size, "sha256": digest}).encode() + b"\n")
        self._send(path.read_bytes())
        self._answer()

    def _answer(self) -> dict[str, Any]:
        for line in self._lines():
            if not line.startswith(MARK):  # login scripts print too
                continue
            try:
                answer = json.loads(line.removeprefix(MARK))
            except (ValueError, RecursionError):
                answer = None
            if not isinstance(answer, dict):
                raise foreign_far_side(target=self._target.name, reason=printable(line.decode("utf-8", "replace"))[:80])
            if "alive" not in answer:
                return self._accepted(answer)
        raise AssertionError("the lines end with an error")

    def _accepted(self, answer: dict[str, Any]) -> dict[str, Any]:
        if "error" not in answer or answer["error"] == "no_index":
            return answer
        reason = last_line(str(answer.get("reason", ""))) or printable(str(answer["error"]))[:_MAX_SHOWN]
        raise _refusals.get(str(answer["error"]), _far_setup_failed)(target=self._target.name, reason=reason)

    def _lines(self) -> Iterator[bytes]:
        last = time.monotonic() + _ANSWERS_WITHIN_S
        deadline = min(last, time.monotonic() + self._silent_s)
        while True:
            while (end := self._unread.find(b"\n")) >= 0:
                line = bytes(self._unread[:end])
                del self._unread[: end + 1]
                if line.startswith(MARK):
                    self._silent_s = _SILENT_S
                deadline = min(last, time.monotonic() + self._silent_s)
                yield line
            if len(self._unread) > _MAX_UNREAD:
                raise foreign_far_side(target=self._target.name, reason="a line without an end")
            ready, _, _ = select.select([self._stdout], (), (), max(0.0, deadline - time.monotonic()))
            if not ready:
                raise far_side_silent(target=self._target.name, seconds=round(self._silent_s))
            data = read_available(self._stdout.fileno())
            if data == b"":
                raise self._ended()
            self._unread += data or b""

    def _ended(self) -> DragomanError:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_ENDS_WITHIN_S)
        self._errors.join()
        return explain_exit(self._target, self._process.returncode, self._errors.text)

    def _send(self, data: bytes) -> None:
        """Each piece within the time of silence. A far side that closed has said why, or its command did."""
        write, left = nonblocking_writer(self._stdin.fileno()), memoryview(data)
        while left:
            _, ready, _ = select.select((), [self._stdin], (), self._silent_s)
            if not ready:
                raise far_side_silent(target=self._target.name, seconds=round(self._silent_s))
            try:
                left = left[write(left) :]
            except BlockingIOError:
                continue
            except OSError:
                return
