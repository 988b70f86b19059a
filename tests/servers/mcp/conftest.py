"""A home of its own, without a daemon or with one that has its SDK loaded."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.daemons import Cli, cli_with_home
from tests.servers.mcp.raw_client import RawClient, raw_client

ANY_PORT = {"DRAGOMAN_PORT": "0"}


@pytest.fixture
def cli(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cli]:
    with cli_with_home(tmp_path_factory.mktemp("h"), ANY_PORT) as cli:
        yield cli


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cli]:
    """One daemon for the tests of a module that leave it as it was."""
    with cli_with_home(tmp_path_factory.mktemp("h"), ANY_PORT) as cli:
        with raw_client(cli) as client:
            client.initialize()
        yield cli


@pytest.fixture
def client(running: Cli) -> Iterator[RawClient]:
    """In the middle of a conversation."""
    with raw_client(running) as client:
        client.initialize()
        yield client
