"""For tests that attack a daemon of its own process: one a module, and whole at the end of every test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.servers.target_daemon import TargetDaemon, target_daemon


@pytest.fixture(scope="module")
def victim(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TargetDaemon]:
    with target_daemon(tmp_path_factory.mktemp("victim")) as daemon:
        yield daemon
