"""The wrapper's settings are the product's settings, read without the library that checks those."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import pytest

from dragoman.core.errors import DragomanError
from dragoman.core.paths import find_paths
from dragoman.core.settings.loader import edit_settings_text, load_settings
from dragoman.core.settings.schema import Settings
from dragoman.shell.settings import ShellSettings, read_shell_settings


def _both(tmp_path: Path, text: str, variables: dict[str, str]) -> tuple[Settings, ShellSettings]:
    environment = {"DRAGOMAN_HOME": str(tmp_path), **variables}
    paths = find_paths(environment)
    paths.settings_file.parent.mkdir(parents=True, exist_ok=True)
    paths.settings_file.write_text(text)
    return load_settings(paths, environment), read_shell_settings(paths.settings_file, environment)


@pytest.mark.parametrize(
    ("text", "variables"),
    [
        ("", {}),
        ('ask_key = ":"\nsuggest_commands = false\nexplain_failures_every_s = 5\n', {}),
        ('ignore_commands = ["vault *", "pass"]\nwatch_output = ["oops"]\nport = 9000\n', {}),
        ("record_raw_input = false\n", {"DRAGOMAN_RECORD_RAW_INPUT": "true", "DRAGOMAN_IGNORE_COMMANDS": "a *, b"}),
        ('accept_key = "tab"\n', {"DRAGOMAN_PAUSE_KEY": "ctrl-p", "DRAGOMAN_EXPLAIN_FAILURES_EVERY_S": "99"}),
        ("", {"DRAGOMAN_ASK_KEY": ""}),
        ("", {"DRAGOMAN_IGNORE_COMMANDS": '["vault *", "a, b"]', "DRAGOMAN_WATCH_OUTPUT": "x[ab], ]["}),
    ],
)
def test_both_readers_read_the_same(tmp_path: Path, text: str, variables: dict[str, str]) -> None:
    settings, requests = _both(tmp_path, text, variables)
    for field in fields(ShellSettings):
        if field.name != "unusable":
            value = getattr(settings, field.name)
            assert getattr(requests, field.name) == (tuple(value) if isinstance(value, list) else value), field.name
    assert requests.unusable == ()


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("ask_key = 'F13'", "ask_key"),
        ("ignore_commands = 'all'", "ignore_commands"),
        ("suggest_commands = 1", "suggest_commands"),
        ("explain_failures_every_s = 0", "explain_failures_every_s"),
        ("explain_failures_every_s = true", "explain_failures_every_s"),
        ("accept_key = 'left'", "accept_key"),
        ("not toml", "settings.toml"),
        (f"watch_output = ['{'x' * 201}']", "watch_output"),
    ],
)
def test_what_cannot_be_used_is_named_and_its_default_counts(tmp_path: Path, text: str, named: str) -> None:
    file = tmp_path / "settings.toml"
    file.write_text(text)
    requests = read_shell_settings(file, {})
    assert requests.unusable == (named,)
    assert requests == ShellSettings(unusable=(named,))


@pytest.mark.parametrize("half", ['["vault *"', "[vault *]", 'vault *"]', "[1]"])
def test_a_list_in_brackets_is_read_as_the_file_has_it_and_half_a_bracket_is_refused(tmp_path: Path, half: str) -> None:
    paths = find_paths({"DRAGOMAN_HOME": str(tmp_path)})
    file = paths.settings_file
    assert 'ignore_commands = ["vault *"]' in edit_settings_text(file, "ignore_commands", '["vault *"]')
    with pytest.raises(DragomanError) as refused:
        edit_settings_text(file, "ignore_commands", half)
    assert "Write a list as `one,two`" in str(refused.value.hint)
    assert read_shell_settings(file, {"DRAGOMAN_IGNORE_COMMANDS": half}).unusable == ("ignore_commands",)


def test_a_file_that_others_may_write_decides_nothing(tmp_path: Path) -> None:
    file = tmp_path / "settings.toml"
    file.write_text("record_raw_input = true")
    file.chmod(0o666)
    assert read_shell_settings(file, {}) == ShellSettings(unusable=("settings.toml",))
