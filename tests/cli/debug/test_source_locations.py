"""`--break FILE:LINE` and the conditions behind it, and which workspace a command is about."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.cli.caller import find_workspace
from dragoman.cli.debug.arguments import fold_conditions, move_command_first, parse_breakpoint, parse_location
from dragoman.cli.debug.commands import DebugTarget, target_arguments, type_of_process
from dragoman.core.errors import DragomanError

WORDS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=20)


def breakpoints(*arguments: str) -> list[dict[str, object]]:
    words = fold_conditions(["debug", "app.py", *arguments])
    return [parse_breakpoint(words[at + 1]) for at, word in enumerate(words) if word in {"--break", "-b"}]


def test_each_condition_belongs_to_the_break_before_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    first = ("--break", "a.py:1", "--if", "x > 1", "--hit", "% 2 == 0")
    found = breakpoints(*first, "--break", "b.py:2", "-b", "c.py:3:7", "--log", "x is {x}")
    assert found == [
        {"file_path": f"{tmp_path}/a.py", "line_number": 1, "condition": "x > 1", "hit_condition": "% 2 == 0"},
        {"file_path": f"{tmp_path}/b.py", "line_number": 2},
        {"file_path": f"{tmp_path}/c.py", "line_number": 3, "column_number": 7, "log_message": "x is {x}"},
    ]


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        (["--json", "eval", "x"], ["eval", "--json", "x"]),
        (["--session", "eval", "--json", "eval", "x"], ["eval", "--session", "eval", "--json", "x"]),
        (["--session=s", "step"], ["step", "--session=s"]),
        (["--json", "app.py", "eval"], ["--json", "app.py", "eval"]),
        (["--json"], ["--json"]),
        (["--session"], ["--session"]),
        (["--json", "--", "eval"], ["--json", "--", "eval"]),
        (["eval", "--json"], ["eval", "--json"]),
        ([], []),
    ],
)
def test_options_may_precede_the_command(typed: list[str], meant: list[str]) -> None:
    assert move_command_first(["debug", *typed], {"eval", "step", "--help"}) == ["debug", *meant]


def test_a_module_gets_the_words_as_its_arguments_and_runs_in_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    module = {"type": "python", "request": "launch", "name": "a.b", "module": "a.b"}
    assert target_arguments(DebugTarget(("", "x"), module="a.b"), None) == {
        "configuration": module,
        "args": ["", "x"],
        "cwd": str(tmp_path),
    }
    assert target_arguments(DebugTarget(("",), module="a.b"), "in")["cwd"] == str(tmp_path / "in")


@pytest.mark.parametrize(("given", "type"), [(None, "python"), ("go", "go")])
def test_a_process_is_attached_to_by_the_debugger_of_what_it_runs(given: str | None, type: str) -> None:
    named = DebugTarget(("",), pid=os.getpid(), type=given)
    assert target_arguments(named, None) == {
        "configuration": {"type": type, "request": "attach", "name": f"process {os.getpid()}"}
    }
    assert type_of_process(2**40) == "native", "the daemon says that it is not there"


@pytest.mark.parametrize(
    ("named", "code"),
    [
        (DebugTarget(("",)), "no_program"),
        (DebugTarget(("a.py",), pid=1), "several_targets"),
        (DebugTarget(("",), module="m", pid=1), "several_targets"),
        (DebugTarget(("",), module="m", config="c"), "several_targets"),
        (DebugTarget(("a.py",), type="go"), "type_without_pid"),
        (DebugTarget(("",), config="c", pid=1, type="go"), "type_without_pid"),
    ],
)
def test_exactly_one_thing_is_debugged_by_a_command(named: DebugTarget, code: str) -> None:
    with pytest.raises(DragomanError) as caught:
        target_arguments(named, None)
    assert caught.value.code == code


def test_an_equals_sign_may_separate_an_option_and_its_value() -> None:
    spelt = ["debug", "app.py", "--break=a.py:1", "--if=x == 1"]
    assert fold_conditions(spelt) == fold_conditions(["debug", "app.py", "--break", "a.py:1", "--if", "x == 1"])


def test_what_comes_after_the_double_dash_is_the_programs() -> None:
    words = ["debug", "app.py", "--break", "a.py:1", "--", "--if", "x", "--break=y"]
    assert fold_conditions(words) == words


def test_a_condition_before_any_break_is_left_where_it_is() -> None:
    words = ["debug", "app.py", "--if", "x", "--break", "a.py:1"]
    assert fold_conditions(words) == words
    assert fold_conditions(["debug", "break", "a.py:1", "--if", "x"]) == ["debug", "break", "a.py:1", "--if", "x"]


@given(condition=WORDS, log=WORDS)
def test_any_text_of_a_condition_comes_through_as_it_was(condition: str, log: str) -> None:
    (found,) = breakpoints("--break", "/a.py:1", "--if", condition, "--log", log)
    assert (found.get("condition", ""), found.get("log_message", "")) == (condition, log)


@given(words=st.lists(WORDS))
def test_words_without_a_break_are_not_touched(words: list[str]) -> None:
    plain = [word for word in words if not word.startswith(("--break", "-b"))]
    assert fold_conditions(["debug", *plain, "--", *words])[-len(words) - 1 :] == ["--", *words]


@pytest.mark.parametrize(
    ("text", "place"),
    [("/a.py:3", ("/a.py", 3, None)), ("/a b:c.py:3:4", ("/a b:c.py", 3, 4)), ("/文件.py:12", ("/文件.py", 12, None))],
)
def test_places_are_read(text: str, place: tuple[str, int, int | None]) -> None:
    assert parse_location(text) == place


@pytest.mark.parametrize("text", ["", "a.py", "a.py:", "a.py:x", ":3", "a.py:-3", "a.py:9999999999"])
def test_what_is_not_a_place_is_refused_with_the_way_to_write_it(text: str) -> None:
    with pytest.raises(DragomanError) as refused:
        parse_location(text)
    assert refused.value.code == "bad_place"
    assert "FILE:LINE" in str(refused.value.hint)


@pytest.mark.parametrize("mark", [".git", ".vscode"])
def test_the_workspace_is_found_upwards(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mark: str) -> None:
    (tmp_path / "project" / mark).mkdir(parents=True)
    below = tmp_path / "project" / "src" / "deep"
    below.mkdir(parents=True)
    monkeypatch.chdir(below)
    assert find_workspace(None) == tmp_path / "project"
    assert find_workspace(tmp_path) == tmp_path


def test_the_home_folder_is_not_a_workspace_for_what_lies_below_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Editors keep their own settings in ~/.vscode."""
    (tmp_path / ".vscode").mkdir()
    (tmp_path / "scripts").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path / "scripts")
    assert find_workspace(None) == tmp_path / "scripts"


def test_a_folder_of_another_user_above_is_not_taken_for_the_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its launch.json would run as whoever stands below it."""
    (tmp_path / ".vscode").mkdir()
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    theirs = tmp_path.stat().st_ino
    real = Path.stat

    def stat(self: Path, **options: bool) -> os.stat_result:
        found = real(self, **options)
        fields = list(found)
        fields[4] += found.st_ino == theirs  # the owner
        return os.stat_result(fields)

    monkeypatch.setattr(Path, "stat", stat)
    assert find_workspace(None) == here


def test_a_launcher_is_a_command_unless_a_file_beside_us_has_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PWD", str(tmp_path))
    assert target_arguments(DebugTarget(("npm", "start")), None)["program"] == "npm"
    assert target_arguments(DebugTarget(("app.py",)), None)["program"] == f"{tmp_path}/app.py"
    (tmp_path / "npm").touch()
    assert target_arguments(DebugTarget(("npm", "start")), None)["program"] == f"{tmp_path}/npm"
