"""Where things live, and which language is spoken."""

from __future__ import annotations

import copy
import os
from pathlib import Path

import pytest

from dragoman.core.ids import is_safe_id, new_id
from dragoman.core.localization import (
    join_sentences,
    join_texts,
    localize,
    localized_str,
    preferred_language,
    text_in_language,
)
from dragoman.core.paths import SOCKET_PATH_LIMIT, find_paths


def test_one_variable_moves_everything_under_one_folder(tmp_path: Path) -> None:
    paths = find_paths({"DRAGOMAN_HOME": "/srv/d"})
    everything = [
        paths.settings_file,
        paths.token_file("mcp"),
        paths.journal_folder,
        paths.log_file,
        paths.lock_file,
    ]
    assert all(path.is_relative_to("/srv/d") for path in [*everything, paths.state_file, paths.socket])


def test_a_deep_home_gets_a_socket_path_that_fits_and_is_its_own() -> None:
    one = find_paths({"DRAGOMAN_HOME": "/" + "deep/" * 60})
    two = find_paths({"DRAGOMAN_HOME": "/" + "deep/" * 61})
    assert len(os.fsencode(one.socket)) <= SOCKET_PATH_LIMIT
    assert one.runtime != two.runtime
    assert str(os.getuid()) in one.runtime.name


def test_the_xdg_variables_are_followed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.platform", "linux")
    paths = find_paths({"XDG_CONFIG_HOME": "/c", "XDG_STATE_HOME": "/s"})
    assert (paths.config, paths.state, paths.runtime) == (
        Path("/c/dragoman"),
        Path("/s/dragoman"),
        Path("/s/dragoman/run"),
    )


def test_a_relative_xdg_folder_is_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.platform", "linux")
    assert find_paths({"XDG_CONFIG_HOME": "c", "XDG_STATE_HOME": "./s"}) == find_paths({})


@pytest.mark.parametrize("home", ["/home/ada", "/home/" + "deep/" * 40])
def test_a_client_that_hands_on_only_a_few_variables_finds_the_same_daemon(
    home: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The MCP SDKs start a server with HOME, LOGNAME, PATH, SHELL, TERM and USER, and nothing else."""
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setenv("HOME", home)
    in_a_shell = find_paths({"HOME": home, "XDG_RUNTIME_DIR": "/run/user/1000"})
    monkeypatch.setenv("TMPDIR", "/var/tmp")
    monkeypatch.setattr("tempfile.tempdir", None)
    assert find_paths({"HOME": home}) == in_a_shell


def test_on_macos_everything_is_in_application_support(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.platform", "darwin")
    assert "Application Support" in str(find_paths({}).state)


@pytest.mark.parametrize(
    ("environment", "language"),
    [
        ({}, "en"),
        ({"LANG": "zh_CN.UTF-8"}, "zh"),
        ({"LANG": "zh_CN.UTF-8", "LC_ALL": "C"}, "en"),
        ({"LANG": "de_DE", "DRAGOMAN_LANG": "zh"}, "zh"),
        ({"LANG": "zh_TW", "DRAGOMAN_LANG": "en"}, "en"),
    ],
)
def test_the_language_is_ours_first_then_the_locales(environment: dict[str, str], language: str) -> None:
    assert preferred_language(environment) == language


def test_a_phrase_inside_a_phrase_is_in_the_same_language() -> None:
    inner = localize("No daemon is running.")
    assert (
        localize("The daemon did not start: {reason}.", reason=inner)
        .in_language("zh")
        .endswith(inner.in_language("zh") + "。")
    )


def test_sentences_follow_each_other_as_their_language_writes_them() -> None:
    entries = (localize("No daemon is running."), None, localize("Start one with `dragoman up`."))
    assert join_sentences(entries, "en") == "No daemon is running. Start one with `dragoman up`."
    assert " " not in join_sentences((localize("No daemon is running."), localize("No active sessions.")), "zh")
    assert join_sentences(("没有", "请重试。"), "zh") == "没有。请重试。"


def test_phrases_and_data_are_joined_and_each_phrase_is_in_the_language_of_the_whole() -> None:
    line = join_texts("  ", ("{x}", localize("No daemon is running."), 3))
    assert str(line) == "{x}  No daemon is running.  3"
    assert line.in_language("zh") == f"{{x}}  {localize('No daemon is running.').in_language('zh')}  3"


def test_a_sentence_that_was_kept_as_text_is_shown_in_the_language_of_its_reader() -> None:
    kept = localized_str(localize("No daemon is running."))
    assert kept == "No daemon is running."
    assert text_in_language(kept, "zh") == localize("No daemon is running.").in_language("zh")
    assert copy.deepcopy({"why": kept})["why"].phrase == kept.phrase
    assert kept.phrase.in_language("zh") in localize("The daemon did not start: {reason}.", reason=kept).in_language(
        "zh"
    )
    assert text_in_language("of others", "zh") == "of others"


def test_ids_are_safe_in_a_path_and_a_peers_path_is_not_an_id() -> None:
    assert is_safe_id(new_id("run"))
    assert [text for text in ("../../x", "", "a/b", ".", "-x", "a" * 65, "a\0", "ä", "a\n") if is_safe_id(text)] == []
