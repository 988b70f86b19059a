"""`dragoman share`: write a debug session to one signed file, after showing what will be in it."""

from __future__ import annotations

import base64
import sys
import time
from pathlib import Path
from typing import Annotated, Any

import msgspec
from cyclopts import Parameter

from dragoman import __version__
from dragoman.cli import completion
from dragoman.cli.caller import record_scope
from dragoman.cli.debug.report import ReportContent, fetch_content
from dragoman.cli.handover.contents import RecordedSession, ShareBuilder, ShareContents
from dragoman.cli.handover.display import commit_text
from dragoman.cli.handover.home_folder import HomeFolder
from dragoman.cli.handover.repository import TreeState, tree_state
from dragoman.cli.journal import AllWorkspaces
from dragoman.cli.output import ExitCode, confirm, render, show_message, warn
from dragoman.cli.remote.connection import open_daemon
from dragoman.core.errors import DragomanError, ErrorSpec
from dragoman.core.labels import with_label
from dragoman.core.localization import LocalizedText, localize
from dragoman.core.paths import find_paths
from dragoman.core.redaction import Redactor
from dragoman.core.settings.loader import load_settings
from dragoman.io.drivers.control_client import ControlClient
from dragoman.io.files.private_files import create_private
from dragoman.protocols.control import ControlAnswer, ControlItem
from dragoman.protocols.share import ShareManifest, ShareSignature, encode_manifest, manifest_of, write_share

_IDLE_TIMEOUT_S = 60.0

Yes = Annotated[bool, Parameter(name=["--yes", "-y"], negative="", help=render(localize("Do not ask.")))]

exists = ErrorSpec(
    "file_exists",
    "{file} already exists.",
    "Choose another file name, or delete the existing file. Nothing was written.",
)
needs_yes = ErrorSpec(
    "needs_confirmation",
    "Cannot ask for confirmation without a terminal, so nothing was written.",
    "Pass --yes to write the file without a question.",
)


def share(
    session: Annotated[
        str,
        Parameter(
            help=render(
                localize("Debug session id from `dragoman debug sessions` or the page; the newest session if omitted.")
            ),
            completer=completion.debug_sessions,
        ),
    ] = "",
    /,
    *,
    output: Annotated[Path, Parameter(name=["-o", "--output"], help=render(localize("New file to write.")))],
    yes: Yes = False,
    all_workspaces: AllWorkspaces = False,
) -> int:
    if output.exists() or output.is_symlink():
        raise exists(file=str(output))
    recorded = _fetch_session(session, all_workspaces=all_workspaces)
    settings = load_settings(find_paths())
    built = ShareBuilder(
        Redactor(enabled=True, names=tuple(settings.redact_names)), HomeFolder.at(Path.home())
    ).contents(recorded)
    tree = tree_state(
        Path(recorded.content.about["workspace"]), str(recorded.content.entries[0]["body"].get("commit", ""))
    )
    manifest = _manifest(recorded.content, built, tree)
    show_message(*_inventory(manifest, built))
    if not yes and not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise needs_yes()
    if not (yes or confirm(localize("Write this to {file}?", file=str(output)))):
        warn(localize("Nothing was written."))
        return ExitCode.DECLINED
    with open_daemon() as link:
        signed = link.call("share_sign", {"manifest": encode_manifest(manifest).decode()})
    signature = msgspec.convert(signed, ShareSignature)
    try:
        create_private(output, write_share(manifest, signature, built.parts))
    except FileExistsError:  # it appeared meanwhile
        raise exists(file=str(output)) from None
    show_message(localize("Wrote {file}, signed with your key {key}.", file=str(output), key=signature.fingerprint))
    return ExitCode.OK


def _fetch_session(session: str, *, all_workspaces: bool) -> RecordedSession:
    content = fetch_content(session, record_scope(all_workspaces=all_workspaces))
    with open_daemon() as link:
        pieces: list[str] = []
        facts: dict[str, Any] = {}
        for item in link.stream("session_facts", {"session": content.about["session"]}, idle_s=_IDLE_TIMEOUT_S):
            if isinstance(item, ControlItem):
                pieces.append(str(item.value["output"]))
            elif isinstance(item, ControlAnswer):
                facts = item.result
        recording = _fetch_recording(link, content)
    return RecordedSession(content, "".join(pieces), facts["launch"], facts["breakpoints"], recording)


def _fetch_recording(link: ControlClient, content: ReportContent) -> bytes:
    """The recording of the terminal in which a person's command started the session, if there was one."""
    terminal = next((it["body"]["terminal"] for it in content.entries if it["body"].get("terminal")), "")
    if not terminal:
        return b""
    data = bytearray()
    try:
        wanted = {"terminal": terminal, "format": "asciicast"}
        for item in link.stream("terminal_export", wanted, idle_s=_IDLE_TIMEOUT_S):
            if isinstance(item, ControlItem):
                data += base64.b64decode(item.value["data"])
    except DragomanError as error:
        warn(localize("Without the terminal recording: {reason}", reason=error.message))
        return b""
    return bytes(data)


def _manifest(content: ReportContent, built: ShareContents, tree: TreeState) -> ShareManifest:
    return manifest_of(
        built.parts,
        product=__version__,
        session=str(content.about["session"]),
        title=built.title,
        created_at_ns=time.time_ns(),
        commit=tree.commit,
        is_dirty=tree.is_dirty,
        redactions=built.redactions,
        left_out=built.left_out,
    )


def _inventory(manifest: ShareManifest, built: ShareContents) -> list[LocalizedText]:
    sizes = {it.name: it.size for it in manifest.parts}
    lines = [
        localize("Session {session} ({title})", session=manifest.session, title=manifest.title),
        _row(localize("events"), localize("{count} of the journal", count=built.events)),
        _row(localize("stops"), localize("{count} with their values", count=built.stops)),
        _row(localize("output"), _bytes(sizes.get("output.txt", 0))),
        _row(localize("terminal recording"), _recording(sizes.get("recording.cast", 0))),
        _row(
            localize("start"),
            localize("configuration, breakpoints: {count}", count=built.breakpoints)
            if "launch.json" in sizes
            else localize("not known any more"),
        ),
        _row(localize("report"), _bytes(sizes.get("report.html", 0))),
        _row(localize("commit"), commit_text(manifest)),
        _row(localize("removed secrets"), localize("{count}", count=manifest.redactions)),
    ]
    return [*lines, *(_row(localize("left out"), f"{name}: {count}") for name, count in manifest.left_out.items())]


def _recording(count: int) -> LocalizedText:
    """Its prompts and titles usually name the user and the machine, which no redactor knows."""
    if not count:
        return _bytes(count)
    return localize("{size}, with the prompts and window titles in it (user, machine)", size=_bytes(count))


def _bytes(count: int) -> LocalizedText:
    return localize("{count} bytes", count=f"{count:,}") if count else localize("none")


def _row(label: LocalizedText, text: LocalizedText | str) -> LocalizedText:
    return localize("  {row}", row=with_label(label, text))
