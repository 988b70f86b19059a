"""Records the sessions of this folder: real tools in a real bash, in a home of their own.

`unshare -m python -m tests.vectors.terminal_sessions.record SCRATCH [NAME…]`, as root: SCRATCH becomes /home for the
time of the recording, so that no path of the machine is recorded. What is expected of an answer stands in
NAME.expected.json, written by hand.
"""

from __future__ import annotations

import importlib.util
import json
import os
import pty
import re
import select
import shutil
import subprocess
import sys
import time
from pathlib import Path

from tests.vectors.terminal_sessions.scenarios import SCENARIOS, Scenario

HERE = Path(__file__).parent
HOME = Path("/home/dev")
BEGAN, ENDED = b"\x1b]133;C\x07", re.compile(rb"\x1b\]133;D;(\d+);([^\x07]*)\x07")
LIMIT_S = 90


class Shell:
    """An interactive bash whose marks say where a command's output begins and ends."""

    def __init__(self, cwd: Path) -> None:
        settings = HOME / ".bashrc"
        settings.write_text(
            "PS1= PS2=\nbind 'set enable-bracketed-paste off'\nstty -echo\n"
            'PS0="\\e]133;C\\a"\n'
            'PROMPT_COMMAND=\'printf "\\e]133;D;%s;%s\\a" "$?" "$PWD"\'\n'
        )
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.chdir(cwd)
            os.execve("/bin/bash", ["bash", "--rcfile", str(settings), "-i"], environment())
        self._read_to_end()

    def run(self, line: str) -> dict[str, object]:
        began = time.monotonic()
        os.write(self.fd, line.encode() + b"\n")
        data, ended = self._read_to_end()
        output = data.split(BEGAN, 1)[1] if BEGAN in data else data
        return {
            "line": line,
            "cwd": ended[2].decode(),
            "exit_code": int(ended[1]),
            "took_ms": round((time.monotonic() - began) * 1000),
            "output": output.decode(errors="replace"),
        }

    def _read_to_end(self) -> tuple[bytes, re.Match[bytes]]:
        data, deadline = b"", time.monotonic() + LIMIT_S
        while not (ended := ENDED.search(data)):
            if not select.select([self.fd], [], [], deadline - time.monotonic())[0]:
                raise TimeoutError(data[-500:])
            data += os.read(self.fd, 65536)
        return data[: ended.start()], ended


def environment() -> dict[str, str]:
    own = {"HOME": str(HOME), "TERM": "xterm-256color", "LANG": "C.UTF-8", "USER": "dev", "HISTFILE": ""}
    tools = {"GOFLAGS": "-mod=mod", "GOCACHE": str(HOME / ".cache/go"), "CARGO_HOME": str(HOME / ".cargo")}
    rust = {"RUSTUP_HOME": os.environ["RUSTUP_HOME"]} if "RUSTUP_HOME" in os.environ else {}
    cargo = Path(shutil.which("cargo") or "/usr/bin/cargo").parent
    python = {"PYTHONPATH": str(HOME / "lib"), "PYTHONDONTWRITEBYTECODE": "1"}
    return {**own, **tools, **rust, **python, "PATH": f"{HOME}/bin:{cargo}:/usr/bin:/bin"}


def install_pytest() -> None:
    """Under the home too: its own files stand in its tracebacks."""
    for module in ("pytest", "_pytest", "pluggy", "iniconfig", "packaging", "pygments"):
        found = importlib.util.find_spec(module)
        assert found is not None
        assert found.origin is not None
        shutil.copytree(Path(found.origin).parent, HOME / "lib" / module, dirs_exist_ok=True)
        for about in Path(found.origin).parent.parent.glob(f"{module}-*.dist-info"):
            shutil.copytree(about, HOME / "lib" / about.name, dirs_exist_ok=True)
    (HOME / "lib" / "py.py").write_text("import _pytest._py.path as path\n")
    program = HOME / "bin" / "pytest"
    program.write_text('#!/bin/sh\nexec python3 -m pytest -p no:cacheprovider "$@"\n')
    program.chmod(0o755)


def record(name: str, scenario: Scenario) -> None:
    folder = HOME / scenario.folder
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for path, text in scenario.files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    for line in scenario.before:
        subprocess.run(line, shell=True, cwd=folder, env=environment(), check=True, capture_output=True)
    shell = Shell(folder)
    commands = [shell.run(line) for line in scenario.commands]
    os.close(shell.fd)
    os.waitpid(shell.pid, 0)
    recorded = {"shell": "bash", "commands": commands}
    (HERE / f"{name}.json").write_text(json.dumps(recorded, indent=1, ensure_ascii=True) + "\n")
    print(name, [command["exit_code"] for command in commands])


def main() -> None:
    scratch = Path(sys.argv[1])
    scratch.mkdir(parents=True, exist_ok=True)
    subprocess.run(["mount", "--bind", scratch, "/home"], check=True)
    (HOME / "bin").mkdir(parents=True, exist_ok=True)
    install_pytest()
    for name, scenario in SCENARIOS.items():
        if not sys.argv[2:] or name in sys.argv[2:]:
            record(name, scenario)


if __name__ == "__main__":
    main()
