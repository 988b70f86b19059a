"""The settings at the page: where each comes from, changed by the rules of the command line, or not at all."""

from __future__ import annotations

import json
import tomllib
from typing import Any

import pytest

from dragoman.core.settings.schema import Settings
from dragoman.servers.web.settings_api import CHANGED_BY_PAGES
from tests.daemons import call, eventually
from tests.raw_http import Answer
from tests.servers.target_daemon import TargetDaemon

CHINESE = "zh-CN"


def get(victim: TargetDaemon, path: str, language: str = "en") -> Any:
    return victim.ask_page(path, language=language).json()


def post(victim: TargetDaemon, path: str, body: Any, language: str = "en") -> Answer:
    return victim.ask_page(path, "POST", body, language=language)


def change(victim: TargetDaemon, key: str, value: str, language: str = "en") -> Answer:
    return post(victim, "/api/settings/change", {"key": key, "value": value}, language)


def row(victim: TargetDaemon, key: str) -> Any:
    return next(it for it in get(victim, "/api/settings")["settings"] if it["key"] == key)


def test_every_setting_is_shown_with_its_source_and_the_server_with_its_port(victim: TargetDaemon) -> None:
    answer = get(victim, "/api/settings", CHINESE)
    assert {it["key"] for it in answer["settings"]} == set(Settings.model_fields)
    assert answer["server"]["port"] == victim.port
    assert answer["file"] == str(victim.paths.settings_file)
    assert all(any(letter >= "\u4e00" for letter in it["about"]) for it in answer["settings"])


def test_a_change_is_written_with_its_comments_kept_and_waits_for_a_restart(victim: TargetDaemon) -> None:
    victim.paths.settings_file.parent.mkdir(parents=True, exist_ok=True)
    victim.paths.settings_file.write_text("# mine\nlog_level = 'info'  # why\n")
    answer = change(victim, "log_level", "debug").json()
    assert victim.paths.settings_file.read_text() == '# mine\nlog_level = "debug"  # why\n'
    assert (answer["value"], answer["source"], answer["waits_for_restart"]) == ("debug", "file", True)
    assert row(victim, "log_level")["waits_for_restart"] is True
    assert change(victim, "log_level", "info").json()["waits_for_restart"] is False
    last = get(victim, f"/api/events?after={call(victim.paths, 'status')['journal_sequence'] - 1}")["events"][0]
    assert (last["event"]["kind"], last["event"]["body"]["key"]) == ("daemon.setting_changed", "log_level")


@pytest.mark.parametrize(
    ("key", "value", "text"),
    [("port", "70000", "65535"), ("model_address", "ftp://127.0.0.1", "http://"), ("auto_start", "perhaps", "true")],
)
def test_a_wrong_value_is_refused_with_what_is_allowed_and_nothing_is_written(
    victim: TargetDaemon, key: str, value: str, text: str
) -> None:
    before = row(victim, key)["value"]
    refused = change(victim, key, value)
    assert (refused.status, refused.json()["error"]["code"]) == (400, "bad_settings")
    assert text in refused.json()["error"]["message"]
    assert row(victim, key)["value"] == before
    assert "允许的值" in change(victim, key, value, CHINESE).json()["error"]["message"]


FOR_THE_COMMAND_LINE = sorted(
    {"bind", "allow_remote", "redact", "redact_names", "allowed_folders", "adapters", "targets"}
    | {"model_key_command", "gateway_token_file", "record_raw_input", "ignore_commands"}
    | {"model_key_variable", "gateway_token_variable"}
)


@pytest.mark.parametrize("key", FOR_THE_COMMAND_LINE)
def test_what_runs_programs_or_opens_the_machine_is_not_changed_from_a_page(victim: TargetDaemon, key: str) -> None:
    refused = change(victim, key, "true")
    assert (refused.status, refused.json()["error"]["code"]) == (403, "not_for_pages")
    assert key in refused.json()["error"]["hint"]
    assert row(victim, key)["may_change"] is False


ELSEWHERE = ["{}://evil.example/v1", "{}://127.0.0.1@evil.example", "{}://evil.example\\@127.0.0.1", "{}://10.0.0.1"]


