"""Installs the editor that the extension's tests run in: code-server, its Node, and what drives a browser.

    python3 tools/install_editor.py

Standard library alone; npm brings everything, no package's scripts are run, nothing is compiled. Into `.peers/editor`,
once a version.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from setup_words import in_words

ROOT = Path(__file__).resolve().parent.parent
EDITOR = ROOT / ".peers" / "editor"
NODE = "24.21.0"
CODE_SERVER = "4.139.1"
WHOLE = f"node {NODE}, code-server {CODE_SERVER}"


def main() -> None:
    if not install():
        sys.exit(in_words("The editor could not be installed: that needs npm, and a registry that has its packages."))


def install() -> bool:
    """Whole or not at all: the stamp is written last."""
    stamp = EDITOR / ".whole"
    if stamp.exists() and stamp.read_text() == WHOLE:
        return True
    if not shutil.which("npm") or not sys.platform.startswith("linux"):
        return False
    shutil.rmtree(EDITOR, ignore_errors=True)
    EDITOR.mkdir(parents=True)
    if not all(map(run, steps())):
        return False
    stamp.write_text(WHOLE)
    return True


def steps() -> "list[tuple[Path, list[str]]]":
    """The server's own folders bring lists of packages that npm does not look into by itself."""
    server = EDITOR / "node_modules" / "code-server" / "lib" / "vscode"
    return [
        (EDITOR, ["--no-save", f"node-linux-{machine()}@{NODE}"]),
        (EDITOR, ["--no-save", f"node-linux-{machine()}@{NODE}", f"code-server@{CODE_SERVER}"]),
        (server, ["--omit=dev"]),
        (server / "extensions", ["--omit=dev"]),
    ]


def machine() -> str:
    return "arm64" if os.uname().machine in {"aarch64", "arm64"} else "x64"


def run(step: "tuple[Path, list[str]]") -> bool:
    folder, words = step
    node = EDITOR / "node_modules" / f"node-linux-{machine()}" / "bin"
    environment = {**os.environ, "PATH": f"{node}{os.pathsep}{os.environ['PATH']}"}
    command = ["npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel", "error", *words]
    return subprocess.call(command, cwd=folder, env=environment) == 0


if __name__ == "__main__":
    main()
