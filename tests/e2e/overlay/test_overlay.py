"""Over a real bash and zsh, a person types: the shell's part of the screen is that of the bare shell, key by key."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from dragoman.shell.settings import ShellSettings
from tests.e2e.overlay.wrapped import COLUMNS, ROWS, Wrapped, wrapped

pytestmark = [pytest.mark.needs("bash", "zsh")]
HISTORY = [
    "echo one two three",
    "echo 中文字符 wide and then some more text that runs to the edge of the row",
    "ls -la --color=always --sort=time --reverse --human-readable --all",
]
LEFT, RIGHT, UP, DOWN, END = b"\x1b[D", b"\x1b[C", b"\x1b[A", b"\x1b[B", b"\x1b[F"
PASTED = b"\x1b[200~echo a\necho b\x1b[201~"
ENDS_A_LINE = ("\r", b"\x03")
LONG = "echo " + "abcdefghij" * 7

SCENARIOS: dict[str, list[bytes | str]] = {
    "typing and erasing": ["ech", "o", b"\x7f", "o ", "on", b"\x7f\x7f", "x", "\r"],
    "inserting in the middle": ["echo ac", LEFT, "b", LEFT, LEFT, "z", b"\x05", "d", "\r"],
    "killing and yanking": ["echo one two", b"\x17", b"\x15", b"\x19", b"\x01", b"\x0b", "ls", "\r"],
    "the history": ["echo first", "\r", UP, "x", b"\x7f", UP, DOWN, "\r"],
    "a search of the history": ["echo found", "\r", b"\x12", "fou", "\r"],
    "completion of a name": ["touch unique-name.txt", "\r", "ls uni", "\t", "\r"],
    "a paste of two lines": [PASTED, "\r"],
    "an interrupt": ["echo on", b"\x03", "ec", b"\x03"],
    "a line that runs over the edge": [LONG, LEFT, "X", b"\x05", "tail", b"\x7f" * 30, "\r"],
    "wide characters": ["echo 中", "文", LEFT, "字", b"\x7f", b"\x05", "符", "\r"],
    "a cleared screen": ["echo on", b"\x0c", "e", b"\x0c", "\r"],
    "a line that goes on": ["echo 'a", "\r", "b'", "\r"],
    "output without an end": ["printf abc", "\r", "echo on", "\r"],
    "the bottom of the screen": ["seq 30", "\r", "echo o", "n", "\r", LONG * 3, "\r"],
}


@pytest.fixture(autouse=True)
def _hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """Suggestions come and go between any two keys, not only where a person would pause."""
    monkeypatch.setattr("dragoman.shell.overlay.overlay.QUIET_S", 0.01)
    monkeypatch.setattr("dragoman.shell.overlay.overlay.SETTLED_S", 0.005)


def reads_again(session: Wrapped, drawn: int) -> None:
    """Keys that come before the line editor is back are echoed by the terminal, wherever the cursor happens to be."""
    session.until(lambda: session.prompted > drawn or session.row.endswith(">"), name="no prompt")


def same_after_each(over: Wrapped, bare: Wrapped, steps: list[bytes | str]) -> None:
    """After each step the shell's part of both screens becomes the same, while a suggestion may stand beside it."""
    for step in [*steps, b"\x03"]:
        for each in (over, bare):
            drawn = each.prompted
            each.type(step)
            if step in ENDS_A_LINE:
                reads_again(each, drawn)
        over.calm(0.018)

        def same() -> bool:
            over.calm(0.002)
            bare.calm(0.002)
            return over.plain == bare.plain

        bare.until(same, name=f"{step!r} of {steps}")


@pytest.mark.parametrize("shell", ["bash", "zsh"])
def test_the_shells_part_of_the_screen_is_the_bare_shells_after_every_key(shell: str, tmp_path: Path) -> None:
    with wrapped(shell, tmp_path / "a", HISTORY) as over, wrapped(shell, tmp_path / "b") as bare:
        for steps in SCENARIOS.values():
            same_after_each(over, bare, steps)
        assert over.sent, "nothing was ever asked, so nothing was tested"


@pytest.mark.parametrize(
    ("shell", "rc"),
    [
        ("bash", r"PS1=${PS1/\\w/first row\\n\\w}"),
        ("zsh", r"PS1=${PS1/\%\~/first row$'\n'%~}; RPROMPT='right'"),
    ],
)
def test_a_prompt_of_two_rows_and_one_on_the_right_stay_whole(shell: str, rc: str, tmp_path: Path) -> None:
    steps = SCENARIOS["typing and erasing"] + SCENARIOS["a line that runs over the edge"]
    with wrapped(shell, tmp_path / "a", HISTORY, rc=rc) as over, wrapped(shell, tmp_path / "b", rc=rc) as bare:
        assert any("first row" in line for line in bare.shown)
        same_after_each(over, bare, steps)


