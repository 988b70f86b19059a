"""`dragoman setup --on TARGET`: put this version of Dragoman into a folder of its own there, or remove it again."""

from __future__ import annotations

import hashlib
import re
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from dragoman import __version__
from dragoman.cli.output import ExitCode, progress, show_message
from dragoman.cli.remote.options import chosen_target
from dragoman.cli.remote.probe import probe
from dragoman.cli.remote.setup_session import SetupSession
from dragoman.cli.remote.wheels import FarPython, dependency_wheels, extras, own_wheel
from dragoman.core.errors import ErrorSpec
from dragoman.core.localization import localize
from dragoman.core.safe_text import printable
from dragoman.io.net.remote_errors import foreign_far_side
from dragoman.io.net.targets import Target

_declared_target = ErrorSpec(
    "declared_target",
    "{target} is a name from your settings, and its command runs `dragoman pipe` alone.",
    "Pass the machine as `--on ssh:HOST`, or install Dragoman there by hand.",
)
no_far_python = ErrorSpec(
    "no_far_python",
    "{target} has no Python 3.11 or newer.",
    "Install it there. `dragoman doctor --on {target}` shows what was found.",
)


def set_up_target() -> int:
    target, python = _find_python()
    with tempfile.TemporaryDirectory(prefix="dragoman-") as place, SetupSession(target, python) as far:
        folder = Path(place)
        with progress(localize("Looking at {target}", target=target.name)):
            found = far.ask("look", version=__version__)
            wheel = own_wheel(folder)
        digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
        if _digest(found) == digest:
            show_message(
                localize("Dragoman {version} is already set up on {target}.", version=__version__, target=target.name)
            )
            return ExitCode.OK
        with progress(localize("Copying Dragoman {version} to {target}", version=__version__, target=target.name)):
            far.ask("begin", version=__version__)
            far.send_file(wheel)
        _install(far, target, wheel, found)
        with progress(localize("Checking that it runs there")):
            far.ask("finish", version=__version__, digest=digest, removes_itself=target.is_container)
    show_message(
        localize(
            "Dragoman {version} is set up on {target}: {folder}",
            version=__version__,
            target=target.name,
            folder=_text(found, "folder"),
        ),
        localize("`dragoman setup --on {target} --undo` removes it.", target=target.name),
        *([localize("It removes itself after 15 minutes without use.")] if target.is_container else []),
    )
    return ExitCode.OK


def _install(far: SetupSession, target: Target, wheel: Path, found: Mapping[str, Any]) -> None:
    """By the package index of that machine if it has one, or else with the wheels from here."""
    with progress(localize("Installing its packages from the index of {target}", target=target.name)):
        answer = far.ask("index", name=wheel.name, extras=extras())
    if "error" not in answer:
        return
    with tempfile.TemporaryDirectory(prefix="dragoman-") as place:
        with progress(localize("{target} has no package index: collecting the packages here", target=target.name)):
            wheels = dependency_wheels(Path(place), target.name, _far_python(target, found))
        size = sum(it.stat().st_size for it in wheels) >> 20
        with progress(localize("Copying {count} packages, {size} MB", count=len(wheels), size=size)):
            for it in wheels:
                far.send_file(it)
        with progress(localize("Unpacking them there")):
            far.ask("unpack")


def undo_target(*, force: bool) -> int:
    target, python = _find_python()
    with SetupSession(target, python) as far, progress(localize("Removing Dragoman from {target}", target=target.name)):
        answer = far.ask("undo", force=force)
    removed, kept = _paths(answer, "removed"), _paths(answer, "kept")
    show_message(*(localize("Removed {path} on {target}.", path=it, target=target.name) for it in removed))
    show_message(*(localize("{path} was not made by `dragoman setup --on`, so it stays.", path=it) for it in kept))
    if not removed:
        show_message(localize("Nothing on {target} was made by `dragoman setup --on`.", target=target.name))
    return ExitCode.FAILED if kept and not removed else ExitCode.OK


def _find_python() -> tuple[Target, str]:
    target = chosen_target()
    assert target is not None
    if not target.shell:
        raise _declared_target(target=target.name)
    with progress(localize("Connecting to {target}", target=target.name)):
        python = probe(target).python
    if python is None or not python.is_enough:
        raise no_far_python(target=target.name)
    return target, python.command


def _digest(found: Mapping[str, Any]) -> object:
    installed = found.get("installed")
    return installed.get("digest") if isinstance(installed, Mapping) else None


def _far_python(target: Target, found: Mapping[str, Any]) -> FarPython:
    """What that Python says of itself becomes options of pip here."""
    values = [_text(found, name) for name in ("python", "suffix", "platform", "libc")]
    if not all(re.fullmatch(r"[A-Za-z0-9_.][A-Za-z0-9_. +-]{0,80}|", value) for value in values):
        raise foreign_far_side(target=target.name, reason=printable(" ".join(values))[:80])
    return FarPython(*values)


def _text(found: Mapping[str, Any], name: str) -> str:
    return str(found.get(name, ""))[:1000]


def _paths(answer: Mapping[str, Any], name: str) -> Sequence[str]:
    paths = answer.get(name)
    return [str(it)[:1000] for it in paths[:100]] if isinstance(paths, list) else []
