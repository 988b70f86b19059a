"""The table of clients: every shape and place is the one that the client documents."""

from __future__ import annotations

import json
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest

from dragoman.clients.catalog import BY_ID, CLIENTS, McpClient
from dragoman.clients.descriptions import describe_all
from dragoman.clients.edits import snippet
from dragoman.clients.entries import (
    HttpEndpoint,
    desired_http_entry,
    desired_stdio_entry,
    find_client,
    http_entry,
    merge_entry,
    own_command,
    require_no_token,
    stdio_entry,
)
from dragoman.clients.machine import Machine, this_machine
from dragoman.core.errors import DragomanError
from tests.clients.conftest import InstallScript
from tests.clients.samples import COMMAND

ENDPOINT = HttpEndpoint("http://127.0.0.1:8765/mcp", "s3cret")
PLAIN = {"command": "/opt/tools/dragoman", "args": ["mcp"]}
BEARER = {"Authorization": "Bearer s3cret"}
URL = {"url": ENDPOINT.url, "headers": BEARER}


@pytest.mark.requirement(
    "foundation:templates:offered",
    "foundation:templates:claude",
    "foundation:templates:cursor",
    "foundation:templates:cline",
    "foundation:templates:other-clients",
)
@pytest.mark.parametrize(
    ("id", "container", "stdio", "http"),
    [
        ("claude-code", "mcpServers", {"type": "stdio", **PLAIN}, {"type": "http", **URL}),
        ("claude-desktop", "mcpServers", PLAIN, None),
        ("cursor", "mcpServers", PLAIN, URL),
        ("cline", "mcpServers", PLAIN, {"type": "streamableHttp", **URL}),
        ("vscode", "servers", {"type": "stdio", **PLAIN}, {"type": "http", **URL}),
        ("codex", "mcp_servers", PLAIN, {"url": ENDPOINT.url, "bearer_token_env_var": "DRAGOMAN_TOKEN"}),
        ("gemini", "mcpServers", PLAIN, {"type": "http", **URL}),
        ("zed", "context_servers", PLAIN, URL),
        ("devin", "mcpServers", PLAIN, {"transport": "http", **URL}),
        ("windsurf", "mcpServers", PLAIN, {"serverUrl": ENDPOINT.url, "headers": BEARER}),
        ("kilo", "mcp", {"type": "local", "command": ["/opt/tools/dragoman", "mcp"]}, {"type": "remote", **URL}),
        ("kilo-old", "mcpServers", PLAIN, {"type": "streamable-http", **URL}),
        ("roo", "mcpServers", PLAIN, {"type": "streamable-http", **URL}),
        ("jetbrains", "mcpServers", PLAIN, None),
    ],
)
def test_every_client_gets_the_shape_that_it_reads(
    id: str, container: str, stdio: dict[str, object], http: dict[str, object] | None
) -> None:
    client = BY_ID[id]
    parse = tomllib.loads if client.format == "toml" else json.loads
    assert parse(snippet(client, stdio_entry(client, COMMAND))) == {container: {"dragoman": stdio}}
    if http is not None:
        assert http_entry(client, ENDPOINT) == http
        return
    with pytest.raises(DragomanError, match="does not support HTTP servers"):
        http_entry(client, ENDPOINT)


@pytest.mark.parametrize(
    ("id", "linux", "macos"),
    [
        ("claude-code", ".claude.json", ".claude.json"),
        (
            "claude-desktop",
            ".config/Claude/claude_desktop_config.json",
            "Library/Application Support/Claude/claude_desktop_config.json",
        ),
        ("cursor", ".cursor/mcp.json", ".cursor/mcp.json"),
        ("vscode", ".config/Code/User/mcp.json", "Library/Application Support/Code/User/mcp.json"),
        ("codex", ".codex/config.toml", ".codex/config.toml"),
        ("gemini", ".gemini/settings.json", ".gemini/settings.json"),
        ("zed", ".config/zed/settings.json", ".config/zed/settings.json"),
        ("devin", ".config/devin/mcp_config.json", ".config/devin/mcp_config.json"),
        ("windsurf", ".codeium/windsurf/mcp_config.json", ".codeium/windsurf/mcp_config.json"),
        ("kilo", ".config/kilo/kilo.jsonc", ".config/kilo/kilo.jsonc"),
    ],
)
def test_files_are_where_the_platform_has_them(machine: Machine, id: str, linux: str, macos: str) -> None:
    client = BY_ID[id]
    assert client.file(machine) == machine.home / linux
    assert client.file(replace(machine, system="macos")) == machine.home / macos


