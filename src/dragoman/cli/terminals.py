"""`dragoman terminals`: those that are recorded; watch one live, take one out as a file, bring one in."""

from __future__ import annotations

import base64
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, Annotated, Any, Literal

from cyclopts import Parameter

from dragoman.cli import completers
from dragoman.cli.columns import show_columns
from dragoman.cli.debug.asking import asking
from dragoman.cli.history import Json
from dragoman.cli.labels import labelled_app
from dragoman.cli.output import ExitCode, show_json, shown, tell, warn
from dragoman.cli.progress import working
from dragoman.cli.viewing import viewer
from dragoman.errors import DragomanError, write_fault_lines
from dragoman.phrases import say
from dragoman.places import find_places
from dragoman.transport.control_link import ControlLink
from dragoman.wire.control import Item
from dragoman.words import labelled, word_of

_SILENT_AT_MOST_S = 60.0
_IMPORTED_WITHIN_S = 3600.0
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_FOLDER_FORMAT = "omnish"
_HEADER = (
    say("ID"),
    say("STATE"),
    say("WHOSE"),
    say("SHELL"),
    say("FOLDER"),
    say("COMMANDS"),
    say("RUNS"),
)

Id = Annotated[str, Parameter(help=shown(say("A terminal's id.")), completer=completers.terminals)]


def listing(
    *,
    ended: Annotated[bool, Parameter(negative="", help=shown(say("Also those that have ended or were lost.")))] = False,
    json: Json = False,
) -> int:
    with asking(None, all_workspaces=True) as asker:  # a person's own, wherever they stand now: see SECURITY.md
        found = asker.call("list_terminals", ended=ended).data
    if json:
        show_json(found)
        return ExitCode.OK
    show_columns(_HEADER, [_columns(it) for it in found["terminals"]])
    if not found["terminals"]:
        warn(say("No terminal is recorded. `dragoman shell` opens one."))
    warn(*write_fault_lines(found.get("write_fault")))
    return ExitCode.OK


def _columns(it: dict[str, Any]) -> list[str]:
    owner = f"{shown(word_of(it['owner']))} {it['agent']}".strip()
    doing = it["running"]["command"].strip("\n") if it["running"] else "-"
    shell = Path(it["shell"]).name
    state = word_of(it["state"])
    state = labelled(state, word_of(it["ended_by"])) if it["ended_by"] else state
    return [it["terminal"], shown(state), owner, shell, it["cwd"], str(it["commands"]), doing]


def watch(terminal: Id, /) -> int:
    """Only looked at: keys go nowhere."""
    with ControlLink.open(find_places()) as link, viewer() as screen:
        for item in link.stream("terminal_watch", {"terminal": terminal}, idle_s=None):
            if isinstance(item, Item):
                screen.show(base64.b64decode(item.value["data"]))
    return ExitCode.OK


def export(
    terminal: Id,
    /,
    *,
    format: Annotated[
        Literal["asciicast", "asciicast3", "omnish", "jsonl"], Parameter(help=shown(say("What is written.")))
    ] = "asciicast",
    output: Annotated[
        Path | None,
        Parameter(alias="-o", help=shown(say("A new file, or for omnish a new folder; else it is printed."))),
    ] = None,
) -> int:
    if output is None and format == _FOLDER_FORMAT:
        raise DragomanError(
            "needs_a_folder",
            say("This format is a folder of three files, which cannot be printed."),
            hint=say("Name a new folder with --output."),
        )
    with ControlLink.open(find_places()) as link, _written(output, folder=format == _FOLDER_FORMAT) as write:
        for item in link.stream("terminal_export", {"terminal": terminal, "format": format}, idle_s=_SILENT_AT_MOST_S):
            if isinstance(item, Item):
                write(str(item.value["file"]), base64.b64decode(item.value["data"]))
    return ExitCode.OK


@contextmanager
def _written(output: Path | None, *, folder: bool) -> Iterator[Callable[[str, bytes], None]]:
    """What is there already is never written over, nor is a link followed."""
    if output is None:
        yield lambda _, data: _print(data)
        return
    if folder:
        output.mkdir(mode=0o700)
    with ExitStack() as files:
        opened: dict[str, IO[bytes]] = {}

        def write(name: str, data: bytes) -> None:
            if name not in opened:
                place = output / name if folder and name in _FILES else output
                opened[name] = files.enter_context(os.fdopen(os.open(place, _NEW, 0o600), "wb"))
            opened[name].write(data)

        yield write


_FILES = ("meta.json", "commands.json", "stream.bin")


def _print(data: bytes) -> None:
    """JSON has no control characters in it; whatever terminal it lands on obeys nothing of it."""
    sys.stdout.buffer.write(data)


def import_(path: Annotated[Path, Parameter(help=shown(say("A recording: a file, or a session folder.")))], /) -> int:
    with ControlLink.open(find_places()) as link, working(say("Reading the recording")):
        taken = link.call("terminal_import", {"path": str(path.absolute())}, within_s=_IMPORTED_WITHIN_S)
    tell(say("Recorded as {terminal}, with {count} commands.", terminal=taken["terminal"], count=taken["commands"]))
    return ExitCode.OK


app = labelled_app(
    name="terminals",
    help=shown(say("The terminals that are recorded: list, watch, export and import.")),
    default_command=listing,
)
app.command(watch, help=shown(say("Watch one live; keys go nowhere, Ctrl-C leaves.")))
app.command(export, help=shown(say("Write one out as a recording.")))
app.command(import_, name="import", help=shown(say("Bring a recording in, as a terminal that has ended.")))
