"""`dragoman status --on A --on B`: asks several machines at once, so that one that hangs delays nobody."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from dragoman.cli.output import ExitCode, error_json
from dragoman.cli.remote.connection import open_target
from dragoman.cli.remote.options import chosen_targets
from dragoman.core.errors import DragomanError
from dragoman.core.paths import find_paths
from dragoman.io.drivers.control_client import ControlClient
from dragoman.io.net.targets import Target


@dataclass(frozen=True, slots=True)
class RemoteStatus:
    name: str
    answer: dict[str, Any] | None = None
    error: DragomanError | None = None

    @property
    def exit_code(self) -> int:
        if self.error is None:
            return ExitCode.OK
        return ExitCode.NOT_RUNNING if self.error.code == "not_running" else ExitCode.FAILED

    def error_json(self) -> dict[str, str]:
        assert self.error is not None
        return error_json(self.error)


def ask_all() -> list[RemoteStatus]:
    targets = chosen_targets()
    with ThreadPoolExecutor(len(targets)) as pool:
        return list(pool.map(_ask, targets, targets.values()))


def _ask(name: str, target: Target | None) -> RemoteStatus:
    try:
        with open_target(target) if target else ControlClient.open(find_paths()) as client:
            return RemoteStatus(name, client.call("status"))
    except DragomanError as error:
        return RemoteStatus(name, error=error)
