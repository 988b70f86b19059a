"""Agents' terminals as hard use has them: many calls at once, whole scripts, programs that ask, in three shells."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.daemons import PATIENCE, Cli, eventually
from tests.peers import spare_fish_its_first_start
from tests.servers.mcp.raw_client import RawClient, raw_client


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("home")
    (made / ".zshrc").write_text("PS1='$ '\n")
    (made / ".bashrc").write_text("PS1='$ '\n")
    spare_fish_its_first_start(made)
    return made


def client_of(running: Cli, shell: str, home: Path) -> Cli:
    environment = {**running.environment, "SHELL": f"/usr/bin/{shell}", "HOME": str(home), "HISTFILE": "/dev/null"}
    return Cli(running.home, environment)


@pytest.fixture(scope="module", params=["bash", "zsh", "fish"])
def shell(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def agent(shell: str, running: Cli, home: Path) -> Iterator[RawClient]:
    with raw_client(client_of(running, shell, home), cwd=home) as client:
        client.initialize()
        yield client


@pytest.fixture(scope="module")
def bash(running: Cli, home: Path) -> Iterator[RawClient]:
    with raw_client(client_of(running, "bash", home), cwd=home) as client:
        client.initialize()
        yield client


def content_of(result: dict[str, Any]) -> dict[str, Any]:
    assert not result.get("isError"), result
    content: dict[str, Any] = result["structuredContent"]
    return content


def run(client: RawClient, command: str, **more: Any) -> dict[str, Any]:
    return content_of(client.call("run_in_terminal", command=command, timeout_s=20 * PATIENCE, **more))


def typed(client: RawClient, **arguments: Any) -> dict[str, Any]:
    return content_of(client.call("run_in_terminal", **arguments))


def result_of(answer: dict[str, Any]) -> tuple[str, str, int]:
    return answer["status"], answer["output"], answer["command"]["exit_code"]


# Many calls at once.


def test_each_of_many_calls_at_once_gets_its_own_result(agent: RawClient) -> None:
    def line(number: int) -> str:
        return f"echo begins {number}; sleep 0.{number % 3}; sh -c 'echo ends {number}; exit {number}'"

    for _ in range(2):
        asked = [agent.begin_call("run_in_terminal", command=line(number), timeout_s=60) for number in range(8)]
        answers = [content_of(agent.answer(each)["result"]) for each in asked]
        assert [result_of(it) for it in answers] == [
            ("completed", f"begins {number}\nends {number}", number) for number in range(8)
        ]
        assert [it["command"]["command"] for it in answers] == [line(number) for number in range(8)]
        assert all(it["command"]["command_id"].startswith(it["terminal"] + ":") for it in answers)


def test_one_call_after_another_uses_one_terminal(agent: RawClient) -> None:
    first = run(agent, "cd /")
    later = [run(agent, "pwd") for _ in range(5)]
    assert {it["terminal"] for it in later} == {first["terminal"]}
    assert {it["output"] for it in later} == {"/"}
    run(agent, "cd -")


def test_more_calls_than_there_can_be_terminals_wait_for_one(bash: RawClient) -> None:
    asked = [bash.begin_call("run_in_terminal", command=f"echo {number}", timeout_s=60) for number in range(40)]
    answers = [content_of(bash.answer(each)["result"]) for each in asked]
    assert [it["output"] for it in answers] == [str(number) for number in range(40)]
    assert len({it["terminal"] for it in answers}) <= 16


def test_a_terminal_that_was_named_runs_one_command_at_a_time(bash: RawClient) -> None:
    own = run(bash, "true")["terminal"]
    asked = [
        bash.begin_call("run_in_terminal", command=f"sleep 0.3; echo {n}", terminal=own, timeout_s=30) for n in range(4)
    ]
    results = [bash.answer(each)["result"] for each in asked]
    refused = [it for it in results if it.get("isError")]
    assert len(refused) == 3
    assert all("still running" in it["content"][0]["text"] for it in refused)
    (done,) = (it for it in results if not it.get("isError"))
    assert content_of(done)["output"] in "0123"


def test_no_client_uses_or_changes_a_terminal_of_another(running: Cli, bash: RawClient, home: Path) -> None:
    own = run(bash, "export OF_THE_FIRST=1; cd /")["terminal"]
    with raw_client(client_of(running, "bash", home), cwd=home) as other:
        other.initialize()
        seen = run(other, 'echo "[$OF_THE_FIRST]"; pwd')
        refused = other.call("run_in_terminal", command="true", terminal=own)
        typed_into = other.call("run_in_terminal", keys=["ctrl-c"], terminal=own)
        yours = {it["terminal"]: it["yours"] for it in content_of(other.call("list_terminals"))["terminals"]}
    assert seen["output"].split("\n") == ["[]", str(home)]
    assert seen["terminal"] != own
    assert refused["isError"]
    assert typed_into["isError"]
    assert (yours[own], yours[seen["terminal"]]) == (False, True)
    assert run(bash, "echo $OF_THE_FIRST", terminal=own)["output"] == "1"


def test_marks_that_a_program_prints_do_not_free_its_terminal(bash: RawClient, home: Path) -> None:
    marks = home / "marks"
    marks.write_bytes(b"\x1b]133;D;0\x07\x1b]133;A\x07$ \x1b]133;B\x07\x1b]133;C;id=99\x07")
    forging = content_of(bash.call("run_in_terminal", command=f"cat {marks}; sleep 1000", timeout_s=1))
    beside = run(bash, "echo beside")
    ended = content_of(bash.call("run_in_terminal", interrupt=True, terminal=forging["terminal"], timeout_s=20))
    assert forging["status"] == "running"
    assert beside["terminal"] != forging["terminal"]
    assert (ended["status"], ended["command"]["exit_code"]) == ("completed", 130)


# Whole scripts.


POSIX_SCRIPTS = {
    "lines": ("echo one\n\n\necho two", "one\ntwo", 0),
    "fails at its end": ("echo one\nsh -c 'exit 3'", "one", 3),
    "fails in its middle": ("echo one\nfalse\necho three", "one\nthree", 0),
    "here-document": ("cat <<'END'\na $b\n  'c'\nEND\necho after", "a $b\n  'c'\nafter", 0),
    "loop": ('for i in 1 2; do\n\techo "$i"\ndone\necho end', "1\n2\nend", 0),
    "function": ('f() {\n  echo "in $1"\n  return 4\n}\nf x', "in x", 4),
    "comments": ("# first\necho one # behind\n# last", "one", 0),
    "continued line": ("echo a \\\n  b\necho c", "a b\nc", 0),
    "events": ('echo "hi!there" !!', "hi!there !!", 0),
    "quotes": ("echo \"it's\" 'a \"b\"' \\'", "it's a \"b\" '", 0),
}
FISH_SCRIPTS = {
    "lines": ("echo one\n\n\necho two", "one\ntwo", 0),
    "fails at its end": ("echo one\nsh -c 'exit 3'", "one", 3),
    "fails in its middle": ("echo one\nfalse\necho three", "one\nthree", 0),
    "loop": ("for i in 1 2\n\techo \"$i\"\nend\necho end", "1\n2\nend", 0),
    "function": ("function f\n  echo \"in $argv\"\n  return 4\nend\nf x", "in x", 4),
    "comments": ("# first\necho one # behind\n# last", "one", 0),
    "continued line": ("echo a \\\n  b\necho c", "a b\nc", 0),
    "quotes": ("echo \"it's\" 'a \"b\"' \\' '\\\\'", "it's a \"b\" ' \\", 0),
}  # fmt: skip


def test_a_command_of_several_lines_is_one_result(agent: RawClient, shell: str) -> None:
    scripts = FISH_SCRIPTS if shell == "fish" else POSIX_SCRIPTS
    for name, (script, output, code) in scripts.items():
        ran = run(agent, script)
        assert result_of(ran) == ("completed", output, code), name
        assert ran["command"]["command"] == script, name


UNFINISHED = ["echo 'open", 'echo first\necho "open', "for i in 1 2", "if true", "echo a &&", "echo $(true", "cat <("]


def test_a_command_that_is_not_whole_is_an_error_with_its_reason_and_nothing_of_it_runs(
    agent: RawClient, shell: str
) -> None:
    """zsh and fish take a part of these as whole."""
    whole = {"zsh": ["for i in 1 2", "echo a &&"], "fish": ["echo a &&"]}.get(shell, [])
    for script in UNFINISHED:
        began = time.monotonic()
        result = agent.call("run_in_terminal", command=script, timeout_s=20 * PATIENCE)
        text = result["content"][0]["text"]
        assert result.get("isError") or content_of(result)["status"] == "completed", script
        if script not in whole:
            assert result.get("isError") or content_of(result)["command"]["exit_code"] != 0, (script, text)
            assert re.search("unexpected|unmatched|parse error|balance|Missing|incomplete|end of", text), (script, text)
            assert not re.search("^(?:[|] )?first", text, re.MULTILINE), (script, text)
        assert run(agent, "echo next")["output"] == "next"
        assert time.monotonic() - began < 15 * PATIENCE


def test_a_command_that_ends_its_shell_is_answered_at_once(agent: RawClient) -> None:
    began = time.monotonic()
    ended = content_of(agent.call("run_in_terminal", command="exit 3", timeout_s=60))
    assert result_of(ended)[::2] == ("completed", 3)
    assert time.monotonic() - began < 8 * PATIENCE
    assert run(agent, "echo next")["terminal"] != ended["terminal"]


def test_of_one_line_that_is_too_long_a_part_is_shown(bash: RawClient) -> None:
    ran = run(bash, "head -c 30000 /dev/zero | tr '\\0' x; echo END")
    assert re.fullmatch("x{1000,}(?:END|…)", ran["output"])
    assert ran["truncated_bytes"] > 1000
    ran = run(bash, "printf 'é%.0s' $(seq 9000)")
    assert re.fullmatch("é{1000,}…?", ran["output"])


def test_the_record_and_its_lists_keep_the_lines_of_a_command(agent: RawClient) -> None:
    script = "echo kept one\necho kept two"
    run(agent, script)
    found = agent.call("search_commands", query="kept two")
    assert content_of(found)["commands"][0]["command"] == script
    lines = found["content"][0]["text"].split("\n")
    at = next(number for number, line in enumerate(lines) if line.endswith("| echo kept one"))
    assert lines[at + 1] == "| echo kept two"


# Programs that ask.


def in_python(client: RawClient) -> dict[str, Any]:
    """It is not waited for until its deadline: it asks."""
    began = time.monotonic()
    answer = content_of(client.call("run_in_terminal", command="python3 -q -i -c 'print(\"began\")'", timeout_s=50))
    assert time.monotonic() - began < 12 * PATIENCE
    return answer


def test_typing_into_a_program_answers_at_once_with_what_is_new(agent: RawClient) -> None:
    began = in_python(agent)
    assert (began["status"], "began" in began["output"]) == ("running", True)
    started = time.monotonic()
    first = typed(agent, input="6 * 7\n")
    second = typed(agent, input="print('a' + 'b')\n")
    took_s = time.monotonic() - started
    ended = typed(agent, input="exit(5)\n")
    assert (first["status"], "42" in first["output"], "began" in first["output"]) == ("running", True, False)
    assert ("ab" in second["output"], "42" in second["output"]) == (True, False)
    assert (ended["status"], ended["command"]["exit_code"]) == ("completed", 5)
    assert "ab" not in ended["output"]
    assert took_s < 5 * PATIENCE


@pytest.mark.parametrize(
    "inner",
    ["PS1='$ ' bash --norc", "PS1='/ # ' sh", "PS1='host%% ' zsh -f", "python3 -q -c 'input(\"me@host ~ % \")'"],
)
def test_a_shell_in_the_shell_is_not_waited_for_until_the_deadline(bash: RawClient, inner: str) -> None:
    began = time.monotonic()
    asks = run(bash, inner)
    assert (asks["status"], time.monotonic() - began < 12 * PATIENCE) == ("running", True)
    assert typed(bash, keys=["ctrl-d"], terminal=asks["terminal"])["status"] == "completed"


def test_output_that_ends_like_a_prompt_ends_no_wait(bash: RawClient) -> None:
    ran = run(bash, "printf 'price 7 $'; sleep 1.5; printf ' is\\n45%%'; sleep 1.5; echo ' done'")
    assert result_of(ran) == ("completed", "price 7 $ is\n45% done", 0)


def test_waiting_shows_nothing_twice(bash: RawClient) -> None:
    line = "echo one; read a; echo two; read b; echo three; read c"
    first = content_of(bash.call("run_in_terminal", command=line, timeout_s=1))
    own = first["terminal"]
    second = typed(bash, input="\n", terminal=own, timeout_s=0)
    waited = content_of(bash.call("wait_for_command", terminal=own, timeout_s=1.5))
    idle = content_of(bash.call("wait_for_command", terminal=own, timeout_s=0))
    ended = typed(bash, input="\n\n", terminal=own)
    shown = [it["output"] for it in (first, second, waited, idle, ended)]
    assert [sum(text.count(word) for text in shown) for word in ("one", "two", "three")] == [1, 1, 1]
    assert (first["output"], idle["output"], ended["status"]) == ("one", "", "completed")


def test_a_program_that_only_copies_is_not_waited_for_until_the_end(bash: RawClient) -> None:
    content_of(bash.call("run_in_terminal", command="cat", timeout_s=0.5))
    started = time.monotonic()
    answer = typed(bash, input="copied\n")
    assert time.monotonic() - started < 6 * PATIENCE
    assert (answer["status"], "copied" in answer["output"]) == ("running", True)
    ended = typed(bash, keys=["ctrl-d"])
    assert (ended["status"], ended["command"]["exit_code"]) == ("completed", 0)


def test_what_was_typed_at_a_prompt_does_not_become_part_of_the_next_command(agent: RawClient) -> None:
    own = run(agent, "echo first")["terminal"]
    typed(agent, input="echo stray", terminal=own, timeout_s=0)
    assert result_of(run(agent, "echo second", terminal=own)) == ("completed", "second", 0)


def test_keys_have_names(agent: RawClient) -> None:
    in_python(agent)
    typed(agent, input="1000 + 1\n")
    again = typed(agent, keys=["up", "enter"])
    assert "1001" in again["output"]
    interrupted = typed(agent, input="while True: pass", keys=["enter", "enter", "ctrl-c"])
    assert "KeyboardInterrupt" in interrupted["output"]
    assert typed(agent, keys=["ctrl-d"])["status"] == "completed"


def test_a_key_that_is_not_there_is_answered_with_those_that_are(bash: RawClient) -> None:
    refused = bash.call("run_in_terminal", keys=["ctrl-c", "hyper-x"])
    text = refused["content"][0]["text"]
    assert refused["isError"]
    assert "hyper-x" in text
    assert "ctrl-a to ctrl-z" in text
    assert "page-down" in text


def test_a_full_screen_program_is_answered_with_its_screen(agent: RawClient, home: Path) -> None:
    (home / "text").write_text("".join(f"line {number}\n" for number in range(1, 200)))
    began = content_of(agent.call("run_in_terminal", command="less text", timeout_s=2))
    assert (began["status"], began["screen"][0], began["output"]) == ("running", "line 1", "")
    down = typed(agent, keys=["page-down"])
    assert down["screen"][0] not in ("line 1", "")
    end = typed(agent, input="G")
    assert "line 199" in end["screen"]
    ended = typed(agent, keys=["q"])
    assert (ended["status"], ended["screen"]) == ("completed", [])


def test_what_is_printed_after_a_full_screen_program_reaches_the_agent(agent: RawClient, home: Path) -> None:
    (home / "text").write_text("".join(f"line {number}\n" for number in range(1, 200)))
    content_of(agent.call("run_in_terminal", command="echo before; vim -u NONE -N text; echo after", timeout_s=2))
    ended = typed(agent, keys=["escape", ":", "q", "!", "enter"])
    assert ended["status"] == "completed"
    whole = content_of(agent.call("get_command_output", command_id=ended["command"]["command_id"]))
    assert whole["output"] == "before\nafter"
    assert ended["output"] == "after"


# Stopped with Ctrl-Z.


def test_ctrl_z_is_not_a_failure(agent: RawClient, shell: str) -> None:
    content_of(agent.call("run_in_terminal", command="sleep 987", timeout_s=0.5))
    stopped = agent.call("run_in_terminal", keys=["ctrl-z"])
    assert content_of(stopped)["status"] == "completed"
    assert ("exit 0" if shell == "fish" else "suspended (148)") in stopped["content"][0]["text"]
    assert content_of(agent.call("search_commands", query="sleep 987", failed=True))["commands"] == []
    assert "sleep 987" not in str(content_of(agent.call("get_last_failure")))
    resumed = content_of(
        agent.call("run_in_terminal", command="fg", timeout_s=0.5, terminal=content_of(stopped)["terminal"])
    )
    assert resumed["status"] == "running"
    assert typed(agent, interrupt=True)["status"] == "completed"


def test_the_daemon_logs_no_fault(running: Cli, agent: RawClient) -> None:
    eventually(lambda: running("logs").returncode == 0)
    logged = running("logs", "--lines", "2000").stdout
    assert "InvalidStateError" not in logged
    assert "Traceback" not in logged
