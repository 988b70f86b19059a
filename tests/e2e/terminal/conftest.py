"""One daemon for all tests that only look at a terminal: its start is the longest part of each of them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.daemons import Cli
from tests.e2e.terminal.panes import daemon


@pytest.fixture(scope="session")
def cli(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cli]:
    with daemon(tmp_path_factory.mktemp("daemon")) as running:
        yield running
