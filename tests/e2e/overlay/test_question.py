"""The question line below the prompt: typed, asked, answered, and gone without a trace."""

from __future__ import annotations

from pathlib import Path

import pytest

from dragoman.protocols.omnish.messages import (
    AllSessions,
    CompletionRequest,
    CompletionResponse,
    CompletionSuggestion,
    Request,
    Response,
)
from dragoman.protocols.osc import InputStarted, PromptStarted
from dragoman.shell.overlay.overlay import FRAME_S, Overlay
from dragoman.shell.overlay.question import ANSWER_TIMEOUT_S, QuestionPanel
from dragoman.shell.settings import ShellSettings
from tests.e2e.overlay.wrapped import ROWS, Wrapped, wrapped

pytestmark = [pytest.mark.needs("bash", "zsh")]
ASK = b"\x1b/"


def asked(session: Wrapped, question: str) -> Request:
    before = len(session.sent)
    session.type(ASK)
    session.type(question)
    session.until(lambda: f"? {question}"[-30:] in "\n".join(session.shown))
    session.type("\r")
    session.until(lambda: len(session.sent) > before)
    request = session.sent[-1]
    assert isinstance(request, Request)
    return request


def answered(session: Wrapped, request: Request, *pieces: str) -> None:
    for at, piece in enumerate(pieces, 1):
        session.say(Response(request.request_id, piece, True, at == len(pieces)))


@pytest.mark.parametrize("shell", ["bash", "zsh"])
@pytest.mark.parametrize("before", ["", "seq 30\r"])
def test_a_question_that_is_closed_leaves_no_trace(shell: str, before: str, tmp_path: Path) -> None:
    with wrapped(shell, tmp_path, []) as session:
        session.type(before)
        session.calm()
        session.type("echo half")
        session.calm()
        rows, (row, column) = session.plain
        session.type(ASK)
        session.until(lambda: "Enter to ask" in "\n".join(session.shown))
        session.type("why? 中文")
        session.until(lambda: "? why? 中文" in "\n".join(session.screen.display).replace("中 文", "中文"))
        session.type(b"\x1b")
        session.calm()
        shown = [line for line in session.plain[0] if line]
        assert shown == [line for line in rows if line][-len(shown) :]
        assert session.cursor == (min(row, ROWS - 3), column)
        session.type(" way\r")
        session.until(lambda: "half way" in session.shown)


@pytest.mark.parametrize("shell", ["bash", "zsh"])
def test_an_answer_streams_in_and_stays_above_the_prompt(shell: str, tmp_path: Path) -> None:
    with wrapped(shell, tmp_path, [], rc=r"PS1=${PS1/work/x}") as session:
        session.type("echo ha")
        session.calm()
        request = asked(session, "why?")
        assert (request.query, request.scope) == ("why?", AllSessions())
        answered_part = Response(request.request_id, "Because of", True, False)
        session.say(answered_part)
        session.until(lambda: "Because of" in session.shown)
        assert session.row.endswith("echo ha")
        session.say(Response(request.request_id, " \x1b]0;x\x07that\nand this", True, True))
        session.until(lambda: "and this" in session.shown and session.row.endswith("echo ha"))
        at = session.shown.index("? why?")
        assert session.shown[at : at + 3] == ["? why?", r"Because of \x1b]0;x\x07that", "and this"]
        assert session.shown[at + 3].endswith("echo ha")
        session.type("lf\r")
        session.until(lambda: "half" in session.shown)


def test_an_answer_longer_than_the_screen_is_all_in_the_scrollback(tmp_path: Path) -> None:
    with wrapped("bash", tmp_path, []) as session:
        request = asked(session, "all?")
        answered(session, request, "\n".join(f"line {n}" for n in range(20)), "\n", "last")
        session.until(lambda: "last" in session.shown and session.row == "~/work $")
        scrolled = ["".join(row[x].data for x in range(60)).rstrip() for row in session.screen.history.top]
        assert [line for line in scrolled + session.shown if line.startswith("line ")] == [
            f"line {n}" for n in range(20)
        ]


