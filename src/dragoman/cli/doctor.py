"""`dragoman doctor`: each check says what it looked at, what is wrong, and how to mend it."""

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

from dragoman.cli.output import ExitCode, show_json, shown, tell
from dragoman.errors import DragomanError, system_refused
from dragoman.extras import install_command
from dragoman.phrases import Phrase, say
from dragoman.places import Places, find_places
from dragoman.settings import load_settings, unknown_variables
from dragoman.transport.control_link import ControlLink
from dragoman.transport.lock import is_held
from dragoman.transport.nodelay import obstacle
from dragoman.transport.private_files import read_private

_LEAST_FREE = 200 << 20
_UNREAD_FILES = 5


@dataclass(frozen=True, slots=True)
class Finding:
    level: Literal["ok", "note", "bad"]
    about: Phrase
    mend: Phrase | None = None


def doctor(*, json: Annotated[bool, Parameter(negative="", help=shown(say("Answer with JSON.")))] = False) -> int:
    findings = [finding for check in _CHECKS for finding in _found_by(check, find_places())]
    if json:
        show_json(
            [{"level": f.level, "about": shown(f.about), "mend": shown(f.mend) if f.mend else ""} for f in findings]
        )
    else:
        for finding in findings:
            _tell(finding)
    return ExitCode.FAILED if any(finding.level == "bad" for finding in findings) else ExitCode.OK


def _found_by(check: Callable[[Places], Iterator[Finding]], places: Places) -> Iterator[Finding]:
    """A check that cannot even look has found something; the others still have their say."""
    try:
        yield from check(places)
    except DragomanError as error:
        yield Finding("bad", error.message, error.hint)
    except OSError as error:
        refusal = system_refused(error)
        yield Finding("bad", refusal.message, refusal.hint)


def _tell(finding: Finding) -> None:
    marks = {"ok": say("ok    {about}", about=finding.about), "note": say("note  {about}", about=finding.about)}
    tell(marks.get(finding.level, say("WRONG {about}", about=finding.about)))
    if finding.mend:
        tell(say("      → {mend}", mend=finding.mend))


def _python(_: Places) -> Iterator[Finding]:
    version = ".".join(map(str, sys.version_info[:3]))
    yield Finding("ok", say("Python {version} at {path}", version=version, path=sys.executable))


def _folders(places: Places) -> Iterator[Finding]:
    for folder in (places.config, places.state, places.runtime):
        nearest = next(parent for parent in (folder, *folder.parents) if parent.exists())
        if not os.access(nearest, os.W_OK):
            yield Finding(
                "bad",
                say("{path} cannot be written", path=nearest),
                say("Make it yours: chown {user} {path}", user=os.getuid(), path=nearest),
            )
        elif not _is_own_folder(folder):
            yield Finding(
                "bad",
                say("{path} is not a folder of yours", path=folder),
                say("Remove it, or point DRAGOMAN_HOME at a folder of your own."),
            )
        else:
            yield Finding("ok", say("folder {path}", path=folder))


def _is_own_folder(path: Path) -> bool:
    try:
        status = path.lstat()
    except FileNotFoundError:
        return True
    return stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid()


def _disk(places: Places) -> Iterator[Finding]:
    nearest = next(parent for parent in (places.state, *places.state.parents) if parent.exists())
    free = shutil.disk_usage(nearest).free
    if free < _LEAST_FREE:
        yield Finding(
            "bad",
            say("only {free} MB are free at {path}", free=free >> 20, path=nearest),
            say("Make room, or erase old events: dragoman forget --before DATE"),
        )
    else:
        yield Finding("ok", say("{free} MB free for the journal", free=free >> 20))


def _settings(places: Places) -> Iterator[Finding]:
    try:
        load_settings(places)
    except DragomanError as error:
        yield Finding("bad", error.message, error.hint)
    else:
        yield _settings_found(places.settings_file)
    for warning in unknown_variables():
        yield Finding("note", warning)


def _settings_found(file: Path) -> Finding:
    if not file.exists():
        return Finding("note", say("no settings file, so every setting has its default: {path}", path=file))
    return Finding("ok", say("settings {path}", path=file))


def _tokens(places: Places) -> Iterator[Finding]:
    files = sorted(it for it in places.tokens_folder.rglob("[!.]*") if not it.is_dir() or it.is_symlink())
    for file in files:
        read_private(file)
    if files:
        yield Finding("ok", say("tokens {path}", path=places.tokens_folder))
        named = [f"{it.parent.name}/{it.name}" for it in files if it.parent.parent.name == "clients"]
        if named:
            yield Finding("ok", say("tokens of clients: {names}", names=", ".join(named)))
    else:
        yield Finding("note", say("no tokens yet: the first start makes them"))


