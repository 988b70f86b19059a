"""What bash would wait for the rest of is refused with bash's own reason; everything else is left to the shell."""

from __future__ import annotations

import os

import pytest

from dragoman.core.errors import DragomanError
from dragoman.terminal.agent_terminals.terminal import require_complete_command

pytestmark = [pytest.mark.anyio, pytest.mark.needs("bash")]


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        ('echo one\necho "two', "line 2: unexpected EOF while looking for matching `\"'"),
        ("echo $(true", "unexpected EOF while looking for matching `)'"),
        ("if true; then\necho a", "unexpected end of file"),
    ],
)
async def test_the_reason_is_bashs_own(command: str, reason: str) -> None:
    with pytest.raises(DragomanError) as refused:
        await require_complete_command(command, "bash", os.environ["PATH"])
    assert refused.value.code == "unfinished_command"
    assert reason in str(refused.value)


@pytest.mark.parametrize(
    "command",
    [
        "echo a\n# don't\necho b",
        "ls !(a|b)",
        "cat <<X\nan open ' here\nX",
        "echo a )",
        "cat <<X\nno end",
        "x" * 200_000,
    ],
)
async def test_what_bash_would_run_or_refuse_by_itself_is_left_to_it(command: str) -> None:
    await require_complete_command(command, "bash", os.environ["PATH"])


async def test_a_shell_that_cannot_be_asked_is_not_in_the_way() -> None:
    await require_complete_command("echo '", "/nowhere/bash", os.environ["PATH"])
