"""`dragoman doctor`: what it says is so."""

from __future__ import annotations

from pathlib import Path

import pytest

from dragoman.cli.doctor import doctor


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
