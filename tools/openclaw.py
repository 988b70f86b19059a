"""Brings real OpenClaw gateways and a Node that runs them, for `make test-openclaw`.

    python3 tools/openclaw.py

Standard library alone. Needs npm and about 1.3 GB; what is there already is not brought again. Scripts of packages are
not run.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PLACE = ROOT / ".peers" / "openclaw"
NODE = "24.21.0"
# version -> packages whose version has to be held: newer ones of them are not everywhere
VERSIONS = {"2026.5.7": {"linkedom": "0.18.12"}, "2026.9.6": {}}
MACHINES = {"x86_64": "x64", "aarch64": "arm64"}


def main() -> None:
    if not shutil.which("npm"):
        sys.exit("OpenClaw comes by npm, which is not here.")
    bring("node", {f"node-linux-{MACHINES.get(os.uname().machine, 'x64')}": NODE}, {})
    for version, held in VERSIONS.items():
        bring(version, {"openclaw": version}, held)


def bring(name: str, packages: "dict[str, str]", held: "dict[str, str]") -> None:
    folder = PLACE / name
    wanted = json.dumps({"private": True, "dependencies": packages, "overrides": held}, indent=2)
    stamp = folder / ".brought"
    if stamp.exists() and stamp.read_text() == wanted:
        return
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "package.json").write_text(wanted)
    print(f"bringing {' '.join(f'{it}@{packages[it]}' for it in packages)}", flush=True)
    install = ["npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", "--no-package-lock", "--loglevel=error"]
    if subprocess.run(install, cwd=folder, env=environment(), check=False).returncode != 0:
        sys.exit(f"npm could not bring {', '.join(packages)}: its own words are above.")
    stamp.write_text(wanted)


def node() -> Path:
    return next(iter((PLACE / "node" / "node_modules").glob("node-linux-*/bin/node")), Path("node"))


def environment() -> "dict[str, str]":
    """The brought Node before any other: packages look at the version that runs npm."""
    return {**os.environ, "PATH": f"{node().parent}{os.pathsep}{os.environ.get('PATH', '')}"}


if __name__ == "__main__":
    main()
