"""Writes the requirements files: every package with its version and the hashes of all its files.

    python3 tools/lock_requirements.py              keep the versions that are locked, lock what is new
    python3 tools/lock_requirements.py --upgrade    take the newest versions

Standard library alone; uv, which resolves for every platform at once, comes into a folder that is thrown away.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PROJECT = ["--extra", "screen", "pyproject.toml"]
FILES = {
    "requirements.txt": [*PROJECT, "--group", "build"],
    "requirements-dev.txt": [*PROJECT, "--group", "dev"],
    "requirements-page.txt": ["--group", "page"],
    **{
        f"tests/programs/projects/{name}/requirements.txt": [f"tests/programs/projects/{name}/requirements.in"]
        for name in ("python", "pytest7", "inflection")
    },
}
HEADER = "# Made by tools/lock_requirements.py. pip installs from here with --require-hashes.\n"


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        subprocess.run([f"{folder}/bin/pip", "install", "-q", "--disable-pip-version-check", "uv"], check=True)
        for name, wanted in FILES.items():
            lock(f"{folder}/bin/uv", ROOT / name, wanted)


def lock(uv: str, file: Path, wanted: "list[str]") -> None:
    """uv keeps the versions that it finds in the file, unless it is to upgrade them."""
    quiet = ["--quiet", "--no-header", "--no-annotate"]
    resolved = ["--universal", "--python-version", "3.11", "--generate-hashes", *sys.argv[1:]]
    command = [uv, "pip", "compile", *quiet, *resolved, *wanted, "-o", str(file)]
    subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    file.write_text(HEADER + file.read_text().removeprefix(HEADER))


if __name__ == "__main__":
    main()
