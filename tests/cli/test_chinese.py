"""The command line to a Chinese reader, at a daemon that was started by somebody who reads English."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from dragoman.cli.dispatch import run
from tests.chinese_text import OURS, english_left
from tests.daemons import Cli, cli_with_home

PROGRAM = """\
import threading

def total(prices):
    worker = threading.Thread(target=threading.Event().wait, daemon=True)
    worker.start()
    return sum(prices)

print("counted", total([1, 2]))
raise KeyError("price")
"""
# Of the program, its debugger and its files; and what the command line takes and shows as it is.
KNOWN = (PROGRAM, "app MainThread debugpy started module from")
RECORDING = [
    {"version": 2, "width": 80, "height": 24, "timestamp": 1_700_000_000},
    [0.1, "o", "$ make all\r\n"],
]


@dataclass
class Here:
    """The command in this process, which prints the same and starts faster."""

    home: Path
    folder: Path

    def __call__(self, *arguments: str) -> str:
        out, err = io.TextIOWrapper(io.BytesIO(), "utf-8"), io.StringIO()
        with (
            pytest.MonkeyPatch.context() as patch,
            contextlib.chdir(self.folder),
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
        ):
            patch.setenv("DRAGOMAN_HOME", str(self.home))
            patch.setenv("DRAGOMAN_LANG", "zh_CN.UTF-8")
            run(list(arguments))
        out.seek(0)
        return out.read() + err.getvalue()


@pytest.fixture(scope="module")
def cli(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cli]:
    path = f"{Path(sys.base_prefix) / 'bin'}:{os.environ['PATH']}"
    variables = {"DRAGOMAN_PORT": "0", "PATH": path, "VIRTUAL_ENV": "", "DRAGOMAN_LANG": "en"}
    with cli_with_home(tmp_path_factory.mktemp("h"), variables) as made:
        assert made("up").returncode == 0
        yield made


@pytest.fixture(scope="module")
def here(cli: Cli, tmp_path_factory: pytest.TempPathFactory) -> Here:
    folder = tmp_path_factory.mktemp("w")
    (folder / ".git").mkdir()
    (folder / "app.py").write_text(PROGRAM)
    (folder / "session.cast").write_text("".join(f"{json.dumps(line)}\n" for line in RECORDING))
    return Here(cli.home, folder)


def require_chinese(result: str, *, has: str = "") -> None:
    assert english_left(result, KNOWN) == [], result
    assert has in result, result


@pytest.mark.timeout(120)
def test_what_a_debugger_reports_has_chinese_labels_and_states(here: Here) -> None:
    require_chinese(here("debug", "app.py", "--break", "app.py:6"), has="已停止：断点 1（第 1 次停止，线程 ")
    shown = here("debug", "wait")
    require_chinese(shown, has="位置：app.py:6 total\n")
    assert all(label in shown for label in ("局部变量：", "调用栈：", "其他线程：")), shown
    require_chinese(here("debug", "breakpoints"), has="断点 1 已验证 app.py:6")
    require_chinese(here("debug", "threads"), has="已停止  MainThread")
    require_chinese(here("debug", "sessions"), has=" 已停止 自 ")
    require_chinese(here("status"), has="会话：调试 app.py")
    assert "\n  调试器：NameError: " in here("debug", "eval", "nothing_there")
    require_chinese(here("debug", "next"), has="已停止：单步")
    ended = here("debug", "continue")
    require_chinese(ended, has="未捕获的异常：KeyError")
    require_chinese(here("debug", "continue"), has="输出：\n")
    assert " 已停止：断点 " in here("report")


@pytest.mark.timeout(120)
def test_what_evidence_reports_has_chinese_labels(here: Here) -> None:
    require_chinese(here("debug", "app.py", "--until-crash"), has="异常：KeyError")


def test_terminals_and_answers_about_them_are_in_the_language_of_the_caller(here: Here) -> None:
    here("terminals", "import", "session.cast")
    require_chinese(here("terminals", "--ended"), has="  已结束  用户")
    require_chinese(here("ask", "what failed?"), has="。")


def test_the_rest_of_the_daemon_answers_in_chinese(here: Here) -> None:
    require_chinese(here("gateway", "status"), has="：未连接")
    require_chinese(here("journal", "tail"), has="守护进程已启动：http://")
    require_chinese(here("trust", str(here.folder / "nowhere")))


def test_every_help_is_chinese() -> None:
    script = """
from dragoman.cli.commands import build_app
from dragoman.cli.dispatch import run
def walk(app, words):
    run([*words, "--help"])
    for name in app:
        if not name.startswith("-"):
            walk(app[name], [*words, name])
walk(build_app(), [])
"""
    chinese = {**os.environ, "DRAGOMAN_LANG": "zh", "COLUMNS": "400"}
    done = subprocess.run([sys.executable, "-c", script], env=chinese, capture_output=True, text=True, check=True)
    # The first column has names of commands and options; choices and defaults are in brackets; examples are code.
    output = re.sub(r"(?m)^│ +\S+(?: [-\w]+)*  +|\[[^\]]*\]|^用法：.*$|^  .*$", " ", done.stdout)
    assert english_left(output, {"file"} | OURS) == []
