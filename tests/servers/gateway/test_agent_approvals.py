"""What the chat's agent does unasked, in a whole daemon: nothing that a debugger could take for a command."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.servers.gateway.approval_client import questions_of

pytestmark = pytest.mark.anyio

SHELL = Path(__file__).with_name("console_adapter.py")
DECLARED = f'[adapters.console]\ncommand = ["{sys.executable}", "{SHELL}"]\ntypes = ["console"]\n'
START = ("start_debugging", {"configuration": {"type": "console", "request": "launch", "program": "main.x"}})


def starts_alone(wanted: dict[str, Any]) -> bool:
    return bool(wanted["tool"] == "start_debugging")


def evaluated(*expressions: str, **more: Any) -> list[tuple[str, dict[str, Any]]]:
    return [("evaluate_expression", {"expression": it, **more}) for it in expressions]


async def test_a_console_of_a_declared_adapter_runs_nothing_unasked(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "main.x").write_text("")
    (tmp_path / "notes").write_text("touch made\n")
    contexts = ("repl", "watch", "hover", "clipboard")
    looks = evaluated("sh . notes", "> made", "made.x[0]", "3")
    looks += [it for context in contexts for it in evaluated("true > made", context=context)]
    asked, answer = await questions_of([START, *looks], starts_alone, monkeypatch, tmp_path, settings=DECLARED)
    assert [it["subject"] for it in asked[1:]] == ["sh . notes", "> made", "made.x[0]", *["true > made"] * 4]
    assert ["did not allow" in it for it in answer] == [False, True, True, True, False, *[True] * 4]
    assert not (tmp_path / "made").exists()


async def test_who_says_that_an_adapter_has_no_console_is_believed(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The control: the same look is not asked for, and this adapter, of which the settings lie, runs it."""
    (tmp_path / "main.x").write_text("")
    settings = f"{DECLARED}[adapters.console.quirks]\nhas_console = false\n"
    asked, _ = await questions_of(
        [START, *evaluated("true > made")], starts_alone, monkeypatch, tmp_path, settings=settings
    )
    assert len(asked) == 1
    assert (tmp_path / "made").exists()


