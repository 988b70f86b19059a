"""A command that an agent wants to run: shown first, and run by a key that was pressed after it could be read."""

from __future__ import annotations

import pytest

from dragoman.protocols.omnish.messages import AllSessions, Request, Response, Sessions
from dragoman.protocols.osc import InputStarted, OutputStarted, PromptStarted
from dragoman.shell.overlay.consent import CONSENT_TIMEOUT_S, READING_S, TYPING_PAUSE_S, ConsentPrompt, typed_form
from dragoman.shell.overlay.overlay import Overlay
from dragoman.shell.settings import ShellSettings


def wanted(command: str, by: str = "an agent", id: str = "r1") -> Request:
    return Request(id, "s", command, Sessions([by]))


def verdicts(overlay: Overlay) -> list[str]:
    return [each.content for each in overlay.pop_messages() if isinstance(each, Response)]


class Desk:
    """An overlay at an empty line of a shell that echoes, and a clock that only moves when told."""

    def __init__(self, *, columns: int = 60, rows: int = 12, verified: bool = True) -> None:
        self.overlay = Overlay(ShellSettings(), session_id="s", columns=columns, rows=rows)
        self.overlay.connected = True
        self.now_s = 100.0
        self.verified = verified
        self.prompt()

    def prompt(self) -> None:
        self.overlay.handle_mark(PromptStarted(), self.verified, self.now_s)
        self.overlay.handle_output(b"$ ", self.now_s)
        self.overlay.handle_mark(InputStarted(), self.verified, self.now_s)

    def wait(self, seconds: float) -> bytes:
        self.now_s += seconds
        self.overlay.tick(self.now_s)
        return self.overlay.pop_screen()

    def type(self, data: bytes) -> bytes:
        return self.overlay.handle_keys(data, self.now_s) + self.overlay.pop_keys()

    def receive(self, request: Request) -> bytes:
        self.overlay.handle_message(request, self.now_s)
        return self.overlay.pop_screen()

    def shown(self, command: str = "make test") -> None:
        self.receive(wanted(command))
        assert command[:10].encode() in self.wait(TYPING_PAUSE_S)


def test_a_key_typed_before_it_could_be_read_goes_to_the_shell_and_grants_nothing() -> None:
    desk = Desk()
    desk.shown()
    desk.wait(READING_S - 0.01)
    assert desk.type(b"y") == b"y"
    assert verdicts(desk.overlay) == []


def test_a_key_that_is_read_late_because_we_stalled_grants_nothing() -> None:
    desk = Desk()
    desk.shown()
    desk.now_s += READING_S * 4  # the wrapper was not scheduled: the key may be older than the question
    assert desk.type(b"y") == b"y"
    assert verdicts(desk.overlay) == []
    desk.overlay.handle_output(b"y\b \b", desk.now_s)
    assert b"make test" in desk.wait(TYPING_PAUSE_S)
    assert desk.overlay.wakes_at_s is not None
    desk.wait(READING_S)
    assert desk.type(b"y") == b"make test\r"


@pytest.mark.parametrize(
    "pieces",
    [
        *([b"\x1b[?2004;1$", b"y"], [b"\x1b[?2004;", b"1$", b"y"], [b"\x1bP1$r", b"y"], [b"\x1b]11;rgb:", b"y"]),
        *([b"\x9b?2004;1$", b"y"], [b"\xc2\x9b?2004;1$", b"y"], [b"\x90", b"1$r", b"y"], [b"\xc2\x9d11;", b"y"]),
        *([b"\x1b[M", b"y"], [b"\x1b[M", b" ", b"y"], [b"\x1b[M!", b"Y"]),
    ],
)
def test_what_the_terminal_answers_a_program_in_pieces_is_not_a_key(pieces: list[bytes]) -> None:
    desk = Desk()
    desk.shown()
    desk.wait(READING_S)
    *begun, last = pieces
    for piece in begun:
        desk.type(piece)
        desk.wait(TYPING_PAUSE_S * 2)
        desk.wait(READING_S)
    assert desk.type(last) == last
    assert verdicts(desk.overlay) == []


@pytest.mark.parametrize("keys", [b"yes", b"y\r", b"\x1b[200~y\x1b[201~", b"yy", b" y"])
def test_keys_that_did_not_come_alone_grant_nothing(keys: bytes) -> None:
    desk = Desk()
    desk.shown()
    desk.wait(READING_S)
    assert desk.type(keys) == keys
    assert verdicts(desk.overlay) == []


def test_nothing_is_drawn_while_the_person_types() -> None:
    desk = Desk()
    desk.type(b"l")
    desk.overlay.handle_output(b"l", desk.now_s)
    desk.type(b"\x7f")
    desk.overlay.handle_output(b"\b \b", desk.now_s)
    desk.receive(wanted("make"))
    assert b"make" not in desk.wait(TYPING_PAUSE_S - 0.1)
    assert b"make" in desk.wait(0.1)


def test_a_line_that_is_not_empty_or_not_yet_echoed_is_not_typed_into() -> None:
    desk = Desk()
    desk.type(b"l")
    desk.receive(wanted("make"))
    assert b"make" not in desk.wait(TYPING_PAUSE_S * 2)
    desk.overlay.handle_output(b"l", desk.now_s)
    assert b"make" not in desk.wait(TYPING_PAUSE_S * 2)


