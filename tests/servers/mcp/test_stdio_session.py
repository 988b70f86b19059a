"""Who a client is taken for that comes by the socket: what its pump says of itself, and what follows from it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from dragoman.protocols.control import Hello
from dragoman.servers.mcp.stdio_endpoint import caller_of


def hello(workspace: object) -> Hello:
    return Hello(version="0", role="mcp", about={"workspace": workspace, "cwd": "/"})


def test_a_client_is_trusted_with_the_folder_that_its_owner_started_it_in(tmp_path: Path) -> None:
    caller = caller_of(hello(str(tmp_path)))
    assert (caller.workspace, caller.trusts_workspace) == (tmp_path, True)


@pytest.mark.parametrize("workspace", [None, 7, "", "relative", "/a\0b", "/no/such/folder", "/"])
def test_a_client_that_does_not_say_where_it_is_is_trusted_with_nothing(workspace: object) -> None:
    assert not caller_of(hello(workspace)).trusts_workspace


def test_a_folder_of_another_user_is_not_trusted_by_being_started_in(tmp_path: Path) -> None:
    foreign = Path("/usr") if os.getuid() else tmp_path
    if foreign is tmp_path:  # only root can give a folder away, and nobody else needs to
        os.chown(tmp_path, 65534, 65534)
    assert not caller_of(hello(str(foreign))).trusts_workspace
