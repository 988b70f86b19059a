"""`dragoman config` as a person meets it: the real command in its own process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from dragoman.cli.config import config_set
from dragoman.core.errors import DragomanError


def dragoman(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "dragoman.cli.main", *arguments],
        check=False,
        capture_output=True,
        text=True,
        env=os.environ | variables,
        timeout=60,
    )


@pytest.fixture
def file(home: Path) -> Path:
    (home / "config").mkdir()
    return home / "config" / "settings.toml"


def test_the_path_of_the_file_is_printed_before_it_exists(home: Path) -> None:
    done = dragoman("config", "path")
    assert (done.returncode, done.stdout) == (0, f"{home}/config/settings.toml\n")


def test_a_value_is_set_and_read_back_and_the_restart_is_mentioned(home: Path) -> None:
    done = dragoman("config", "set", "port", "9000")
    assert done.returncode == 0
    assert "Set: port = 9000" in done.stdout
    assert "`dragoman restart`" in done.stdout
    assert dragoman("config", "get", "port").stdout == "9000\n"
    assert (home / "config").stat().st_mode & 0o777 == 0o700


@pytest.mark.requirement("foundation:auto-start:setting")
def test_whether_an_editor_starts_the_daemon_is_a_setting() -> None:
    assert dragoman("config", "get", "auto_start").stdout == "true\n"
    assert "`dragoman restart`" in dragoman("config", "set", "auto_start", "off").stdout
    assert dragoman("config", "get", "auto_start").stdout == "false\n"


def test_what_counts_at_once_mentions_no_restart() -> None:
    done = dragoman("config", "set", "mcp_starts_daemon", "no")
    assert done.stdout == "Set: mcp_starts_daemon = false\n"


def test_a_setting_that_is_set_to_nothing_is_cleared() -> None:
    assert dragoman("config", "set", "gateway_token_file", "").stdout.startswith("gateway_token_file cleared.\n")


def test_comments_stay_and_the_mode_stays(file: Path) -> None:
    file.write_text("# mine\nport = 1  # why\n")
    file.chmod(0o640)
    dragoman("config", "set", "port", "2")
    assert file.read_text() == "# mine\nport = 2  # why\n"
    assert file.stat().st_mode & 0o777 == 0o640


def test_a_link_stays_a_link_and_its_file_is_changed(file: Path, tmp_path: Path) -> None:
    dotfile = tmp_path / "dotfiles" / "dragoman.toml"
    file.symlink_to(dotfile)
    assert dragoman("config", "set", "port", "2").returncode == 0
    assert file.readlink() == dotfile
    assert dotfile.read_text() == "port = 2\n"


def test_a_wrong_value_changes_nothing_and_says_what_is_allowed(file: Path) -> None:
    file.write_text("port = 1\n")
    done = dragoman("config", "set", "port", "70000")
    assert done.returncode == 1
    assert "an integer from 0 to 65535" in done.stderr
    assert file.read_text() == "port = 1\n"
    assert list(file.parent.iterdir()) == [file]


def test_a_negative_number_is_a_value_not_an_option(file: Path) -> None:
    done = dragoman("config", "set", "port", "-1")
    assert done.returncode == 1
    assert "Invalid value -1 for the setting port" in done.stderr


@pytest.mark.parametrize("arguments", [("get", "prot"), ("set", "prot", "1")])
def test_an_unknown_key_suggests_the_nearest(arguments: tuple[str, ...]) -> None:
    done = dragoman("config", *arguments)
    assert done.returncode == 1
    assert done.stderr == "dragoman: Unknown setting: prot.\n  Did you mean port?\n"


def test_a_value_hidden_by_a_variable_is_set_with_a_warning(file: Path) -> None:
    done = dragoman("config", "set", "port", "2", DRAGOMAN_PORT="3")
    assert done.stdout.startswith("Set: port = 2")
    assert done.stderr == "The environment variable DRAGOMAN_PORT is set and overrides the file.\n"
    assert dragoman("config", "get", "port", DRAGOMAN_PORT="3").stdout == "3\n"


def test_the_list_shows_each_value_with_its_source(file: Path) -> None:
    file.write_text("\nport = 9000\n")
    done = dragoman("config", "list", DRAGOMAN_LOG_LEVEL="debug", DRAGOMAN_PROT="1")
    assert f"port = 9000  ({file}, line 2)\n" in done.stdout
    assert "log_level = debug  (the environment variable DRAGOMAN_LOG_LEVEL)\n" in done.stdout
    assert "auto_start = true  (the default)\n    Whether an editor may start the daemon" in done.stdout
    assert done.stderr == "Unknown environment variable DRAGOMAN_PROT. Did you mean DRAGOMAN_PORT?\n"


def test_the_list_as_json_has_every_setting_with_its_source(file: Path) -> None:
    file.write_text("auto_start = false\n")
    rows = {row["key"]: row for row in json.loads(dragoman("config", "list", "--json").stdout)}
    assert rows["auto_start"] == {
        "key": "auto_start",
        "value": False,
        "default": True,
        "source": "file",
        "file": str(file),
        "line": 1,
        "variable": "DRAGOMAN_AUTO_START",
        "needs_restart": True,
        "about": "Whether an editor may start the daemon when it opens.",
        "allowed": "true or false",
    }
    assert (rows["port"]["source"], rows["port"]["file"], rows["port"]["line"]) == ("default", None, None)


def test_chinese_is_spoken_where_it_is_read(file: Path) -> None:
    file.write_text("prot = 1\n")
    done = dragoman("config", "list", DRAGOMAN_LANG="zh_CN.UTF-8")
    assert done.stderr == f"dragoman: {file} 第 1 行：未知的设置 prot。\n  是不是想写 port？\n"


def test_a_broken_file_is_an_error_also_as_json(file: Path) -> None:
    file.write_text("port = ?\n")
    done = dragoman("config", "list", "--json")
    assert done.returncode == 1
    assert json.loads(done.stdout)["error"]["code"] == "bad_settings"


def test_settings_changed_by_many_commands_at_once_are_all_kept(file: Path) -> None:
    changes = {"port": "9", "log_level": "error", "auto_start": "false", "journal_max_age_days": "7"}
    with ThreadPoolExecutor() as pool:
        codes = list(pool.map(lambda change: dragoman("config", "set", *change).returncode, changes.items()))
    assert codes == [0, 0, 0, 0]
    assert sorted(file.read_text().splitlines()) == [
        "auto_start = false",
        "journal_max_age_days = 7",
        'log_level = "error"',
        "port = 9",
    ]


def test_a_file_that_cannot_be_written_is_named_with_the_reason(home: Path) -> None:
    (home / "config").write_text("in the way")
    with pytest.raises(DragomanError) as caught:
        config_set("port", "1")
    assert caught.value.code == "settings_not_written"
    assert "settings.toml (File exists)" in str(caught.value)
