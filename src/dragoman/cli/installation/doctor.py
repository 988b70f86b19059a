"""`dragoman doctor`: checks that report what they looked at, what is wrong, and how to fix it."""

from __future__ import annotations

import importlib.util
import os
import shutil
import stat
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from dragoman.cli.output import ExitCode, render, show_json, show_message
from dragoman.cli.remote.options import chosen_target, is_remote
from dragoman.core.errors import DragomanError, system_refused
from dragoman.core.installation import install_command
from dragoman.core.localization import LocalizedText, localize
from dragoman.core.paths import Paths, find_paths
from dragoman.core.settings.loader import load_settings, unknown_variables
from dragoman.io.drivers.control_client import ControlClient
from dragoman.io.files.lock import is_held
from dragoman.io.files.private_files import read_private
from dragoman.io.processes.nodelay import nodelay_unavailable_reason

_MIN_FREE_BYTES = 200 << 20
_MAX_UNREAD_FILES = 5


@dataclass(frozen=True, slots=True)
class DoctorFinding:
    level: Literal["ok", "note", "bad"]
    about: LocalizedText
    fix: LocalizedText | None = None


def doctor(*, json: Annotated[bool, Parameter(negative="", help=render(localize("Print JSON.")))] = False) -> int:
    findings = _remote_findings() if is_remote() else _local_findings()
    if json:
        show_json(
            [{"level": f.level, "about": render(f.about), "mend": render(f.fix) if f.fix else ""} for f in findings]
        )
    else:
        for finding in findings:
            _show_result(finding)
    return ExitCode.FAILED if any(finding.level == "bad" for finding in findings) else ExitCode.OK


def _local_findings() -> list[DoctorFinding]:
    return [finding for check in _CHECKS for finding in _run_check(check, find_paths())]


def _remote_findings() -> list[DoctorFinding]:
    from dragoman.cli.remote.diagnosis import diagnose

    target = chosen_target()
    return list(diagnose(target)) if target is not None else []


def _run_check(check: Callable[[Paths], Iterator[DoctorFinding]], paths: Paths) -> Iterator[DoctorFinding]:
    """Run one check. A check that raises is reported as a problem, and the others still run."""
    try:
        yield from check(paths)
    except DragomanError as error:
        yield DoctorFinding("bad", error.message, error.hint)
    except OSError as error:
        refusal = system_refused(error)
        yield DoctorFinding("bad", refusal.message, refusal.hint)


def _show_result(finding: DoctorFinding) -> None:
    marks = {
        "ok": localize("ok    {about}", about=finding.about),
        "note": localize("note  {about}", about=finding.about),
    }
    show_message(marks.get(finding.level, localize("ERROR {about}", about=finding.about)))
    if finding.fix:
        show_message(localize("      → {fix}", fix=finding.fix))


def _python(_: Paths) -> Iterator[DoctorFinding]:
    version = ".".join(map(str, sys.version_info[:3]))
    yield DoctorFinding("ok", localize("Python {version} at {path}", version=version, path=sys.executable))


def _folders(paths: Paths) -> Iterator[DoctorFinding]:
    for folder in (paths.config, paths.state, paths.runtime):
        nearest = next(parent for parent in (folder, *folder.parents) if parent.exists())
        if not os.access(nearest, os.W_OK):
            yield DoctorFinding(
                "bad",
                localize("cannot write to {path}", path=nearest),
                localize("Change its owner: chown {user} {path}", user=os.getuid(), path=nearest),
            )
        elif not _is_own_folder(folder):
            yield DoctorFinding(
                "bad",
                localize("{path} is not a folder you own", path=folder),
                localize("Remove it, or set DRAGOMAN_HOME to a folder you own."),
            )
        else:
            yield DoctorFinding("ok", localize("folder {path}", path=folder))


def _is_own_folder(path: Path) -> bool:
    try:
        status = path.lstat()
    except FileNotFoundError:
        return True
    return stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid()


def _disk(paths: Paths) -> Iterator[DoctorFinding]:
    nearest = next(parent for parent in (paths.state, *paths.state.parents) if parent.exists())
    free = shutil.disk_usage(nearest).free
    if free < _MIN_FREE_BYTES:
        yield DoctorFinding(
            "bad",
            localize("only {free} MB free at {path}", free=free >> 20, path=nearest),
            localize("Free some disk space, or erase old events: dragoman forget --before DATE"),
        )
    else:
        yield DoctorFinding("ok", localize("{free} MB free for the journal", free=free >> 20))


def _settings(paths: Paths) -> Iterator[DoctorFinding]:
    try:
        load_settings(paths)
    except DragomanError as error:
        yield DoctorFinding("bad", error.message, error.hint)
    else:
        yield _settings_found(paths.settings_file)
    for warning in unknown_variables():
        yield DoctorFinding("note", warning)


def _settings_found(file: Path) -> DoctorFinding:
    if not file.exists():
        return DoctorFinding(
            "note", localize("no settings file; every setting has its default value: {path}", path=file)
        )
    return DoctorFinding("ok", localize("settings {path}", path=file))


