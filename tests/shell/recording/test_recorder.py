"""What leaves a wrapped shell, message by message, and what never does."""

from __future__ import annotations

import pytest

from dragoman.protocols.omnish.messages import CommandComplete, Event, IoData, SessionEnd, SessionStart
from dragoman.protocols.osc import (
    CommandFinished,
    CommandLineReported,
    InputStarted,
    Mark,
    OutputStarted,
    PromptStarted,
    PropertyReported,
)
from dragoman.shell.recording.line_echo import PromptDetector
from dragoman.shell.recording.outbox import RecordingOutbox
from dragoman.shell.recording.recorder import BATCH, SessionIdentity, ShellRecorder
from dragoman.shell.settings import ShellSettings

NONCE = "0123456789abcdef"
WORD = "fedcba9876543210"


class Shell:
    """A shell's marks and output into a recording; `recorded` is what came out, in short."""

    def __init__(self, *, private: bool = False, nonce: str = NONCE, **requests: tuple[str, ...]) -> None:
        session = SessionIdentity("s", None, {"shell": "bash"}, 1)
        self._outbox = RecordingOutbox(gap=session.gap, resume=session.resume)
        requested = ShellSettings(**requests)  # type: ignore[arg-type]
        self.recording = ShellRecorder(session, requested, nonce, self._outbox, private=private, word=WORD)

    def mark(self, *marks: Mark) -> None:
        for mark in marks:
            mark.nonce = NONCE
            self.recording.handle_mark(mark, 2)

    def prompt(self) -> None:
        self.mark(PromptStarted(), InputStarted())

    def run(self, line: str, output: bytes, code: int = 0) -> None:
        self.recording.handle_output(line.encode() + b"\r\n", 2)
        self.mark(CommandLineReported(command_line=line), OutputStarted())
        self.recording.handle_output(output, 2)
        self.mark(CommandFinished(exit_code=code))

    def type(self, keys: bytes, *, cooked: bool = False) -> None:
        self.recording.handle_keys(keys, echoes=cooked, by_lines=cooked, now_ms=2)

    def inner(self, where: str, word: str = WORD) -> bool:
        """What a wrapper inside says; whether it is heeded."""
        return self.recording.handle_nested_mark(PropertyReported(key="Recorded", value=where, nonce=word), 2)

    def messages(self) -> list[object]:
        self.recording.flush()
        return [taken[0] for taken in iter(self._outbox.pop, None)]

    def recorded(self) -> list[object]:
        entries = [_short(message) for message in self.messages()]
        return [it for it in entries if it != "start"]


def _short(message: object) -> object:
    if isinstance(message, IoData):
        return message.data
    if isinstance(message, CommandComplete):
        return ("ran", message.record.command_line, message.record.exit_code)
    if isinstance(message, Event):
        return str(message.event_type)
    if isinstance(message, SessionStart):
        return message.attrs.get("dragoman.private", "start")
    assert isinstance(message, SessionEnd)
    return ("end", message.exit_code)


def test_a_command_is_reported_in_the_order_of_the_stream() -> None:
    shell = Shell()
    shell.recording.handle_output(b"$ ", 1)
    shell.prompt()
    shell.run("ls", b"file\r\n", 2)
    assert shell.recorded() == [
        b"$ ls\r\n",
        "CommandBoundary(command='ls')",
        b"file\r\n",
        ("ran", "ls", 2),
        "NonZeroExit(exit_code=2)",
    ]


def test_a_line_that_is_being_typed_stays_until_it_is_run() -> None:
    shell = Shell()
    shell.prompt()
    shell.recording.handle_output(b"half a l", 1)
    assert shell.recorded() == []
    shell.prompt()
    assert shell.recorded() == [b"half a l"]


def test_a_line_given_up_stays_where_some_lines_must_not_leave() -> None:
    shell = Shell(ignore_commands=("vault *",))
    shell.prompt()
    shell.recording.handle_output(b"vault login hunter2^C", 1)
    shell.prompt()
    assert shell.recorded() == []


def test_of_an_ignored_command_nothing_is_reported_but_that_there_was_one() -> None:
    shell = Shell(ignore_commands=("vault *",))
    shell.prompt()
    shell.run("vault read x", b"hunter2\r\n", 1)
    shell.prompt()
    shell.run("ls", b"file\r\n")
    result = shell.recorded()
    assert result[:2] == ["1", "0"]
    assert b"hunter2" not in b"".join(it for it in result if isinstance(it, bytes))
    assert result[-1] == ("ran", "ls", 0)


def test_marks_that_a_program_prints_hide_nothing_of_what_it_prints() -> None:
    shell = Shell(ignore_commands=("vault *",))
    shell.prompt()
    shell.mark(CommandLineReported(command_line="cat evil"), OutputStarted())
    forged = [
        PromptStarted(),
        InputStarted(),
        CommandLineReported(command_line="vault read"),
        OutputStarted(parameters={"hidden": "1"}),
        InputStarted(),
    ]
    for mark in forged:
        shell.recording.handle_output(b"evil ", 2)
        assert not shell.recording.handle_mark(mark, 2)
    shell.recording.handle_output(b"after", 2)
    shell.mark(CommandFinished(exit_code=0))
    result = shell.recorded()
    began, ended = result.index("CommandBoundary(command='cat evil')"), result.index(("ran", "cat evil", 0))
    assert b"".join(it for it in result[began:ended] if isinstance(it, bytes)) == b"evil " * 5 + b"after"


