"""`dragoman doctor`: what it says is so."""

from __future__ import annotations

import importlib.util
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from dragoman.cli.installation import doctor as doctor_module
from dragoman.cli.installation.doctor import DoctorFinding, doctor
from dragoman.core.installation import install_command
from dragoman.core.paths import find_paths
from dragoman.io.drivers.control_client import ControlClient


def findings(capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    status = doctor()
    return status, capsys.readouterr().out


def test_a_settings_file_that_is_not_there_is_not_called_in_order(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status, output = findings(capsys)
    assert status == 0
    assert f"note  no settings file; every setting has its default value: {home}/config/settings.toml" in output
    assert "ok    settings" not in output


def test_one_that_can_be_read_is(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (home / "config").mkdir()
    (home / "config" / "settings.toml").write_text("port = 9000\n")
    assert f"ok    settings {home}/config/settings.toml" in findings(capsys)[1]


def test_one_that_cannot_is_wrong_and_ends_with_one(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (home / "config").mkdir()
    (home / "config" / "settings.toml").write_text("port = \n")
    status, output = findings(capsys)
    assert status == 1
    assert [line for line in output.splitlines() if line.startswith("ERROR") and "settings.toml" in line]


def test_a_missing_extra_is_noted_with_how_it_comes_into_this_environment(
    home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "ok    terminal screens are available" in findings(capsys)[1]
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    status, output = findings(capsys)
    assert status == 0
    assert "note  terminal screens are unavailable" in output
    assert f"To install it: {install_command('pyte')}" in output


def test_a_page_that_was_not_installed_is_wrong(
    home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "built").mkdir()
    monkeypatch.setattr(doctor_module, "files", lambda _: tmp_path)
    status, output = findings(capsys)
    assert status == 1
    assert "ERROR the page is not installed" in output
    (tmp_path / "built" / "index.html").touch()
    status, output = findings(capsys)
    assert status == 0
    assert "ok    the page is installed" in output


@pytest.mark.parametrize(
    ("prefix", "command"),
    [
        ("/home/ann/.local/share/pipx/venvs/dragoman", "pipx inject dragoman pyte"),
        ("/home/ann/.local/share/uv/tools/dragoman", "uv pip install --python '/my venv/python' pyte"),
        ("/home/ann/.venv", "'/my venv/python' -m pip install pyte"),
        ("/", "'/my venv/python' -m pip install pyte"),
    ],
)
def test_a_package_is_installed_with_the_tool_that_made_the_environment(prefix: str, command: str) -> None:
    assert install_command("pyte", prefix=prefix, python="/my venv/python") == command


class Answering:
    """A daemon's answer to one question."""

    def __init__(self, **answer: Any) -> None:
        none = {"is_done": False, "at_ns": 0, "changed": 0, "files": 0, "unread": [], "failure": ""}
        self.answer = none | answer

    def call(self, _: str, *, within_s: float) -> dict[str, Any]:
        assert within_s
        return self.answer


@pytest.mark.parametrize(
    ("answer", "result"),
    [
        (
            {"is_done": True, "at_ns": 1_700_000_000_000_000_000, "changed": 3, "files": 2},
            ["ok journal searched for secrets from older versions at 2023-11-14T22:13:20Z; changed rows: 3, files: 2"],
        ),
        ({}, ["note the journal is being searched for secrets from older versions"]),
        (
            {"failure": "disk_full"},
            ["bad cannot search the journal for secrets from older versions (disk_full)"],
        ),
        (
            {"is_done": True, "unread": ["ab12/0000000000000007"]},
            [
                (
                    "ok journal searched for secrets from older versions at 1970-01-01T00:00:00Z; "
                    "changed rows: 0, files: 0"
                ),
                "bad cannot search a recorded output file for secrets: {folder}/ab12/0000000000000007",
            ],
        ),
    ],
    ids=["done", "pending", "failed", "unread"],
)
def test_what_became_of_the_search_for_older_secrets(
    home: Path, monkeypatch: pytest.MonkeyPatch, answer: dict[str, Any], result: list[str]
) -> None:
    monkeypatch.setattr(doctor_module, "is_held", lambda _: True)
    monkeypatch.setattr(ControlClient, "open", lambda *_, **__: nullcontext(Answering(**answer)))
    found: list[DoctorFinding] = list(doctor_module._journal(find_paths()))
    assert [f"{it.level} {it.about}" for it in found] == [
        line.replace("{folder}", str(home / "state/journal/segments")) for line in result
    ]
    assert all(it.fix for it in found if it.level != "ok")
    if answer.get("unread"):
        assert "dragoman forget --session ab12" in str(found[-1].fix)


def test_a_journal_that_was_set_aside_is_named_also_without_a_daemon(home: Path) -> None:
    (home / "state/journal").mkdir(parents=True)
    aside = home / "state/journal/damaged-20260102T030405-events-000001.db"
    aside.write_bytes(b"")
    (found,) = doctor_module._journal(find_paths())
    assert (found.level, str(aside) in str(found.about), "dragoman forget --all" in str(found.fix)) == (
        "note", True, True,
    )  # fmt: skip
