"""Builds the extension of the editor into `dist/dragoman-VERSION.vsix`, unless nothing it is made of has changed.

    python3 tools/build_vsix.py

Standard library alone. Needs Node 22 or newer with npm: the one on PATH, or the one that came with the tests' editor.
"""

import hashlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

from build_page import PAGE
from build_page import install as install_page
from install_editor import EDITOR
from setup_words import in_words

ROOT = Path(__file__).resolve().parent.parent
EXTENSION = ROOT / "vscode"
STAMP = ".made-of"
NOT_SOURCES = {"node_modules", "dist", "test"}


def main() -> None:
    if not build():
        sys.exit(in_words("The extension could not be built: that needs Node 22 or newer with npm, and its packages."))
    print(vsix())


def vsix() -> Path:
    version = json.loads((EXTENSION / "package.json").read_text())["version"]
    return ROOT / "dist" / f"dragoman-{version}.vsix"


def build() -> bool:
    digest = digest_of_sources()
    stamp = EXTENSION / "dist" / STAMP
    if vsix().exists() and stamp.exists() and stamp.read_text() == digest:
        return True
    vsix().parent.mkdir(exist_ok=True)
    if not (node_is_new_enough() and install() and install_page()):
        return False
    if not (npm_run("build") and npm_run("package", "--", "--out", str(vsix()))):
        return False
    stamp.write_text(digest)
    return True


def install() -> bool:
    """What the lock file says, by its checksums; no package's scripts are run: the bundler's program is a package."""
    stamp = EXTENSION / "node_modules" / STAMP
    digest = hashlib.sha256((EXTENSION / "package-lock.json").read_bytes()).hexdigest()
    if stamp.exists() and stamp.read_text() == digest:
        return True
    if not run("npm", "install", "--no-save", "--ignore-scripts", "--loglevel", "error"):
        return False
    stamp.write_text(digest)
    return True


def node_is_new_enough() -> bool:
    version = subprocess.run(["node", "--version"], capture_output=True, text=True, check=False, env=environment())
    major = version.stdout.strip().lstrip("v").split(".")[0]
    return major.isdigit() and int(major) >= 22


def environment() -> "dict[str, str]":
    """With the editor's own Node first, where there is one."""
    found = [str(node.parent) for node in EDITOR.glob("node_modules/node-linux-*/bin/node")]
    return {**os.environ, "PATH": os.pathsep.join([*found, os.environ.get("PATH", "")])}


def digest_of_sources() -> str:
    """The extension, the page's parts that it shows, and what it installs."""
    digest = hashlib.sha256()
    own = (path for path in EXTENSION.rglob("*") if not NOT_SOURCES & set(path.relative_to(EXTENSION).parts))
    everything = (*own, *(PAGE / "src").rglob("*"), ROOT / "requirements.txt")
    for path in sorted(path for path in everything if path.is_file()):
        digest.update(f"{path.relative_to(ROOT)}\0{path.stat().st_size}\0".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


def npm_run(*words: str) -> bool:
    return run("npm", "run", "--silent", *words)


def run(*command: str) -> bool:
    return bool(shutil.which("npm")) and subprocess.call(command, cwd=EXTENSION, env=environment()) == 0


if __name__ == "__main__":
    main()
