"""Workspaces written by tests, and a runner of tasks that is real but small."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import pytest

from dragoman.core.errors import DragomanError
from dragoman.debug.launch import (
    LaunchEnvironment,
    LaunchError,
    LaunchPlan,
    ResolvedConfiguration,
    VariableInputs,
    resolve,
)
from dragoman.debug.launch.variables import Platform
from dragoman.debug.model import LaunchRequest


@dataclass
class Workspace:
    folder: Path
    environment: dict[str, str] = field(default_factory=lambda: {"HOME": "/home/me", "PATH": "/usr/bin:/bin"})
    platform: Platform = "linux"
    folders: dict[str, Path] = field(default_factory=dict)

    def write(self, name: str, content: str | bytes) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    def launch_json(self, *configurations: Any, **more: Any) -> None:
        self.write(".vscode/launch.json", json.dumps({"configurations": configurations, **more}))

    def tasks_json(self, *tasks: Any, **more: Any) -> None:
        self.write(".vscode/tasks.json", json.dumps({"version": "2.0.0", "tasks": tasks, **more}))

    def client(self) -> LaunchEnvironment:
        return LaunchEnvironment(self.folder, self.environment, self.folders, self.platform)

    def start(self, name: str, **caller: Any) -> LaunchPlan:
        return resolve(LaunchRequest(configuration_name=name), self.client(), VariableInputs(**caller))

    def inline(self, configuration: Mapping[str, Any], **caller: Any) -> ResolvedConfiguration:
        (session,) = resolve(
            LaunchRequest(configuration=configuration), self.client(), VariableInputs(**caller)
        ).sessions
        return session

    def one(
        self, *, tasks: Sequence[Any] = (), caller: Mapping[str, Any] | None = None, **members: Any
    ) -> ResolvedConfiguration:
        """A launch.json with one configuration, resolved."""
        self.launch_json(a_configuration(**members))
        if tasks:
            self.tasks_json(*tasks)
        (session,) = self.start("main", **(caller or {})).sessions
        return session


def a_configuration(**members: Any) -> dict[str, Any]:
    return {"name": "main", "type": "python", "request": "launch", **members}


def fault_of(action: Callable[[], Any]) -> LaunchError:
    with pytest.raises(LaunchError) as caught:
        action()
    return caught.value


@dataclass(frozen=True)
class End:
    exit_code: int | None
    last_lines: Sequence[str] = ()


class FakeRunner:
    """Ends commands when the test says so. A command is known by its first word."""

    def __init__(self, codes: Mapping[str, int | DragomanError] | None = None) -> None:
        self.codes = codes or {}
        self.begun: list[str] = []
        self.cancelled: list[str] = []
        self.environments: dict[str, Mapping[str, str]] = {}
        self.gates: dict[str, anyio.Event] = {}

    async def run(
        self, argv: Sequence[str], *, cwd: str, env: Mapping[str, str], ready: re.Pattern[str] | None, keep_lines: int
    ) -> End:
        name = argv[0]
        self.begun.append(name)
        self.environments[name] = env
        try:
            if name in self.gates:
                await self.gates[name].wait()
        except anyio.get_cancelled_exc_class():
            self.cancelled.append(name)
            raise
        code = self.codes.get(name, 0)
        if isinstance(code, DragomanError):
            raise code
        return End(code, [f"{name} said {number}" for number in range(30)])
