"""`dragoman open`: verify a shared session and show it, as somebody else's data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from dragoman.cli.caller import find_workspace
from dragoman.cli.handover.share import commit_text
from dragoman.cli.output import ExitCode, render, show_message
from dragoman.cli.tool_client import open_tool_client
from dragoman.core.errors import DragomanError
from dragoman.core.labels import label_of, with_label
from dragoman.core.localization import LocalizedText, join_texts, localize
from dragoman.core.paths import find_paths
from dragoman.core.safe_text import escape_invisible
from dragoman.core.settings.loader import load_settings
from dragoman.io.drivers.control_client import ControlClient
from dragoman.io.files.bounded_read import read_at_most
from dragoman.protocols.share import FILE_BYTES, SharedSession, SharedStop, read_share

_STOPS_SHOWN = 20
_VALUES_SHOWN = 8
_VALUE_CHARACTERS = 60
_OUTPUT_LINES = 15
_LINE_CHARACTERS = 200


def open_(
    file: Annotated[Path, Parameter(help=render(localize("File from `dragoman share`.")))],
    /,
) -> int:
    shared = read_share(read_at_most(file, FILE_BYTES))
    signer = known_signer(shared, load_settings(find_paths()).known_keys)
    show_message(*_lines(shared, signer))
    id = _show_to_daemon(file, shared)
    show_message(*_next_lines(id))
    return ExitCode.OK


def known_signer(shared: SharedSession, known_keys: Mapping[str, str]) -> str:
    """The name that the user gave to the key; empty for an unknown one."""
    return next((name for name, key in known_keys.items() if key == shared.signature.fingerprint), "")


def _show_to_daemon(file: Path, shared: SharedSession) -> str:
    """The daemon reads and verifies the file itself, for agents and the page."""
    workspace = find_workspace(None).resolve()
    with open_tool_client(workspace, starts_daemon=True):
        pass
    with ControlClient.open(find_paths()) as link:
        opened = link.call("share_open", {"path": str(file.absolute()), "workspace": str(workspace)})
    if opened["id"] != shared.id:
        raise DragomanError(
            "file_changed",
            localize("{file} changed while it was read.", file=str(file)),
            hint=localize("Open it again."),
        )
    return str(opened["id"])


def _lines(shared: SharedSession, signer: str) -> Iterator[LocalizedText]:
    manifest = shared.manifest
    written = datetime.fromtimestamp(manifest.created_at_ns / 1e9, UTC)
    yield localize(
        "Session {session} ({title}), shared {time} UTC",
        session=_shown(manifest.session),
        title=_shown(manifest.title),
        time=f"{written:%Y-%m-%d %H:%M}",
    )
    yield signer_text(shared, signer)
    yield with_label(localize("commit"), commit_text(manifest))
    yield localize("This is somebody else's data. Secrets removed from it: {count}.", count=manifest.redactions)
    for name, count in manifest.left_out.items():
        yield localize("Left out of {name}: {count}", name=_shown(name), count=count)
    yield with_label(localize("stops"), localize("{count}", count=len(shared.stops)))
    if (left := len(shared.stops) - _STOPS_SHOWN) > 0:
        yield localize("  {count} earlier stops are not shown.", count=left)
    for stop in shared.stops[-_STOPS_SHOWN:]:
        yield from _stop_lines(stop)
    lines = shared.output.splitlines()
    if lines:
        yield localize("output:")
        for line in lines[-_OUTPUT_LINES:]:
            yield localize("{text}", text=f"  | {_shown(line)}")


def signer_text(shared: SharedSession, signer: str) -> LocalizedText:
    if signer:
        return localize("signed by {name}", name=signer)
    return localize("signed with the unknown key {key}", key=shared.signature.fingerprint)


def _stop_lines(stop: SharedStop) -> Iterator[LocalizedText]:
    frame = stop.frame
    place = f"{_shown(frame.path)}:{frame.line} {_shown(frame.name)}" if frame else ""
    yield join_texts(" ", (f"  {stop.number}", label_of(_shown(stop.reason)), place))
    if stop.raised[0]:
        yield localize("{text}", text=f"      {_shown(': '.join(stop.raised))}")
    values = [f"{_shown(it.name)} = {_shown(it.value, _VALUE_CHARACTERS)}" for it in stop.variables]
    if values:
        more = ["…"] if len(values) > _VALUES_SHOWN else []
        yield localize("{text}", text=f"      {', '.join([*values[:_VALUES_SHOWN], *more])}")


def _next_lines(id: str) -> Iterator[LocalizedText]:
    yield localize("Agents read it with stop_history, search_journal and get_output, session_id {id}.", id=id)
    yield localize("The daemon keeps it in memory until `dragoman forget --session {id}` or its end.", id=id)


def _shown(text: str, most: int = _LINE_CHARACTERS) -> str:
    """One line without anything that a terminal would act on or that draws nothing."""
    shown = escape_invisible(text.replace("\n", "\\n").replace("\t", " ")[:most])
    return shown if len(text) <= most else f"{shown}…"
