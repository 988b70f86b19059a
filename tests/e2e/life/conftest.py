"""A home of its own for every test, and no daemon left in it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.daemons import Cli, cli_with_home


@pytest.fixture
def cli(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cli]:
    """Any free port, so that tests never meet each other or a person's daemon."""
    with cli_with_home(tmp_path_factory.mktemp("h"), {"DRAGOMAN_PORT": "0"}) as cli:
        yield cli
