"""How a command may go on: whole lines from the history of verified commands, a model's where one may help.

A client that gives its shell no nonce has no verified commands. What ran in its own session is suggested there, and
nowhere else, nor told to a model for another: nobody but that client says what it was.
"""

from __future__ import annotations

import logging
from collections import OrderedDict
from typing import NamedTuple

import anyio
import anyio.lowlevel
import msgspec
from anyio import to_thread

from dragoman.errors import DragomanError
from dragoman.models.port import Model
from dragoman.redaction import Redactor
from dragoman.terminal.model import IMPORTED, Command
from dragoman.terminal.model_suggestions import ModelSuggestions
from dragoman.terminal.port import Record
from dragoman.terminal.suggesting.guesses import Guesses, Moment

log = logging.getLogger(__name__)

_MAX_LINE = 500
_TERMINALS = 1_000
_UNVERIFIED_SESSIONS = 64
_AT_ONCE = 50
_ARRIVED = 10_000
"""Commands that end while the history is read; of more, the oldest are in what is read."""
_SURE = 0.5
_FROM_A_MODEL = 0.3
_WAIT_FOR_MODEL_S = 0.3
_TOLD_TO_A_MODEL = 8
_EARLIEST_S = 1_600_000_000
"""Nothing was recorded before: an earlier time is of a clock that was not set. Beside it, all others would be new."""


class Suggestion(msgspec.Struct, frozen=True):
    text: str
    """The whole command line."""
    confidence: float
    """How likely it is that exactly this is being typed; a model's has one fixed, middling value."""


class _Ran(NamedTuple):
    """The last command of a terminal."""

    line: str
    verified: bool


_NOTHING = _Ran("", verified=True)


class Completions:
    """`run` loads the history and learns; suggestions are given from the first moment, of what is known by then."""

    def __init__(self, record: Record, *, redactor: Redactor, model: Model | None = None) -> None:
        self._record = record
        self._redactor = redactor
        self._guesses = Guesses()
        self._last: OrderedDict[str, _Ran] = OrderedDict()
        self._model = ModelSuggestions(model) if model else None
        self._of_session: OrderedDict[str, Guesses] = OrderedDict()
        """Of sessions that verify nothing, each by itself; those that ran something last."""
        self.loaded = anyio.Event()
        self._arrived: OrderedDict[str, Command] = OrderedDict()
        record.on_command(self._ended)

    async def run(self) -> None:
        """For as long as the daemon lives, which does not end with it."""
        try:
            await self.load()
        except Exception:
            log.exception("the history could not be read for suggestions")
        if self._model:
            await self._model.run()

    async def load(self) -> None:
        """In small steps and beside the event loop; questions are answered meanwhile, of what is known by then."""
        number = 0
        try:
            async for command in self._record.history():
                number += 1
                self._arrived.pop(command.id, None)
                self._learn(command)
                if number % _AT_ONCE == 0:
                    await anyio.lowlevel.checkpoint()
                if self._guesses.is_full:
                    self._guesses = await to_thread.run_sync(self._guesses.smaller, abandon_on_cancel=True)
            await to_thread.run_sync(self._guesses.lines.keep_best_of_all, abandon_on_cancel=True)
        finally:
            self._go_live()

    def _go_live(self) -> None:
        """From here on commands are learnt as they end; first those that ended meanwhile and were not read."""
        for command in self._arrived.values():
            self._learn(command)
        self._arrived.clear()
        self.loaded.set()

    async def suggest(self, text: str, cursor: int, *, terminal: str, cwd: str, limit: int = 5) -> list[Suggestion]:
        """Nothing where the cursor is not at the end: a whole line cannot go on in its middle."""
        if cursor < len(text) or not text.strip() or "\n" in text or len(text) > _MAX_LINE:
            return []
        moment = Moment(cwd, self._last.get(terminal, _NOTHING).line)
        found = self._guessed(text, terminal, moment, limit)
        if self._model and (not found or found[0].confidence < _SURE) and self._may_leave(text):
            is_shared = self._last.get(terminal, _NOTHING).verified
            asked_by, before = "" if is_shared else terminal, self._ran_last(terminal)
            lines = await self._model.lines(text, cwd, before, asked_by=asked_by, within_s=_WAIT_FOR_MODEL_S)
            found += [Suggestion(line, _FROM_A_MODEL) for line in lines if line not in {one.text for one in found}]
            found.sort(key=lambda one: one.confidence, reverse=True)
        return found[:limit]

    def _guessed(self, text: str, terminal: str, moment: Moment, limit: int) -> list[Suggestion]:
        """What the session itself ran counts before the history of others."""
        own = self._of_session.get(terminal)
        lines = dict(self._guesses.guess(text, moment, limit))
        lines |= dict(own.guess(text, moment, limit)) if own else {}
        ordered = sorted(lines.items(), key=lambda it: it[1], reverse=True)
        return [Suggestion(line, chance) for line, chance in ordered]

    def _ran_last(self, terminal: str) -> list[str]:
        """In this terminal, and in others what is verified: the rest is its own client's word alone."""
        return [ran.line for where, ran in self._last.items() if ran.verified or where == terminal][-_TOLD_TO_A_MODEL:]

    def _may_leave(self, text: str) -> bool:
        """What is typed has not been through the record, which redacts: a line with a secret is for no model."""
        return self._redactor.line(text) == text

    def _ended(self, command: Command) -> None:
        if self.loaded.is_set():
            self._learn(command)
            return
        self._arrived[command.id] = command
        if len(self._arrived) > _ARRIVED:
            self._arrived.popitem(last=False)

    def _learn(self, command: Command) -> None:
        line = command.line.rstrip()
        if not self._is_wanted(command, line):
            return
        moment = Moment(command.cwd, self._last.pop(command.terminal, _NOTHING).line)
        guesses = self._guesses if command.verified else self._session_guesses(command.terminal)
        guesses.learn(line, moment, max(command.started_ns / 1e9, _EARLIEST_S), command.exit_code)
        self._last[command.terminal] = _Ran(line, command.verified)
        if len(self._last) > _TERMINALS:
            self._last.popitem(last=False)

    def _session_guesses(self, terminal: str) -> Guesses:
        guesses = self._of_session.pop(terminal, None) or Guesses()
        self._of_session[terminal] = guesses
        if len(self._of_session) > _UNVERIFIED_SESSIONS:
            self._of_session.popitem(last=False)
        return guesses

    def _is_wanted(self, command: Command, line: str) -> bool:
        """What a log printed, a secret stood in, a person hid with a space, or an agent ran is not suggested."""
        return (
            not command.is_doubtful
            and bool(line)
            and len(line) <= _MAX_LINE
            and line.isprintable()
            and not line.startswith(" ")
            and "<redacted" not in line
            and not self._is_of_no_person(command.terminal)
        )

    def _is_of_no_person(self, terminal: str) -> bool:
        """An agent ran it, or it was recorded elsewhere."""
        try:
            known = self._record.terminal(terminal).terminal
            return known.owner == "agent" or IMPORTED in known.attributes
        except DragomanError:
            return False
