"""What the wrapper draws over a shell and asks its person: suggestions, questions, consent.

Sans-I/O: bytes and messages in, bytes and messages out, no clock. Keys go on at once; nothing is drawn while a command
runs, in a full-screen program, or in the middle of a sequence that the shell has not finished; and whatever was drawn
is taken away before the shell's next byte reaches the screen.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Callable

from dragoman.phrases import Phrase, say
from dragoman.shell.consent import HANDS_OFF_S, Consent, typed_form
from dragoman.shell.explanation import AFTER_S as EXPLAINED_AFTER_S
from dragoman.shell.explanation import Explanation
from dragoman.shell.ghost import QUIET_S, Ghost
from dragoman.shell.keys import LETTERS, Key, KeyReader, sequences
from dragoman.shell.panel import GhostText, Panel, Row, spoken
from dragoman.shell.question import Questions
from dragoman.shell.stage import Stage
from dragoman.shell.wishes import Wishes
from dragoman.wire.omnish.messages import CompletionResponse, Request, Response
from dragoman.wire.osc import CommandFinished, Mark, OutputStarted, PromptStarted

SETTLED_S = 0.03
"""How long the shell must have been still before rows of ours come back below its line."""
FRAME_S = 0.04
"""An answer comes in hundreds of pieces a second; it is drawn as often as an eye can tell."""
_LEAST_ROOM = 2


class Overlay:
    def __init__(self, wishes: Wishes, *, session_id: str, columns: int, rows: int) -> None:
        self.paused = False
        self._connected = False
        self.wakes_at_s: float | None = None
        self._wishes = wishes
        self._ask_keys, self._pause_keys = sequences(wishes.ask_key), sequences(wishes.pause_key)
        self._letters = LETTERS - self._ask_keys - self._pause_keys
        self._accept_keys = {"end", "tab" if wishes.accept_key == "tab" else "right"}
        self._reader, self._stage = KeyReader(), Stage(columns, rows)
        self._panel, self._ghost_text = Panel(), GhostText()
        self._ghost, self._questions, self._consent = Ghost(session_id), Questions(session_id), Consent()
        self._explanation = Explanation(wishes, session_id)
        self._notice = self._offered = self._greeting = ""
        self._word = _unusable(wishes) if wishes.unusable else ""
        self._marks_pastes = False
        self._drawn_at_s = float("-inf")
        self._above: list[Row] = []
        self._screen, self._keys = bytearray(), bytearray()
        self._messages: list[object] = []
        self._hearers: dict[type, Callable[..., None]] = {
            CompletionResponse: self._hear_completion,
            Response: self._hear_answer,
            Request: self._hear_request,
        }

    @property
    def connected(self) -> bool:
        return self._connected

    @connected.setter
    def connected(self, connected: bool) -> None:
        """Told by the pump: whether a daemon listens. Who waits for it hears of a change at the next tick, at once."""
        if connected != self._connected:
            self._connected, self.wakes_at_s = connected, 0.0

    @property
    def is_clear(self) -> bool:
        """Whether nothing of ours is on the screen or on its way there: the shell's bytes are shown as they are."""
        return not (self._screen or self._ghost_text.text or self._panel.is_drawn or self._marks_pastes)

    @property
    def is_idle(self) -> bool:
        """Whether nothing is drawn or waits to be: text that is typed then changes nothing on the screen."""
        waits = self._above or self._questions.answer is not None or self._consent.asked is not None
        return self.is_clear and not waits

    @property
    def is_drawing(self) -> bool:
        """Whether what is printed is the shell's prompt or line."""
        return self._stage.is_drawing

    @property
    def speaks(self) -> bool:
        """Whether there is something to take."""
        return bool(self._screen or self._keys or self._messages)

    def free_keys(self) -> frozenset[bytes]:
        """Those that are the shell's whatever else is true: it can have them before `typed` hears of them."""
        is_ours = self._questions.line is not None or self._consent.is_drawn
        return frozenset() if is_ours else self._letters

    def typed(self, data: bytes, now_s: float) -> bytes:
        self._stage.key_at_s = now_s
        if not self._stage.at_line and not self._reader.is_pasting and not self._has_pause_key(data):
            self._greeting = self._greeting if data.startswith(b"\x1b") else ""  # that may be the terminal's own answer
            return data
        keys = self._reader.keys(data)
        alone = len(keys) == 1 and not self._reader.goes_on
        sent = b"".join([self._key(key, now_s, alone=alone) for key in keys])
        if sent != data:
            self._update(now_s)
        return sent

    def printed(self, data: bytes, now_s: float) -> bytes:
        """Nothing of ours is worked out before these bytes are on the screen: that is for the tick right after."""
        before = b"" if self.is_clear else self.take_screen() + self._erased()
        self._stage.printed(data, now_s)
        if self._stage.is_drawing:
            self.wakes_at_s = now_s
        return before + data if before else data

    def marked(self, mark: Mark, verified: bool, now_s: float) -> None:
        self._screen += self._erased()
        was_running = not self._stage.at_line
        if not self._stage.marked(mark, verified):
            return
        if isinstance(mark, PromptStarted) and was_running:
            self._begin_line()
        elif isinstance(mark, OutputStarted):
            self._questions.close_line()
            self._reader = KeyReader()  # a paste whose end never came is over
        elif isinstance(mark, CommandFinished):
            self._notice = ""
            self._explanation.command_ended(mark.exit_code if verified else None, now_s)
        self._update(now_s)

    def heard(self, message: object, now_s: float) -> None:
        hear = self._hearers.get(type(message))
        if hear:
            hear(message, now_s)
            self._wake_at(max(now_s, self._drawn_at_s + FRAME_S))

    @property
    def alternate(self) -> str:
        """The mode of the alternate screen that a program is in, if any."""
        return self._stage.alternate

    def tell(self, phrase: Phrase) -> None:
        """In dim text at an empty prompt, until the first key; who has typed already is not interrupted."""
        if self._stage.key_at_s == float("-inf"):
            self._greeting, self.wakes_at_s = spoken(phrase), 0.0

    def unhooked(self, phrase: Phrase) -> None:
        """Another shell is in the place of the one with our hook; the next prompt says what that means."""
        self._stage.trusts = False
        self._greeting, self.wakes_at_s = spoken(phrase), 0.0

    def _wake_at(self, at_s: float) -> None:
        self.wakes_at_s = at_s if self.wakes_at_s is None else min(at_s, self.wakes_at_s)

    def resized(self, columns: int, rows: int) -> None:
        """Whatever the terminal does to its rows, ours must not be among them."""
        self._screen += self._ghost_text.erase(reflowed=True) + self._erased()
        self._stage.resized(columns, rows)
        self.wakes_at_s = 0.0

    def tick(self, now_s: float) -> None:
        """Comes after the keys that had arrived by then."""
        self._consent.looked_at(now_s)
        self._update(now_s)

    def ended(self) -> bytes:
        """The shell is gone: what the screen gets, so that nothing of ours stays on it."""
        return self.take_screen() + self._erased()

    def take_screen(self) -> bytes:
        taken, self._screen = bytes(self._screen), bytearray()
        return taken

    def take_keys(self) -> bytes:
        taken, self._keys = bytes(self._keys), bytearray()
        return taken

    def take_messages(self) -> list[object]:
        taken, self._messages = self._messages, []
        return taken

    # Keys

    def _has_pause_key(self, data: bytes) -> bool:
        return any(len(sequence) > 1 and sequence in data for sequence in self._pause_keys)

    def _key(self, key: Key, now_s: float, *, alone: bool) -> bytes:
        if key.name == "reply":
            return key.raw
        if self._is_ours(key, self._pause_keys):
            return self._pause()
        if self._questions.line is not None:
            return self._question_key(key, now_s)
        if self._consent.is_drawn and self._judged(key, now_s, alone=alone):
            return b""
        if self._questions.shown is not None and key.name in {"escape", "interrupt"}:
            return self._dismiss()
        offered = self._offered if self._ghost_text.text else ""
        self._screen += self._erased()
        self._questions.go_quiet()
        self._notice = self._word = self._greeting = ""
        if offered and key.name in self._accept_keys:
            key = Key("accepted", offered.encode())
        elif self._is_ours(key, self._ask_keys) and self._stage.may_draw and self._room >= _LEAST_ROOM:
            return self._open_question(key)
        self._stage.key_sent(key, now_s)
        return key.raw

    def _is_ours(self, key: Key, sequences: frozenset[bytes]) -> bool:
        """A key without Ctrl or Alt is a letter too: it counts as the first of a line alone."""
        if key.name == "text":
            return key.raw[:1] in sequences and self._stage.line == "" and self._questions.line is None
        return key.raw in sequences

    def _open_question(self, key: Key) -> bytes:
        line = self._questions.open()
        if key.name == "text":
            line.take(Key("text", key.raw[1:]))
        return b""

    def _question_key(self, key: Key, now_s: float) -> bytes:
        assert self._questions.line is not None
        step = self._questions.line.take(key)
        if step == "closed":
            self._questions.close_line()
            self._screen += self._erased()
        elif step == "asked":
            request = self._questions.ask(self.connected, self._stage.folder, now_s)
            self._messages += [request] if request else []
            self._keep_answer()
        return b""

    def _dismiss(self) -> bytes:
        """What was read already is not shown once more."""
        self._questions.close_answer()
        self._above.clear()
        self._screen += self._erased()
        return b""

    def _pause(self) -> bytes:
        self.paused = not self.paused
        self._word = spoken(say("recording paused") if self.paused else say("recording again"))
        self._screen += self._erased()
        return b""

    def _judged(self, key: Key, now_s: float, *, alone: bool) -> bool:
        verdict = self._consent.judge(key, now_s, alone=alone)
        asked = self._consent.asked
        if verdict == "postponed" or asked is None:
            return False
        self._screen += self._erased()
        self._messages.append(self._consent.settle(verdict))
        if verdict == "accepted":
            self._keys += typed_form(asked.command, bracketed=self._stage.bracketed)
            self._stage.key_sent(Key("accepted", b""), now_s)
        return True

    # What the daemon says

    def _hear_completion(self, response: CompletionResponse, _: float) -> None:
        self._ghost.heard(response)

    def _hear_answer(self, response: Response, _: float) -> None:
        asked = self._consent.asked
        if asked is not None and response.request_id == asked.request_id:
            self._screen += self._erased()
            self._consent.withdraw()
        elif self._questions.heard(response, self._stage.folder):
            self._keep_answer()
        else:
            self._notice = self._explanation.heard(response) or self._notice

    def _hear_request(self, request: Request, now_s: float) -> None:
        """Where no mark of the shell can be told from one that a program printed, there is no prompt to ask at."""
        at_once = self._consent.ask(request, now_s, possible=self._stage.trusts)
        self._messages += [at_once] if at_once else []

    def _explain(self, now_s: float) -> None:
        is_calm = self._stage.line == "" and now_s >= self._stage.changed_at_s + EXPLAINED_AFTER_S
        if is_calm and self._explanation.is_due and self.connected and not self.paused:
            self._messages.append(self._explanation.ask(now_s))

    def _keep_answer(self) -> None:
        """A whole answer goes to the scrollback, above the prompt, as soon as that can be drawn."""
        answer = self._questions.answer
        if answer is not None and answer.is_final:
            self._above += answer.lasting()

    # Drawing

    def _erased(self) -> bytes:
        self._consent.hidden()
        marked, self._marks_pastes = self._marks_pastes, False
        return self._ghost_text.erase() + self._panel.remove() + (b"\x1b[?2004l" if marked else b"")

    def _begin_line(self) -> None:
        """A new prompt: an answer that came meanwhile is printed before it."""
        self._ghost.forget()
        if self._above:
            self._questions.forget_whole()
            start = b"" if self._stage.strip.column == 0 and not self._stage.strip.lost else b"\r\n"
            self._screen += start + self._lines_above()

    def _lines_above(self) -> bytes:
        rows, self._above = self._above, []
        return b"".join(row.drawn() + b"\r\n" for row in rows)

    def _update(self, now_s: float) -> None:
        self._drawn_at_s = now_s
        self._give_up(now_s)
        self._explain(now_s)
        if self._stage.may_draw:
            self._draw(now_s)
        self.wakes_at_s = min((at for at in self._deadlines() if at > now_s), default=None)

    def _give_up(self, now_s: float) -> None:
        if self._questions.lost(self.connected, now_s):
            self._keep_answer()
        asked = self._consent.asked
        if asked is not None and (now_s >= asked.until_s or not self.connected):
            self._screen += self._erased()
            self._messages.append(self._consent.settle("no_answer"))

    def _draw(self, now_s: float) -> None:
        is_settled = now_s >= self._stage.changed_at_s + SETTLED_S
        if self._questions.line is not None:
            if is_settled:
                self._draw_rows(*self._questions.line.rows(self._stage.columns))
        elif not is_settled:
            self._draw_ghost(now_s)
        elif self._above and self._draw_above():
            self._questions.forget_whole()
        elif self._questions.shown is not None:
            self._draw_rows(self._questions.shown.rows(self._stage.columns, self._room))
        elif self._consent.asked and self._stage.line == "" and self._stage.is_verified:
            self._draw_consent(now_s)
        else:
            self._draw_ghost(now_s)

    @property
    def _room(self) -> int:
        return self._stage.rows - 2 - self._stage.strip.rows_below()

    def _draw_rows(self, rows: list[Row], cursor: tuple[int, int] | None = None) -> bool:
        """Whether something changed. A paste must be told from keys wherever keys are answers."""
        if len(rows) > self._room:
            return False
        self._screen += self._ghost_text.erase()
        drawn = self._panel.draw(rows, self._stage.columns, skip=self._stage.strip.rows_below(), cursor=cursor)
        if drawn and not self._stage.bracketed:
            self._marks_pastes = True
            drawn += b"\x1b[?2004h"
        self._screen += drawn
        return bool(drawn)

    def _draw_above(self) -> bool:
        """What is to last, where the prompt stood, and the prompt and its line again below it."""
        again = self._stage.strip.redrawing()
        if again is None or not self._stage.has_echoed:
            return False
        up, drawn = again
        self._screen += self._erased() + (b"\x1b[%dA" % up if up else b"") + b"\r\x1b[m\x1b[J"
        self._screen += self._lines_above() + drawn
        return True

    def _draw_consent(self, now_s: float) -> None:
        rows = self._consent.rows(self._stage.columns, self._room)
        if (self._panel.is_drawn or now_s >= self._stage.key_at_s + HANDS_OFF_S) and self._draw_rows(rows):
            self._consent.drawn(now_s)

    def _draw_ghost(self, now_s: float) -> None:
        line = self._stage.line
        if line is None or self._panel.is_drawn:
            return
        self._offered = self._rest_of(line, now_s) if line and not self._word else ""
        dim = f"  {self._word}" if self._word and line else self._word
        dim = dim or self._offered or ("" if line else self._notice or self._greeting)
        self._screen += self._ghost_text.draw(dim, self._stage.strip.room_behind())

    def _rest_of(self, line: str, now_s: float) -> str:
        wants = self._wishes.suggest_commands and self._stage.is_verified and not self._stage.shell_suggests
        if not wants or self.paused or any(fnmatch.fnmatchcase(line, each) for each in self._wishes.ignore_commands):
            return ""
        if self.connected and line.strip() and now_s >= self._stage.changed_at_s + QUIET_S:
            request = self._ghost.ask(line, self._stage.folder, now_s)
            self._messages += [request] if request else []
        return self._ghost.rest_of(line)

    def _deadlines(self) -> list[float]:
        stage, asked, answer = self._stage, self._consent.asked, self._questions.answer
        found = [stage.changed_at_s + SETTLED_S, stage.changed_at_s + QUIET_S, self._ghost.gives_up_at_s()]
        found += [asked.until_s, stage.key_at_s + HANDS_OFF_S, self._consent.readable_at_s] if asked else []
        found += [stage.changed_at_s + EXPLAINED_AFTER_S] if self._explanation.is_due else []
        return found + ([answer.until_s] if answer and not answer.is_final else [])


def _unusable(wishes: Wishes) -> str:
    names = ", ".join(wishes.unusable)
    return spoken(say("Not usable, so that the default counts: {names}. See `dragoman config list`.", names=names))
