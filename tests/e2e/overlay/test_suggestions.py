"""Dim text behind the cursor: when it is asked for, what of it is shown, and what a key makes of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from dragoman.protocols.omnish.messages import CompletionRequest, CompletionResponse, CompletionSuggestion
from dragoman.shell.overlay.hints import SUGGESTION_TIMEOUT_S, LineSuggestion
from dragoman.shell.settings import ShellSettings
from tests.e2e.overlay.wrapped import COLUMNS, wrapped

pytestmark = [pytest.mark.needs("bash", "zsh")]


@pytest.mark.parametrize("key", [b"\x1b[C", b"\x1bOC", b"\x1b[F", b"\x05"])
def test_right_and_end_type_the_rest_into_the_shell(key: bytes, tmp_path: Path) -> None:
    with wrapped("bash", tmp_path, ["echo one two"]) as session:
        session.type("echo o")
        session.until(lambda: session.dim() == "ne two")
        session.type(key)
        session.until(lambda: session.row.endswith("echo one two") and not session.dim())
        session.type("\r")
        session.until(lambda: "one two" in session.shown)


def test_tab_accepts_where_it_is_enabled_and_right_moves_as_ever(tmp_path: Path) -> None:
    with wrapped("bash", tmp_path, ["echo one two"], settings=ShellSettings(accept_key="tab")) as session:
        session.type("echo o")
        session.until(session.dim)
        session.type(b"\x1b[C")
        session.calm(0.1)
        assert session.plain[0][0].endswith("echo o")
        session.type(b"x\x7f")
        session.until(session.dim)
        session.type(b"\t")
        session.until(lambda: session.plain[0][0].endswith("echo one two"))


def test_no_key_is_a_request_of_its_own_and_typing_along_asks_nothing_new(tmp_path: Path) -> None:
    with wrapped("bash", tmp_path, ["echo one two"]) as session:
        for letter in "echo o":
            session.type(letter)
        session.until(session.dim)
        asked = [each.input for each in session.sent if isinstance(each, CompletionRequest)]
        for letter in "ne t":
            session.type(letter)
            session.calm(0.1)
            assert session.dim()
        assert asked == ["echo o"]
        assert len(session.sent) == len(asked)


def test_what_does_not_fit_is_cut_visibly_and_accepted_whole(tmp_path: Path) -> None:
    whole = "echo " + "字" * 40
    with wrapped("zsh", tmp_path, [whole]) as session:
        session.type("ec")
        session.until(session.dim)
        assert session.screen.cursor.y == 0
        assert session.row.endswith("…")
        assert session.screen.buffer[0][COLUMNS - 1].data == " "
        assert not session.screen.display[1].strip()
        session.type(b"\x1b[C\r")
        session.until(lambda: "字" * 40 in "".join("".join(line) for line in session.shown).replace(" ", ""))


@pytest.mark.parametrize("keys", [b"\x1b[D", b"\x01", b"\x02"])
def test_where_the_cursor_is_not_at_the_end_nothing_is_offered(keys: bytes, tmp_path: Path) -> None:
    with wrapped("bash", tmp_path, ["echo one two"]) as session:
        session.type(b"echo on" + keys)
        session.calm(0.2)
        assert (session.dim(), session.sent) == ("", [])


def test_a_shell_that_suggests_by_itself_is_left_to_it(tmp_path: Path) -> None:
    own = """
    suggest() { POSTDISPLAY= ; [[ $BUFFER == ec ]] && POSTDISPLAY='ho by the shell'; }
    self-insert() { zle .self-insert; suggest }; zle -N self-insert
    """
    with wrapped("zsh", tmp_path, ["echo one two", "git status"], rc=own) as session:
        session.type("e")
        session.calm(0.15)
        session.type("c")
        session.until(lambda: "by the shell" in session.row)
        session.type("h\x15git st")
        session.calm(0.2)
        assert session.dim() == ""


@pytest.mark.parametrize("shell", ["bash", "zsh"])
def test_a_line_from_the_history_or_from_completion_is_gone_on_from(shell: str, tmp_path: Path) -> None:
    with wrapped(shell, tmp_path, ["cat unique-name.txt | wc", "echo first | wc -l"]) as session:
        session.type("touch unique-name.txt\r")
        session.prompts()
        session.type("cat uni\t")
        session.until(lambda: session.dim().strip() == "| wc")
        session.type("\x15echo first\r")
        session.prompts()
        session.type("\x1b[A")
        session.until(lambda: session.dim().strip() == "| wc -l")


@pytest.mark.parametrize("line", ["vault read x", "echo on"])
def test_an_ignored_command_and_an_unwished_suggestion_are_never_asked_about(line: str, tmp_path: Path) -> None:
    settings = ShellSettings(ignore_commands=("vault *",), suggest_commands=line.startswith("vault"))
    with wrapped("bash", tmp_path, [f"{line} and more"], settings=settings) as session:
        session.type(line)
        session.calm(0.2)
        assert session.sent == []


def suggested(ghost: LineSuggestion, line: str, *texts: str) -> str:
    request = ghost.ask(line, None, 0)
    assert request is not None
    ghost.handle_response(
        CompletionResponse(request.sequence_id, [CompletionSuggestion(text, at) for at, text in enumerate(texts)])
    )
    return ghost.remaining_text(line)


@pytest.mark.parametrize("text", ["ls\x1b[2J", "ls\nrm x", "ls\tx", "ls \u202e", "other", "ls", ""])
def test_what_is_not_a_continuation_or_could_not_be_seen_is_not_a_suggestion(text: str) -> None:
    assert suggested(LineSuggestion("s"), "ls", text) == ""


def test_the_surest_suggestion_is_taken() -> None:
    assert suggested(LineSuggestion("s"), "ls", "ls -a", "ls -b", "none") == " -b"


def test_one_request_is_under_way_at_a_time_and_a_lost_one_is_given_up() -> None:
    ghost = LineSuggestion("s")
    first = ghost.ask("a", None, 0)
    assert first is not None
    assert ghost.ask("ab", None, SUGGESTION_TIMEOUT_S / 2) is None
    second = ghost.ask("ab", None, SUGGESTION_TIMEOUT_S)
    assert second is not None
    ghost.handle_response(CompletionResponse(first.sequence_id, [CompletionSuggestion("abc", 1)]))
    assert ghost.remaining_text("ab") == ""
    ghost.handle_response(CompletionResponse(second.sequence_id, [CompletionSuggestion("abd", 1)]))
    assert ghost.remaining_text("ab") == "d"
