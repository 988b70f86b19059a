"""A workspace of its own for every test."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.debug.launch.workspaces import Workspace


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    folder = tmp_path / "project"
    (folder / ".vscode").mkdir(parents=True)
    return Workspace(folder)
