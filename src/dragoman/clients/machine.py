"""Where we are: the few facts about a machine that decide where a client keeps its configuration."""

from __future__ import annotations

import os
import platform
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal


@dataclass(frozen=True, slots=True)
class Machine:
    """Handed in everywhere, so that a test describes a machine instead of being one."""

    system: Literal["linux", "macos"]
    home: Path
    environment: Mapping[str, str]
    project: Path
    wsl: bool = False

    def which(self, program: str) -> Path | None:
        found = shutil.which(program, path=self.environment.get("PATH", ""))
        return Path(found) if found else None

    def folders(self) -> dict[str, Path]:
        """The folders that the table of clients names, each with the variable that moves it."""
        config = self._moved("XDG_CONFIG_HOME", self.home / ".config") if self.system == "linux" else None
        support = self.home / "Library" / "Application Support"
        return {
            "home": self.home,
            "project": self.project,
            "config": config or self.home / ".config",
            "application": config or support,
            "claude": self._moved("CLAUDE_CONFIG_DIR", self.home),
            "codex": self._moved("CODEX_HOME", self.home / ".codex"),
        }

    def _moved(self, variable: str, default: Path) -> Path:
        value = self.environment.get(variable, "")
        return Path(value) if value.startswith("/") else default


def this_machine(environment: Mapping[str, str] = os.environ) -> Machine:
    return Machine(
        system="macos" if sys.platform == "darwin" else "linux",
        home=Path.home(),
        environment=environment,
        project=Path.cwd(),
        wsl="microsoft" in platform.release().lower(),
    )