async def test_a_condition_is_judged_by_every_debugger_that_may_come_to_its_file(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before any session: of a template and of a function nobody knows the language, of a Python file it is known."""
    for name in ("page.tpl", "shop.py", "shop.rb"):
        (tmp_path / name).write_text("x\n")
    asked, _ = await questions_of(
        [
            ("set_breakpoint", {"file_path": "shop.py", "line_number": 1, "condition": "user.gone"}),
            ("set_breakpoint", {"file_path": "shop.rb", "line_number": 1, "condition": "user.destroy"}),
            ("set_breakpoint", {"file_path": "page.tpl", "line_number": 1, "log_message": "{user.destroy}"}),
            ("set_breakpoint", {"kind": "function", "function_name": "main", "condition": "user.destroy"}),
        ],
        lambda _: False,
        monkeypatch,
        tmp_path,
    )
    assert [it["subject"].count("user.destroy") for it in asked] == [1, 1, 1]


async def test_a_text_that_lasts_is_asked_for_where_only_an_editor_may_have_the_debugger(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a shell's debugger `n > 3` writes a file. No editor is connected yet; a language of ours is the control."""
    names = ("deploy.sh", "deploy.ps1", "index.php", "Main.java", "deploy", "main.py", "main.go")
    for name in names:
        (tmp_path / name).write_text("x\n")
    texts = ({"condition": "n > pwned"}, {"log_message": "{n}"}, {"hit_condition": "> 3"})
    calls = [("set_breakpoint", {"file_path": it, "line_number": 1, **texts[0]}) for it in names]
    calls += [("set_breakpoint", {"file_path": "deploy.sh", "line_number": 1, **text}) for text in texts[1:]]
    calls += [("set_breakpoint", {"kind": "function", "function_name": "main", **texts[0]})]
    calls += [("trace", {"program": "x", "points": [{"file_path": "deploy.sh", "line_number": 1, **texts[0]}]})]
    asked, answer = await questions_of(calls, lambda _: False, monkeypatch, tmp_path)
    assert [index for index, it in enumerate(answer) if "did not allow" in it] == [0, 1, 2, 3, 4, 7, 9, 10]
    assert ["n > pwned" in it["subject"] for it in asked] == [True] * 5 + [False] + [True] * 2


@pytest.mark.parametrize("has_console", [True, False])
async def test_a_declared_debugger_may_come_to_any_file(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, has_console: bool
) -> None:
    (tmp_path / "shop.py").write_text("x = 1\n")
    settings = f"{DECLARED}[adapters.console.quirks]\nhas_console = {str(has_console).lower()}\n"
    condition = ("set_breakpoint", {"file_path": "shop.py", "line_number": 1, "condition": "x > 3"})
    asked, _ = await questions_of([condition], lambda _: False, monkeypatch, tmp_path, settings=settings)
    assert len(asked) == has_console


@pytest.mark.needs("lldb", "c")
@pytest.mark.parametrize("allowed", [True, False])
async def test_lldbs_own_console_runs_a_command_when_a_person_allows_it(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, allowed: bool
) -> None:
    """Declared as it is started by hand, where `shell` is a command of its console."""
    (tmp_path / "main.c").write_text("int main(void) { int n = 3; return n; }\n")
    (tmp_path / "notes").write_text(f"touch {tmp_path}/made\n")
    await anyio.run_process(["gcc", "-g", "-O0", "-o", str(tmp_path / "main"), str(tmp_path / "main.c")])
    settings = '[adapters.native]\ncommand = ["lldb-dap-19", "--repl-mode", "command"]\ntypes = ["by-hand"]\n'
    start = {"type": "by-hand", "request": "launch", "program": str(tmp_path / "main"), "stopOnEntry": True}
    calls = [("start_debugging", {"configuration": start}), *evaluated(f"shell . {tmp_path}/notes", "shell . notes")]
    asked, answer = await questions_of(
        calls, lambda it: allowed or starts_alone(it), monkeypatch, tmp_path, settings=settings
    )
    assert [it["subject"] for it in asked[1:]] == [f"shell . {tmp_path}/notes", "shell . notes"]
    assert ["did not allow" in it for it in answer[1:]] == [not allowed] * 2
    assert (tmp_path / "made").exists() is allowed


PROGRAM = "open('ran', 'a').write('x')\nassert 1 == 2\n"


def launch_file(folder: Path, task: str, **more: Any) -> None:
    (folder / ".vscode").mkdir(exist_ok=True)
    (folder / "main.py").write_text(PROGRAM)
    configuration = {"name": "Tests", "type": "python", "request": "launch", "program": "main.py"}
    launch = {"configurations": [{**configuration, "preLaunchTask": "build", **more}]}
    (folder / ".vscode" / "launch.json").write_text(json.dumps(launch))
    first = {"label": "first", "type": "shell", "command": task}
    tasks = [{"label": "build", "dependsOn": ["first"], "type": "shell", "command": "true"}, first]
    (folder / ".vscode" / "tasks.json").write_text(json.dumps({"version": "2.0.0", "tasks": tasks}))


def launched(**more: Any) -> tuple[str, dict[str, Any]]:
    return ("start_debugging", {"configuration_name": "Tests", **more})


async def test_a_named_configuration_is_approved_by_what_it_runs_and_asked_for_again_when_that_changed(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    launch_file(tmp_path, "touch built", env={"TOKEN": "one"})

    def decide(wanted: dict[str, Any]) -> bool:
        """A person who is asked the second time, about the task, says no."""
        return "touch evil" not in wanted["subject"]

    rewritten = ("run_in_terminal", {"command": "sed -i s/built/evil/ .vscode/tasks.json"})
    asked, answer = await questions_of(
        [launched(), launched(), rewritten, launched(), ("restart_debugging", {})], decide, monkeypatch, tmp_path
    )
    assert [it["tool"] for it in asked] == [
        "start_debugging", "run_in_terminal", "start_debugging", "restart_debugging"
    ]  # fmt: skip
    shown = asked[0]["subject"]
    for part in ('task "first": touch built', 'task "build": true', "main.py", f"cwd: {tmp_path}", "TOKEN", "python"):
        assert part in shown
    assert '"one"' not in shown  # a value may be a secret
    assert ["did not allow" in it for it in answer] == [False, False, False, True, True]
    assert (tmp_path / "built").exists()
    assert not (tmp_path / "evil").exists()


@pytest.mark.parametrize("changes", [{"env": {"TOKEN": "two"}}, {"args": ["-x"]}, {"postDebugTask": "first"}])
async def test_whatever_decides_what_runs_is_part_of_what_was_approved(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, changes: dict[str, Any]
) -> None:
    """Also what the question does not show, and what is rewritten between the question and the answer."""
    launch_file(tmp_path, "true", env={"TOKEN": "one"})
    seen: list[str] = []

    def decide(wanted: dict[str, Any]) -> bool:
        seen.append(wanted["subject"])
        if len(seen) == 1:
            launch_file(tmp_path, "true", **{"env": {"TOKEN": "one"}, **changes})
        return len(seen) == 1

    asked, answer = await questions_of([launched()], decide, monkeypatch, tmp_path)
    assert (len(asked), "did not allow" in answer[0]) == (2, True)
    assert not (tmp_path / "ran").exists()


async def test_every_tool_that_starts_a_program_asks_for_what_it_would_run(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "main.py").write_text(PROGRAM)
    (tmp_path / "test_it.py").write_text(f"def test_it():\n    {PROGRAM.splitlines()[0]}\n    assert 1 == 2\n")
    place = {"program": "main.py", "file_path": "main.py", "line_number": 1}
    point = {"file_path": "main.py", "line_number": 1, "expressions": ["1"]}
    asked, answer = await questions_of(
        [
            ("trace", {"program": "main.py", "points": [point]}),
            ("check", {**place, "claim": "1"}),
            ("find_change", {**place, "expression": "1"}),
            ("explain_crash", {"program": "main.py"}),
            ("compare_runs", {"program": "main.py", "points": [point], "against": {"args": ["x"]}}),
            ("debug_test", {"test": "test_it.py::test_it"}),
            ("start_debugging", {"program": "main.py"}),
        ],
        lambda _: False,
        monkeypatch,
        tmp_path,
    )
    assert [it["tool"] for it in asked] == [
        "trace", "check", "find_change", "explain_crash", "compare_runs", "debug_test", "start_debugging"
    ]  # fmt: skip
    assert all("program " in it["subject"] and str(tmp_path) in it["subject"] for it in asked)
    assert all("did not allow" in it for it in answer)
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("against", [{"args": ["x"]}, {"commit": "HEAD"}])
async def test_both_runs_of_a_comparison_are_asked_for_once_and_before_the_first(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, against: dict[str, Any]
) -> None:
    """Also the one at a commit, whose folder has another name each time."""
    ran, project = tmp_path / "ran", tmp_path / "project"
    project.mkdir()
    (project / "main.py").write_text(f"open({str(ran)!r}, 'a').write('x')\n")
    who = ["-c", "user.name=a", "-c", "user.email=a@b.c"]
    for words in (["init", "-q"], ["add", "main.py"], [*who, "commit", "-q", "-m", "one"]):
        await anyio.run_process(["git", *words], cwd=project)
    before: list[bool] = []

    def decide(_: dict[str, Any]) -> bool:
        before.append(ran.exists())
        return True

    point = {"file_path": "main.py", "line_number": 1, "expressions": ["1"]}
    compared = ("compare_runs", {"program": "main.py", "points": [point], "against": against})
    asked, answer = await questions_of([compared], decide, monkeypatch, project)
    assert before == [False]
    assert asked[0]["subject"].count('program "main.py": ') == 2
    assert "The runs are identical" in answer[0]
    assert ran.read_text() == "xx"
