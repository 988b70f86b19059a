"""The overlay of a wrapped shell: suggestions, questions and consent prompts.

Sans-I/O: bytes and messages in, bytes and messages out, no clock. Keys are forwarded at once. Nothing is drawn while
a command runs, in a full-screen program, or in the middle of an escape sequence. Whatever was drawn is erased before
the shell's next byte reaches the screen.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Callable

from dragoman.core.localization import LocalizedText, localize
from dragoman.protocols.omnish.messages import CompletionResponse, Request, Response
from dragoman.protocols.osc import CommandFinished, Mark, OutputStarted, PromptStarted
from dragoman.shell.overlay.consent import TYPING_PAUSE_S, ConsentPrompt, typed_form
from dragoman.shell.overlay.hints import EXPLANATION_DELAY_S as EXPLAINED_AFTER_S
from dragoman.shell.overlay.hints import QUIET_S, FailureExplanation, LineSuggestion
from dragoman.shell.overlay.keys import LETTERS, KeyInput, KeyReader, key_sequences
from dragoman.shell.overlay.panel import GhostText, Panel, PanelRow, in_user_language
from dragoman.shell.overlay.prompt_state import PromptState
from dragoman.shell.overlay.question import QuestionPanel
from dragoman.shell.settings import ShellSettings

SETTLED_S = 0.03
"""How long the shell must be still before our rows return below its line."""
FRAME_S = 0.04
"""An answer arrives in hundreds of pieces per second; it is redrawn only as often as an eye can see."""
_LEAST_ROOM = 2


class Overlay:
    """Draws suggestions, questions and consent prompts, and routes keys to them.

    It owns everything of ours on the screen. It never does I/O: the pump passes bytes in and takes bytes, keys and
    messages out.
    """

    def __init__(self, settings: ShellSettings, *, session_id: str, columns: int, rows: int) -> None:
        self.paused = False
        self._connected = False
        self.wakes_at_s: float | None = None
        self._settings = settings
        self._ask_keys, self._pause_keys = key_sequences(settings.ask_key), key_sequences(settings.pause_key)
        self._letters = LETTERS - self._ask_keys - self._pause_keys
        self._accept_keys = {"end", "tab" if settings.accept_key == "tab" else "right"}
        self._reader, self._prompt = KeyReader(), PromptState(columns, rows)
        self._panel, self._ghost_text = Panel(), GhostText()
        self._suggestion, self._questions, self._consent = (
            LineSuggestion(session_id),
            QuestionPanel(session_id),
            ConsentPrompt(),
        )
        self._explanation = FailureExplanation(settings, session_id)
        self._notice = self._offered = self._greeting = ""
        self._status_text = _unusable_settings(settings) if settings.unusable else ""
        self._marks_pastes = False
        self._drawn_at_s = float("-inf")
        self._above: list[PanelRow] = []
        self._screen, self._keys = bytearray(), bytearray()
        self._messages: list[object] = []
        self._handlers: dict[type, Callable[..., None]] = {
            CompletionResponse: self._receive_completion,
            Response: self._receive_answer,
            Request: self._receive_request,
        }

    @property
    def connected(self) -> bool:
        return self._connected

    @connected.setter
    def connected(self, connected: bool) -> None:
        """Set by the pump: whether a daemon is connected. A change is handled at the next tick, which is due at
        once."""
        if connected != self._connected:
            self._connected, self.wakes_at_s = connected, 0.0

    @property
    def is_clear(self) -> bool:
        """Whether nothing of ours is on the screen or queued for it: then the shell's bytes pass unchanged."""
        return not (self._screen or self._ghost_text.text or self._panel.is_drawn or self._marks_pastes)

    @property
    def is_idle(self) -> bool:
        """Whether nothing is drawn or queued: then typing changes nothing on the screen."""
        waits = self._above or self._questions.answer is not None or self._consent.pending is not None
        return self.is_clear and not waits

    @property
    def is_drawing(self) -> bool:
        """Whether the output is the shell's prompt or line."""
        return self._prompt.is_drawing

    @property
    def has_pending(self) -> bool:
        """Whether there is something to take."""
        return bool(self._screen or self._keys or self._messages)

    def passthrough_keys(self) -> frozenset[bytes]:
        """Keys that always belong to the shell: it may get them before `typed` sees them."""
        is_ours = self._questions.line is not None or self._consent.is_drawn
        return frozenset() if is_ours else self._letters

    def handle_keys(self, data: bytes, now_s: float) -> bytes:
        self._prompt.key_at_s = now_s
        if not self._prompt.at_input and not self._reader.is_pasting and not self._has_pause_key(data):
            self._greeting = self._greeting if data.startswith(b"\x1b") else ""  # it may be a reply of the terminal
            return data
        keys = self._reader.keys(data)
        alone = len(keys) == 1 and not self._reader.is_incomplete
        sent = b"".join([self._key(key, now_s, alone=alone) for key in keys])
        if sent != data:
            self._update(now_s)
        return sent

    def handle_output(self, data: bytes, now_s: float) -> bytes:
        """Do no work before these bytes are on the screen: the tick right after does it."""
        before = b"" if self.is_clear else self.pop_screen() + self._erased()
        self._prompt.handle_output(data, now_s)
        if self._prompt.is_drawing:
            self.wakes_at_s = now_s
        return before + data if before else data

    def handle_mark(self, mark: Mark, verified: bool, now_s: float) -> None:
        self._screen += self._erased()
        was_running = not self._prompt.at_input
        if not self._prompt.handle_mark(mark, verified):
            return
        if isinstance(mark, PromptStarted) and was_running:
            self._begin_line()
        elif isinstance(mark, OutputStarted):
            self._questions.close_line()
            self._reader = KeyReader()  # the end mark of the paste never came
        elif isinstance(mark, CommandFinished):
            self._notice = ""
            self._explanation.command_ended(mark.exit_code if verified else None, now_s)
        self._update(now_s)

    def handle_message(self, message: object, now_s: float) -> None:
        handler = self._handlers.get(type(message))
        if handler:
            handler(message, now_s)
            self._wake_at(max(now_s, self._drawn_at_s + FRAME_S))

    @property
    def alternate(self) -> str:
        """The alternate screen mode that a program uses, if any."""
        return self._prompt.alternate

    def show_notice(self, localized: LocalizedText) -> None:
        """Show dim text at an empty prompt, until the first key. A person who has already typed is not interrupted."""
        if self._prompt.key_at_s == float("-inf"):
            self._greeting, self.wakes_at_s = in_user_language(localized), 0.0

    def unhooked(self, localized: LocalizedText) -> None:
        """Another shell replaced the one with our hook; the next prompt explains what that means."""
        self._prompt.has_verified_marks = False
        self._greeting, self.wakes_at_s = in_user_language(localized), 0.0

    def _wake_at(self, at_s: float) -> None:
        self.wakes_at_s = at_s if self.wakes_at_s is None else min(at_s, self.wakes_at_s)

    def handle_resize(self, columns: int, rows: int) -> None:
        """The terminal may rewrap its rows; ours must not be among them."""
        self._screen += self._ghost_text.erase(reflowed=True) + self._erased()
        self._prompt.handle_resize(columns, rows)
        self.wakes_at_s = 0.0

    def tick(self, now_s: float) -> None:
        """Runs after the keys that had arrived by then."""
        self._consent.confirm_readable(now_s)
        self._update(now_s)

    def handle_end(self) -> bytes:
        """The shell has ended: the bytes that remove everything of ours from the screen."""
        return self.pop_screen() + self._erased()

    def pop_screen(self) -> bytes:
        taken, self._screen = bytes(self._screen), bytearray()
        return taken

    def pop_keys(self) -> bytes:
        taken, self._keys = bytes(self._keys), bytearray()
        return taken

    def pop_messages(self) -> list[object]:
        taken, self._messages = self._messages, []
        return taken

    # Keys

    def _has_pause_key(self, data: bytes) -> bool:
        return any(len(sequence) > 1 and sequence in data for sequence in self._pause_keys)

    def _key(self, key: KeyInput, now_s: float, *, alone: bool) -> bytes:
        if key.name == "reply":
            return key.raw
        if self._is_ours(key, self._pause_keys):
            return self._pause()
        if self._questions.line is not None:
            return self._question_key(key, now_s)
        if self._consent.is_drawn and self._handle_consent_key(key, now_s, alone=alone):
            return b""
        if self._questions.shown is not None and key.name in {"escape", "interrupt"}:
            return self._dismiss()
        offered = self._offered if self._ghost_text.text else ""
        self._screen += self._erased()
        self._questions.hide_answer()
        self._notice = self._status_text = self._greeting = ""
        if offered and key.name in self._accept_keys:
            key = KeyInput("accepted", offered.encode())
        elif self._is_ours(key, self._ask_keys) and self._prompt.may_draw and self._room >= _LEAST_ROOM:
            return self._open_question(key)
        self._prompt.key_sent(key, now_s)
        return key.raw

    def _is_ours(self, key: KeyInput, sequences: frozenset[bytes]) -> bool:
        """A key without Ctrl or Alt is also a letter: it is ours only as the first of a line."""
        if key.name == "text":
            return key.raw[:1] in sequences and self._prompt.line == "" and self._questions.line is None
        return key.raw in sequences

    def _open_question(self, key: KeyInput) -> bytes:
        line = self._questions.open()
        if key.name == "text":
            line.handle_key(KeyInput("text", key.raw[1:]))
        return b""

    def _question_key(self, key: KeyInput, now_s: float) -> bytes:
        assert self._questions.line is not None
        step = self._questions.line.handle_key(key)
        if step == "closed":
            self._questions.close_line()
            self._screen += self._erased()
        elif step == "asked":
            request = self._questions.ask(self.connected, self._prompt.folder, now_s)
            self._messages += [request] if request else []
            self._keep_answer()
        return b""

    def _dismiss(self) -> bytes:
        """An answer that was already read is not shown again."""
        self._questions.close_answer()
        self._above.clear()
        self._screen += self._erased()
        return b""

    def _pause(self) -> bytes:
        self.paused = not self.paused
        self._status_text = in_user_language(
            localize("recording paused") if self.paused else localize("recording resumed")
        )
        self._screen += self._erased()
        return b""

    def _handle_consent_key(self, key: KeyInput, now_s: float, *, alone: bool) -> bool:
        verdict = self._consent.judge(key, now_s, alone=alone)
        pending = self._consent.pending
        if verdict == "postponed" or pending is None:
            return False
        self._screen += self._erased()
        self._messages.append(self._consent.settle(verdict))
        if verdict == "accepted":
            self._keys += typed_form(pending.command, bracketed=self._prompt.bracketed)
            self._prompt.key_sent(KeyInput("accepted", b""), now_s)
        return True

    # Messages of the daemon

    def _receive_completion(self, response: CompletionResponse, _: float) -> None:
        self._suggestion.handle_response(response)

    def _receive_answer(self, response: Response, _: float) -> None:
        pending = self._consent.pending
        if pending is not None and response.request_id == pending.request_id:
            self._screen += self._erased()
            self._consent.withdraw()
        elif self._questions.received(response, self._prompt.folder):
            self._keep_answer()
        else:
            self._notice = self._explanation.handle_response(response) or self._notice

    def _receive_request(self, request: Request, now_s: float) -> None:
        """Consent is asked only at a verified prompt: without our nonce, a program could have printed the prompt's
        marks."""
        at_once = self._consent.ask(request, now_s, possible=self._prompt.has_verified_marks)
        self._messages += [at_once] if at_once else []

    def _explain(self, now_s: float) -> None:
        is_input_idle = self._prompt.line == "" and now_s >= self._prompt.changed_at_s + EXPLAINED_AFTER_S
        if is_input_idle and self._explanation.is_due and self.connected and not self.paused:
            self._messages.append(self._explanation.ask(now_s))

    def _keep_answer(self) -> None:
        """A complete answer goes to the scrollback above the prompt, as soon as it can be drawn."""
        answer = self._questions.answer
        if answer is not None and answer.is_final:
            self._above += answer.scrollback_rows()

    # Drawing

    def _erased(self) -> bytes:
        self._consent.hidden()
        marked, self._marks_pastes = self._marks_pastes, False
        return self._ghost_text.erase() + self._panel.remove() + (b"\x1b[?2004l" if marked else b"")

    def _begin_line(self) -> None:
        """A new prompt: an answer that arrived meanwhile is printed before it."""
        self._suggestion.forget()
        if self._above:
            self._questions.forget_final()
            start = b"" if self._prompt.prompt_rows.column == 0 and not self._prompt.prompt_rows.lost else b"\r\n"
            self._screen += start + self._lines_above()

    def _lines_above(self) -> bytes:
        rows, self._above = self._above, []
        return b"".join(row.drawn() + b"\r\n" for row in rows)

    def _update(self, now_s: float) -> None:
        self._drawn_at_s = now_s
        self._expire_waits(now_s)
        self._explain(now_s)
        if self._prompt.may_draw:
            self._draw(now_s)
        self.wakes_at_s = min((at for at in self._deadlines() if at > now_s), default=None)

    def _expire_waits(self, now_s: float) -> None:
        if self._questions.lost(self.connected, now_s):
            self._keep_answer()
        pending = self._consent.pending
        if pending is not None and (now_s >= pending.until_s or not self.connected):
            self._screen += self._erased()
            self._messages.append(self._consent.settle("no_answer"))

    def _draw(self, now_s: float) -> None:
        is_settled = now_s >= self._prompt.changed_at_s + SETTLED_S
        if self._questions.line is not None:
            if is_settled:
                self._draw_rows(*self._questions.line.rows(self._prompt.columns))
        elif not is_settled:
            self._draw_ghost(now_s)
        elif self._above and self._draw_above():
            self._questions.forget_final()
        elif self._questions.shown is not None:
            self._draw_rows(self._questions.shown.rows(self._prompt.columns, self._room))
        elif self._consent.pending and self._prompt.line == "" and self._prompt.is_verified:
            self._draw_consent(now_s)
        else:
            self._draw_ghost(now_s)

    @property
    def _room(self) -> int:
        return self._prompt.rows - 2 - self._prompt.prompt_rows.rows_below()

    def _draw_rows(self, rows: list[PanelRow], cursor: tuple[int, int] | None = None) -> bool:
        """Draw rows; return whether something changed. Where keys are answers, a paste must be distinguishable from
        keys."""
        if len(rows) > self._room:
            return False
        self._screen += self._ghost_text.erase()
        drawn = self._panel.draw(rows, self._prompt.columns, skip=self._prompt.prompt_rows.rows_below(), cursor=cursor)
        if drawn and not self._prompt.bracketed:
            self._marks_pastes = True
            drawn += b"\x1b[?2004h"
        self._screen += drawn
        return bool(drawn)

    def _draw_above(self) -> bool:
        """Print what should stay where the prompt was, and draw the prompt and its line again below it."""
        again = self._prompt.prompt_rows.redraw_sequence()
        if again is None or not self._prompt.has_echoed:
            return False
        up, drawn = again
        self._screen += self._erased() + (b"\x1b[%dA" % up if up else b"") + b"\r\x1b[m\x1b[J"
        self._screen += self._lines_above() + drawn
        return True

    def _draw_consent(self, now_s: float) -> None:
        rows = self._consent.rows(self._prompt.columns, self._room)
        if (self._panel.is_drawn or now_s >= self._prompt.key_at_s + TYPING_PAUSE_S) and self._draw_rows(rows):
            self._consent.drawn(now_s)

    def _draw_ghost(self, now_s: float) -> None:
        line = self._prompt.line
        if line is None or self._panel.is_drawn:
            return
        self._offered = self._suggested_text(line, now_s) if line and not self._status_text else ""
        dim = f"  {self._status_text}" if self._status_text and line else self._status_text
        dim = dim or self._offered or ("" if line else self._notice or self._greeting)
        self._screen += self._ghost_text.draw(dim, self._prompt.prompt_rows.room_after_cursor())

    def _suggested_text(self, line: str, now_s: float) -> str:
        wants = self._settings.suggest_commands and self._prompt.is_verified and not self._prompt.shell_suggests
        if not wants or self.paused or any(fnmatch.fnmatchcase(line, each) for each in self._settings.ignore_commands):
            return ""
        if self.connected and line.strip() and now_s >= self._prompt.changed_at_s + QUIET_S:
            request = self._suggestion.ask(line, self._prompt.folder, now_s)
            self._messages += [request] if request else []
        return self._suggestion.remaining_text(line)

    def _deadlines(self) -> list[float]:
        prompt, pending, answer = self._prompt, self._consent.pending, self._questions.answer
        found = [prompt.changed_at_s + SETTLED_S, prompt.changed_at_s + QUIET_S, self._suggestion.expires_at_s()]
        found += [pending.until_s, prompt.key_at_s + TYPING_PAUSE_S, self._consent.readable_at_s] if pending else []
        found += [prompt.changed_at_s + EXPLAINED_AFTER_S] if self._explanation.is_due else []
        return found + ([answer.until_s] if answer and not answer.is_final else [])


def _unusable_settings(settings: ShellSettings) -> str:
    names = ", ".join(settings.unusable)
    return in_user_language(
        localize("Invalid settings, using the defaults: {names}. See `dragoman config list`.", names=names)
    )
