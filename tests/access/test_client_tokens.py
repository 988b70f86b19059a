"""Tokens of single clients: their names, their files, their use, and that one is taken back alone."""

from __future__ import annotations

import stat
from pathlib import Path

import anyio
import pytest

from dragoman.access.tokens import AccessLinks, TokenHolder, Tokens
from dragoman.core.errors import DragomanError

EDITOR = TokenHolder("mcp", "some-editor")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "state" / "tokens"


def test_a_client_token_is_accepted_for_its_purpose_also_after_a_restart(folder: Path) -> None:
    token = Tokens(folder).clients.create(EDITOR)
    tokens = Tokens(folder)
    assert (tokens.holder("mcp", token), tokens.holder("gateway", token)) == (EDITOR, None)
    assert tokens.holder("mcp", tokens.of("mcp")) == TokenHolder("mcp", "default")
    assert tokens.holder("mcp", tokens.new_session(*EDITOR)) == EDITOR
    assert stat.S_IMODE((folder / "clients/mcp/some-editor").stat().st_mode) == 0o600
    assert stat.S_IMODE((folder / "clients/mcp").stat().st_mode) == 0o700


def test_earlier_tokens_become_the_default_ones(folder: Path) -> None:
    folder.mkdir(parents=True, mode=0o700)
    (folder / "mcp").write_text("of-before\n")
    (folder / "mcp").chmod(0o600)
    assert Tokens(folder).holder("mcp", "of-before") == TokenHolder("mcp", "default")


def test_a_revoked_one_is_refused_at_once_and_after_a_restart_and_the_others_are_not(folder: Path) -> None:
    tokens = Tokens(folder)
    mine, other = tokens.clients.create(EDITOR), tokens.clients.create(TokenHolder("mcp", "other"))
    session = tokens.new_session(*EDITOR)
    tokens.clients.revoke(EDITOR)
    for it in (tokens, Tokens(folder)):
        assert [it.accepts("mcp", text) for text in (mine, session, other, it.of("mcp"))] == [False, False, True, True]
    assert tokens.clients.create(EDITOR) != mine


def test_a_rotation_leaves_the_clients_tokens(folder: Path) -> None:
    tokens = Tokens(folder)
    mine = tokens.clients.create(EDITOR)
    tokens.rotate("mcp")
    assert tokens.accepts("mcp", mine)


@pytest.mark.parametrize("name", ["", "default", "..", "../mcp", "a/b", ".x", "A", "a b", "x" * 61, "a\n", "é"])
def test_names_that_could_be_something_else_are_refused(folder: Path, name: str) -> None:
    tokens = Tokens(folder)
    before = sorted(folder.rglob("*"))
    with pytest.raises(DragomanError, match="Invalid token name"):
        tokens.clients.create(TokenHolder("mcp", name))
    assert sorted(folder.rglob("*")) == before


def test_the_page_has_no_client_tokens(folder: Path) -> None:
    with pytest.raises(DragomanError) as caught:
        Tokens(folder).clients.create(TokenHolder("page", "mine"))
    assert caught.value.code == "bad_token_name"


def test_a_name_is_given_once_and_there_is_a_limit(folder: Path) -> None:
    tokens = Tokens(folder)
    tokens.clients.create(EDITOR)
    with pytest.raises(DragomanError, match="already"):
        tokens.clients.create(EDITOR)
    for number in range(63):
        tokens.clients.create(TokenHolder("mcp", f"client-{number}"))
    with pytest.raises(DragomanError, match="Limit reached: 64 mcp tokens"):
        tokens.clients.create(TokenHolder("mcp", "one-more"))


def test_the_list_says_when_each_was_made_and_used_and_never_its_value(folder: Path) -> None:
    tokens = Tokens(folder)
    token = tokens.clients.create(EDITOR)
    assert token not in str(tokens.listed())
    assert [(it["purpose"], it["name"], it["last_used_ns"]) for it in tokens.listed()] == [
        ("gateway", "default", None), ("mcp", "default", None), ("mcp", "some-editor", None)
    ]  # fmt: skip
    assert not tokens.accepts("mcp", "wrong")
    assert tokens.accepts("mcp", token)
    tokens.clients.save_uses()
    (row,) = [it for it in Tokens(folder).listed() if it["name"] == "some-editor"]
    assert row["last_used_ns"] >= row["created_ns"] > 0
    assert token not in (folder / "last-used.json").read_text()


@pytest.mark.anyio
async def test_what_is_opened_on_a_token_that_was_just_revoked_ends_at_once(folder: Path) -> None:
    tokens = Tokens(folder)
    links = AccessLinks(tokens)
    tokens.clients.create(EDITOR)
    tokens.clients.revoke(EDITOR)
    with anyio.fail_after(5), links.hold(*EDITOR) as scope:
        await anyio.sleep_forever()
    assert scope.cancel_called
