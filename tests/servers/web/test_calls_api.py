"""Tools called by the page: any of them, as the person, in their language, and no more than the daemon can bear."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dragoman.core.localization import localize
from tests.daemons import call, eventually
from tests.proving import calls, log_in
from tests.raw_http import Answer
from tests.servers.target_daemon import TargetDaemon


def post(victim: TargetDaemon, path: str, body: Any, *, language: str = "en") -> Answer:
    return victim.ask_page(path, "POST", body, language=language)


def test_a_tool_answers_with_text_and_data(victim: TargetDaemon) -> None:
    answer = post(victim, "/api/call", {"tool": "list_sessions"}).json()
    assert answer["is_error"] is False
    assert answer["text"] == "No debug sessions in this workspace."
    assert answer["data"]["sessions"] == []


def test_what_a_tool_refuses_is_an_answer_in_the_readers_language(victim: TargetDaemon) -> None:
    answer = post(victim, "/api/call", {"tool": "no_such"}, language="zh-CN")
    assert (answer.status, answer.json()["is_error"]) == (200, True)
    assert answer.json()["data"]["code"] == "unknown_tool"
    assert answer.json()["data"]["message"] == localize("Unknown tool: {name}.", name="'no_such'").in_language("zh")
    failed = post(victim, "/api/call", {"tool": "step_execution", "arguments": {"step_type": "over"}}).json()
    assert (failed["is_error"], failed["data"]["status"]) == (True, "error")


def test_a_body_of_another_shape_is_refused(victim: TargetDaemon) -> None:
    bodies: list[Any] = [[], "x", {}, {"tool": 3}, {"tool": "list_sessions", "more": 1}]
    for body in bodies:
        refused = post(victim, "/api/call", body)
        assert (refused.status, refused.json()["error"]["code"]) == (400, "bad_request")


def test_a_page_gone_wild_is_asked_to_wait_and_the_daemon_continues(victim: TargetDaemon) -> None:
    victim.patch("dragoman.servers.web.tool_api:AT_ONCE", 3)
    victim.patch("dragoman.servers.web.tool_api:CALLS_PER_S", 0.001)
    answers = [post(victim, "/api/call", {"tool": "list_sessions"}) for _ in range(5)]
    assert [it.status for it in answers] == [200, 200, 200, 429, 429]
    assert answers[-1].json()["error"]["code"] == "too_many_calls"
    victim.patch("dragoman.servers.web.tool_api:AT_ONCE", 300)
    victim.patch("dragoman.servers.web.tool_api:CALLS_PER_S", 1e9)
    assert post(victim, "/api/call", {"tool": "list_sessions"}).status == 200
    victim.patch("dragoman.servers.web.tool_api:CALLS_PER_S", 100)


def test_whoever_leaves_takes_the_call_along(victim: TargetDaemon) -> None:
    """With room for one call only, the next is served once the one before has left."""
    victim.patch("dragoman.servers.web.tool_api:OPEN_AT_MOST", 1)
    wait = {"tool": "ask_user", "arguments": {"title": "Well?", "fields": [{"name": "a"}], "timeout_s": 60}}
    with calls(log_in(victim.paths)) as gone:
        gone.begin("/api/call", "POST", wait)
        eventually(lambda: post(victim, "/api/call", {"tool": "list_sessions"}).status == 429)
    eventually(lambda: post(victim, "/api/call", {"tool": "list_sessions"}).status == 200)
    victim.patch("dragoman.servers.web.tool_api:OPEN_AT_MOST", 32)


def test_only_a_folder_that_was_refused_before_the_persons_eyes_can_be_trusted(
    victim: TargetDaemon, tmp_path: Path
) -> None:
    """Whoever took over a page says yes to nothing that a person has not been asked about."""
    for folder in (str(tmp_path), "/", "relative", ""):
        refused = post(victim, "/api/trust", {"folder": folder})
        assert (refused.status, refused.json()["error"]["code"]) == (404, "unknown_folder")
    program = tmp_path / "untrusted.py"
    program.write_text("print('ran')")
    answer = post(victim, "/api/call", {"tool": "start_debugging", "arguments": {"program": str(program)}}).json()
    assert answer["data"]["code"] == "needs_trust"
    folder = answer["data"]["details"]["folder"]
    assert post(victim, "/api/trust", {"folder": folder}).json() == {"trusted": folder}
    assert folder in [it["folder"] for it in call(victim.paths, "trust_list")["trusted"]]
    assert post(victim, "/api/trust", {"folder": folder}).status == 404  # once, for what was refused
    call(victim.paths, "trust_revoke", {"folder": folder})


@pytest.fixture
def own_trusted(victim: TargetDaemon) -> Iterator[None]:
    """The daemon's own folder: what is refused then is refused for the program's."""
    own = victim.ask_page("/api/debug/folders").json()["own"]
    call(victim.paths, "trust_add", {"folder": own})
    yield
    call(victim.paths, "trust_revoke", {"folder": own})


def refused_start(victim: TargetDaemon, program: Path, **more: Any) -> Any:
    program.parent.mkdir(exist_ok=True)
    program.write_text("print('ran')")
    wanted = {"type": "debugpy", "request": "launch", "name": "it", "program": str(program), **more}
    answer = post(victim, "/api/call", {"tool": "start_debugging", "arguments": {"configuration": wanted}}).json()
    assert answer["data"]["code"] == "needs_trust", answer
    return answer["data"]["details"]


@pytest.mark.usefixtures("own_trusted")
def test_the_trust_question_shows_everything_that_decides_what_runs(victim: TargetDaemon, tmp_path: Path) -> None:
    more = {"args": ["a\u202eb", "\u3164"], "env": {"LD_PRELOAD": "x.so"}, "envFile": str(tmp_path / "env")}
    shown = refused_start(victim, tmp_path / "clear" / "app.py", **more)["shown"]
    for result in ("app.py", "202e", "3164", "LD_PRELOAD", str(tmp_path / "env"), str(tmp_path / "clear")):
        assert result in shown, result
    assert not {"\u202e", "\u3164"} & set(shown)


@pytest.mark.usefixtures("own_trusted")
def test_a_folder_name_that_hides_something_is_not_trusted_at_the_page(victim: TargetDaemon, tmp_path: Path) -> None:
    folder = tmp_path / "my\u3164project"
    assert refused_start(victim, folder / "app.py")["folder"] == ""
    assert post(victim, "/api/trust", {"folder": str(folder)}).status == 404


@pytest.mark.usefixtures("own_trusted")
def test_a_folder_that_another_took_the_place_of_since_it_was_shown_is_not_trusted(
    victim: TargetDaemon, tmp_path: Path
) -> None:
    folder, other = tmp_path / "shown", tmp_path / "other"
    assert refused_start(victim, folder / "app.py")["folder"] == str(folder)
    other.mkdir()
    folder.rename(tmp_path / "away")
    folder.symlink_to(other)
    refused = post(victim, "/api/trust", {"folder": str(folder)})
    assert (refused.status, refused.json()["error"]["code"]) == (409, "folder_moved")
    assert str(other) in refused.json()["error"]["message"]
    trusted = {it["folder"] for it in call(victim.paths, "trust_list")["trusted"]}
    assert not trusted & {str(folder), str(other)}


def test_a_person_can_end_waits(victim: TargetDaemon) -> None:
    assert post(victim, "/api/debug/stop-waiting", {}).json() == {"count": 0}


def test_a_folder_that_nobody_debugs_in_is_nobodys_to_look_into(victim: TargetDaemon) -> None:
    folders = victim.ask_page("/api/debug/folders").json()
    assert folders["own"]
    assert folders["all"] == []
    for foreign in ("/", "/etc", f"{folders['own']}/..", "~"):
        refused = post(victim, "/api/call", {"tool": "get_source", "arguments": {}, "workspace": foreign})
        assert (refused.status, refused.json()["error"]["code"]) == (404, "unknown_folder")
    assert post(victim, "/api/call", {"tool": "list_sessions", "workspace": folders["own"]}).status == 200
