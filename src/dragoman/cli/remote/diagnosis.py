"""`dragoman doctor --on TARGET`: what a machine, container or pod needs before Dragoman can work there."""

from __future__ import annotations

import shutil
from collections.abc import Generator, Iterator

from dragoman import __version__
from dragoman.cli.installation.doctor import DoctorFinding
from dragoman.cli.remote.connection import open_target
from dragoman.cli.remote.probe import TargetFacts, probe
from dragoman.core.errors import DragomanError
from dragoman.core.localization import LocalizedText, localize
from dragoman.io.net.targets import Target, debug_container_command

_PTRACE = 1 << 19  # CAP_SYS_PTRACE


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


def _look(target: Target) -> Generator[DoctorFinding, None, TargetFacts | None]:
    try:
        facts = probe(target)
    except DragomanError as error:
        yield DoctorFinding(
            "bad", error.message, _without_shell(target) if error.code == "no_far_shell" else error.hint
        )
        return None
    yield DoctorFinding("ok", localize("{target} is reached: {system}", target=target.name, system=facts.get("system")))
    return facts


def _without_shell(target: Target) -> LocalizedText:
    if (command := debug_container_command(target)) is not None:
        return localize("Debug it from a container beside it that has Python: `{command}`.", command=command)
    return localize("Use an image with a shell and Python, at least while you debug.")


def _judge(target: Target, facts: TargetFacts) -> Generator[DoctorFinding, None, bool]:
    """Whether what is there is enough to try a connection."""
    has_python = yield from _python(target, facts)
    yield from _home(target, facts)
    yield from _ptrace(target, facts)
    if not facts.get("dragoman"):
        fix = localize("Run `dragoman setup --on {target}`.", target=target.name) if has_python else None
        yield DoctorFinding("bad", localize("Dragoman is not installed on {target}", target=target.name), fix)
        return False
    yield DoctorFinding("ok", localize("command {path}", path=facts.get("dragoman")))
    return True


def _python(target: Target, facts: TargetFacts) -> Generator[DoctorFinding, None, bool]:
    python = facts.python
    if python is not None and python.is_enough:
        yield DoctorFinding("ok", localize("Python {version} at {path}", version=python.version, path=python.path))
        return True
    if python is None:
        about = localize("there is no Python on {target}", target=target.name)
    else:
        about = localize("Python {version} is too old", version=python.version)
    beside = debug_container_command(target)
    if beside is None:
        fix = localize("Install Python 3.11 or newer there.")
    else:
        fix = localize("Use an image with Python 3.11 or newer, or debug it from beside: `{command}`.", command=beside)
    yield DoctorFinding("bad", about, fix)
    return False


def _home(target: Target, facts: TargetFacts) -> Iterator[DoctorFinding]:
    if facts.get("writable"):
        return
    home = facts.get("home") or "$HOME"
    about = localize("cannot write to {path}", path=home)
    if facts.get("mounted") == "ro":
        about = localize("cannot write to {path}: the file system is read-only", path=home)
    fixes = {
        "docker": localize(
            "Start it with a folder that can be written: `docker run --tmpfs {path}:exec …`.", path=home
        ),
        "podman": localize(
            "Start it with a folder that can be written: `podman run --tmpfs {path}:exec …`.", path=home
        ),
        "kubectl": localize("Mount an `emptyDir` volume at {path} in the pod.", path=home),
    }
    other = localize("Give the user there a home folder that can be written.")
    yield DoctorFinding("bad", about, fixes.get(target.program, other))


def _ptrace(target: Target, facts: TargetFacts) -> Iterator[DoctorFinding]:
    """Launched programs need no rights; attaching by a process id does."""
    scope, capabilities = facts.get("ptrace_scope"), facts.get("capabilities")
    has_right = all(it in "0123456789abcdef" for it in capabilities) and bool(int(capabilities or "0", 16) & _PTRACE)
    if scope in {"", "0"} or (has_right and scope in {"1", "2"}):
        return
    fixes = {
        "docker": localize("Start it with the capability: `docker run --cap-add=SYS_PTRACE …`."),
        "podman": localize("Start it with the right: `podman run --cap-add=SYS_PTRACE …`."),
        "kubectl": localize("Add `SYS_PTRACE` to `securityContext.capabilities.add` of the container."),
    }
    other = localize("Run `sudo sysctl kernel.yama.ptrace_scope=0` there, which holds until it restarts.")
    if scope == "3":
        fixes, other = (
            {},
            localize("Only a restart of that machine with another `kernel.yama.ptrace_scope` changes it."),
        )
    about = localize(
        "a program that already runs cannot be debugged by its process id (kernel.yama.ptrace_scope is {scope})",
        scope=scope,
    )
    yield DoctorFinding("note", about, fixes.get(target.program, other))


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
