"""Builds the page into the package, unless what it is made of has not changed since the last time.

    python3 tools/build_page.py

Standard library alone. Needs Node 18.18 or newer with npm; the packages come from the lock file.
"""

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "web"
BUILT = ROOT / "src" / "dragoman" / "web" / "built"
STAMP = ".made-of"


def main() -> None:
    if not can_build():
        sys.exit("The page needs Node 18.18 or newer with npm to be built.")
    if not build():
        sys.exit("The page could not be built.")


def can_build() -> bool:
    if not (shutil.which("node") and shutil.which("npm")):
        return False
    told = subprocess.run(["node", "--version"], capture_output=True, text=True, check=False).stdout
    version = tuple(int(part) for part in told.strip().lstrip("v").split(".")[:2] if part.isdigit())
    return version >= (18, 18)


def build() -> bool:
    digest = digest_of_sources()
    if is_built(digest):
        return True
    made = BUILT.with_name(f".built-{os.getpid()}")
    if not (install() and run("npm", "run", "--silent", "build", "--", "--outDir", str(made), "--emptyOutDir")):
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


def is_built(digest: str) -> bool:
    return (BUILT / STAMP).exists() and (BUILT / STAMP).read_text() == digest


def install() -> bool:
    """What the lock file says, by its checksums. Not `npm ci`, which wants every platform's optional packages in it.

    Scripts of packages are not run: the bundler's program comes as a package of its own.
    """
    lock = PAGE / "package-lock.json"
    stamp = PAGE / "node_modules" / STAMP
    digest = hashlib.sha256(lock.read_bytes()).hexdigest()
    if stamp.exists() and stamp.read_text() == digest:
        return True
    if not run("npm", "install", "--no-save", "--ignore-scripts", "--loglevel", "error"):
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


def run(*command: str) -> bool:
    return subprocess.call(command, cwd=PAGE) == 0


if __name__ == "__main__":
    main()
