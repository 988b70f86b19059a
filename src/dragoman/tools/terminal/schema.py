"""Parameter types and results that the terminal tools share. Result fields with text from a terminal are named in
`untrusted`: they are data.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from dragoman.tools.tool import Result

DEFAULT_WAIT_S = 45.0
MAX_WAIT_S = 3600.0
OUTPUT_BYTES = 8000
MAX_OUTPUT_BYTES = 100_000
MAX_COMMANDS = 100
MAX_INPUT_CHARACTERS = 100_000
MAX_KEYS = 500

TerminalId = Annotated[str, Field(max_length=200)]
CommandId = Annotated[str, Field(max_length=300)]
Folder = Annotated[str, Field(max_length=4096, description="This folder and below.")]
Offset = Annotated[int, Field(ge=0, le=2**53)]
Seconds = Annotated[float, Field(ge=0, le=MAX_WAIT_S)]


class CommandSeen(Result):
    command_id: str
    terminal: str
    command: str
    cwd: str
    exit_code: int | None
    started_at: str
    duration_s: float | None
    verified: bool
    """Whether the shell itself reported it; otherwise any program could have faked it."""
    output_bytes: int
    lost_bytes: int = 0


class RunInTerminalResult(Result):
    status: Literal["completed", "running", "idle", "refused", "no_answer"]
    terminal: str
    command: CommandSeen | None = None
    output: str = ""
    truncated_bytes: int = 0
    """Bytes before those in `output`: get_command_output has them."""
    screen: list[str] = Field(default_factory=list)
    """Instead of `output`, if a program such as an editor uses the whole screen."""
    untrusted: str = "output, screen, command"
