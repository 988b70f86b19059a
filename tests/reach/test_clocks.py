"""The clock of the other machine is wrong by days: nothing is refused for it, and no time is negative."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from dragoman.cli.output import ExitCode
from tests.daemons import Cli, cli_with_home
from tests.support.ssh_machine import SshMachine, ssh_machine

pytestmark = [pytest.mark.needs("sshd"), pytest.mark.timeout(240)]

# Python reads it at its start, so the daemon there and every `dragoman pipe` has the other time.
OTHER_TIME = """\
import time
_time, _time_ns = time.time, time.time_ns
time.time = lambda: _time() + {seconds}
time.time_ns = lambda: _time_ns() + {seconds} * 10**9
"""


@pytest.fixture(params=[-3 * 86_400, 400 * 86_400], ids=["three days late", "a year early"])
def machine(place: Path, request: pytest.FixtureRequest) -> Iterator[SshMachine]:
    with ssh_machine(place / f"c{request.param}") as machine:
        other = machine.folder / "clock"
        other.mkdir()
        (other / "sitecustomize.py").write_text(OTHER_TIME.format(seconds=request.param))
        with (machine.far / ".profile").open("a") as profile:
            profile.write(f"export PYTHONPATH={other}\n")
        (machine.project / "app.py").write_text("total = 1\nprint(total)\n")
        yield machine


@pytest.fixture
def here(machine: SshMachine, tmp_path: Path) -> Iterator[Cli]:
    with cli_with_home(tmp_path / "n", machine.variables()) as cli:
        yield cli


def test_everything_works_with_another_time_there(machine: SshMachine, here: Cli) -> None:
    on = ("--on", machine.name)
    assert here("debug", "sessions", *on).returncode in {ExitCode.OK, ExitCode.NOT_RUNNING}
    refused = here("debug", "app.py", *on, "--workspace", str(machine.project))
    assert "needs_trust" in refused.stderr, refused  # this has started the daemon
    assert here("trust", str(machine.project), *on).returncode == ExitCode.OK
    ran = here("debug", "app.py", "--break", "app.py:2", *on, "--workspace", str(machine.project))
    assert ran.returncode == ExitCode.OK, ran
    shown = json.loads(here("status", "--json", *on).stdout)
    assert 0 <= shown["uptime_s"] < 200
    listed = here("journal", "tail", "-n", "50", *on)
    assert "daemon started" in listed.stdout.lower()
    ended = here("debug", "continue", *on, "--workspace", str(machine.project))
    assert ended.returncode == ExitCode.OK, ended
    for command in (("history",), ("report",), ("trust", "--list"), ("doctor",)):
        done = here(*command, *on)
        assert "Traceback" not in done.stdout + done.stderr
        assert "-1 " not in done.stdout
