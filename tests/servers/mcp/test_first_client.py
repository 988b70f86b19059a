"""What the first client costs is paid beside the event loop: nobody else's call waits for it."""

from __future__ import annotations

import threading
from typing import Any, ClassVar

import pytest

from dragoman.core.errors import DragomanError
from dragoman.core.localization import localize
from dragoman.core.paths import find_paths
from dragoman.tools import Effects, Tool, ToolOutcome, ToolRegistry
from dragoman.tools.tool import Parameters, Result
from dragoman.workspace.caller import Caller
from tests.daemons import Cli
from tests.servers.mcp.mcp_fixture import Serving, serving, serving_http
from tests.servers.mcp.raw_client import raw_client


class Noting(Parameters):
    made_in: ClassVar[list[str]] = []

    @classmethod
    def model_json_schema(cls, *args: Any, **more: Any) -> dict[str, Any]:
        cls.made_in.append(threading.current_thread().name)
        return super().model_json_schema(*args, **more)


class Nothing(Result):
    pass


async def run(_: Caller, __: Parameters) -> ToolOutcome:
    raise DragomanError("unused", localize("No daemon is running."))


@pytest.fixture
def noted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    tool = Tool("noting", "", "", Noting, Nothing, run, Effects())
    monkeypatch.setattr(Serving, "toolbox", lambda _: ToolRegistry([tool]))
    Noting.made_in.clear()
    return Noting.made_in


def test_schemas_are_made_in_a_worker_thread_and_once(cli: Cli, noted: list[str]) -> None:
    with serving(cli.paths):
        for _ in range(2):
            with raw_client(cli) as client:
                client.initialize()
                assert client.ask("tools/list")["result"]["tools"][0]["name"] == "noting"
    assert len(noted) == 1
    assert noted[0].startswith("AnyIO worker thread")


def test_so_they_are_for_the_first_client_over_http(noted: list[str]) -> None:
    with serving_http(find_paths()) as (_, client):
        client.initialize()
        assert client.post("tools/list").message["result"]["tools"][0]["name"] == "noting"
    assert len(noted) == 1
    assert noted[0].startswith("AnyIO worker thread")