def _debugging(_: Places) -> Iterator[Finding]:
    """Python's adapter is quick by itself; others write in small pieces, which only the system lets us cure."""
    reason = obstacle()
    if reason is None:
        yield Finding("ok", say("steps in the debugger are quick: small packets are sent at once"))
    else:
        yield Finding("note", say("steps in some debuggers will be slower here, by up to 0.2 s: {why}", why=reason))


def _screens(_: Places) -> Iterator[Finding]:
    if importlib.util.find_spec("pyte") is not None:
        yield Finding("ok", say("screens of terminals can be shown"))
    else:
        yield Finding(
            "note",
            say("screens of terminals cannot be shown: the package `pyte` is missing"),
            say("Where they are wanted: {command}", command=install_command("pyte")),
        )


def _page(_: Places) -> Iterator[Finding]:
    if files("dragoman.web").joinpath("built", "index.html").is_file():
        yield Finding("ok", say("the page is installed"))
    else:
        yield Finding(
            "bad",
            say("the page is missing, so the browser shows a notice in its place"),
            say("In a checkout run `make page`; otherwise install Dragoman again."),
        )


def _daemon(places: Places) -> Iterator[Finding]:
    try:
        with ControlLink.open(places, within_s=3) as link:
            status = link.call("status", within_s=3)
    except DragomanError as error:
        if error.code != "not_running":
            yield Finding("bad", error.message, error.hint)
        elif is_held(places.lock_file):
            yield Finding("note", say("The daemon is starting or ending."))
        else:
            yield Finding("note", say("no daemon is running"), say("Start one with `dragoman up`."))
        return
    yield Finding("ok", say("daemon {version} at {address}", version=status["version"], address=status["address"]))
    if status["worst_lag_ms"] > 100:
        yield Finding(
            "note",
            say("its event loop was {lag} ms late within the last minute", lag=status["worst_lag_ms"]),
            say("Ordinary under heavy load; if it stays, send `dragoman logs` with a report."),
        )


def _journal(places: Places) -> Iterator[Finding]:
    """Versions that knew fewer secrets recorded more: it is searched once, in the background."""
    for path in sorted(places.journal_folder.glob("damaged-*.db")):
        yield Finding(
            "note",
            say("a damaged journal was set aside, where secrets of older versions may be left: {path}", path=path),
            say("Delete it when you do not need it any more; `dragoman forget --all` deletes it too."),
        )
    if not is_held(places.lock_file):
        return
    with ControlLink.open(places, within_s=3) as link:
        scrubbed = link.call("journal_scrubbed", within_s=3)
    if scrubbed["is_done"]:
        at = datetime.fromtimestamp(scrubbed["at_ns"] / 1e9, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
        about = say(
            "journal searched for secrets of older versions at {at}: {count} rows and {files} files changed",
            at=at,
            count=scrubbed["changed"],
            files=scrubbed["files"],
        )
        yield Finding("ok", about)
    elif scrubbed["failure"]:
        yield Finding(
            "bad",
            say("the journal could not be searched for secrets of older versions ({code})", code=scrubbed["failure"]),
            say("Make room on the disk, then run `dragoman restart`; or erase it with `dragoman forget --all`."),
        )
    else:
        yield Finding(
            "note",
            say("the journal is still being searched for secrets of older versions"),
            say("It goes on by itself. With `redact = false` it is not searched."),
        )
    for name in scrubbed["unread"][:_UNREAD_FILES]:
        session, _, _ = name.partition("/")
        yield Finding(
            "bad",
            say(
                "a file of recorded output could not be searched for secrets: {path}",
                path=places.journal_folder / "segments" / name,
            ),
            say(
                "Check the disk and the file's owner, then run `dragoman restart`; or erase it with "
                "`dragoman forget --session {session}`.",
                session=session,
            ),
        )


def _on_path(_: Places) -> Iterator[Finding]:
    found = shutil.which("dragoman")
    if found is None:
        beside = Path(sys.executable).with_name("dragoman")
        yield Finding(
            "note",
            say("`dragoman` is not on PATH"),
            say("Configurations then name the full path {path}.", path=beside),
        )
    else:
        yield Finding("ok", say("command {path}", path=found))


_CHECKS: tuple[Callable[[Places], Iterator[Finding]], ...] = (
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
