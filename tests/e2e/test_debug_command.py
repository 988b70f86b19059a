"""`dragoman debug` as scripts and agents with only a shell use it: real daemon, real debugger, several commands."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from dragoman.cli.caller import caller_info
from dragoman.cli.output import ExitCode
from dragoman.cli.tool_client import ToolClient
from dragoman.io.drivers.control_client import ControlClient
from tests.daemons import Cli, cli_with_home, eventually

pytestmark = pytest.mark.timeout(120)

ORDERS = (Path(__file__).parents[2] / "examples" / "orders.py").read_text()
LINE = ORDERS.splitlines().index("    return round(price * (1 - rate), 2)") + 1


class Shell:
    """A person's shell, standing in a project."""

    def __init__(self, cli: Cli, folder: Path) -> None:
        self.cli, self.folder = cli, folder

    def __call__(self, *arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
        return self.cli("debug", *arguments, cwd=options.pop("cwd", self.folder), **options)

    def json(self, *arguments: str) -> Any:
        return json.loads(self(*arguments[:1], "--json", *arguments[1:]).stdout)

    def begin(self, *arguments: str) -> subprocess.Popen[str]:
        return self.cli.begin("debug", *arguments, cwd=self.folder)

    def asked(self, tool: str, **arguments: str) -> Mapping[str, Any]:
        """As the command asks, without the cost of one: for what a test only waits for."""
        with ControlClient.open(self.cli.paths, role="tools", about=caller_info(self.folder)) as link:
            return ToolClient(link, self.folder).call(tool, **arguments).data

    def sessions(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.asked("list_sessions")["sessions"]
        return found

    def breakpoints(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.asked("get_breakpoints")["breakpoints"]
        return found

    def waits(self, state: str) -> None:
        eventually(lambda: [it for it in self.sessions() if it["state"] == state])


@pytest.fixture(scope="module")
def cli(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cli]:
    path = f"{Path(sys.base_prefix) / 'bin'}:{os.environ['PATH']}"
    variables = {"DRAGOMAN_PORT": "0", "PATH": path, "VIRTUAL_ENV": ""}
    with cli_with_home(tmp_path_factory.mktemp("h"), variables) as cli:
        assert cli("up").returncode == 0
        yield cli


@pytest.fixture
def shell(cli: Cli, tmp_path: Path) -> Iterator[Shell]:
    (tmp_path / ".git").mkdir()
    (tmp_path / "orders.py").write_text(ORDERS)
    shell = Shell(cli, tmp_path)
    yield shell
    for session in shell.sessions():
        if session["state"] != "Terminated":
            shell.asked("stop_debugging", session_id=session["session_id"])


def test_a_bug_is_found_in_several_commands_of_a_shell(shell: Shell) -> None:
    first = shell("orders.py", "--break", f"orders.py:{LINE}", "--if", "not codes")
    assert first.returncode == 0, first.stderr
    assert f"at: orders.py:{LINE} total" in first.stdout
    assert "  rate = 0.1" in first.stdout
    assert "`dragoman debug next`" in first.stderr.replace("Next: ", "")

    assert "([0.1],)" in shell("eval", "collect_discounts.__defaults__").stdout
    assert "price = 200.0" in shell("vars").stdout
    assert "0 = 0.1" in shell("vars", "collect_discounts.__defaults__[0]").stdout
    assert shell("stack").stdout.splitlines()[1].endswith(" main")
    assert "customer = 'grace'" in shell("vars", "--frame", "1").stdout
    assert " main" in shell("out").stdout

    ended = shell("continue")
    assert (ended.returncode, "completed" in ended.stdout) == (0, True)
    assert "  | grace 180.0" in ended.stdout


def test_breakpoints_of_a_run_go_with_it_and_kept_ones_stay(shell: Shell) -> None:
    shell("orders.py", "--break", f"orders.py:{LINE}")
    assert [it["line"] for it in shell.json("breakpoints")["breakpoints"]] == [LINE]
    shell("stop")
    eventually(lambda: shell.breakpoints() == [])

    shell("orders.py", "--break", f"orders.py:{LINE}", "--keep")
    shell("stop")
    shell.waits("Terminated")
    assert [it["line"] for it in shell.json("breakpoints")["breakpoints"]] == [LINE]
    assert shell("clear", f"orders.py:{LINE}").returncode == 0
    assert shell.json("breakpoints")["breakpoints"] == []


def test_breakpoints_of_a_run_are_there_again_when_it_is_restarted(shell: Shell) -> None:
    def numbers() -> list[int]:
        return [it["id"] for it in shell.breakpoints()]

    shell("orders.py", "--break", f"orders.py:{LINE}", "--if", "not codes")
    before = numbers()
    assert f"at: orders.py:{LINE} total" in shell("restart").stdout
    assert numbers() == before, "a restart is no end"

    assert shell("continue").returncode == 0
    eventually(lambda: numbers() == [])
    assert f"at: orders.py:{LINE} total" in shell("restart").stdout
    shell("stop")
    eventually(lambda: numbers() == [])


def test_breakpoints_of_a_run_outlive_no_killed_daemon(cli: Cli, shell: Shell) -> None:
    shell("break", "orders.py:5")
    shell("orders.py", "--break", f"orders.py:{LINE}")
    cli.kill()
    assert [it["line"] for it in shell.json("breakpoints")["breakpoints"]] == [5]


def test_json_is_the_tools_structured_answer(shell: Shell) -> None:
    stopped = shell.json("orders.py", "--break", f"orders.py:{LINE}")
    assert (stopped["status"], stopped["state"]) == ("stopped", "Stopped")
    stop = stopped["stop_event_data"]
    assert (stop["line"], stop["session_id"]) == (LINE, stopped["session_id"])
    assert shell.json("eval", "price")["result"] == "100.0"
    refused = shell("eval", "--json", "no_such_name")
    assert (refused.returncode, json.loads(refused.stdout)["status"]) == (1, "error")


def test_the_program_gets_arguments_environment_folder_and_input(shell: Shell) -> None:
    (shell.folder / "sub").mkdir()
    (shell.folder / "say.py").write_text(
        "import os, sys\nprint(sys.argv[1:], os.environ['COLOUR'], os.getcwd(), sys.stdin.read())\n"
    )
    ran = shell(
        "say.py", "--env", "COLOUR=blue", "--stdin", "three\nlines", "--cwd", "sub", "--", "--if", "x y", "--json"
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    assert f"['--if', 'x y', '--json'] blue {shell.folder}/sub three" in ran.stdout


def test_input_comes_to_the_program_byte_by_byte(shell: Shell) -> None:
    (shell.folder / "bytes.py").write_text("import sys\nprint(list(sys.stdin.buffer.read()))\n")
    data = b"a\xff\r\n\xe4\xbd\xa0\x00"
    (shell.folder / "input").write_bytes(data)
    ran = shell("bytes.py", "--stdin", "@input")
    assert str(list(data)) in ran.stdout, ran.stdout + ran.stderr


def test_names_mean_what_they_mean_to_the_shell_also_in_a_folder_below(shell: Shell) -> None:
    below = shell.folder / "deep"
    below.mkdir()
    (below / "low.py").write_text("import os\nhere = os.getcwd()\nprint(here)\n")
    stopped = shell("low.py", "--break", "low.py:3", cwd=below)
    assert "at: deep/low.py:3" in stopped.stdout
    assert f"here = '{below}'" in stopped.stdout
    assert shell("next").returncode == 0, "the same workspace from the folder above"


@pytest.mark.parametrize(
    ("source", "status", "words"),
    [
        ("raise SystemExit(3)", 5, "exit code 3"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", 5, "completed"),
        ("print('fine')", 0, "fine"),
    ],
)
def test_the_exit_code_says_how_the_program_ended(shell: Shell, source: str, status: int, words: str) -> None:
    (shell.folder / "end.py").write_text(source)
    ended = shell("end.py")
    assert (ended.returncode, words in ended.stdout) == (status, True), ended.stdout + ended.stderr


def test_a_module_of_python_is_debugged_and_options_may_come_first(shell: Shell) -> None:
    package = shell.folder / "shop"
    package.mkdir()
    (package / "__main__.py").write_text("import sys\nname = sys.argv[1]\nprint(name)\n")
    stopped = shell("--module", "shop", "--break", "shop/__main__.py:3", "--", "${ada}")
    assert "at: shop/__main__.py:3" in stopped.stdout, stopped.stderr
    assert json.loads(shell("--json", "eval", "name").stdout)["result"] == "'${ada}'"


@pytest.mark.needs("gdb")
def test_a_process_is_attached_to_by_its_number_alone(shell: Shell) -> None:
    source = "import time\nprint('begun', flush=True)\nwhile True:\n    time.sleep(0.01)\n    n = 42\n"
    (shell.folder / "slow.py").write_text(source)
    with subprocess.Popen([sys.executable, "slow.py"], cwd=shell.folder, stdout=subprocess.PIPE) as running:
        try:
            assert running.stdout is not None
            assert running.stdout.readline() == b"begun\n"
            stopped = shell("--pid", str(running.pid), "--break", "slow.py:5")
            assert "at: slow.py:5" in stopped.stdout, stopped.stdout + stopped.stderr
            shell("stop")
            assert running.poll() is None, "it is let go"
        finally:
            running.kill()


def test_time_over_is_an_exit_code_of_its_own_and_the_program_continues(shell: Shell) -> None:
    (shell.folder / "slow.py").write_text("import time\nwhile True:\n    time.sleep(0.01)\n")
    over = shell("slow.py", "--timeout", "0.5")
    assert (over.returncode, "`dragoman debug wait`" in over.stdout) == (6, True)
    assert [it["state"] for it in shell.json("sessions")["sessions"] if it["active"]] == ["Running"]
    paused = shell("pause")
    assert (paused.returncode, "stopped: pause" in paused.stdout) == (0, True)


def test_ctrl_c_ends_the_wait_and_not_the_session(shell: Shell) -> None:
    (shell.folder / "slow.py").write_text("import time\nprint('begun', flush=True)\ntime.sleep(60)\n")
    with shell.begin("slow.py") as waiting:
        eventually(lambda: "begun" in shell.asked("get_output").get("output", ""))
        waiting.send_signal(signal.SIGINT)
        result, _ = waiting.communicate(timeout=20)
    assert (waiting.returncode, result.startswith("interrupted")) == (130, True)
    assert [it["state"] for it in shell.sessions() if it["active"]] == ["Running"]


def test_a_shell_that_is_killed_while_it_waits_leaves_the_session_and_its_breakpoints(shell: Shell) -> None:
    source = "import time\nwhile time.sleep(0.01) is None:\n    if not time:\n        print()\n"
    (shell.folder / "slow.py").write_text(source)
    with shell.begin("slow.py", "--break", "slow.py:4") as waiting:
        shell.waits("Running")
        waiting.kill()
    assert [it["line"] for it in shell.breakpoints()] == [4]
    assert [it["state"] for it in shell.sessions()] == ["Running"]
    shell("stop")
    eventually(lambda: shell.breakpoints() == [])


def test_stop_waiting_ends_the_waits_of_others_and_counts_them(cli: Cli, shell: Shell) -> None:
    assert "No tool was waiting" in cli("stop-waiting").stdout
    (shell.folder / "slow.py").write_text("import time\ntime.sleep(60)\n")
    shell("slow.py", "--timeout", "0")
    with shell.begin("wait") as one, shell.begin("wait") as other:
        ended = eventually(lambda: json.loads(cli("stop-waiting", "--json").stdout)["count"])
        while ended < 2:
            ended += eventually(lambda: json.loads(cli("stop-waiting", "--json").stdout)["count"])
        assert {one.wait(20), other.wait(20)} == {130}
    assert ended == 2


def test_a_crash_is_explained_as_by_the_tool_and_fails_the_command(shell: Shell) -> None:
    (shell.folder / "crash.py").write_text("def f(x):\n    return x['b']\n\nprint('begins')\nf({'a': 1})\n")
    result = shell("crash.py", "--until-crash")
    assert result.stdout.splitlines() == [
        "exception: KeyError: 'b'",
        "at crash.py:2 f: return x['b']",
        "  x['b'] = !KeyError: 'b'",
        "  x = {'a': 1}",
        "at crash.py:5 <module>: f({'a': 1})",
        "exit code: 1",
        "| begins",
    ]
    answer = shell.json("crash.py", "--until-crash")
    assert (answer["crashed"], answer["frames"][0]["locals"]) == (True, {"x": "{'a': 1}"})
    assert result.returncode == ExitCode.PROGRAM_FAILED
    assert {it["state"] for it in shell.sessions()} == {"Terminated"}
    refused = shell("crash.py", "--until-crash", "--break", "crash.py:2")
    assert (refused.returncode, "--until-crash cannot be combined" in refused.stderr) == (ExitCode.FAILED, True)


def test_nothing_that_a_program_says_reaches_the_terminal_as_a_command(shell: Shell) -> None:
    (shell.folder / "evil.py").write_text("x = '\\x1b]0;title\\x07\\x9b31m'\nprint(x)\nraise ValueError(x)\n")
    for command in (("evil.py",), ("vars",), ("eval", "x"), ("output",), ("stack",), ("sessions",)):
        result = shell(*command)
        assert result.returncode == 0, result.stderr
        assert not {"\x1b", "\x07", "\x9b"} & set(result.stdout + result.stderr), command
    assert "\\x1b]0;title" in shell("output").stdout


def test_what_cannot_be_done_says_what_to_do(shell: Shell) -> None:
    for arguments, status, words in (
        ((), 1, "Pass a program"),
        (("none.py",), 1, "does not exist"),
        (("orders.py", "--break", "orders.py"), 1, "FILE:LINE"),
        (("orders.py", "--if", "x"), 1, "after the --break"),
        (("orders.py", "--env", "x"), 1, "NAME=VALUE"),
        (("orders.py", "--stdin", "@none"), 1, "Cannot read"),
        (("--config", "none"), 1, "launch.json"),
        (("next",), 1, "`dragoman debug`"),
        (("clear",), 1, "--all"),
        (("nope.py", "--nope"), 2, "--nope"),
    ):
        refused = shell(*arguments)
        assert (refused.returncode, words in refused.stderr) == (status, True), (arguments, refused.stderr)
        assert "Traceback" not in refused.stderr


def test_without_a_daemon_a_start_creates_one_and_a_query_reports_that_there_is_none(
    tmp_path_factory: pytest.TempPathFactory, shell: Shell
) -> None:
    with cli_with_home(tmp_path_factory.mktemp("h"), dict(shell.cli.environment)) as cli:
        alone = Shell(cli, shell.folder)
        assert alone("next").returncode == 3
        assert alone("orders.py", "--no-debug").returncode == 0
        assert cli.status()["state"] == "running"
