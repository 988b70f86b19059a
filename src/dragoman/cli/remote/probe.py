"""A first look at a target with nothing but its shell: which Python it has, what is installed, what may be written."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import IO, NamedTuple

from dragoman import __version__
from dragoman.core.safe_text import printable
from dragoman.io.net.remote_errors import explain_exit, far_side_silent, target_program_missing
from dragoman.io.net.targets import REMOTE_FOLDER, Target

OLDEST_PYTHON = (3, 11)
_PYTHONS = ("python3", "python3.14", "python3.13", "python3.12", "python3.11", "python")
_WITHIN_S = 25.0
_SILENT_S = 10.0
"""As for a link: ssh says within eight seconds why it cannot connect, and what is found is printed at once."""
_LOOKS_EVERY_S = 0.2
_RETURNS_WITHIN_S = 1.0  # what a program that has ended wrote
_MAX_OUTPUT = 1 << 16
_MARK = "dragoman-doctor "
_TRY_PYTHON = (
    "command -v $it >/dev/null 2>&1 && "
    'say python "$it $($it -c "import sys; print(sys.version.split()[0])" 2>/dev/null) $(command -v $it)"'
)
_READ_ROOT = '[ "$b" = / ] && case "$d" in ro|ro,*) say mounted ro;; *) say mounted rw;; esac'
_READ_CAPABILITIES = '[ "$a" = CapEff: ] && say capabilities $b'
# Plain POSIX, because what is there is not known yet, with built-in commands where there are any. One line without
# backslashes and exclamation marks: the login shell that carries it may be fish or csh. Each line of the output begins
# with a mark: login scripts may print too. A `python3` of pyenv is there and does not run, so each is tried.
_PROBE = "; ".join(
    (
        f'say() {{ echo "{_MARK}$1=$2"; }}',
        'say system "$(uname -sm 2>/dev/null)"',
        f"for it in {' '.join(_PYTHONS)}; do {_TRY_PYTHON}; done",
        'say dragoman "$(command -v dragoman 2>/dev/null)"',
        f'd="$HOME/{REMOTE_FOLDER}/{__version__}/bin/dragoman"; [ -x "$d" ] && say dragoman "$d"',
        'say home "$HOME"',
        '[ -w "$HOME" ] && say writable yes',
        f"[ -r /proc/mounts ] && while read -r a b c d e; do {_READ_ROOT}; done </proc/mounts",
        "f=/proc/sys/kernel/yama/ptrace_scope; [ -r $f ] && read -r a <$f && say ptrace_scope $a",
        f"[ -r /proc/self/status ] && while read -r a b c; do {_READ_CAPABILITIES}; done </proc/self/status",
        "true",
    )
)


@dataclass(frozen=True, slots=True)
class PythonCandidate:
    command: str
    """One of the names that we tried, so it is safe in a command."""
    version: str
    path: str

    @property
    def numbers(self) -> tuple[int, ...]:
        return tuple(int(part) for part in self.version.split(".")[:2] if part.isdigit())

    @property
    def is_enough(self) -> bool:
        return self.numbers >= OLDEST_PYTHON


@dataclass(frozen=True, slots=True)
class TargetFacts:
    """What the target printed: foreign text, without control characters."""

    values: Mapping[str, str]
    pythons: tuple[PythonCandidate, ...]

    def get(self, name: str) -> str:
        return self.values.get(name, "")

    @property
    def python(self) -> PythonCandidate | None:
        """The first that is new enough, or else the first that runs."""
        running = [it for it in self.pythons if it.numbers]
        return next((it for it in running if it.is_enough), running[0] if running else None)


def probe(target: Target) -> TargetFacts:
    """Raises the error that says why the target was not reached."""
    try:
        done = _run(target)
    except _ProbeSilentError as error:
        raise far_side_silent(target=target.name, seconds=error.seconds) from None
    except OSError as error:
        raise target_program_missing(target=target.name, program=target.program) from error
    facts = _read(done.output.decode("utf-8", "replace"))
    if not facts.get("system") and not facts.get("home"):
        raise explain_exit(target, done.status, done.output[-4096:] + done.errors[-4096:])
    return facts


class _Ended(NamedTuple):
    status: int
    output: bytes
    errors: bytes


def _run(target: Target) -> _Ended:
    """Until the command ends, not until its output does: a master connection that ssh leaves in the background keeps
    standard error open.
    """
    process = subprocess.Popen(  # noqa: S603  a list of arguments; the parts of the target have a strict form
        target.run_command("sh", "-c", _PROBE),
        env=target.environment(os.environ),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    kept = [_BoundedOutput(it) for it in (process.stdout, process.stderr)]
    try:
        status = _wait(process, kept)
    except _ProbeSilentError:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)  # with what it started, such as a ProxyCommand
        process.wait()
        raise
    output, errors = (it.text() for it in kept)
    return _Ended(status, output, errors)


class _ProbeSilentError(Exception):
    def __init__(self, seconds: float) -> None:
        super().__init__(seconds)
        self.seconds = round(seconds)


def _wait(process: subprocess.Popen[bytes], kept: Sequence[_BoundedOutput]) -> int:
    began = time.monotonic()
    while True:
        try:
            return process.wait(_LOOKS_EVERY_S)
        except subprocess.TimeoutExpired:
            now = time.monotonic()
        if now - began >= _WITHIN_S:
            raise _ProbeSilentError(_WITHIN_S)
        if now - max(began, *(it.received_at_s for it in kept)) >= _SILENT_S:
            raise _ProbeSilentError(_SILENT_S)


class _BoundedOutput:
    """What a stream begins with; the rest is read too, so that the program can go on."""

    def __init__(self, stream: IO[bytes]) -> None:
        self.received_at_s = 0.0
        self._stream = stream
        self._kept = bytearray()
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def text(self) -> bytes:
        self._thread.join(_RETURNS_WITHIN_S)
        return bytes(self._kept)

    def _read(self) -> None:
        with self._stream:
            while data := os.read(self._stream.fileno(), _MAX_OUTPUT):
                self.received_at_s = time.monotonic()
                self._kept += data[: _MAX_OUTPUT - len(self._kept)]


def _read(text: str) -> TargetFacts:
    values, pythons = {}, []
    for line in text.splitlines():
        name, _, value = line.removeprefix(_MARK).partition("=")
        value = printable(value.strip())[:200]
        if not line.startswith(_MARK):
            continue
        if name != "python":
            if value:
                values[name] = value
        elif (words := value.split(" ", 2))[0] in _PYTHONS:
            command, version, path = (*words, "", "")[:3]
            pythons.append(PythonCandidate(command, version, path))
    return TargetFacts(values, tuple(pythons))
