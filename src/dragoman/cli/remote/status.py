"""Asks several machines at once, so that one that hangs delays nobody: `dragoman status --on A --on B`."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any

from dragoman.cli.output import ExitCode, error_json
from dragoman.cli.remote.connection import open_target
from dragoman.cli.remote.options import LOCAL, chosen_targets
from dragoman.core.errors import DragomanError
from dragoman.core.paths import find_paths
from dragoman.io.drivers.control_client import ANSWER_WITHIN_S, ControlClient
from dragoman.io.net.targets import Target


@dataclass(frozen=True, slots=True)
class RemoteAnswer:
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


def ask_all(method: str = "status", *, within_s: float = ANSWER_WITHIN_S) -> list[RemoteAnswer]:
    """Without `--on`, only this machine. No daemon is started for it."""
    targets = chosen_targets() or {LOCAL: None}
    with ThreadPoolExecutor(len(targets)) as pool:
        return list(pool.map(partial(_ask, method, within_s), targets, targets.values()))


def _ask(method: str, within_s: float, name: str, target: Target | None) -> RemoteAnswer:
    try:
        with open_target(target) if target else ControlClient.open(find_paths()) as client:
            return RemoteAnswer(name, client.call(method, within_s=within_s))
    except DragomanError as error:
        return RemoteAnswer(name, error=error)
