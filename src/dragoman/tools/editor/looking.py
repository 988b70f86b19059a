"""`ide_diagnostics`, `ide_selection`, `ide_open_files`: what the person sees."""

from __future__ import annotations

from dataclasses import dataclass

from dragoman.phrases import Phrase, say
from dragoman.tools import showing
from dragoman.tools.editor import parameters as p
from dragoman.tools.editor import told
from dragoman.tools.editor.asking import Asker
from dragoman.tools.operation import Caller, Outcome
from dragoman.words import word_of

_PROBLEMS = 200
_IN_TEXT = 30
_SELECTED = 20_000
_MESSAGE = 1000


@dataclass(frozen=True, slots=True)
class Looker:
    asker: Asker

    async def diagnostics(self, caller: Caller, wanted: p.ReadDiagnostics) -> Outcome:
        path = self.asker.place(caller, wanted.file_path or ".")
        asked = {"path": path, "least": wanted.least, "most": _PROBLEMS}
        answer = await self.asker.ask(caller, "diagnostics", asked, told.ProblemsTold)
        seen = [self._problem(it) for it in answer.problems if self.asker.may_see(caller, it.path)]
        data = p.Problems(
            status="diagnostics", problems=seen[:_PROBLEMS], more=max(answer.more, 0) + max(len(seen) - _PROBLEMS, 0)
        )
        return Outcome(_problem_lines(data), data)

    async def selection(self, caller: Caller, _: p.Look) -> Outcome:
        answer = await self.asker.ask(caller, "selection", {"most": _SELECTED}, told.SelectionTold)
        if not answer.path:
            return Outcome([say("no text editor has the focus")], p.Selection(status="nothing"))
        if not self.asker.may_see(caller, answer.path):
            outside = say("what is selected is in a file outside of the workspace, and is not told")
            return Outcome([outside], p.Selection(status="withheld"))
        told_text = showing.cut(self.asker.shown(answer.text), _SELECTED)
        data = p.Selection(
            status="selection",
            **answer.model_dump(exclude={"text", "is_cut"}),
            text=told_text.text,
            is_cut=answer.is_cut or not told_text.is_whole,
        )
        return Outcome(_selection_lines(data), data)

    async def open_files(self, caller: Caller, _: p.Look) -> Outcome:
        answer = await self.asker.ask(caller, "open_files", {}, told.FilesTold)
        seen = [p.OpenFile(**it.model_dump()) for it in answer.files if self.asker.may_see(caller, it.path)]
        data = p.OpenFiles(status="open_files", files=seen, withheld=len(answer.files) - len(seen))
        return Outcome([_file_line(it) for it in seen] or [say("no file of the workspace is open")], data)

    def _problem(self, it: p.Problem) -> p.Problem:
        message = self.asker.shown(it.message)[:_MESSAGE]
        named = {"source": showing.one_line(it.source, 60), "code": showing.one_line(it.code, 60)}
        return it.model_copy(update={"message": message, **named})


def _problem_lines(data: p.Problems) -> list[Phrase]:
    if not data.problems:
        return [say("the editor knows of no problems")]
    lines = [
        say(
            "{path}:{line}: {severity}: {message}",
            path=showing.path(it.path),
            line=it.line,
            severity=word_of(it.severity),
            message=showing.one_line(it.message, 300),
        )
        for it in data.problems[:_IN_TEXT]
    ]
    left = len(data.problems) - len(lines) + data.more
    return [*lines, say("and {count} more", count=left)] if left else lines


def _selection_lines(data: p.Selection) -> list[Phrase]:
    place = showing.path(data.path)
    if not data.text:
        return [say("nothing is selected; the cursor is at {path}:{line}", path=place, line=data.start_line)]
    head = say("selected in {path}, lines {first}-{last}:", path=place, first=data.start_line, last=data.end_line)
    return [head, say("{text}", text=data.text)]


def _file_line(file: p.OpenFile) -> Phrase:
    marks = "".join(mark for mark, holds in ((">", file.is_active), ("*", file.is_changed)) if holds)
    return say("{text}", text=f"{marks:2} {showing.path(file.path)}")
