"""What an HTTP request says of its client, and what its programs get."""

from __future__ import annotations

import os
import pwd
from pathlib import Path
from typing import Any

import pytest
from starlette.requests import HTTPConnection

from dragoman.core.errors import DragomanError
from dragoman.servers.mcp.http_endpoint import HttpClientContext, login_environment

pytestmark = pytest.mark.anyio


def asked(query: str = "", **headers: str) -> HttpClientContext:
    raw = [(name.replace("_", "-").lower().encode(), value.encode()) for name, value in headers.items()]
    return HttpClientContext.of(HTTPConnection({"type": "http", "headers": raw, "query_string": query.encode()}))


def test_the_same_words_are_the_same_client_and_every_difference_is_another() -> None:
    one = asked("workspace=/a&tools=debug", authorization="Bearer x")
    assert one == asked("workspace=/a&tools=debug", authorization="Bearer x", accept_language="zh")
    others = [
        asked("workspace=/b&tools=debug", authorization="Bearer x"),
        asked("workspace=/a", authorization="Bearer x"),
        asked("workspace=/a&tools=debug", authorization="Bearer y"),
    ]
    assert one not in others
    assert "Bearer" not in repr(one)


def test_the_query_is_nearer_than_the_header_and_a_header_is_utf8() -> None:
    assert asked("workspace=/q", dragoman_workspace="/h").workspace == "/q"
    assert asked(dragoman_workspace="/工作区").workspace == "/工作区"


def test_sets_are_names_with_commas() -> None:
    assert asked("tools=debug,%20general,,").tools == ("debug", "general")
    assert asked("").tools == ()


def test_the_form_of_results_is_chosen_in_the_query() -> None:
    chosen = asked("structured=never&schemas=full")
    assert (chosen.structured, chosen.schemas) == ("never", "full")
    assert chosen != asked("")


async def test_a_caller_works_in_the_folder_that_was_named_or_in_the_daemons(tmp_path: Path) -> None:
    named = await asked(f"workspace={tmp_path}/./").caller(Path("/"))
    assert (named.workspace, named.cwd, named.trusts_workspace) == (tmp_path, tmp_path, False)
    assert (await asked().caller(tmp_path)).workspace == tmp_path
    with pytest.raises(DragomanError) as refused:
        await asked("workspace=relative").caller(tmp_path)
    assert refused.value.code == "no_such_folder"


def test_the_environment_is_a_logins_and_not_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/somebody/elses/bin")
    monkeypatch.setenv("SECRET_KEY", "x")
    monkeypatch.delenv("LANG", raising=False)
    found = login_environment()
    assert set(found) == {"HOME", "USER", "LOGNAME", "SHELL", "PATH", "LANG"}
    assert (found["HOME"], found["LANG"]) == (pwd.getpwuid(os.getuid()).pw_dir, "C.UTF-8")
    assert "/usr/bin" in found["PATH"].split(":")
    assert all(Path(folder).is_dir() for folder in found["PATH"].split(":"))


def test_a_user_without_a_name_has_an_environment_too(monkeypatch: pytest.MonkeyPatch) -> None:
    def nobody(_: int) -> Any:
        raise KeyError

    monkeypatch.setattr(pwd, "getpwuid", nobody)
    monkeypatch.setenv("HOME", "/home/x")
    assert (login_environment()["HOME"], login_environment()["SHELL"]) == ("/home/x", "/bin/sh")
