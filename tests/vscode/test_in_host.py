"""Tests that run inside the extension host of a real editor, and end it with their exit code."""

from __future__ import annotations

import pytest

from tests.daemons import PATIENCE
from tests.vscode.hosting import HostRun

pytestmark = [pytest.mark.needs("editor", "chromium"), pytest.mark.timeout(180 * PATIENCE)]


@pytest.mark.requirement("vscode:build:debug-host", "vscode:extension:commands")
def test_the_extension_passes_its_own_tests_in_a_development_host(hosted: HostRun) -> None:
    assert hosted.code() == 0, "\n".join(hosted.log)
    assert any("every command of the manifest is there" in it for it in hosted.log)