def test_escape_before_it_could_be_read_is_the_shells_and_it_is_asked_again() -> None:
    desk = Desk()
    desk.shown()
    assert desk.type(b"\x1b") == b"\x1b"
    desk.overlay.handle_output(b"\a", desk.now_s)
    assert b"make test" in desk.wait(TYPING_PAUSE_S)


def test_output_during_the_reading_restarts_it() -> None:
    desk = Desk()
    desk.shown()
    desk.wait(READING_S)
    desk.overlay.handle_output(b"\a", desk.now_s)
    assert desk.wait(0.1)
    assert desk.type(b"y") == b"y"
    assert verdicts(desk.overlay) == []


def test_while_a_command_runs_it_waits_and_after_a_minute_it_is_not_answered() -> None:
    desk = Desk()
    desk.overlay.handle_mark(OutputStarted(), True, desk.now_s)
    assert desk.receive(wanted("make")) == b""
    assert desk.wait(CONSENT_TIMEOUT_S - 1) == b""
    assert verdicts(desk.overlay) == []
    assert desk.overlay.wakes_at_s is not None
    desk.wait(1)
    assert verdicts(desk.overlay) == ["no_answer"]
    desk.prompt()
    assert b"make" not in desk.wait(TYPING_PAUSE_S)


def test_what_anybody_could_have_printed_is_not_a_prompt() -> None:
    desk = Desk(verified=False)
    desk.receive(wanted("make"))
    assert verdicts(desk.overlay) == ["cannot"]
    assert b"make" not in desk.wait(TYPING_PAUSE_S * 2)


def test_a_second_one_meanwhile_is_not_answered_and_the_first_stays() -> None:
    desk = Desk()
    desk.shown()
    desk.receive(wanted("other", id="r2"))
    assert desk.overlay.pop_messages() == [Response("r2", "no_answer", False, True)]
    desk.wait(READING_S)
    assert desk.type(b"y") == b"make test\r"


@pytest.mark.parametrize("command", ["", "\n", "ls\x1b[201~\r", "ls\x03", "ls\x00", "\x9b2J", "x" * 4001])
def test_what_cannot_be_typed_or_read_is_not_put_to_the_person(command: str) -> None:
    consent = ConsentPrompt()
    assert consent.ask(wanted(command), 0) == Response("r1", "cannot", False, True)
    assert consent.pending is None


def test_invisible_letters_and_escapes_in_names_are_shown_as_such() -> None:
    consent = ConsentPrompt()
    assert consent.ask(wanted("echo \u202egpj", by="evil\x1b[2J\n"), 0) is None
    shown = "\n".join(row.text for row in consent.rows(60, 10))
    assert r"\x202e" in shown
    assert r"evil\x1b[2J wants" in shown
    consent.withdraw()
    assert consent.ask(wanted("ls\u3164\ufe0f\u2800x", by="a\u115fb"), 0) is None
    shown = "\n".join(row.text for row in consent.rows(60, 10))
    assert r"ls\x3164\xfe0f\x2800x" in shown
    assert r"a\x115fb wants" in shown


def test_a_command_that_does_not_fit_is_not_offered_before_the_window_is_larger() -> None:
    desk = Desk(rows=6)
    desk.receive(wanted("true;" * 60))
    assert b"too long for this window" in desk.wait(TYPING_PAUSE_S)
    desk.wait(READING_S)
    assert desk.type(b"y") == b"y"
    assert verdicts(desk.overlay) == []


def test_a_request_without_a_name_is_reported_as_from_somebody_unknown() -> None:
    consent = ConsentPrompt()
    consent.ask(Request("r", "s", "ls", AllSessions()), 0)
    assert consent.rows(60, 10)[0].text == "? wants to run here:"


def test_several_lines_are_one_paste_where_the_shell_takes_one() -> None:
    assert typed_form("a\nb", bracketed=True) == b"\x1b[200~a\nb\x1b[201~\r"
    assert typed_form("a\nb", bracketed=False) == b"a\rb\r"


def test_a_tab_never_asks_the_shell_for_completion() -> None:
    assert typed_form("a\tb", bracketed=True) == b"\x1b[200~a\tb\x1b[201~\r"
    assert typed_form("a\tb", bracketed=False) == b"a b\r"


def test_one_that_is_taken_back_is_gone_and_y_is_a_letter_again() -> None:
    desk = Desk()
    desk.shown()
    desk.wait(READING_S)
    desk.overlay.handle_message(Response("r1", "withdrawn", False, True), desk.now_s)
    assert desk.overlay.pop_screen()
    assert desk.type(b"y") == b"y"
    assert verdicts(desk.overlay) == []


def test_without_the_daemon_that_asked_nobody_is_asked() -> None:
    desk = Desk()
    desk.shown()
    desk.overlay.connected = False
    assert desk.overlay.wakes_at_s is not None
    assert desk.wait(READING_S)
    assert desk.type(b"y") == b"y"


def test_no_message_grants_it() -> None:
    desk = Desk()
    desk.shown()
    desk.wait(READING_S)
    for message in (
        wanted("make test"),
        Response("r2", "accepted", False, True),
        Response("r1", "accepted", False, True),
    ):
        desk.overlay.handle_message(message, desk.now_s)
    assert desk.overlay.pop_keys() == b""
    assert "accepted" not in verdicts(desk.overlay)