@pytest.mark.parametrize(("key", "scheme"), [("model_address", "https"), ("gateway_address", "wss")])
@pytest.mark.parametrize("elsewhere", ELSEWHERE)
def test_no_page_sends_a_secret_to_another_machine(victim: TargetDaemon, key: str, scheme: str, elsewhere: str) -> None:
    before = row(victim, key)["value"]
    refused = change(victim, key, elsewhere.format(scheme))
    assert (refused.status, refused.json()["error"]["code"]) == (403, "not_for_pages")
    assert f"dragoman config set {key}" in refused.json()["error"]["hint"]
    assert row(victim, key)["value"] == before


def test_a_model_of_this_machine_is_chosen_at_the_page(victim: TargetDaemon) -> None:
    for address in ("http://127.0.0.1:11434/v1", "http://localhost:11434/v1", "http://[::1]:11434/v1", ""):
        assert change(victim, "model_address", address).json()["value"] == address
    assert "本机" in next(
        it["from_page"] for it in get(victim, "/api/settings", CHINESE)["settings"] if it["key"] == "model_address"
    )


def test_the_table_of_what_pages_change_names_settings_alone() -> None:
    assert set(Settings.model_fields) >= CHANGED_BY_PAGES
    assert CHANGED_BY_PAGES.isdisjoint(FOR_THE_COMMAND_LINE)


def test_no_setting_that_does_not_exist_is_set(victim: TargetDaemon) -> None:
    assert change(victim, "no_such", "1").status == 404
    assert post(victim, "/api/settings/change", {"key": "port"}).status == 400


def test_credentials_of_an_address_and_the_commands_of_adapters_are_not_shown(victim: TargetDaemon) -> None:
    file = victim.paths.settings_file
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(
        'model_address = "https://me:hunter2@models.example/v1?key=hunter2"\n'
        '[adapters.mine]\ncommand = ["/bin/hunter2"]\ntypes = ["lua"]\n'
    )
    try:
        shown = get(victim, "/api/settings")
        assert "hunter2" not in json.dumps(shown)
        assert "https://…models.example/v1?…" in json.dumps(shown, ensure_ascii=False)
    finally:
        file.write_text("")


def test_clients_are_given_their_configuration_and_never_a_token(victim: TargetDaemon) -> None:
    answer = get(victim, "/api/settings/clients")["clients"]
    tokens = [file.read_text().strip() for file in victim.paths.tokens_folder.iterdir()]
    assert tokens
    assert all(token not in json.dumps(answer) for token in tokens)
    codex = next(it for it in answer if it["id"] == "codex")
    assert "dragoman" in tomllib.loads(codex["stdio"]["text"])["mcp_servers"]
    claude = next(it for it in answer if it["id"] == "claude-code")
    assert f"http://127.0.0.1:{victim.port}/mcp" in claude["http"]["text"]
    desktop = next(
        it for it in get(victim, "/api/settings/clients", CHINESE)["clients"] if it["id"] == "claude-desktop"
    )
    assert desktop["http"] is None
    assert any(letter >= "\u4e00" for letter in desktop["note"])


def test_the_gateway_is_that_of_the_settings_and_its_state_has_a_reason(victim: TargetDaemon) -> None:
    assert get(victim, "/api/gateway")["state"] == "disconnected"
    assert post(victim, "/api/gateway/connect", {"url": "ws://127.0.0.1:1"}).status == 400
    data = post(victim, "/api/gateway/connect", {}).json()
    assert data["address"] == "ws://127.0.0.1:18789"
    assert data["code"] == "gateway_unreachable"
    assert data["reason"]
    assert post(victim, "/api/gateway/disconnect", {}).status == 200
    eventually(lambda: get(victim, "/api/gateway")["state"] == "disconnected")


def test_watches_come_and_go_one_by_one_whatever_another_tab_knows_of_them(victim: TargetDaemon) -> None:
    def watched(**wanted: str) -> list[str]:
        return list(post(victim, "/api/preferences/change", wanted).json()["watches"])

    assert [watched(watch="total"), watched(watch="rate"), watched(watch="total")][-1] == ["total", "rate"]
    assert watched(unwatch="total") == ["rate"]
    assert get(victim, "/api/preferences")["watches"] == ["rate"]
    assert post(victim, "/api/preferences/change", {"watch": "x" * 2001}).status == 400
    for number in range(250):
        watched(watch=f"each[{number}]")
    assert len(get(victim, "/api/preferences")["watches"]) == 200
