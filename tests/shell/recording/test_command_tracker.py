"""Marks become commands: ours are believed, others are shown, and neither spoils the other."""

from __future__ import annotations

import pytest

from dragoman.protocols.osc import (
    CommandFinished,
    CommandLineReported,
    InputStarted,
    Mark,
    MarkScanner,
    OutputStarted,
    PromptStarted,
    PropertyReported,
)
from dragoman.shell.mark_filter import MarkFilter
from dragoman.shell.recording.command_tracker import (
    CommandBegan,
    CommandEnded,
    CommandStep,
    CommandTracker,
    InputBegan,
    LineAbandoned,
)

NONCE = "0123456789abcdef"


def steps_after(commands: CommandTracker, *marks: Mark) -> list[CommandStep]:
    return [step for mark in marks for step in commands.handle(mark)]


def cycle(line: str, code: int | None, nonce: str | None = NONCE) -> list[Mark]:
    return [
        PromptStarted(nonce=nonce),
        InputStarted(nonce=nonce),
        CommandLineReported(command_line=line, nonce=nonce),
        OutputStarted(nonce=nonce),
        CommandFinished(exit_code=code, nonce=nonce),
    ]


def test_a_cycle_of_our_marks_is_a_verified_command() -> None:
    steps = steps_after(
        CommandTracker(NONCE), PropertyReported(key="Cwd", value="/src", nonce=NONCE), *cycle("make", 2)
    )
    assert [type(step) for step in steps] == [InputBegan, CommandBegan, CommandEnded]
    ended = steps[-1]
    assert isinstance(ended, CommandEnded)
    assert (ended.began.line, ended.began.cwd, ended.began.verified, ended.exit_code) == ("make", "/src", True, 2)


def test_marks_of_others_alone_make_unverified_commands() -> None:
    steps = steps_after(CommandTracker(NONCE), *cycle("ls", 0, nonce=None))
    assert [step.began.verified for step in steps if isinstance(step, CommandEnded)] == [False]


@pytest.mark.parametrize("nonce", [None, "", "0123456789abcdee", NONCE.upper()])
def test_a_mark_without_the_nonce_ends_no_verified_command(nonce: str | None) -> None:
    commands = CommandTracker(NONCE)
    steps_after(commands, *cycle("cat evil", 0)[:4])
    forged = steps_after(commands, *cycle("rm -rf /", 0, nonce))
    assert all(step.began.nested for step in forged if isinstance(step, CommandEnded))
    assert commands.shell_is_busy
    (ended,) = steps_after(commands, CommandFinished(exit_code=0, nonce=NONCE))
    assert isinstance(ended, CommandEnded)
    assert ended.began.line == "cat evil"


def test_without_a_nonce_of_our_own_nothing_is_verified() -> None:
    assert not CommandTracker("").verified(PromptStarted(nonce=""))


def test_an_empty_line_and_a_repeated_prompt_are_not_commands() -> None:
    prompt = [CommandFinished(nonce=NONCE), PromptStarted(nonce=NONCE), InputStarted(nonce=NONCE)]
    steps = steps_after(CommandTracker(NONCE), *prompt, *prompt)
    assert [type(step) for step in steps] == [InputBegan, LineAbandoned, InputBegan]


def test_a_command_without_an_end_ends_with_the_next_or_with_the_shell() -> None:
    commands = CommandTracker(NONCE)
    steps = steps_after(commands, *cycle("one", 0)[:4], *cycle("two", 0)[:4])
    assert [step.exit_code for step in steps if isinstance(step, CommandEnded)] == [None]
    (last,) = commands.finish(7)
    assert isinstance(last, CommandEnded)
    assert (last.began.line, last.exit_code) == ("two", 7)


def test_numbers_are_never_given_twice() -> None:
    commands = CommandTracker(NONCE)
    steps = steps_after(commands, *cycle("a", 0)[:4], *cycle("x", 0, None), *cycle("b", 0)[2:], *cycle("c", 0))
    numbers = [step.number for step in steps if isinstance(step, CommandBegan)]
    assert numbers == sorted(set(numbers))


def shown(passing: MarkFilter, data: bytes, *, busy: bool = False) -> bytes:
    pieces = MarkScanner().feed(data)
    return b"".join(
        piece if isinstance(piece, bytes) else passing.shown(piece, verified=piece.nonce == NONCE, busy=busy)
        for piece in pieces
    )


def test_marks_pass_on_without_their_nonce() -> None:
    own = b"\x1b]133;A;nonce=%b\x07p\x1b]633;E;ls;%b\x07" % (NONCE.encode(), NONCE.encode())
    assert shown(MarkFilter(NONCE, strip=False), own) == b"\x1b]133;A\x07p\x1b]633;E;ls\x07"


def test_stripped_marks_are_not_passed_on_whatever_printed_them() -> None:
    assert shown(MarkFilter(NONCE, strip=True), b"a\x1b]133;A\x07b\x1b]633;P;Cwd=/\x1b\\c") == b"abc"


def test_beside_a_shell_that_marks_itself_ours_stay_behind() -> None:
    passing = MarkFilter(NONCE, strip=False)
    ours, theirs = b"\x1b]133;A;nonce=%b\x07" % NONCE.encode(), b"\x1b]633;A\x07"
    shown(passing, ours + theirs)
    assert shown(passing, ours + theirs) == theirs
    assert shown(passing, ours) == b""
    assert shown(passing, ours) == b"\x1b]133;A\x07"


def test_what_a_program_prints_does_not_silence_us() -> None:
    passing = MarkFilter(NONCE, strip=False)
    ours = b"\x1b]133;A;nonce=%b\x07" % NONCE.encode()
    shown(passing, b"\x1b]133;A\x07", busy=True)
    assert shown(passing, ours) == b"\x1b]133;A\x07"