def test_keys_typed_while_an_answer_is_awaited_go_to_the_shell_and_the_answer_comes_later(tmp_path: Path) -> None:
    with wrapped("bash", tmp_path, []) as session:
        request = asked(session, "slow?")
        session.type("echo m")
        session.until(lambda: session.row.endswith("echo m"))
        assert "asking" not in "".join(session.shown)
        session.type("e; cat\r")
        session.until(lambda: "me" in session.shown)
        answered(session, request, "at last")
        session.calm()
        assert "at last" not in session.shown
        session.type(b"\x04")
        session.until(lambda: "at last" in session.shown and session.row == "~/work $")
        assert session.shown[-1] == "~/work $"


@pytest.mark.parametrize("key", [b"\x1b", b"\x03"])
def test_escape_and_ctrl_c_cancel_an_answer_and_what_comes_later_is_dropped(key: bytes, tmp_path: Path) -> None:
    with wrapped("bash", tmp_path, []) as session:
        request = asked(session, "why?")
        session.until(lambda: "asking; Esc cancels" in session.shown)
        session.type(key)
        session.until(lambda: session.shown == ["~/work $"])
        answered(session, request, "too late")
        session.calm()
        assert session.shown == ["~/work $"]


def test_without_a_daemon_it_says_so_at_once(tmp_path: Path) -> None:
    with wrapped("bash", tmp_path, []) as session:
        assert session.overlay is not None
        session.overlay.connected = False
        session.type(ASK + b"why?\r")
        session.until(lambda: "No daemon is running. Start one with `dragoman up`." in session.shown)
        assert session.sent == []


def test_output_that_comes_while_the_line_is_open_is_shown_and_the_line_comes_back(tmp_path: Path) -> None:
    with wrapped("bash", tmp_path, []) as session:
        session.type("{ read -t 0.2 <> <(:); echo background; } & \r")
        session.calm()
        session.type(ASK + b"why")
        session.until(lambda: "background" in "".join(session.shown) and "? why" in session.shown)
        session.type(b"\x1b")
        session.until(lambda: "? why" not in session.shown)


def test_a_colon_as_the_first_key_asks_where_it_is_enabled_and_is_a_letter_elsewhere(tmp_path: Path) -> None:
    with wrapped("bash", tmp_path, [], settings=ShellSettings(ask_key=":")) as session:
        session.type("echo a:b\r")
        session.until(lambda: "a:b" in session.shown)
        session.prompts()
        session.type(":")
        session.until(lambda: "Enter to ask" in "\n".join(session.shown))
        session.type(b"\x7f")
        session.until(lambda: "Enter to ask" not in "\n".join(session.shown))
        session.type(":wh")
        session.until(lambda: "? wh" in session.shown)


def test_earlier_questions_come_back_with_the_arrow(tmp_path: Path) -> None:
    with wrapped("bash", tmp_path, []) as session:
        answered(session, asked(session, "first?"), "a")
        session.calm()
        session.type(ASK + b"half\x1b[A")
        session.until(lambda: session.shown.count("? first?") == 2)
        session.type(b"\x1b[B")
        session.until(lambda: "? half" in session.shown)


def test_a_paste_into_the_line_is_text_whatever_it_holds(tmp_path: Path) -> None:
    with wrapped("bash", tmp_path, []) as session:
        session.type(ASK)
        session.type(b"\x1b[200~two\nlines \x1b[201~")
        session.until(lambda: any(line.startswith("? two lines") for line in session.shown))
        assert session.sent == []


def test_a_file_gets_the_answer_and_is_not_replaced_unless_forced(tmp_path: Path) -> None:
    with wrapped("bash", tmp_path, []) as session:
        kept = tmp_path / "work" / "answer.txt"
        request = asked(session, "why? > answer.txt")
        assert request.query == "why?"
        answered(session, request, "because")
        session.until(lambda: "Saved to answer.txt." in session.shown)
        assert kept.read_text() == "because\n"
        answered(session, asked(session, "again? > answer.txt"), "other")
        session.until(lambda: "answer.txt already exists. Nothing was written." in session.shown)
        assert kept.read_text() == "because\n"
        session.type(ASK + b">! answer.txt\r")
        session.until(lambda: kept.read_text() == "other\n")


