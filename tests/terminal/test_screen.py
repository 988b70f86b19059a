"""The emulated screen is the one that tmux shows for the same bytes."""

from __future__ import annotations

import contextlib
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.core.errors import DragomanError
from dragoman.terminal import screen as screens
from dragoman.terminal.model import RecordedTerminal
from dragoman.terminal.screen import DEFAULT_SIZE, SIZE, TerminalScreen, emulate, terminal_size
from tests.daemons import PATIENCE, eventually
from tests.terminal.tmux_panes import Pane, pane

pytestmark = pytest.mark.needs("tmux", "bash", "editors")

SHELL = ("env", "PS1=$ ", "bash", "--norc", "--noprofile")


def seen(pane: Pane, scrollback: int = 0) -> TerminalScreen:
    return emulate(pane.recorded(), pane.columns, pane.rows, scrollback=scrollback)


def the_same(pane: Pane) -> TerminalScreen:
    """Once all has arrived on both sides: a program that still draws moves lines and cursor. A difference is told."""

    def both() -> tuple[object, object]:
        screen = seen(pane)
        return (list(screen.lines), screen.cursor_row, screen.cursor_column), (pane.shown(), *pane.cursor())

    with contextlib.suppress(AssertionError):
        eventually(lambda: len(set(map(repr, both()))) == 1, within_s=3)
    ours, theirs = both()
    assert ours == theirs
    return seen(pane)


def test_vim_from_its_start_over_edits_and_a_split_to_its_end(tmp_path: Path) -> None:
    text = tmp_path / "text.txt"
    text.write_text("".join(f"line {number} with 中文 and é\n" for number in range(1, 200)))
    with pane(tmp_path, *SHELL) as shell:
        shell.type(f"printf before; vim -u NONE -N {text}\r")
        shell.wait_for("line 20")
        assert the_same(shell).is_full_screen
        shell.type("20jdd3pix中\x1b\x06")
        shell.wait_for("line 35")
        the_same(shell)
        shell.type("\x15:split\rzz:set nu\rG")
        shell.wait_for("199 line")
        the_same(shell)
        shell.type(":qa!\r")
        shell.wait_for("before$")
        assert not the_same(shell).is_full_screen


def test_less_forwards_backwards_and_searching(tmp_path: Path) -> None:
    text = tmp_path / "text.txt"
    text.write_text("".join(f"{number}\tword{number % 7} {'x' * (number % 100)}\n" for number in range(400)))
    with pane(tmp_path, *SHELL) as shell:
        shell.type(f"less -N {text}\r")
        shell.wait_for("23 22")
        the_same(shell)
        shell.type("  bjjkk/word3\r")
        eventually(lambda: shell.shown()[0].split()[:3] == ["25", "24", "word3"])
        the_same(shell)
        shell.type("Gkkkk")
        eventually(lambda: shell.shown()[-3].split()[:2] == ["398", "397"])  # each line takes two rows
        the_same(shell)


def test_a_full_screen_program_after_the_window_was_resized(tmp_path: Path) -> None:
    text = tmp_path / "text.txt"
    text.write_text("".join(f"line {number} {'y' * number}\n" for number in range(1, 200)))
    with pane(tmp_path, *SHELL) as shell:
        shell.type(f"vim -u NONE -N {text}\r")
        shell.wait_for("line 20")
        for columns, rows in ((50, 12), (132, 40)):
            shell.resize(columns, rows)
            shell.wait_for(f"line {rows - 2}" if columns > 100 else "line 5")
            the_same(shell)


def test_a_shell_in_an_enlarged_window_keeps_its_lines(tmp_path: Path) -> None:
    with pane(tmp_path, *SHELL, columns=40, rows=10) as shell:
        shell.type("seq 1 4\r")
        shell.wait_for("4\n$")
        shell.resize(60, 15)
        shell.type("echo done\r")
        shell.wait_for("done\n$")
        the_same(shell)


def test_the_lines_that_left_at_the_top_are_the_scrollback(tmp_path: Path) -> None:
    with pane(tmp_path, *SHELL, rows=10) as shell:
        shell.type("for i in $(seq 1 60); do echo number $i; done\r")
        shell.wait_for("number 60\n$")
        the_same(shell)
        assert list(seen(shell, scrollback=500).scrollback) == shell.scrollback()


# Bytes that real programs write, and what is hard about them; each is followed by a mark that says where the cursor is.
STREAMS = {
    "a wide letter that does not fit into the last column": "x" * 79 + "中文\r\n" + "y" * 80 + "z",
    "a letter over half of a wide one": "中文中文\r\x1b[2Cab\x1b[1;1Hx",
    "letters made of several": "e\u0301a\u0300o\u0308 중국 👍 ok",
    "a region that scrolls, both ways": "\x1b[3;8r\x1b[8;1Ha\nb\nc\nd\x1b[3;1H\x1bM\x1bMtop\x1b[2S\x1b[1Tend\x1b[r",
    "a letter repeated": "ab\x1b[10bc\x1b[3b",
    "lines put in and taken out": "one\r\ntwo\r\nthree\x1b[2;3H\x1b[2Lx\x1b[1Mz\x1b[4;3Hq\x1b[20Mr",
    "letters put in and taken out": "one two three\x1b[1;5H\x1b[4hxyz\x1b[4l\x1b[2P\x1b[3@q\x1b[40P",
    "the other screen": "here\x1b[?1049h\x1b[Hgone\x1b[5;5Hgone\x1b[?1049l there",
    "tabs, set and taken away": "a\tb\tc\x1b[3g\r\x1b[5C\x1bH\r\td\x1b[Ze",
    "the cursor, saved and restored": "\x1b[5;5H\x1b7abc\x1b[H\x1b8X\x1b[s\x1b[10;10HY\x1b[uZ",
    "erased in all its ways": "abcdef\r\nghijkl\r\nmnopqr\x1b[2;3H\x1b[1K\x1b[J\x1b[1;4H\x1b[K\x1b[3;1Hq\x1b[1J\x1b[2X",
    "strings that a terminal does not show": "a\x1b]0;title\x07b\x1bPq#0\x1b\\c\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\\x1b_x\x1b\\d",
    "sequences that nobody knows": "a\x1b[>4;2mb\x1b[?2004hc\x1b[!pd\x1b[2 qe\x1b[=1uf\x1b[12;34yg\x1b%Gh",
    "wrapping off and on": "\x1b[?7l" + "w" * 100 + "\x1b[?7h\r\n" + "v" * 100,
    "many lines": "".join(f"{number}\r\n" for number in range(100)),
    "a reset": "text\x1b[5;5Hmore\x1bcnew",
}


