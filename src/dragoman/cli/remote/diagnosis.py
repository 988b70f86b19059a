"""`dragoman doctor --on TARGET`: what a machine, container or pod needs before Dragoman can work there."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import threading
from collections.abc import Generator, Iterator, Mapping
from typing import IO, NamedTuple

from dragoman import __version__
from dragoman.cli.installation.doctor import DoctorFinding
from dragoman.cli.remote.connection import open_target
from dragoman.core.errors import DragomanError
from dragoman.core.localization import LocalizedText, localize
from dragoman.core.safe_text import printable
from dragoman.io.net.remote_errors import explain_exit, far_side_silent
from dragoman.io.net.targets import Target

_WITHIN_S = 25
_RETURNS_WITHIN_S = 1.0  # what a program that has ended wrote
_OLDEST_PYTHON = (3, 11)
_MAX_OUTPUT = 1 << 16
_MARK = "dragoman-doctor "
# Plain POSIX, because what is there is not known yet. Each line begins with a mark: login scripts may print too.
_PROBE = f"""
say() {{ printf '{_MARK}%s=%s\\n' "$1" "$2"; }}
say system "$(uname -sm 2>/dev/null)"
for it in python3.13 python3.12 python3.11 python3; do
  if command -v "$it" >/dev/null 2>&1; then
    say python "$(command -v "$it")"
    say python_version "$("$it" -c 'import sys; print("%d.%d.%d" % sys.version_info[:3])' 2>/dev/null)"
    break
  fi
done
say dragoman "$(command -v dragoman 2>/dev/null)"
say home "$HOME"
if [ -w "$HOME" ]; then say writable yes; fi
"""


def diagnose(target: Target) -> Iterator[DoctorFinding]:
    """Each step needs the one before, so the first that fails is the last."""
    program = shutil.which(target.program)
    if program is None:
        yield DoctorFinding(
            "bad",
            localize("`{program}` is not on PATH", program=target.program),
            localize("Install it on this machine, or put it on PATH."),
        )
        return
    yield DoctorFinding("ok", localize("command {path}", path=program))
    if target.shell:
        found = yield from _look(target)
        if found is None or not (yield from _judge(target, found)):
            return
    yield from _connect(target)


def _look(target: Target) -> Generator[DoctorFinding, None, dict[str, str] | None]:
    try:
        done = _probe(target)
    except subprocess.TimeoutExpired:
        error = far_side_silent(target=target.name, seconds=_WITHIN_S)
        yield DoctorFinding(
            "bad", error.message, localize("Check that `{by_hand} true` answers.", by_hand=target.by_hand)
        )
        return None
    found = _read(done.output.decode("utf-8", "replace"))
    if "system" in found:
        yield DoctorFinding("ok", localize("{target} is reached: {system}", target=target.name, system=found["system"]))
        return found
    if b'"sh"' in done.errors and b"not found" in done.errors:
        yield DoctorFinding(
            "bad", localize("{target} has no shell, so Dragoman cannot run in it", target=target.name), _beside(target)
        )
        return None
    error = explain_exit(target, done.status, done.output[-4096:] + done.errors[-4096:])
    yield DoctorFinding("bad", error.message, error.hint)
    return None


class _Probed(NamedTuple):
    status: int
    output: bytes
    errors: bytes


def _probe(target: Target) -> _Probed:
    """Until the command ends, not until its output does: a master connection that ssh leaves in the background keeps
    standard error open.
    """
    process = subprocess.Popen(  # noqa: S603  a list of arguments; the parts of the target have a strict form
        target.probe_command(_PROBE),
        env=target.environment(os.environ),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    kept = bytearray(), bytearray()
    assert process.stdout is not None
    assert process.stderr is not None
    streams = zip((process.stdout, process.stderr), kept, strict=True)
    threads = [threading.Thread(target=_keep, args=it, daemon=True) for it in streams]
    for it in threads:
        it.start()
    try:
        status = process.wait(_WITHIN_S)
    except subprocess.TimeoutExpired:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)  # with what it started, such as a ProxyCommand
        process.wait()
        raise
    for it in threads:
        it.join(_RETURNS_WITHIN_S)
    return _Probed(status, bytes(kept[0]), bytes(kept[1]))


def _keep(stream: IO[bytes], kept: bytearray) -> None:
    """What it begins with; the rest is read too, so that the program can go on."""
    with stream:
        while data := os.read(stream.fileno(), _MAX_OUTPUT):
            kept += data[: _MAX_OUTPUT - len(kept)]


def _read(text: str) -> dict[str, str]:
    lines = (line.removeprefix(_MARK).partition("=") for line in text.splitlines() if line.startswith(_MARK))
    return {name: printable(value.strip())[:200] for name, _, value in lines}


def _beside(target: Target) -> LocalizedText:
    if target.program == "kubectl":
        return localize(
            "Debug it from a container beside it that has Python: `kubectl debug -it POD --image=python:3.12 --target="
            "CONTAINER`."
        )
    return localize("Use an image with a shell and Python, at least while you debug.")


def _judge(target: Target, found: Mapping[str, str]) -> Generator[DoctorFinding, None, bool]:
    """Whether what is there is enough to try a connection."""
    version = tuple(int(part) for part in found.get("python_version", "").split(".") if part.isdigit())
    if not version:
        yield DoctorFinding(
            "bad",
            localize("there is no Python on {target}", target=target.name),
            localize("Install Python 3.11 or newer there."),
        )
    elif version[:2] < _OLDEST_PYTHON:
        about = localize("Python {version} is too old", version=found["python_version"])
        yield DoctorFinding("bad", about, localize("Install Python 3.11 or newer there."))
    else:
        about = localize("Python {version} at {path}", version=found["python_version"], path=found["python"])
        yield DoctorFinding("ok", about)
    if "writable" not in found:
        yield DoctorFinding(
            "bad",
            localize("cannot write to {path}", path=found.get("home") or "$HOME"),
            localize("Set DRAGOMAN_HOME there to a folder that can be written."),
        )
    if found.get("dragoman"):
        yield DoctorFinding("ok", localize("command {path}", path=found["dragoman"]))
        return True
    yield DoctorFinding(
        "bad",
        localize("`dragoman` is not on PATH there"),
        localize("Install it there: `pipx install '.[screen]'` in a checkout of Dragoman."),
    )
    return False


def _connect(target: Target) -> Iterator[DoctorFinding]:
    try:
        with open_target(target) as client:
            status = client.call("status")
    except DragomanError as error:
        if error.code == "not_running":
            yield DoctorFinding("ok", localize("Dragoman answers on {target}", target=target.name))
            yield DoctorFinding("note", error.message, error.hint)
        else:
            yield DoctorFinding("bad", error.message, error.hint)
        return
    yield DoctorFinding(
        "ok", localize("daemon {version} at {address}", version=status["version"], address=status["address"])
    )
    if status["version"] != __version__:
        yield DoctorFinding(
            "note",
            localize("Dragoman here is {ours}, there {theirs}", ours=__version__, theirs=status["version"]),
            localize("Both work together; update the older one when you can."),
        )
