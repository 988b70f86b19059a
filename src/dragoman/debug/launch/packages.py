"""package.json of npm and its like: what it says, and its scripts as tasks."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

_MOST_BYTES = 1 << 20
_LABEL = re.compile(r"npm: (?P<script>.+?)(?: - (?P<path>.+))?")


def package_of(folder: Path) -> dict[str, Any]:
    """Its package.json; of one that cannot be read, nothing."""
    try:
        with (folder / "package.json").open("rb") as file:
            found = json.loads(file.read(_MOST_BYTES))
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def scripts_of(folder: Path) -> dict[str, str]:
    scripts = package_of(folder).get("scripts")
    return {str(key): it for key, it in scripts.items() if isinstance(it, str)} if isinstance(scripts, dict) else {}


def script_task(wanted: object, folder: Path) -> dict[str, str] | None:
    """What `npm: build`, or `npm: build - web`, stands for where tasks.json does not say: as VS Code finds it."""
    found = _LABEL.fullmatch(wanted) if isinstance(wanted, str) else None
    given: dict[str, Any] = {"type": "npm", **found.groupdict()} if found else {}
    given = wanted if isinstance(wanted, dict) else given
    if given.get("type") != "npm" or given.keys() - {"type", "script", "path"}:
        return None
    script, path = str(given.get("script") or ""), str(given.get("path") or "")
    return {"type": "npm", "script": script, "path": path} if script in scripts_of(folder / path) else None
