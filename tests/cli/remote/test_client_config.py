"""`client-config --on` writes an entry that works on another machine."""

from __future__ import annotations

import json

import pytest

from dragoman.cli.dispatch import run
from dragoman.cli.output import ExitCode


def shown(capsys: pytest.CaptureFixture[str], line: str) -> tuple[int, str]:
    status = run(line.split())
    return status, capsys.readouterr().out


def test_the_entry_names_the_machine_the_folder_and_the_variables(capsys: pytest.CaptureFixture[str]) -> None:
    status, text = shown(capsys, "client-config cursor --on ssh:build1 --env TOKEN --allow-stop --workspace /srv/shop")
    assert status == ExitCode.OK
    arguments = json.loads(text)["mcpServers"]["dragoman"]["args"]
    assert arguments[-8:] == [
        *("mcp", "--on", "ssh:build1", "--env", "TOKEN", "--allow-stop", "--workspace", "/srv/shop")
    ]


def test_the_entry_names_several_machines(capsys: pytest.CaptureFixture[str]) -> None:
    _, text = shown(capsys, "client-config cursor --on ssh:build1 --on local")
    arguments = json.loads(text)["mcpServers"]["dragoman"]["args"]
    assert arguments[-5:] == ["mcp", "--on", "ssh:build1", "--on", "local"]


def test_a_shared_entry_has_no_path_of_this_machine(capsys: pytest.CaptureFixture[str]) -> None:
    _, text = shown(capsys, "client-config cursor --project --on docker:web")
    server = json.loads(text)["mcpServers"]["dragoman"]
    assert (server["command"], server["args"]) == ("dragoman", ["mcp", "--on", "docker:web"])


@pytest.mark.parametrize(
    ("line", "status"),
    [
        ("client-config cursor --workspace /srv", ExitCode.FAILED),
        ("client-config cursor --on nobody_declared_it", ExitCode.FAILED),
        ("client-config cursor --http --on ssh:build1", ExitCode.USAGE),
    ],
)
def test_an_entry_that_cannot_work_is_not_written(line: str, status: int, capsys: pytest.CaptureFixture[str]) -> None:
    assert shown(capsys, line) == (status, "")
