"""`ide_open`, `ide_diff`, `ide_notify`, `ide_run_in_terminal`: what a person is shown, and decides."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, cast

from dragoman.errors import DragomanError
from dragoman.phrases import Phrase, say
from dragoman.tools import showing
from dragoman.tools.editor import parameters as p
from dragoman.tools.editor import told
from dragoman.tools.editor.asking import Asker
from dragoman.tools.operation import Caller, Outcome

_DECISIONS = ("accepted", "rejected", "closed")


@dataclass(frozen=True, slots=True)
class Shower:
    asker: Asker

    async def open(self, caller: Caller, wanted: p.Open) -> Outcome:
        path = self.asker.place(caller, wanted.file_path)
        asked = {"path": path, "line": wanted.line, "end_line": max(wanted.end_line or wanted.line, wanted.line)}
        await self.asker.ask(caller, "open", asked, told.TerminalTold)
        data = p.Opened(status="opened", path=path, line=wanted.line)
        return Outcome([say("opened in the editor: {path}:{line}", path=showing.path(path), line=wanted.line)], data)

    async def diff(self, caller: Caller, wanted: p.Diff) -> Outcome:
        """Who ran out of patience asks the same again: the comparison stays, and so does what was decided in it."""
        path = self.asker.place(caller, wanted.file_path)
        asked = {"path": path, "text": wanted.text, "title": showing.one_line(wanted.title)}
        try:
            answer = await self.asker.ask(caller, "diff", asked, told.DecisionTold, wanted.timeout_s)
        except DragomanError as error:
            if error.code != "editor_silent":
                raise
            return _decided("waiting", path, is_new=False)
        decision = answer.decision if answer.decision in _DECISIONS else "closed"
        return _decided(decision, path, is_new=answer.is_new)

    async def notify(self, caller: Caller, wanted: p.Notify) -> Outcome:
        asked = {"message": showing.one_line(wanted.message), "level": wanted.level}
        await self.asker.ask(caller, "notify", asked, told.TerminalTold)
        return Outcome([say("shown to the person in the editor")], p.Shown(status="shown"))

    async def run(self, caller: Caller, wanted: p.RunInTerminal) -> Outcome:
        """A line, and not several: what a person allowed is what is run."""
        if showing.one_line(wanted.command) != wanted.command:
            raise _several_lines()
        asked = {"command": wanted.command, "name": showing.one_line(wanted.name)}
        answer = await self.asker.ask(caller, "run_in_terminal", asked, told.TerminalTold)
        name = showing.one_line(answer.terminal, 60)
        data = p.Started(status="started", terminal=name)
        return Outcome([say("typed into the editor's terminal {name}; the person sees it run", name=name)], data)


def _decided(decision: str, path: str, *, is_new: bool) -> Outcome:
    status = cast("Literal['accepted', 'rejected', 'closed', 'waiting']", decision)
    return Outcome([_SAID[decision](showing.path(path))], p.Decided(status=status, path=path, is_new=is_new))


def _accepted(path: str) -> Phrase:
    return say("accepted: {path} has the proposed text now", path=path)


def _rejected(path: str) -> Phrase:
    return say("rejected: {path} stays as it was", path=path)


def _closed(path: str) -> Phrase:
    return say("closed without an answer: {path} stays as it was", path=path)


def _waiting(path: str) -> Phrase:
    return say("not decided yet: the comparison of {path} stays open; the same call again goes on waiting", path=path)


_SAID = {"accepted": _accepted, "rejected": _rejected, "closed": _closed, "waiting": _waiting}


def _several_lines() -> DragomanError:
    return DragomanError(
        "bad_command",
        say("The command has line ends or characters that cannot be seen."),
        hint=say("Give one line of plain text; put several commands into a script."),
    )
