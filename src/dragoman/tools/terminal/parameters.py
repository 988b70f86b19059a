"""What the terminal tools take. Descriptions are few and short: an agent pays for every character of the list."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from dragoman.terminal.screen import MOST_SCROLLBACK
from dragoman.tools.operation import Parameters
from dragoman.tools.schemas import Maybe

DEFAULT_WAIT_S = 45.0
MOST_WAIT_S = 3600.0
OUTPUT_BYTES = 8000
MOST_OUTPUT_BYTES = 100_000
MOST_LISTED = 100
MOST_TYPED = 100_000
MOST_KEYS = 500

TerminalId = Annotated[str, Field(max_length=200)]
CommandId = Annotated[str, Field(max_length=300)]
Folder = Annotated[str, Field(max_length=4096, description="This folder and those below it.")]
Offset = Annotated[int, Field(ge=0, le=2**53)]
Seconds = Annotated[float, Field(ge=0, le=MOST_WAIT_S)]


class ListTerminals(Parameters):
    ended: Annotated[bool, Field(description="Also those that have ended or were lost.")] = False


class SearchCommands(Parameters):
    query: Annotated[
        str, Field(max_length=1000, description="Words or their parts, of the command line or its output.")
    ] = ""
    failed: Annotated[bool, Field(description="Only with an exit code other than 0.")] = False
    cwd: Folder = ""
    since: Annotated[str, Field(max_length=40, description="ISO 8601, an age (30m, 2h, 7d), today, yesterday.")] = ""
    terminal: TerminalId = ""
    limit: Annotated[int, Field(ge=1, le=MOST_LISTED)] = 20
    before: Annotated[str, Field(max_length=40, description="next_before of an answer: goes on from there.")] = ""


class GetCommandOutput(Parameters):
    command_id: Annotated[CommandId, Field(description="Default: the last command.")] = ""
    terminal: Annotated[TerminalId, Field(description="The last command of this terminal.")] = ""
    part: Annotated[
        Literal["tail", "head", "errors"], Field(description="Its end, its beginning, or its error lines.")
    ] = "tail"
    offset: Annotated[Maybe[Offset], Field(description="Instead of part: next_offset of an answer.")] = None
    limit: Annotated[int, Field(ge=100, le=MOST_OUTPUT_BYTES, description="Bytes of the record.")] = OUTPUT_BYTES


class GetLastFailure(Parameters):
    terminal: TerminalId = ""
    cwd: Folder = ""
    verified: Annotated[
        bool, Field(description="false: also commands that a program may have made up by printing marks.")
    ] = True


class ReadTerminal(Parameters):
    terminal: Annotated[TerminalId, Field(description="Default: the one used last.")] = ""
    scrollback: Annotated[int, Field(ge=0, le=MOST_SCROLLBACK, description="Lines above the screen.")] = 0


class RunInTerminal(Parameters):
    command: Annotated[str, Field(max_length=MOST_TYPED, description="A command line of the shell.")] = ""
    input: Annotated[str, Field(max_length=MOST_TYPED, description="Instead: typed into what runs; \\n is Enter.")] = ""
    keys: Annotated[
        tuple[Annotated[str, Field(max_length=40)], ...],
        Field(max_length=MOST_KEYS, description="Instead, or after input: keys by name: enter, up, ctrl-c, f1, q."),
    ] = ()
    interrupt: Annotated[bool, Field(description="Instead: Ctrl-C.")] = False
    terminal: Annotated[
        TerminalId,
        Field(description="Default: one of your own. A person's: its person is shown the command and asked."),
    ] = ""
    cwd: Annotated[str, Field(max_length=4096, description="Of a new terminal. Default: the client's.")] = ""
    timeout_s: Seconds = DEFAULT_WAIT_S


class WaitForCommand(Parameters):
    terminal: Annotated[TerminalId, Field(description="Default: your own, used last.")] = ""
    next: Annotated[bool, Field(description="Not the last one that ended, but the next to end.")] = False
    timeout_s: Seconds = DEFAULT_WAIT_S
