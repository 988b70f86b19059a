"""The first visit as the daemon tells it: the folder and its trust, the steps that were done, clients, and the demo."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dragoman.servers.web.onboarding.demo_api import is_demo_folder
from tests.daemons import eventually
from tests.page.agent import Agent
from tests.proving import calls
from tests.raw_http import Answer
from tests.servers.target_daemon import TargetDaemon, target_daemon


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("person")


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory, home: Path) -> Iterator[TargetDaemon]:
    folder = tmp_path_factory.mktemp("start") / "work"
    folder.mkdir()
    (home / ".cursor").mkdir()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(home))
        for moved in ("XDG_CONFIG_HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME"):
            patch.delenv(moved, raising=False)
        with target_daemon(folder.parent / "home", folder=folder) as daemon:
            daemon.patch("dragoman.servers.web.onboarding.demo_api:PACE_S", 0)
            yield daemon


def start(daemon: TargetDaemon) -> Any:
    return daemon.ask_page("/api/start").json()


def post(daemon: TargetDaemon, path: str, body: Any) -> Answer:
    return daemon.ask_page(path, "POST", body)


def client(daemon: TargetDaemon, name: str) -> Any:
    return next(it for it in daemon.ask_page("/api/settings/clients").json()["clients"] if it["id"] == name)


def test_a_folder_that_is_not_trusted_can_be_trusted_from_the_page(daemon: TargetDaemon) -> None:
    first = start(daemon)
    assert (first["is_trusted"], first["may_trust"], first["is_new"]) == (False, True, True)
    assert post(daemon, "/api/trust", {"folder": first["folder"]}).status == 200
    now = start(daemon)
    assert (now["is_trusted"], now["may_trust"]) == (True, False)


def test_a_client_is_written_only_as_it_was_shown(daemon: TargetDaemon, home: Path) -> None:
    file = home / ".cursor" / "mcp.json"
    file.write_text('{"mcpServers": {"other": {"command": "secret-program", "env": {"KEY": "s3cret"}}}}')
    assert client(daemon, "cursor")["configured"] is False
    plan = post(daemon, "/api/settings/clients/plan", {"client": "cursor"}).json()
    assert (plan["path"], plan["change"]) == (str(file), "added")
    assert any(line.startswith("+") and '"dragoman"' in line for line in plan["lines"])
    assert "s3cret" not in json.dumps(plan)
    refused = post(daemon, "/api/settings/clients/write", {"client": "cursor", "lines": []})
    assert refused.json()["error"]["code"] == "client_config_changed"
    assert "dragoman" not in file.read_text()
    done = post(daemon, "/api/settings/clients/write", {"client": "cursor", "lines": plan["lines"]}).json()
    assert done["change"] == "added"
    assert any(str(file) in message for message in done["messages"])
    servers = json.loads(file.read_text())["mcpServers"]
    assert servers["dragoman"]["args"][-1] == "mcp"
    assert servers["other"]["env"] == {"KEY": "s3cret"}
    assert client(daemon, "cursor")["configured"] is True
    assert post(daemon, "/api/settings/clients/plan", {"client": "cursor"}).json()["change"] == "unchanged"


def test_a_client_without_a_file_or_without_a_name_of_ours_is_refused(daemon: TargetDaemon) -> None:
    for name, code in (("jetbrains", "client_has_no_file"), ("../../x", "unknown_client")):
        assert post(daemon, "/api/settings/clients/plan", {"client": name}).json()["error"]["code"] == code


def test_the_demo_runs_here_one_at_a_time_and_leaves_no_process(daemon: TargetDaemon) -> None:
    assert start(daemon)["was_demo_run"] is False
    answer = post(daemon, "/api/demo", {})
    lines = [json.loads(line) for line in answer.body.decode().splitlines()]
    assert (lines[0]["kind"], lines[-1]["kind"]) == ("folder", "done"), lines[-1]
    assert is_demo_folder(lines[0]["text"])
    assert [it["text"][:2] for it in lines if it["kind"] == "heading"] == ["1.", "2.", "3.", "4.", "5.", "6."]
    assert "200.0" in (Path(lines[0]["text"]) / "orders.py").read_text() + json.dumps(lines)
    now = start(daemon)
    assert (now["was_demo_run"], now["is_connected"], now["was_explained"], now["is_new"]) == (True, False, False, True)
    assert not [it for it in daemon.process.children(recursive=True) if "page_demo" in " ".join(it.cmdline())]


def test_a_demo_ends_with_the_page_that_asked_for_it(daemon: TargetDaemon) -> None:
    daemon.patch("dragoman.servers.web.onboarding.demo_api:PACE_S", 10)
    try:
        with calls(daemon.session()) as page:
            page.begin("/api/demo", "POST", {})
            eventually(lambda: bool(_demos(daemon)))
            assert post(daemon, "/api/demo", {}).json()["error"]["code"] == "demo_runs"
        eventually(lambda: not _demos(daemon))
    finally:
        daemon.patch("dragoman.servers.web.onboarding.demo_api:PACE_S", 0)


def _demos(daemon: TargetDaemon) -> list[int]:
    return [it.pid for it in daemon.process.children(recursive=True) if "page_demo" in " ".join(it.cmdline())]


def test_an_agent_of_the_person_counts_as_connected(daemon: TargetDaemon) -> None:
    Agent.at(daemon, name="somebody").wire.call("list_sessions")
    eventually(lambda: start(daemon)["is_connected"])


def test_a_recorded_shell_and_a_question_about_a_run_are_steps_that_were_done(daemon: TargetDaemon) -> None:
    daemon.record_event("debug.started", {"title": "t", "by": "evidence-1:page"})
    daemon.record_event("terminal.began", {"by": "terminal", "attributes": {}})
    now = start(daemon)
    assert (now["was_explained"], now["is_shell_recorded"], now["is_new"]) == (True, True, False)
