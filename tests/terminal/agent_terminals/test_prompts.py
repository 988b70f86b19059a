"""What ends a wait, and what must not: prompts of shells and other programs beside ordinary output."""

from __future__ import annotations

import pytest

from dragoman.terminal.agent_terminals.terminal import is_prompt, may_be_prompt


@pytest.mark.parametrize(
    "line",
    [
        ">>> ", "> ", "In [3]: ", "(Pdb) ", "(gdb) ", "mysql> ", "postgres=# ", "irb(main):001:0> ", "php > ",
        "$ ", "$", "# ", "% ", "❯ ", "bash-5.2$ ", "sh-5.2# ", "host% ", "project ❯ ", "me@host:~/src$ ",
        "[me@host src]$ ", "root@0f3c:/app# ", "/ # ", "~/src2 $ ", "me@host ~ % ", "me@host ~> ", "~/src> ",
        "Password: ", "[sudo] password for me: ", "Go on? [y/N] ",
    ],
)  # fmt: skip
def test_a_prompt_is_known(line: str) -> None:
    assert is_prompt(line)
    assert may_be_prompt(line)


@pytest.mark.parametrize(
    "line",
    [
        "", "done", "45%", " 45% ", "45 %", "Downloading 45%", "src/app.c 45%", "[=====>    ] 45 %", "##########",
        "dist/app.js ####", "Total: 12 $", "<p>a/b</p>", "[1/5] ====>", "Compiling a/b.c:", "Linking ->",
    ],
)  # fmt: skip
def test_ordinary_output_is_not_a_prompt(line: str) -> None:
    assert not is_prompt(line)


@pytest.mark.parametrize("line", ["Name: ", "Continue? ", "(venv) "])
def test_who_has_typed_may_be_asked_by_less(line: str) -> None:
    assert may_be_prompt(line)
    assert not is_prompt(line)
