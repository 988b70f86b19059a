"""`dragoman doctor`: what it says is so."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from dragoman.cli.doctor import doctor
from dragoman.extras import install_command


def findings(capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    status = doctor()
    return status, capsys.readouterr().out


def test_a_settings_file_that_is_not_there_is_not_called_in_order(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status, told = findings(capsys)
    assert status == 0
    assert f"note  no settings file, so every setting has its default: {home}/config/settings.toml" in told
    assert "ok    settings" not in told


def test_one_that_can_be_read_is(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (home / "config").mkdir()
    (home / "config" / "settings.toml").write_text("port = 9000\n")
    assert f"ok    settings {home}/config/settings.toml" in findings(capsys)[1]


def test_one_that_cannot_is_wrong_and_ends_with_one(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (home / "config").mkdir()
    (home / "config" / "settings.toml").write_text("port = \n")
    status, told = findings(capsys)
    assert status == 1
    assert [line for line in told.splitlines() if line.startswith("WRONG") and "settings.toml" in line]


def test_a_missing_extra_is_noted_with_how_it_comes_into_this_environment(
    home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "ok    screens of terminals can be shown" in findings(capsys)[1]
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    status, told = findings(capsys)
    assert status == 0
    assert "note  screens of terminals cannot be shown" in told
    assert f"Where they are wanted: {install_command('pyte')}" in told


@pytest.mark.parametrize(
    ("prefix", "command"),
    [
        ("/home/ann/.local/share/pipx/venvs/dragoman", "pipx inject dragoman pyte"),
        ("/home/ann/.local/share/uv/tools/dragoman", "uv pip install --python '/my venv/python' pyte"),
        ("/home/ann/.venv", "'/my venv/python' -m pip install pyte"),
        ("/", "'/my venv/python' -m pip install pyte"),
    ],
)
def test_a_package_is_added_by_whoever_made_the_environment(prefix: str, command: str) -> None:
    assert install_command("pyte", prefix=prefix, python="/my venv/python") == command
