"""Builds the package, with the page in it, into `dist/dragoman-VERSION-py3-none-any.whl`.

    python3 tools/build_wheel.py

Standard library alone. Needs pip: the one of this checkout's environment, or of the Python that runs this.
"""

import subprocess
import sys
from pathlib import Path

from setup_words import in_words

ROOT = Path(__file__).resolve().parent.parent
DIST = ROOT / "dist"


def main() -> None:
    python = next((python for python in (str(ROOT / ".venv/bin/python"), sys.executable) if has(python, "pip")), None)
    if python is None:
        sys.exit(in_words("The wheel could not be built: that needs pip (Debian: python3-pip)."))
    # What builds it is fetched for the occasion, unless it is there.
    here = ["--no-build-isolation"] if has(python, "hatchling") else []
    subprocess.run([python, "-m", "pip", "wheel", "-q", "--no-deps", *here, "-w", str(DIST), str(ROOT)], check=True)
    print(max(DIST.glob("dragoman-*.whl"), key=lambda wheel: wheel.stat().st_mtime))


def has(python: str, module: str) -> bool:
    try:
        return subprocess.run([python, "-c", f"import {module}"], capture_output=True, check=False).returncode == 0
    except OSError:
        return False


if __name__ == "__main__":
    main()