def test_a_paused_recording_says_when_it_stops_and_continues() -> None:
    shell = Shell()
    shell.recording.handle_output(b"a", 1)
    shell.recording.pause(True, 1)
    shell.prompt()
    shell.run("secret", b"hunter2")
    shell.recording.pause(False, 1)
    shell.recording.handle_output(b"b", 1)
    assert shell.recorded() == [b"a", "1", "0", b"b"]


def test_what_was_entered_while_paused_stays_whenever_it_runs() -> None:
    shell = Shell()
    shell.recording.pause(True, 1)
    shell.prompt()
    shell.type(b"secret\rsecret too\r")
    shell.recording.pause(False, 1)
    shell.type(b"x")  # at no prompt: it hides none of those
    shell.run("secret", b"hunter2")
    shell.prompt()
    shell.run("secret too", b"hunter3")
    shell.prompt()
    shell.type(b"ls\r")
    shell.run("ls", b"file\r\n")
    assert shell.recorded() == [
        *("1", "0", "1", "0", "1", "0"),
        *(b"ls\r\n", "CommandBoundary(command='ls')", b"file\r\n", ("ran", "ls", 0)),
    ]


def test_a_command_that_is_resumed_in_the_middle_stays_to_its_end() -> None:
    shell = Shell()
    shell.recording.pause(True, 1)
    shell.prompt()
    shell.type(b"secret\r")
    shell.mark(CommandLineReported(command_line="secret"), OutputStarted())
    shell.recording.pause(False, 1)
    shell.recording.handle_output(b"hunter2", 1)
    shell.mark(CommandFinished(exit_code=1))
    assert shell.recorded() == ["1", "0"]


@pytest.mark.parametrize("pieces", [[b" echo x\r"], [b" ", b"echo", b" x", b"\r"]])
def test_a_line_that_was_typed_ahead_with_a_space_first_stays(pieces: list[bytes]) -> None:
    shell = Shell()
    shell.prompt()
    shell.type(b"make\r")
    shell.recording.handle_output(b"make\r\n", 2)
    shell.mark(CommandLineReported(command_line="make"), OutputStarted())
    for piece in pieces:
        shell.type(piece, cooked=True)
        shell.recording.handle_output(piece.replace(b"\r", b"\r\n"), 2)
    shell.recording.handle_output(b"made\r\n", 2)
    shell.mark(CommandFinished(exit_code=0))
    shell.prompt()
    shell.recording.handle_output(b" echo x\r\n", 2)
    shell.mark(CommandLineReported(command_line="make"), OutputStarted(parameters={"listed": "0"}))
    shell.recording.handle_output(b"x\r\n", 2)
    shell.mark(CommandFinished(exit_code=0))
    result = shell.recorded()
    assert [it for it in result if isinstance(it, bytes)] == [b"make\r\n", b"made\r\n"]
    assert [it for it in result if isinstance(it, tuple)] == [("ran", "make", 0)]


@pytest.mark.parametrize("reports_its_end", [True, False])
def test_what_a_wrapper_inside_shows_stays_and_its_command_is_reported(reports_its_end: bool) -> None:
    shell = Shell()
    shell.prompt()
    shell.type(b"nest\r")
    shell.mark(CommandLineReported(command_line="nest"), OutputStarted())
    assert shell.inner("elsewhere")
    shell.recording.handle_output(b"hunter2", 2)
    shell.type(b"hunter2\r", cooked=True)
    assert not reports_its_end or shell.inner("here")
    shell.mark(CommandFinished(exit_code=0))
    shell.prompt()
    shell.type(b"ls\r")
    shell.run("ls", b"file\r\n")
    assert shell.recorded() == [
        *("CommandBoundary(command='nest')", "1", "0", ("ran", "nest", 0)),
        *(b"ls\r\n", "CommandBoundary(command='ls')", b"file\r\n", ("ran", "ls", 0)),
    ]


@pytest.mark.parametrize("word", ["", "recorded", NONCE])
def test_who_does_not_know_the_word_silences_nothing(word: str) -> None:
    shell = Shell()
    shell.prompt()
    shell.mark(CommandLineReported(command_line="cat evil"), OutputStarted())
    assert not shell.inner("elsewhere", word)
    shell.recording.handle_output(b"after", 2)
    assert b"after" in shell.recorded()


def test_at_a_prompt_no_wrapper_is_inside() -> None:
    shell = Shell()
    shell.prompt()
    assert shell.inner("elsewhere")
    shell.run("ls", b"file\r\n")
    assert ("ran", "ls", 0) in shell.recorded()


def test_a_private_shell_reports_its_end_and_nothing_else() -> None:
    shell = Shell(private=True)
    shell.recording.handle_output(b"a", 1)
    shell.prompt()
    shell.run("ls", b"x", 1)
    shell.recording.handle_keys(b"keys", echoes=True, by_lines=True, now_ms=1)
    shell.recording.pause(True, 1)
    shell.recording.handle_end(0, 3)
    assert shell.recorded() == [("end", 0)]