@pytest.mark.parametrize(
    ("id", "variable", "value", "file"),
    [
        ("claude-code", "CLAUDE_CONFIG_DIR", "/else", "/else/.claude.json"),
        ("codex", "CODEX_HOME", "/else", "/else/config.toml"),
        ("zed", "XDG_CONFIG_HOME", "/else", "/else/zed/settings.json"),
        ("cline", "CLINE_MCP_SETTINGS_PATH", "/else/c.json", "/else/c.json"),
    ],
)
def test_a_variable_moves_the_file(machine: Machine, id: str, variable: str, value: str, file: str) -> None:
    moved = replace(machine, environment={variable: value})
    assert BY_ID[id].file(moved) == Path(file)


def test_a_relative_folder_in_a_variable_is_not_followed(machine: Machine) -> None:
    moved = replace(machine, environment={"XDG_CONFIG_HOME": "relative"})
    assert BY_ID["zed"].file(moved) == machine.home / ".config/zed/settings.json"


def test_the_older_place_is_used_while_only_it_is_there(machine: Machine) -> None:
    cline = BY_ID["cline"]
    new = machine.home / ".cline/data/settings/cline_mcp_settings.json"
    old = machine.home / ".config/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json"
    assert cline.file(machine) == new
    old.parent.mkdir(parents=True)
    assert cline.file(machine) == old
    old.write_text("{}")
    new.parent.mkdir(parents=True)
    assert cline.file(machine) == old
    new.write_text("{}")
    assert cline.file(machine) == new


@pytest.mark.parametrize("client", [client for client in CLIENTS if client.files], ids=lambda client: client.id)
def test_a_client_is_installed_when_it_left_a_trace(machine: Machine, client: McpClient) -> None:
    assert not client.is_installed(machine)
    file = client.file(machine)
    assert file is not None
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("")
    assert client.is_installed(machine)


@pytest.mark.parametrize("client", [client for client in CLIENTS if client.program], ids=lambda client: client.id)
def test_a_client_is_installed_when_its_program_is_found(
    machine: Machine, install: InstallScript, client: McpClient
) -> None:
    install(client.program, "")
    assert client.is_installed(machine)


@pytest.mark.parametrize(
    ("id", "command"),
    [
        ("claude-code", "claude mcp add -s user dragoman -- /opt/tools/dragoman mcp"),
        ("codex", "codex mcp add dragoman -- /opt/tools/dragoman mcp"),
        ("gemini", "gemini mcp add -s user dragoman /opt/tools/dragoman mcp"),
    ],
)
def test_own_commands_are_spelled_as_their_programs_want_them(id: str, command: str) -> None:
    assert own_command(BY_ID[id], "stdio", COMMAND, ENDPOINT) == command.split()


def test_vs_code_is_given_the_entry_as_json() -> None:
    program, flag, described = own_command(BY_ID["vscode"], "stdio", COMMAND, ENDPOINT)
    assert (program, flag) == ("code", "--add-mcp")
    assert json.loads(described) == {"name": "dragoman", "type": "stdio", **PLAIN}


@pytest.mark.parametrize("client", CLIENTS, ids=lambda client: client.id)
def test_no_secret_is_ever_an_argument_because_everybody_can_read_those(client: McpClient) -> None:
    assert not any(ENDPOINT.token in word for word in own_command(client, "http", COMMAND, ENDPOINT))