def test_streams_that_are_hard_look_as_in_tmux(tmp_path: Path) -> None:
    player = tmp_path / "player.py"
    player.write_text(
        "import sys, tty\n"
        "tty.setraw(0)\n"
        "print('ready', flush=True)\n"
        "for line in sys.stdin.buffer:\n"
        "    name = line.strip().decode()\n"
        "    data = open(name, 'rb').read()\n"
        "    sys.stdout.buffer.write(b'\\x1bc' + data)\n"
        "    sys.stdout.buffer.flush()\n"
    )
    with pane(tmp_path, sys.executable, str(player)) as terminal:
        terminal.wait_for("ready")
        for at, (name, stream) in enumerate(STREAMS.items()):
            (tmp_path / str(at)).write_text(f"{stream}\x1b[24;70H<{at}>", newline="")
            terminal.type(f"{tmp_path / str(at)}\n")
            terminal.wait_for(f"<{at}>")
            assert (name, the_same(terminal).lines[-1][69:]) == (name, f"<{at}>")


def test_a_record_that_begins_inside_of_a_sequence_or_a_letter_is_shown_from_there_on() -> None:
    whole = "中\x1b[31mred\x1b[0m".encode()
    for cut in range(whole.index(b"red")):
        assert emulate(whole[cut:], 20, 2).lines[0].endswith("red")


@pytest.mark.parametrize(
    ("result", "size"),
    [("120x40", (120, 40)), ("", DEFAULT_SIZE), ("0x5", DEFAULT_SIZE), ("9999x9999", (1000, 500)), ("axb", (80, 24))],
)
def test_the_size_is_what_the_wrapper_sent_and_bounded(result: str, size: tuple[int, int]) -> None:
    assert terminal_size(RecordedTerminal(id="t", started_ns=0, attributes={SIZE: result})) == size


CSI = st.builds(
    lambda prefix, numbers, final: f"\x1b[{prefix}{';'.join(map(str, numbers))}{final}",
    st.sampled_from(["", "", "?", ">"]),
    st.lists(st.one_of(st.integers(0, 30), st.sampled_from([47, 1047, 1048, 1049, 99999])), max_size=4),
    st.sampled_from("@ABCDEFGHIJKLMPSTXZ`abdefghlmrstu"),
)
TEXTS = st.sampled_from(
    ["x", "中文", "e\u0301", "\u200d", "\t", "\r\n", "\n", "\b", "\x1bM", "\x1bD", "\x1bc", "\x1b7", "\x1b8"]
)
HOSTILE = st.lists(st.one_of(CSI, TEXTS, st.text(max_size=5)), max_size=40).map("".join)


@given(HOSTILE, st.integers(1, 30), st.integers(1, 10), st.integers(0, 5))
def test_whatever_a_program_writes_there_is_a_screen(stream: str, columns: int, rows: int, scrollback: int) -> None:
    screen = emulate(stream.encode("utf-8", "surrogatepass"), columns, rows, scrollback=scrollback)
    assert len(screen.lines) == screen.rows
    assert len(screen.scrollback) <= scrollback
    assert 1 <= screen.cursor_row <= screen.rows
    assert 1 <= screen.cursor_column <= screen.columns


def test_lines_are_drawn_as_lines() -> None:
    """tmux keeps them as an attribute, and captures the letters that stand for them."""
    assert emulate(b"\x1b(0lqqk\x1b(B plain \x1b)0\x0exx\x0f", 80, 2).lines[0] == "┌──┐ plain ││"


@pytest.mark.parametrize("final", "@ABLMPSTXZbt")
def test_what_asks_for_much_work_is_given_up_on_in_time(final: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(screens, "_WITHIN_S", 0.2)
    stream = b"\x1b[8;500;1000t" * 2 + (b"\x1b[9999" + final.encode()) * 40_000
    began = time.monotonic()
    with contextlib.suppress(DragomanError):
        assert len(emulate(stream, 80, 24).lines) == 500
    assert time.monotonic() - began < 5 * PATIENCE


def test_without_the_emulator_the_message_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "dragoman.terminal.emulator", raising=False)
    monkeypatch.setitem(sys.modules, "pyte", None)
    with pytest.raises(DragomanError) as caught:
        emulate(b"", 80, 24)
    assert caught.value.code == "no_emulator"
    assert f"{sys.executable} -m pip install pyte" in str(caught.value.hint)
