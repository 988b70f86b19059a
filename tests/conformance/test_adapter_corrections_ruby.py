"""What rdbg shows of an exception, and what Dragoman reports."""

from __future__ import annotations

from pathlib import Path

import pytest

from dragoman.debug.backends.adapters import RUBY
from dragoman.debug.model import LaunchRequest
from tests.conformance.test_python import client_of, service_in, stop_of

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(120), pytest.mark.needs("ruby")]


async def test_an_exception_says_its_message_and_not_how_it_is_inspected(tmp_path: Path) -> None:
    (tmp_path / "main.rb").write_text('def fail_at(n)\n  raise "boom > #{n}"\nend\nfail_at(3)\n')
    async with service_in(tmp_path, RUBY) as service:
        named = {"type": "rdbg", "request": "launch", "name": "boom", "program": str(tmp_path / "main.rb")}
        stop = stop_of(await service.start(client_of(tmp_path), LaunchRequest(configuration=named), within_s=60))
        assert stop.raised is not None
        assert (stop.raised.type, stop.raised.message) == ("RuntimeError", "boom > 3")
