"""Brings the real projects that `make test-programs` debugs, each with what its own files ask for.

    python3 tools/programs.py

Standard library alone. The projects stand in tests/programs/projects; they are copied to .peers/programs, and what they
need is installed beside them: Python packages by their hashes, npm packages by the lock file. What is there already is
not brought again.
"""

import hashlib
import shutil
import subprocess
import sys
from pathlib import Path

import bootstrap

ROOT = Path(__file__).resolve().parent.parent
SOURCES = ROOT / "tests" / "programs" / "projects"
PLACE = (ROOT / ".peers" / "programs").resolve()  # as the tests do: a virtual environment holds its own path
PROGRAMS = {"cmake": "cmake", "g++": "g++", "cargo": "cargo"}


def main() -> None:
    bootstrap.install_programs(PROGRAMS)
    for source in sorted(SOURCES.iterdir()):
        shutil.copytree(source, PLACE / source.name, dirs_exist_ok=True)
    bring("python", "requirements.txt", python_packages)
    bring("pytest7", "requirements.txt", python_packages)
    bring("inflection", "requirements.txt", python_source)
    bring("javascript", "package-lock.json", npm_packages)


def bring(name: str, lock: str, install: "object") -> None:
    """Unless it was brought with the same lock file before."""
    folder = PLACE / name
    stamp = folder / ".brought"
    digest = hashlib.sha256((folder / lock).read_bytes()).hexdigest()
    if stamp.exists() and stamp.read_text() == digest:
        return
    print(f"• Installing what the {name} projects need", flush=True)
    for command in install(folder):
        if subprocess.run(command, cwd=folder, check=False).returncode != 0:
            sys.exit(f"• This failed: {' '.join(command)}")
    stamp.write_text(digest)


def python_packages(folder: Path) -> "list[list[str]]":
    environment = folder / ".venv"
    pip = [str(environment / "bin" / "python"), "-m", "pip", "install", "-q", "--disable-pip-version-check"]
    return [
        [bootstrap.find_interpreter(), "-m", "venv", str(environment)],
        [*pip, "--require-hashes", "--only-binary", ":all:", "-r", "requirements.txt"],
    ]


def python_source(_: Path) -> "list[list[str]]":
    """The files that its authors published, with their tests: not installed, as somebody who works on it has them."""
    download = [bootstrap.find_interpreter(), "-m", "pip", "download", "-q", "--disable-pip-version-check", "--no-deps"]
    unpack = "import glob, tarfile; [file] = glob.glob('*.tar.gz'); tarfile.open(file).extractall('.', filter='data')"
    return [
        [*download, "--require-hashes", "--no-binary", ":all:", "-r", "requirements.txt"],
        [bootstrap.find_interpreter(), "-c", unpack],
    ]


def npm_packages(_: Path) -> "list[list[str]]":
    if not shutil.which("npm"):
        sys.exit("• The JavaScript projects come by npm, which is not here.")
    # Not `npm ci`: it insists on the packages of every other platform, of which this lock file names what it found.
    return [["npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", "--no-save", "--loglevel=error"]]


if __name__ == "__main__":
    main()