def test_a_flood_is_cut_into_whole_frames() -> None:
    shell = Shell()
    ready = [shell.recording.handle_output(b"x" * 4096, 1) for _ in range(33)]
    assert ready.count(True) == 2
    assert [len(it) for it in shell.recorded() if isinstance(it, bytes)] == [BATCH, BATCH, 4096]


def test_a_watched_text_is_reported_once_per_command() -> None:
    shell = Shell(watch_output=("oops",))
    shell.prompt()
    shell.run("one", b"Oops oops OOPS")
    shell.prompt()
    shell.run("two", b"oops")
    assert [it for it in shell.recorded() if "Pattern" in str(it)] == ["PatternMatch(pattern='oops')"] * 2


@pytest.mark.parametrize("keys", [[b"ec", b"hx\x7fo hi", b"\r"], [b"echx\x7fo hi\r"]], ids=["typed", "at once"])
def test_a_prompt_is_known_by_its_looks_and_the_line_by_its_echo(keys: list[bytes]) -> None:
    guess = PromptDetector()
    guess.handle_output(b"motd\r\n\x1b[1muser@host:~$\x1b[0m ")
    guess.detect()
    assert guess.at_prompt
    for key in keys:
        guess.handle_line(key)
    assert guess.echoed(b"echx\b \bo") == 0
    guess.handle_output(b"echx\b \bo")
    assert guess.echoed(b" hi\r\nhi\r\n") == len(b" hi\r\n")
    guess.handle_output(b" hi\r\n")
    assert guess.line() == "echo hi"
    guess.handle_output(b"hi\r\n")
    guess.detect()
    assert not guess.at_prompt


def test_a_guessed_command_s_output_is_what_follows_its_line() -> None:
    shell = Shell(nonce="", ignore_commands=("secret*",))
    for line, output in ((b"echo hi", b"hi\r\n"), (b"secret x", b"hush\r\n"), (b"true", b"")):
        shell.recording.handle_output(b"$ ", 2)
        shell.recording.quiet(2)
        shell.recording.handle_keys(line + b"\r", echoes=False, by_lines=False, now_ms=2)
        shell.recording.handle_output(line + b"\r\n" + output, 2)
    assert shell.recorded() == [
        b"$ ", b"echo hi\r\n", "CommandBoundary(command='echo hi')", b"hi\r\n$ ", ("ran", "echo hi", None),
        b"secret x\r\n", "1", "0", b"true\r\n", "CommandBoundary(command='true')",
    ]  # fmt: skip


def test_a_watched_text_is_found_once_also_where_it_comes_in_two_pieces() -> None:
    shell = Shell(watch_output=("out of memory",))
    shell.prompt()
    shell.mark(OutputStarted())
    for piece in (b"killed: Out of", b" memory", b"\r\n", b"again: out of memory\r\n"):
        shell.recording.handle_output(piece, 2)
        shell.recording.quiet(2)
    assert [it for it in shell.recorded() if str(it).startswith("PatternMatch")] == [
        "PatternMatch(pattern='out of memory')"
    ]


def test_ordinary_output_is_not_a_prompt() -> None:
    guess = PromptDetector()
    for line in (b"progress 50%|##   ", b"total: 5", b"x" * 300 + b"$ "):
        guess.handle_output(b"\n" + line)
        guess.detect()
        assert not guess.at_prompt, line


def test_what_was_shown_at_a_prompt_carries_the_time_at_which_it_was() -> None:
    shell = Shell()
    shell.recording.handle_output(b"$ ", 100)
    shell.prompt()
    for number, letter in enumerate(b"make\r\n"):
        shell.recording.handle_output(bytes([letter]), 1_000 + 500 * number)
    shell.recording.handle_mark(CommandLineReported(command_line="make", nonce=NONCE), 4_000)
    shell.recording.handle_mark(OutputStarted(nonce=NONCE), 4_000)
    shell.recording.handle_output(b"done", 5_000)
    shell.recording.flush()
    pieces = [(it.timestamp_ms, it.data) for it in shell.messages() if isinstance(it, IoData)]
    assert pieces == [
        (100, b"$ "), (1_000, b"m"), (1_500, b"a"), (2_000, b"k"), (2_500, b"e"), (3_000, b"\r"), (3_500, b"\n"),
        (5_000, b"done"),
    ]  # fmt: skip


def test_a_command_is_reported_with_the_ends_of_its_output() -> None:
    shell = Shell()
    shell.prompt()
    shell.run("seq", b"".join(b"\x1b[32m%d\x1b[0m\r\n" % number for number in range(1_000)))
    shell.prompt()
    shell.run("true", b"")
    shell.prompt()
    shell.run("few", b"one\r\ntwo\r\n")
    output = [it.record.output_summary for it in shell.messages() if isinstance(it, CommandComplete)]
    assert output == ["0\n1\n2\n3\n4\n995\n996\n997\n998\n999", "", "one\ntwo"]
