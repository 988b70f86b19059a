"""Settings: what a person wrote is read exactly, or the answer says where it is wrong and what would be right."""

from __future__ import annotations

import json
import os
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from dragoman.clients.catalog import TOKEN_VARIABLE
from dragoman.core.errors import DragomanError
from dragoman.core.paths import Paths
from dragoman.core.settings.loader import (
    SIZE_LIMIT,
    Setting,
    describe_settings,
    edit_settings_text,
    explain_settings,
    find_setting,
    load_settings,
    unknown_variables,
)
from dragoman.core.settings.schema import Settings
from dragoman.shell.settings import ShellSettings


@pytest.fixture
def paths(tmp_path: Path) -> Paths:
    return Paths(config=tmp_path, state=tmp_path / "state", runtime=tmp_path / "run")


def write(paths: Paths, text: str | bytes) -> Path:
    data = text.encode() if isinstance(text, str) else text
    paths.settings_file.write_bytes(data)
    paths.settings_file.chmod(0o644)
    return paths.settings_file


def refusal(paths: Paths, text: str | bytes, environment: dict[str, str] | None = None) -> str:
    """What is said about a file (and variables) that cannot be used, without the folder's name."""
    write(paths, text)
    with pytest.raises(DragomanError) as caught:
        load_settings(paths, environment or {})
    assert caught.value.code == "bad_settings"
    assert caught.value.hint is not None
    return str(caught.value).replace(f"{paths.config}/", "")


def outcome(paths: Paths) -> str:
    try:
        load_settings(paths, {})
    except DragomanError as error:
        return error.code
    return "read"


def test_without_a_file_every_setting_has_its_default(paths: Paths) -> None:
    assert load_settings(paths, {}) == Settings()
    assert (Settings().port, Settings().bind, Settings().auto_start) == (8177, "127.0.0.1", True)


def test_the_file_is_read_and_variables_win_over_it(paths: Paths) -> None:
    write(paths, 'port = 9000\nlog_level = "debug"\nauto_start = false\n')
    settings = load_settings(paths, {"DRAGOMAN_PORT": "9100", "DRAGOMAN_AUTO_START": "yes"})
    assert (settings.port, settings.log_level, settings.auto_start) == (9100, "debug", True)


def test_settings_cannot_be_changed_or_extended() -> None:
    with pytest.raises(ValidationError):
        Settings().port = 1
    with pytest.raises(ValidationError):
        Settings.model_validate({"colour": "blue"})


@pytest.mark.parametrize("text", ["true", "Yes", "on", "1", " true "])
def test_a_switch_in_a_variable_may_be_written_as_people_write_it(paths: Paths, text: str) -> None:
    assert load_settings(paths, {"DRAGOMAN_ALLOW_REMOTE": text}).allow_remote is True


def test_an_empty_variable_counts_as_unset(paths: Paths) -> None:
    write(paths, "port = 9000\n")
    assert load_settings(paths, {"DRAGOMAN_PORT": "", "DRAGOMAN_BIND": ""}).port == 9000


@pytest.mark.parametrize(
    ("line", "found", "allowed"),
    [
        ("port = 70000", "port is 70000", "an integer from 0 to 65535"),
        ("port = -1", "port is -1", "an integer from 0 to 65535"),
        ('port = "8177"', 'port is "8177"', "an integer from 0 to 65535"),
        ("port = true", "port is true", "an integer from 0 to 65535"),
        ("port = 8177.0", "port is 8177.0", "an integer from 0 to 65535"),
        ("port = 1979-05-27", 'port is "1979-05-27"', "an integer"),
        ("port = { a = 1 }", 'port is {"a": 1}', "an integer"),
        ("auto_start = 1", "auto_start is 1", "true or false"),
        ('log_level = "loud"', 'log_level is "loud"', "one of debug, info, warning, error"),
        ('bind = "localhost"', 'bind is "localhost"', "not a host name"),
        ('bind = "127.1"', 'bind is "127.1"', "an IP address"),
        ("journal_max_age_days = 0", "journal_max_age_days is 0", "an integer from 1 to"),
        ("journal_max_size_mb = 0", "journal_max_size_mb is 0", "an integer from 1 to"),
    ],
)
def test_a_wrong_value_names_its_line_what_was_found_and_what_is_allowed(
    paths: Paths, line: str, found: str, allowed: str
) -> None:
    result = refusal(paths, f"# mine\n\n{line}  # here\n")
    assert result.startswith("settings.toml, line 3: ")
    assert found in result
    assert allowed in result


def test_a_long_wrong_value_is_cut_and_moves_no_cursor(paths: Paths) -> None:
    result = refusal(paths, 'port = "\\u001b[2J\\u009b' + "x" * 500 + '"\n')
    assert len(result) < 300
    assert result.isprintable()