def test_an_endpoint_does_not_print_its_token() -> None:
    assert ENDPOINT.token not in repr(ENDPOINT)


def test_what_the_user_added_stays_and_what_contradicts_us_goes() -> None:
    http = {"type": "http", "url": "u", "headers": {}, "env": {"A": "1"}, "disabled": True}
    assert merge_entry(http, {"command": "d"}, "stdio") == {"env": {"A": "1"}, "disabled": True, "command": "d"}
    stdio = {"type": "stdio", "command": "d", "args": [], "alwaysAllow": ["x"]}
    assert merge_entry(stdio, {"url": "u"}, "http") == {"alwaysAllow": ["x"], "url": "u"}
    assert merge_entry({"type": "stdio", "command": "old"}, {"command": "d"}, "stdio") == {
        "type": "stdio",
        "command": "d",
    }
    assert merge_entry("nonsense", {"command": "d"}, "stdio") == {"command": "d"}


def test_a_project_file_names_the_program_without_this_machines_path(machine: Machine) -> None:
    desired = desired_stdio_entry(BY_ID["cursor"], machine, COMMAND, project=True)
    assert desired.path == machine.project / ".cursor/mcp.json"
    assert desired.entry == {"command": "dragoman", "args": ["mcp"]}
    assert desired.own_command == ()


def test_a_token_never_goes_into_a_project_file(machine: Machine) -> None:
    with pytest.raises(DragomanError, match="is a project file"):
        require_no_token(desired_http_entry(BY_ID["cursor"], machine, ENDPOINT, project=True))
    require_no_token(desired_http_entry(BY_ID["codex"], machine, ENDPOINT, project=True))


def test_a_client_without_a_file_says_so_when_one_is_needed(machine: Machine) -> None:
    with pytest.raises(DragomanError, match="no known configuration file"):
        _ = desired_stdio_entry(BY_ID["jetbrains"], machine, COMMAND).file
    with pytest.raises(DragomanError, match="no known configuration file"):
        _ = desired_stdio_entry(BY_ID["windsurf"], machine, COMMAND, project=True).file


def test_an_unknown_client_is_answered_with_the_known_ones() -> None:
    with pytest.raises(DragomanError, match=r"Unknown MCP client: emacs.*cursor"):
        find_client("emacs")


def test_the_listing_is_plain_data_without_secrets_for_every_client(machine: Machine) -> None:
    shown = HttpEndpoint(ENDPOINT.url, "PLACEHOLDER")
    rows = [{**row, "note": str(row["note"])} for row in describe_all(machine, COMMAND, shown)]
    assert [row["id"] for row in json.loads(json.dumps(rows))] == [client.id for client in CLIENTS]
    cursor = next(row for row in rows if row["id"] == "cursor")
    assert cursor["stdio"]["entry"] == PLAIN
    assert json.loads(cursor["stdio"]["text"]) == {"mcpServers": {"dragoman": PLAIN}}
    assert cursor["path"] == str(machine.home / ".cursor/mcp.json")
    assert (cursor["exists"], cursor["installed"], cursor["cli"]) == (False, False, None)
    assert next(row for row in rows if row["id"] == "claude-desktop")["http"] is None


def test_this_machine_is_one_we_know() -> None:
    here = this_machine({"PATH": "/usr/bin:/bin"})
    assert here.system in {"linux", "macos"}
    assert here.which("sh") is not None
    assert here.which("no-such-program") is None


def test_the_guide_names_every_client_with_its_file_and_key() -> None:
    rows = (Path(__file__).parents[2] / "docs/reference/clients.md").read_text().splitlines()
    for client in CLIENTS:
        row = next(row for row in rows if row.startswith(f"| `{client.id}` |"))
        assert client.title.partition(" (")[0] in row
        assert client.container in row
        assert client.project_file in row
        assert ("| no" in row) == (client.http is None)