@pytest.mark.parametrize("shell", ["bash", "zsh"])
def test_any_keys_whatever_leave_the_line_as_the_bare_shell_has_it(shell: str, tmp_path: Path) -> None:
    chosen = random.Random()
    keys = [b"e", b"c", b"h", b"o", b" ", b"1", "中".encode(), b"\x7f", LEFT, RIGHT, UP, END, b"\x01", b"\x17", b"\x1b"]
    steps: list[bytes | str] = [chosen.choice(keys) for _ in range(25)]
    with wrapped(shell, tmp_path / "a", []) as over, wrapped(shell, tmp_path / "b") as bare:
        same_after_each(over, bare, steps)


def test_nothing_is_drawn_in_a_full_screen_program_or_while_a_command_runs(tmp_path: Path) -> None:
    with wrapped("bash", tmp_path, HISTORY) as session:
        session.type("printf '\\e[?1049hfull'; cat; printf '\\e[?1049l'\r")
        session.until(lambda: "full" in session.shown[0])
        asked = len(session.sent)
        session.type("echo on\x1b/")
        session.calm(0.2)
        assert (len(session.sent), session.dim()) == (asked, "")
        assert "Enter to ask" not in "".join(session.shown)


def test_a_key_that_follows_an_escape_in_another_read_is_not_the_question_key(tmp_path: Path) -> None:
    with wrapped("bash", tmp_path, []) as session:
        session.type(b"\x1b")
        session.type(b"/")
        session.calm()
        assert "Enter to ask" not in "".join(session.shown)
        session.type(b"\x1b/")
        session.until(lambda: "Enter to ask" in "".join(session.shown))


def test_the_pause_key_says_so_in_a_dim_word_and_stops_suggestions(tmp_path: Path) -> None:
    with wrapped("bash", tmp_path, HISTORY) as session:
        assert session.overlay is not None
        session.type(b"\x1b\x10")
        session.until(lambda: session.dim() == "recording paused")
        assert session.overlay.paused
        session.type("echo on")
        session.calm(0.2)
        assert (session.dim(), session.sent) == ("", [])
        session.type(b"\x1b\x10")
        session.until(lambda: session.dim().strip() == "recording resumed")
        assert not session.overlay.paused


def test_the_pause_key_works_while_a_command_runs_and_is_not_sent_to_it(tmp_path: Path) -> None:
    with wrapped("bash", tmp_path, []) as session:
        assert session.overlay is not None
        session.type("cat -v\r")
        session.calm()
        session.type(b"a\x1b\x10b\r")
        session.until(lambda: session.shown.count("ab") == 2)
        assert session.overlay.paused


@pytest.mark.parametrize("size", [(40, 8), (30, 12), (80, 20)])
def test_a_window_that_changes_its_size_keeps_no_suggestion_of_the_old_one(
    size: tuple[int, int], tmp_path: Path
) -> None:
    with wrapped("bash", tmp_path, HISTORY) as session:
        session.type("echo on")
        session.until(session.dim)
        session.resize(*size)
        assert session.dim() == ""
        session.calm(0.15)
        session.type("x")
        session.until(lambda: session.row.endswith("echo onx"))


def test_a_failure_is_explained_in_one_dim_line_and_not_again_too_soon(tmp_path: Path) -> None:
    from dragoman.protocols.omnish.messages import CurrentSession, Request, Response

    settings = ShellSettings(explain_failures=True, suggest_commands=False)
    with wrapped("bash", tmp_path, [], settings=settings) as session:
        session.type("false\r")
        session.until(lambda: session.sent)
        (request,) = session.sent
        assert isinstance(request, Request)
        assert request.scope == CurrentSession()
        session.say(Response(request.request_id, "It \x1b[31mfailed\nsecond line", False, True))
        session.until(lambda: session.dim() == r"It \x1b[31mfailed")
        session.type("e")
        session.calm()
        assert session.dim() == ""
        session.type("\x15false\r")
        session.calm(0.1)
        assert len(session.sent) == 1


def test_marks_without_our_nonce_open_nothing_once_the_shells_own_were_seen() -> None:
    from dragoman.protocols.osc import InputStarted, OutputStarted, PromptStarted
    from dragoman.shell.overlay.overlay import Overlay

    overlay = Overlay(ShellSettings(), session_id="s", columns=COLUMNS, rows=ROWS)
    overlay.handle_mark(PromptStarted(), True, 0)
    overlay.handle_mark(InputStarted(), True, 0)
    overlay.handle_mark(OutputStarted(), True, 1)
    overlay.handle_mark(PromptStarted(), False, 2)
    overlay.handle_mark(InputStarted(), False, 2)
    assert overlay.handle_keys(b"\x1b/", 3) == b"\x1b/"
    overlay.handle_mark(PromptStarted(), True, 4)
    overlay.handle_mark(InputStarted(), True, 4)
    assert overlay.handle_keys(b"\x1b/", 5) == b""
