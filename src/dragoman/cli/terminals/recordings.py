"""`dragoman terminals`: list, watch, export and import recorded terminals."""

from __future__ import annotations

import base64
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, Annotated, Any, Literal

from cyclopts import Parameter

from dragoman.cli import completion
from dragoman.cli.columns import show_columns
from dragoman.cli.commands import labelled_app
from dragoman.cli.output import ExitCode, progress, render, show_json, show_message, warn
from dragoman.cli.remote.connection import open_daemon
from dragoman.cli.remote.options import refuse_remote
from dragoman.cli.terminals.history import Json
from dragoman.cli.terminals.playback import open_viewer
from dragoman.cli.tool_client import open_tool_client
from dragoman.core.errors import DragomanError, write_fault_lines
from dragoman.core.labels import label_of, with_label
from dragoman.core.localization import localize
from dragoman.protocols.control import ControlItem

_IDLE_TIMEOUT_S = 60.0
_IMPORT_TIMEOUT_S = 3600.0
_CREATE_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_FOLDER_FORMAT = "omnish"
_HEADER = (
    localize("ID"),
    localize("STATE"),
    localize("OWNER"),
    localize("SHELL"),
    localize("FOLDER"),
    localize("COMMANDS"),
    localize("RUNNING"),
)

Id = Annotated[str, Parameter(help=render(localize("Terminal id.")), completer=completion.terminals)]


def list_terminals(
    *,
    ended: Annotated[
        bool, Parameter(negative="", help=render(localize("Include terminals that have ended or were lost.")))
    ] = False,
    json: Json = False,
) -> int:
    with open_tool_client(
        None, all_workspaces=True
    ) as client:  # all of the user's own terminals, whatever the current folder: see SECURITY.md
        found = client.call("list_terminals", ended=ended).data
    if json:
        show_json(found)
        return ExitCode.OK
    show_columns(_HEADER, [_columns(it) for it in found["terminals"]])
    if not found["terminals"]:
        warn(localize("No recorded terminals. Open one with `dragoman shell`."))
    warn(*write_fault_lines(found.get("write_fault")))
    return ExitCode.OK


def _columns(it: dict[str, Any]) -> list[str]:
    owner = f"{render(label_of(it['owner']))} {it['agent']}".strip()
    doing = it["running"]["command"].strip("\n") if it["running"] else "-"
    shell = Path(it["shell"]).name
    state = label_of(it["state"])
    state = with_label(state, label_of(it["ended_by"])) if it["ended_by"] else state
    return [it["terminal"], render(state), owner, shell, it["cwd"], str(it["commands"]), doing]


def watch(terminal: Id, /) -> int:
    """Watch a terminal without sending keys to it."""
    with open_daemon() as link, open_viewer() as screen:
        for item in link.stream("terminal_watch", {"terminal": terminal}, idle_s=None):
            if isinstance(item, ControlItem):
                screen.show(base64.b64decode(item.value["data"]))
    return ExitCode.OK


def export(
    terminal: Id,
    /,
    *,
    format: Annotated[
        Literal["asciicast", "asciicast3", "omnish", "jsonl"], Parameter(help=render(localize("Output format.")))
    ] = "asciicast",
    output: Annotated[
        Path | None,
        Parameter(
            alias="-o",
            help=render(localize("New file (for omnish, a new folder). Prints to standard output if omitted.")),
        ),
    ] = None,
) -> int:
    if output is None and format == _FOLDER_FORMAT:
        raise DragomanError(
            "needs_a_folder",
            localize("This format is a folder of three files and cannot be printed."),
            hint=localize("Pass a new folder with --output."),
        )
    with open_daemon() as link, _open_output(output, folder=format == _FOLDER_FORMAT) as write:
        for item in link.stream("terminal_export", {"terminal": terminal, "format": format}, idle_s=_IDLE_TIMEOUT_S):
            if isinstance(item, ControlItem):
                write(str(item.value["file"]), base64.b64decode(item.value["data"]))
    return ExitCode.OK


@contextmanager
def _open_output(output: Path | None, *, folder: bool) -> Iterator[Callable[[str, bytes], None]]:
    """Create the output file. Existing files are never overwritten, and links are not followed."""
    if output is None:
        yield lambda _, data: _print(data)
        return
    if folder:
        output.mkdir(mode=0o700)
    with ExitStack() as files:
        opened: dict[str, IO[bytes]] = {}

        def write(name: str, data: bytes) -> None:
            if name not in opened:
                place = output / name if folder and name in _FOLDER_FILES else output
                opened[name] = files.enter_context(os.fdopen(os.open(place, _CREATE_FLAGS, 0o600), "wb"))
            opened[name].write(data)

        yield write


_FOLDER_FILES = ("meta.json", "commands.json", "stream.bin")


_ASCII = bytes(byte if 32 <= byte < 127 or byte in b"\n\t" else ord("?") for byte in range(256))


def _print(data: bytes) -> None:
    """Print JSON, which is ASCII. Another machine could send other bytes, which a terminal would interpret."""
    sys.stdout.buffer.write(data.translate(_ASCII))


def import_(
    path: Annotated[Path, Parameter(help=render(localize("Recording: a file or a session folder.")))], /
) -> int:
    refuse_remote("terminals import")  # the daemon reads the file, which is here
    with open_daemon() as link, progress(localize("Reading the recording")):
        taken = link.call("terminal_import", {"path": str(path.absolute())}, within_s=_IMPORT_TIMEOUT_S)
    show_message(
        localize("Imported as {terminal}. Commands: {count}.", terminal=taken["terminal"], count=taken["commands"])
    )
    return ExitCode.OK


app = labelled_app(name="terminals", default_command=list_terminals)
app.command(watch, help=render(localize("Watch a terminal live. Keys are not sent to it; Ctrl-C exits.")))
app.command(export, help=render(localize("Export a terminal as a recording.")))
app.command(import_, name="import", help=render(localize("Import a recording as an ended terminal.")))