def test_a_wrong_variable_is_named_instead_of_a_line(paths: Paths) -> None:
    result = refusal(paths, "port = 9000\n", {"DRAGOMAN_PORT": "80a"})
    assert result.startswith('the environment variable DRAGOMAN_PORT: port is "80a", but must be an integer')


@pytest.mark.parametrize("digits", ["9" * 19, "9" * 5000, "８１７７", "1_000", "0x10"])
def test_digits_that_are_not_a_decimal_number_are_refused_like_any_text(paths: Paths, digits: str) -> None:
    assert "must be an integer" in refusal(paths, "", {"DRAGOMAN_PORT": digits})


def test_an_unknown_key_is_answered_with_the_nearest(paths: Paths) -> None:
    assert refusal(paths, "\nprot = 1\n") == ("settings.toml, line 2: unknown setting prot. Did you mean port?")
    assert "`dragoman config list`" in refusal(paths, "colour = 1\n")


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('port = 1\nunknown_text = """\nport = 2\n[x]\n"""\n', 2),
        ("\n\n[server]\nport = 1\n", 3),
        ("[port]\nx = 1\n\n[[servers]]\nport = 2\n", 1),
        ('"port" = "x"\n', 1),
        ("log_level = \"info\"\r\n'port' = false\r\n", 2),
        ("port.number = 1\n", 1),
    ],
)
def test_the_line_is_right_behind_long_values_tables_and_quoted_keys(paths: Paths, text: str, line: int) -> None:
    assert refusal(paths, text).startswith(f"settings.toml, line {line}: ")


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("port = 1\nbind = ???\n", "line 2, column 8"),
        ("port = 1\nport = 2\n", "line 2, column 9"),
        ("port = 1\nport = 2", "line 2"),
        ("port = 1\nbind = [\n\n\n", "line 2"),
        ('port = 1\nbind = """\n# never closed\nport\n', "line 2"),
        ("port = 1\nx = " + "[" * 20_000, "line 2"),
        ("port = 1\nauto_start = true\njournal_max_age_days = " + "9" * 5000 + "\n", "line 3"),
        ("x = [" + "\n1," * 1000, "line 1"),
    ],
)
def test_what_is_not_toml_is_named_by_line_and_column(paths: Paths, text: str, place: str) -> None:
    assert refusal(paths, text).startswith(f"settings.toml, {place}: invalid TOML: ")


def test_a_byte_order_mark_is_not_an_error(paths: Paths) -> None:
    write(paths, b"\xef\xbb\xbfport = 9000\n")
    assert load_settings(paths, {}).port == 9000


@pytest.mark.parametrize("address", ["127.0.0.1", "::1"])
def test_the_address_of_loopback_needs_no_leave(paths: Paths, address: str) -> None:
    write(paths, f'bind = "{address}"\n')
    assert load_settings(paths, {}).bind == address


@pytest.mark.parametrize("address", [
    *("0.0.0.0", "192.168.1.2", "::", "fe80::1%eth0", "::ffff:10.0.0.1"),
    *("127.0.0.2", "127.8.9.1", "::ffff:127.0.0.1", "0:0:0:0:0:0:0:1"),  # there the page has no origin of its own
])  # fmt: skip
def test_any_other_address_is_refused_until_it_is_allowed_by_name(paths: Paths, address: str) -> None:
    assert "set allow_remote = true" in refusal(paths, f'bind = "{address}"\n')
    write(paths, f'bind = "{address}"\nallow_remote = true\n')
    assert load_settings(paths, {}).bind == address


def test_a_host_name_is_refused_even_where_remote_is_allowed(paths: Paths) -> None:
    assert "not a host name" in refusal(paths, 'allow_remote = true\nbind = "localhost"\n')


def test_a_special_file_is_refused_without_waiting(paths: Paths) -> None:
    paths.settings_file.mkdir()
    with pytest.raises(DragomanError, match="it is a folder or a device"):
        load_settings(paths, {})
    paths.settings_file.rmdir()
    os.mkfifo(paths.settings_file)
    with pytest.raises(DragomanError, match="it is a folder or a device"):
        load_settings(paths, {})


def test_bytes_that_are_not_utf8_are_named_by_line(paths: Paths) -> None:
    assert "line 2 is not UTF-8" in refusal(paths, b"port = 1\nbind = '\xff'\n")


def test_a_file_too_large_is_refused(paths: Paths) -> None:
    assert f"larger than {SIZE_LIMIT} bytes" in refusal(paths, "#" * (SIZE_LIMIT + 1))
    write(paths, "#" * SIZE_LIMIT)
    assert load_settings(paths, {}) == Settings()