def test_an_answer_that_does_not_come_is_given_up() -> None:
    questions = QuestionPanel("s")
    questions.open().editor.replace("why?")
    assert questions.ask(True, None, 0) is not None
    assert not questions.lost(True, ANSWER_TIMEOUT_S - 1)
    assert questions.lost(True, ANSWER_TIMEOUT_S)
    assert questions.answer is not None
    assert questions.answer.text == "Timed out waiting for an answer."


def test_a_daemon_that_goes_away_is_reported_below_what_came() -> None:
    questions = QuestionPanel("s")
    questions.open().editor.replace("why?")
    request = questions.ask(True, None, 0)
    assert request is not None
    questions.received(Response(request.request_id, "half", True, False), None)
    assert questions.lost(False, 1)
    assert questions.answer is not None
    assert questions.answer.text == "half\nLost the connection to the daemon."


def test_what_the_terminal_answers_to_the_shell_is_not_a_part_of_the_question(tmp_path: Path) -> None:
    with wrapped("bash", tmp_path, []) as session:
        assert session.overlay is not None
        session.type(ASK + b"wh")
        assert session.overlay.handle_keys(b"\x1b[5;1R\x1b]11;rgb:0/0/0\x07", 1e9) == b"\x1b[5;1R\x1b]11;rgb:0/0/0\x07"
        session.type(b"y")
        session.until(lambda: "? why" in session.shown)


def test_a_shell_that_ends_while_a_question_is_typed_takes_the_line_along(tmp_path: Path) -> None:
    with wrapped("bash", tmp_path, []) as session:
        assert session.overlay is not None
        session.type(ASK + b"why")
        session.until(lambda: "? why" in session.shown)
        session.feed(session.overlay.handle_end())
        assert session.shown == ["~/work $"]


@pytest.mark.parametrize(("rows", "sent"), [(6, ASK), (7, ASK), (8, b"")])
def test_below_a_list_that_fills_the_window_there_is_no_question_line(rows: int, sent: bytes) -> None:
    overlay = Overlay(ShellSettings(), session_id="s", columns=60, rows=rows)
    overlay.handle_mark(PromptStarted(), True, 0)
    overlay.handle_output(b"$ ", 0)
    overlay.handle_mark(InputStarted(), True, 0)
    overlay.handle_output(b"ls\r\na\r\nb\r\nc\r\nd\x1b[4A\r\x1b[4C", 0)
    assert overlay.handle_keys(ASK, 1) == sent


def test_an_answer_in_thousands_of_pieces_is_drawn_as_often_as_an_eye_can_see() -> None:
    overlay = Overlay(ShellSettings(), session_id="s", columns=60, rows=ROWS)
    overlay.connected = True
    overlay.handle_mark(PromptStarted(), True, 0)
    overlay.handle_output(b"$ ", 0)
    overlay.handle_mark(InputStarted(), True, 0)
    overlay.handle_keys(ASK + b"why?\r", 1)
    (request,) = overlay.pop_messages()
    assert isinstance(request, Request)
    drawings = 0
    for at in range(5000):
        now_s = 1 + at / 10_000
        overlay.handle_message(Response(request.request_id, f"{at} ", True, False), now_s)
        if overlay.wakes_at_s is not None and now_s >= overlay.wakes_at_s:
            overlay.tick(now_s)
        drawings += bool(overlay.pop_screen())
    assert 5 <= drawings <= 0.5 / FRAME_S + 2


def test_a_suggestion_shown_while_the_question_came_back_does_not_stay_behind(tmp_path: Path) -> None:
    overlay = Overlay(ShellSettings(), session_id="s", columns=60, rows=ROWS)
    overlay.connected = True
    overlay.handle_mark(PromptStarted(), True, 0)
    overlay.handle_output(b"$ ", 0)
    overlay.handle_mark(InputStarted(), True, 0)
    overlay.handle_output(b"ec", 0)
    overlay.tick(1)
    (asked_for,) = overlay.pop_messages()
    assert isinstance(asked_for, CompletionRequest)
    overlay.handle_message(CompletionResponse(asked_for.sequence_id, [CompletionSuggestion("echo on", 1)]), 1)
    overlay.handle_keys(ASK, 2)
    overlay.handle_output(b"h", 3)
    overlay.tick(3.001)
    assert b"on" not in overlay.pop_screen()
