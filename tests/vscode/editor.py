"""A real VS Code (code-server) with the extension in it, and its windows in a real browser."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.daemons import PATIENCE, Cli, eventually

ROOT = Path(__file__).parents[2]
PEER = ROOT / ".peers" / "editor"
SERVER = PEER / "node_modules" / "code-server" / "out" / "node" / "entry.js"

# Quiet, and asking nobody: what an editor does at its first start is not what is tried here.
SETTINGS = {
    "telemetry.telemetryLevel": "off",
    "workbench.startupEditor": "none",
    "workbench.tips.enabled": False,
    "chat.disableAIFeatures": True,
    "extensions.autoCheckUpdates": False,
    "extensions.autoUpdate": False,
    "workbench.enableExperiments": False,
    "git.enabled": False,
    "remote.autoForwardPorts": False,
    "workbench.secondarySideBar.defaultVisibility": "hidden",
    "workbench.colorTheme": "Default Light Modern",
    "window.autoDetectColorScheme": True,
    "debug.openDebug": "openOnDebugBreak",
    "debug.internalConsoleOptions": "neverOpen",
}
_NOBODY = '{"serviceUrl":"http://127.0.0.1:9/none","itemUrl":"http://127.0.0.1:9/none"}'


@dataclass
class Editor:
    """The server of the editor, with folders of its own; `dragoman` is where uv and pipx put it."""

    room: Path
    port: int
    cli: Cli
    process: subprocess.Popen[bytes] | None = None
    messages: list[str] = field(default_factory=list)

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def environment(self) -> dict[str, str]:
        return {**self.cli.variables(), "PATH": _path_without_dragoman(), "EXTENSIONS_GALLERY": _NOBODY}

    @property
    def dragoman(self) -> Path:
        """Where uv and pipx put it."""
        return self.room / "person" / ".local" / "bin" / "dragoman"

    def command(self, *arguments: str) -> list[str]:
        folders = ["--user-data-dir", str(self.room / "data"), "--extensions-dir", str(self.room / "extensions")]
        return [str(node()), str(SERVER), "--config", os.devnull, *folders, *arguments]

    def install(self, *packages: Path) -> None:
        words = [word for package in packages for word in ("--install-extension", str(package))]
        done = subprocess.run(
            self.command(*words), env=self.environment, capture_output=True, text=True,
            timeout=60 * PATIENCE, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr

    def configure(self, **machine: Any) -> None:
        """The settings of the machine."""
        self._write_settings("Machine", machine)

    def configure_person(self, **more: Any) -> None:
        """The settings of a person: the quiet ones, and more."""
        self._write_settings("User", {**SETTINGS, **more})

    def _write_settings(self, place: str, settings: dict[str, Any]) -> None:
        file = self.room / "data" / place / "settings.json"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(settings))

    def machine_settings(self) -> dict[str, Any]:
        value: dict[str, Any] = json.loads((self.room / "data" / "Machine" / "settings.json").read_text())
        return value

    def serves(self) -> bool:
        with contextlib.suppress(OSError), urllib.request.urlopen(f"{self.address}/healthz", timeout=2) as answer:
            return bool(answer.status == 200)
        return False

    def arguments_of_all(self) -> Sequence[str]:
        """Of every process: what anybody on this machine can read."""
        found = []
        for folder in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                found.append((folder / "cmdline").read_bytes().decode(errors="replace"))
        return found


def node() -> Path:
    return next(PEER.glob("node_modules/node-linux-*/bin/node"))


@contextlib.contextmanager
def editor(room: Path, *extensions: Path, runs_tests: bool = False, asks_for_trust: bool = False) -> Iterator[Editor]:
    """With `runs_tests` a page may bring tests into the extension host; such a server shows no notifications."""
    (room / "home" / "config").mkdir(parents=True)
    # Any free port, so that nobody else's is in the way.
    (room / "home" / "config" / "settings.toml").write_text("port = 0\n")
    started = Editor(room, free_port(), Cli(room / "home", {"HOME": str(room / "person")}))
    started.dragoman.parent.mkdir(parents=True)
    started.dragoman.symlink_to(Path(sys.executable).with_name("dragoman"))
    started.configure()
    started.configure_person()
    if extensions:
        started.install(*extensions)
    arguments = ["--auth", "none", "--bind-addr", f"127.0.0.1:{started.port}", "--disable-telemetry",
                 "--disable-update-check", "--disable-getting-started-override",
                 "--reconnection-grace-time", "5"]  # fmt: skip
    arguments += [] if asks_for_trust else ["--disable-workspace-trust"]
    arguments += ["--vscode-option", "enable-smoke-test-driver"] if runs_tests else []
    with (room / "server.log").open("wb") as log:
        process = subprocess.Popen(
            started.command(*arguments), env=started.environment, stdout=log, stderr=log, cwd=room,
            start_new_session=True,
        )  # fmt: skip
        started.process = process
        try:
            eventually(started.serves, within_s=30, every_s=0.1)
            yield started
        finally:
            os.killpg(process.pid, signal.SIGTERM)
            process.wait(20)
            started.cli.kill()


def _path_without_dragoman() -> str:
    folders = os.environ["PATH"].split(os.pathsep)
    return os.pathsep.join(folder for folder in folders if not (Path(folder) / "dragoman").exists())


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])
