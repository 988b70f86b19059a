"""What the terminal tools answer. Fields that a terminal filled are named in `untrusted`: they are data."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from dragoman.tools.operation import Result


class CommandSeen(Result):
    command_id: str
    terminal: str
    command: str
    cwd: str
    exit_code: int | None
    started_at: str
    duration_s: float | None
    verified: bool
    """Whether the shell itself told it; otherwise any program could have made it up."""
    output_bytes: int
    lost_bytes: int = 0


class TerminalListed(Result):
    terminal: str
    owner: Literal["person", "agent"]
    yours: bool
    """The caller's own: run_in_terminal may use it."""
    state: Literal["live", "lost", "ended"]
    ended_by: str = ""
    shell: str
    cwd: str
    agent: str = ""
    parent: str = ""
    started_at: str
    ended_at: str | None = None
    commands: int
    running: CommandSeen | None = None
    last: CommandSeen | None = None


class Terminals(Result):
    terminals: list[TerminalListed]
    left_out: int
    write_fault: dict[str, str] | None = None
    untrusted: str = "shell, cwd, agent, running, last"


class OutputHit(Result):
    command_id: str
    terminal: str
    line: str
    command: str = ""
    """What printed it."""


class OutputSearched(Result):
    """How far the index reaches (what is younger was read), whether all was looked at, and else how far back."""

    indexed_upto: str
    scanned_bytes: int
    complete: bool
    back_to: str | None = None


class CommandsFound(Result):
    commands: list[CommandSeen]
    next_before: str | None = None
    output_hits: list[OutputHit]
    output_search: OutputSearched | None = None
    untrusted: str = "commands, output_hits"


class CommandOutput(Result):
    command: CommandSeen
    output: str
    offset: int
    next_offset: int | None = None
    total_bytes: int
    untrusted: str = "output, command"


class LastFailure(Result):
    found: bool
    command: CommandSeen | None = None
    error_lines: list[str]
    output_tail: str = ""
    untrusted: str = "command, error_lines, output_tail"


class ScreenRead(Result):
    terminal: str
    columns: int
    rows: int
    cursor_row: int
    cursor_column: int
    full_screen: bool
    lines: list[str]
    """Without the empty ones at the end."""
    scrollback: list[str]
    untrusted: str = "lines, scrollback"


class CommandRun(Result):
    status: Literal["completed", "running", "idle", "refused", "no_answer"]
    terminal: str
    command: CommandSeen | None = None
    output: str = ""
    truncated_bytes: int = 0
    """So many came before what `output` shows: get_command_output has them."""
    screen: list[str] = Field(default_factory=list)
    """In the place of `output`, where a program such as an editor covers the screen."""
    untrusted: str = "output, screen, command"
