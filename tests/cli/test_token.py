"""`dragoman token`: one token per client, made, listed and taken back by a person; and `client-config --http`."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from tests.daemons import Cli, cli_with_home


@pytest.fixture(scope="module")
def cli(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cli]:
    user = tmp_path_factory.mktemp("user")
    with cli_with_home(tmp_path_factory.mktemp("home"), {"DRAGOMAN_PORT": "0", "HOME": str(user)}) as made:
        assert made("up").returncode == 0
        yield made


def names(cli: Cli) -> list[tuple[str, str]]:
    return [(it["purpose"], it["name"]) for it in cli.json("token", "list")]


def test_a_client_token_is_made_shown_listed_and_revoked(cli: Cli) -> None:
    made = cli("token", "create", "my-agent", "--purpose", "gateway")
    token = made.stdout.strip()
    assert (made.returncode, len(token)) == (0, 43)
    assert cli("token", "show", "gateway", "my-agent").stdout.strip() == token
    assert names(cli) == [("gateway", "default"), ("gateway", "my-agent"), ("mcp", "default")]
    for listing in (cli("token", "list"), cli("status"), cli("doctor"), cli("status", "--json")):
        assert "my-agent" in listing.stdout
        assert token not in listing.stdout + listing.stderr
    again = cli("token", "create", "my-agent", "--purpose", "gateway")
    assert (again.returncode, "dragoman token show gateway my-agent" in again.stderr) == (1, True)
    revoked = cli("token", "revoke", "my-agent")
    assert (revoked.returncode, "Revoked: gateway my-agent." in revoked.stdout) == (0, True)
    assert ("gateway", "my-agent") not in names(cli)
    gone = cli("token", "revoke", "my-agent")
    assert (gone.returncode, "No mcp token is named 'my-agent'" in gone.stderr) == (1, True)
    assert "dragoman token rotate mcp" in cli("token", "revoke", "default").stderr


def test_client_config_over_http_gives_each_client_its_own_token(cli: Cli) -> None:
    for _ in range(2):
        assert cli("client-config", "cursor", "--http", "--write").returncode == 0
    assert names(cli).count(("mcp", "cursor")) == 1
    token = cli("token", "show", "mcp", "cursor").stdout.strip()
    assert token != cli.token("mcp")
    (written,) = (cli.home.parent / cli.environment["HOME"]).rglob("mcp.json")
    entry = json.loads(written.read_text())["mcpServers"]["dragoman"]
    assert entry["headers"] == {"Authorization": f"Bearer {token}"}
    rotated = cli("token", "rotate", "mcp")
    assert "dragoman token revoke NAME" in rotated.stdout
    assert cli("token", "show", "mcp", "cursor").stdout.strip() == token


def test_without_http_a_client_needs_no_token(cli: Cli) -> None:
    before = names(cli)
    assert cli("client-config", "windsurf", "--write").returncode == 0
    assert names(cli) == before