def test_a_file_every_user_may_write_decides_nothing(paths: Paths) -> None:
    write(paths, "port = 1\n").chmod(0o666)
    with pytest.raises(DragomanError, match="it is writable by every user"):
        load_settings(paths, {})


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a file away")
def test_a_file_of_another_user_decides_nothing(paths: Paths) -> None:
    os.chown(write(paths, "port = 1\n"), 12345, -1)
    with pytest.raises(DragomanError, match=r"it is owned by another user \(uid 12345\)"):
        load_settings(paths, {})


def test_a_link_to_a_file_of_the_user_is_followed(paths: Paths, tmp_path: Path) -> None:
    dotfile = tmp_path / "dotfiles.toml"
    dotfile.write_text("port = 9000\n")
    paths.settings_file.symlink_to(dotfile)
    assert load_settings(paths, {}).port == 9000


def test_a_path_that_cannot_be_opened_is_named_with_the_reason(paths: Paths) -> None:
    paths.settings_file.symlink_to(paths.settings_file)
    with pytest.raises(DragomanError, match=r"it cannot be opened \(Too many levels of symbolic links\)"):
        load_settings(paths, {})


def test_an_unknown_variable_is_a_warning_with_the_nearest_name(paths: Paths) -> None:
    environment = {"DRAGOMAN_PROT": "1", "DRAGOMAN_HOME": "/x", "DRAGOMAN_LANG": "zh", "DRAGOMAN_PORT": "1", "PATH": ""}
    assert [str(localized) for localized in unknown_variables(environment)] == [
        "Unknown environment variable DRAGOMAN_PROT. Did you mean DRAGOMAN_PORT?"
    ]
    assert load_settings(paths, environment).port == 1


def test_a_variable_that_our_messages_name_is_not_called_unknown() -> None:
    assert unknown_variables({TOKEN_VARIABLE: "x", "DRAGOMAN_HOME": "/d", "DRAGOMAN_LANG": "zh"}) == []


def test_every_value_is_explained_by_where_it_comes_from(paths: Paths) -> None:
    file = write(paths, '# mine\nport = 9000\nlog_level = "debug"\n')
    entries = explain_settings(paths, {"DRAGOMAN_LOG_LEVEL": "error"})
    assert list(entries) == [setting.key for setting in describe_settings()]
    assert (entries["port"].value, str(entries["port"].source.localized())) == (9000, f"{file}, line 2")
    assert (entries["log_level"].value, str(entries["log_level"].source.localized())) == (
        "error",
        "the environment variable DRAGOMAN_LOG_LEVEL",
    )
    assert str(entries["bind"].source.localized()) == "the default"


def test_every_setting_says_what_it_is_in_both_languages_and_when_it_counts() -> None:
    for setting in describe_settings():
        english, chinese = (setting.about.in_language(language) for language in ("en", "zh"))
        assert english != chinese
        assert english.endswith(".")
        assert setting.variable == f"DRAGOMAN_{setting.key.upper()}"
    restarts = {setting.key for setting in describe_settings() if setting.needs_restart}
    assert {"port", "auto_start"} <= restarts
    assert "mcp_starts_daemon" not in restarts


def test_the_guide_shows_every_setting_with_its_default_and_when_it_counts() -> None:
    guide = (Path(__file__).parents[3] / "docs" / "reference" / "settings.md").read_text()
    rows = {row.split("`")[1]: row for row in guide.splitlines() if row.startswith("| `")}
    for setting in describe_settings():
        default = setting.default if isinstance(setting.default, str) else json.dumps(setting.default)
        assert f"| `{default}` |" in rows[setting.key]
        assert rows[setting.key].endswith(f"| {_counts(setting)} |")


def _counts(setting: Setting) -> str:
    """A wrapped shell reads what it needs when it opens."""
    in_shells = hasattr(ShellSettings(), setting.key)
    return "on restart" if setting.needs_restart else "in new shells" if in_shells else "at once"


def test_a_setting_that_is_not_there_is_answered_with_the_nearest() -> None:
    with pytest.raises(DragomanError) as caught:
        find_setting("auto_strat")
    assert caught.value.code == "unknown_setting"
    assert str(caught.value.hint) == "Did you mean auto_start?"


def test_setting_a_value_keeps_comments_order_and_line_ends(paths: Paths) -> None:
    file = write(paths, '# top\nport = 1  # why\r\n\n# below\nbind = "::1"\n# end')
    assert edit_settings_text(file, "port", "9000") == '# top\nport = 9000  # why\r\n\n# below\nbind = "::1"\n# end'


