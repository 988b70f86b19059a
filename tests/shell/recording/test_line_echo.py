"""A secret that was corrected while it was typed: no reader of the echo would know it for one."""

from __future__ import annotations

import pytest

from dragoman.shell.recording.line_echo import recordable_echo
from tests.shell.recording.test_recorder import Shell

KEY = "ghp_0123456789abcdefghijABCDEFGHIJ012345"
# As readline, zsh and fish echo a letter too many that is taken back, and one that is put in later.
CORRECTED = [
    f"export T={KEY[:9]}x\b\x1b[K{KEY[9:]}",
    f"e\bexport T={KEY[:20]}{KEY[21:]}" + "\b" * 20 + f"\x1b[1@{KEY[20]}" + "\x1b[20C",
    f"export T={KEY[:9]}\x1b[1D\x1b[36m{KEY[8:]}\x1b[m",
]


@pytest.mark.parametrize("echo", CORRECTED)
def test_a_corrected_line_with_a_secret_is_reported_as_it_was_run(echo: str) -> None:
    line = f"export T={KEY}"
    assert recordable_echo(echo.encode() + b"\r\n", line) == line.encode() + b"\r\n"


@pytest.mark.parametrize("echo", CORRECTED)
def test_where_it_was_not_run_or_is_not_known_nothing_is_reported(echo: str) -> None:
    assert recordable_echo(echo.encode() + b"^C\r\n", None) == b"\r\n"
    assert recordable_echo(echo.encode() + b"\r\n", "") == b"\r\n"


@pytest.mark.parametrize("echo", [b"lx\b\x1b[Ks -l\r\n", b"export T=" + KEY.encode() + b"\r\n", b"\x1b[1mls\x1b[m\r\n"])
def test_every_other_echo_is_reported_as_it_was(echo: bytes) -> None:
    assert recordable_echo(echo, echo.decode().strip()) == echo


def test_rows_of_a_line_stay_rows() -> None:
    assert recordable_echo(b"p\bpassword=1\r\n> 2\r\n", "password=1\n2") == b"password=1\r\n2\r\n"


@pytest.mark.parametrize("echo", CORRECTED)
def test_no_part_of_the_correction_leaves_the_wrapper(echo: str) -> None:
    shell = Shell()
    shell.prompt()
    shell.run(f"export T={KEY}", b"")
    shell.prompt()
    shell.recording.handle_output(echo.encode(), 1)
    shell.prompt()
    text = b"|".join(it for it in shell.recorded() if isinstance(it, bytes))
    assert KEY.encode() in text, "whole, so that the daemon redacts it"
    assert b"\b" not in text
    assert b"\x1b[" not in text
