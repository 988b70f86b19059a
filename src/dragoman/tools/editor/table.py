"""The editor tools as an agent sees them: names, order, descriptions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from dragoman.editor import Editors
from dragoman.redaction import Redactor
from dragoman.tools.editor import parameters as p
from dragoman.tools.editor.asking import Asker
from dragoman.tools.editor.looking import Looker
from dragoman.tools.editor.refusals import FAILING
from dragoman.tools.editor.showing import Shower
from dragoman.tools.operation import READS, Effects, Operation
from dragoman.workspace.paths import PathRule

SET = "editor"
_SHOWS = Effects(repeatable=True)


def editor_operations(editors: Editors, rule: PathRule, redactor: Redactor) -> Sequence[Operation]:
    asker = Asker(editors, rule, redactor)
    return [replace(operation, failing=FAILING, set=SET) for operation in _operations(Shower(asker), Looker(asker))]


def _operations(shower: Shower, looker: Looker) -> Sequence[Operation]:
    return (
        Operation(
            "ide_open", "Open in the editor", "Open a file at a line in the person's editor.",
            p.Open, p.Opened, shower.open, _SHOWS,
        ),
        Operation(
            "ide_diff", "Propose a change",
            "Show a file as you propose it beside what it is. The person accepts, which writes it, or rejects.",
            p.Diff, p.Decided, shower.diff, Effects(destroys=True),
        ),
        Operation(
            "ide_diagnostics", "Problems in the editor",
            "Errors and warnings that the editor's language servers know of.",
            p.ReadDiagnostics, p.Problems, looker.diagnostics, READS,
        ),
        Operation(
            "ide_selection", "Selection in the editor", "What the person has selected, and where the cursor is.",
            p.Look, p.Selection, looker.selection, READS,
        ),
        Operation(
            "ide_open_files", "Open files", "The files that are open in the editor, and which is in front or unsaved.",
            p.Look, p.OpenFiles, looker.open_files, READS,
        ),
        Operation(
            "ide_notify", "Notify in the editor", "Show the person a short notice in the editor.",
            p.Notify, p.Shown, shower.notify, Effects(),
        ),
        Operation(
            "ide_run_in_terminal", "Run in the editor's terminal",
            "Type a command into a terminal of the editor, where the person sees it run. Its output is not told.",
            p.RunInTerminal, p.Started, shower.run, Effects(destroys=True, leaves_machine=True),
        ),
    )  # fmt: skip