def _tokens(paths: Paths) -> Iterator[DoctorFinding]:
    files = sorted(it for it in paths.tokens_folder.rglob("[!.]*") if not it.is_dir() or it.is_symlink())
    for file in files:
        read_private(file)
    if files:
        yield DoctorFinding("ok", localize("tokens {path}", path=paths.tokens_folder))
        named = [f"{it.parent.name}/{it.name}" for it in files if it.parent.parent.name == "clients"]
        if named:
            yield DoctorFinding("ok", localize("client tokens: {names}", names=", ".join(named)))
    else:
        yield DoctorFinding("note", localize("no tokens yet; they are created on first start"))


def _debugging(_: Paths) -> Iterator[DoctorFinding]:
    """Debugger speed. debugpy is fast by itself; other adapters send small packets, which needs the system's help."""
    reason = nodelay_unavailable_reason()
    if reason is None:
        yield DoctorFinding("ok", localize("debugger stepping runs at full speed"))
    else:
        yield DoctorFinding(
            "note", localize("stepping may take up to 0.2 s longer in some debuggers: {why}", why=reason)
        )


def _screens(_: Paths) -> Iterator[DoctorFinding]:
    if importlib.util.find_spec("pyte") is not None:
        yield DoctorFinding("ok", localize("terminal screens are available"))
    else:
        yield DoctorFinding(
            "note",
            localize("terminal screens are unavailable: the package `pyte` is not installed"),
            localize("To install it: {command}", command=install_command("pyte")),
        )


def _page(_: Paths) -> Iterator[DoctorFinding]:
    if files("dragoman.servers.web").joinpath("built", "index.html").is_file():
        yield DoctorFinding("ok", localize("the page is installed"))
    else:
        yield DoctorFinding(
            "bad",
            localize("the page is not installed; the browser shows a notice instead"),
            localize("In a checkout, run `make page`. Otherwise, reinstall Dragoman."),
        )


def _daemon(paths: Paths) -> Iterator[DoctorFinding]:
    try:
        with ControlClient.open(paths, within_s=3) as link:
            status = link.call("status", within_s=3)
    except DragomanError as error:
        if error.code != "not_running":
            yield DoctorFinding("bad", error.message, error.hint)
        elif is_held(paths.lock_file):
            yield DoctorFinding("note", localize("The daemon is starting or stopping."))
        else:
            yield DoctorFinding("note", localize("no daemon is running"), localize("Start one with `dragoman up`."))
        return
    yield DoctorFinding(
        "ok", localize("daemon {version} at {address}", version=status["version"], address=status["address"])
    )
    if status["worst_lag_ms"] > 100:
        yield DoctorFinding(
            "note",
            localize("event loop lag reached {lag} ms in the last minute", lag=status["worst_lag_ms"]),
            localize("This is normal under heavy load. If it persists, report it with the output of `dragoman logs`."),
        )


def _journal(paths: Paths) -> Iterator[DoctorFinding]:
    """The search for secrets in the journal. Older versions recognised fewer of them, so it runs once, in the
    background.
    """
    for path in sorted(paths.journal_folder.glob("damaged-*.db")):
        yield DoctorFinding(
            "note",
            localize("a damaged journal was kept; it may contain secrets from older versions: {path}", path=path),
            localize("Delete it when you no longer need it. `dragoman forget --all` also deletes it."),
        )
    if not is_held(paths.lock_file):
        return
    with ControlClient.open(paths, within_s=3) as link:
        scrubbed = link.call("journal_scrubbed", within_s=3)
    if scrubbed["is_done"]:
        at = datetime.fromtimestamp(scrubbed["at_ns"] / 1e9, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
        about = localize(
            "journal searched for secrets from older versions at {at}; changed rows: {count}, files: {files}",
            at=at,
            count=scrubbed["changed"],
            files=scrubbed["files"],
        )
        yield DoctorFinding("ok", about)
    elif scrubbed["failure"]:
        yield DoctorFinding(
            "bad",
            localize("cannot search the journal for secrets from older versions ({code})", code=scrubbed["failure"]),
            localize(
                "Free some disk space, then run `dragoman restart`. Or erase the journal with `dragoman forget --all`."
            ),
        )
    else:
        yield DoctorFinding(
            "note",
            localize("the journal is being searched for secrets from older versions"),
            localize("The search continues in the background. `redact = false` turns it off."),
        )
    for name in scrubbed["unread"][:_MAX_UNREAD_FILES]:
        session, _, _ = name.partition("/")
        yield DoctorFinding(
            "bad",
            localize(
                "cannot search a recorded output file for secrets: {path}",
                path=paths.journal_folder / "segments" / name,
            ),
            localize(
                "Check the disk and the file's owner, then run `dragoman restart`. Or erase it with `dragoman "
                "forget --session {session}`.",
                session=session,
            ),
        )


def _on_path(_: Paths) -> Iterator[DoctorFinding]:
    found = shutil.which("dragoman")
    if found is None:
        beside = Path(sys.executable).with_name("dragoman")
        yield DoctorFinding(
            "note",
            localize("`dragoman` is not on PATH"),
            localize("Client configurations use the full path {path} instead.", path=beside),
        )
    else:
        yield DoctorFinding("ok", localize("command {path}", path=found))


_CHECKS: tuple[Callable[[Paths], Iterator[DoctorFinding]], ...] = (
    _python,
    _on_path,
    _folders,
    _disk,
    _settings,
    _tokens,
    _debugging,
    _screens,
    _page,
    _daemon,
    _journal,
)