@pytest.mark.parametrize("old", ["", "bind = '::1'", "bind = '::1'\n# last", "# only this", "\n\n"])
def test_a_key_that_was_not_there_is_added(paths: Paths, old: str) -> None:
    new = edit_settings_text(write(paths, old), "log_level", "debug")
    assert tomllib.loads(new) == tomllib.loads(old) | {"log_level": "debug"}
    assert new.startswith(old.rstrip("\n"))


def test_a_list_of_names_comes_from_the_file_or_a_variable_and_holds_only_names(paths: Paths) -> None:
    file = write(paths, 'redact_names = ["pin", "iban"]\n')
    assert load_settings(paths, {}).redact_names == ["pin", "iban"]
    assert load_settings(paths, {"DRAGOMAN_REDACT_NAMES": "pin, cvv2,"}).redact_names == ["pin", "cvv2"]
    assert tomllib.loads(edit_settings_text(file, "redact_names", "cvv2")) == {"redact_names": ["cvv2"]}
    with pytest.raises(DragomanError, match=r"redact_names is .*, but must be a list of names"):
        load_settings(paths, {"DRAGOMAN_REDACT_NAMES": ".*"})


def test_setting_a_value_writes_nothing(paths: Paths) -> None:
    file = write(paths, "port = 1\n")
    edit_settings_text(file, "port", "2")
    assert file.read_text() == "port = 1\n"


def test_a_value_is_validated_before_it_is_set(paths: Paths) -> None:
    with pytest.raises(DragomanError, match=r"^Invalid value 70000 for the setting port: it must be"):
        edit_settings_text(write(paths, ""), "port", "70000")
    with pytest.raises(DragomanError, match="set allow_remote = true"):
        edit_settings_text(paths.settings_file, "bind", "0.0.0.0")


def test_a_wrong_value_can_be_repaired_and_a_wrong_neighbour_is_named(paths: Paths) -> None:
    assert edit_settings_text(write(paths, "port = 'x' # p\n"), "port", "1") == "port = 1 # p\n"
    with pytest.raises(DragomanError, match=r"line 1: port is \"x\""):
        edit_settings_text(paths.settings_file, "log_level", "debug")


def test_leave_for_remote_addresses_cannot_be_taken_away_under_one(paths: Paths) -> None:
    file = write(paths, 'bind = "0.0.0.0"\nallow_remote = true\n')
    with pytest.raises(DragomanError, match=r"line 1: bind is \"0\.0\.0\.0\""):
        edit_settings_text(file, "allow_remote", "false")


@given(st.binary(max_size=200))
def test_whatever_is_in_the_file_is_read_or_refused_with_a_reason(
    tmp_path_factory: pytest.TempPathFactory, data: bytes
) -> None:
    folder = tmp_path_factory.getbasetemp() / "any-bytes"
    folder.mkdir(exist_ok=True)
    paths = Paths(config=folder, state=folder, runtime=folder)
    write(paths, data)
    assert outcome(paths) in {"read", "bad_settings"}


STATEMENTS = ["x = '''\nport = 2\n'''", "y = [\n  1, # port = 4\n]", "# port = 3", "z.a = 'q' # c", "    "]


@given(
    before=st.lists(st.sampled_from(STATEMENTS), unique=True),
    after=st.sampled_from(["", "\n[t]\nport = 5\n", "\n[t.u]\n[[v]]\nport = 6"]),
    line_end=st.sampled_from(["\n", "\r\n"]),
)
def test_a_wrong_key_is_found_behind_and_before_anything_else(
    tmp_path_factory: pytest.TempPathFactory, before: list[str], after: str, line_end: str
) -> None:
    folder = tmp_path_factory.getbasetemp() / "any-lines"
    folder.mkdir(exist_ok=True)
    above = "".join(f"{statement}\n" for statement in before)
    text = f"{above}port = 'x'{after}".replace("\n", line_end)
    content = refusal(Paths(config=folder, state=folder, runtime=folder), text)
    assert content.startswith(f"settings.toml, line {above.count(chr(10)) + 1}: port")


def test_allowed_folders_are_whole_paths_or_begin_at_home(paths: Paths) -> None:
    file = write(paths, 'allowed_folders = ["/opt/lib", "~/shared"]\n')
    assert load_settings(paths, {}).allowed_folders == ["/opt/lib", "~/shared"]
    assert load_settings(paths, {"DRAGOMAN_ALLOWED_FOLDERS": "/a, /b"}).allowed_folders == ["/a", "/b"]
    with pytest.raises(
        DragomanError, match=r"Invalid value .* for the setting allowed_folders: it must be a list of folders, each an"
    ):
        edit_settings_text(file, "allowed_folders", "relative")
