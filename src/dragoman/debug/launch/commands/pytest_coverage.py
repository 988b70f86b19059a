"""Whether a run of pytest measures coverage, which would replace the debugger's trace function, or runs its tests in
other processes, which the debugger does not see. Nothing here runs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

# Files in which a project sets pytest's options, and the option for coverage.
_FILES = ("pytest.ini", ".pytest.ini", "pyproject.toml", "tox.ini", "setup.cfg")
_ADDOPTS = re.compile(r"(?ms)^\s*addopts\s*=\s*(.*?)(?=^\s*\w[\w.-]*\s*=|^\s*\[\w|\Z)")
_COV = re.compile(r"(?<![\w-])--cov(?![\w])")
_NOT_LOADED = re.compile(r"-p[ =]?no:(?:pytest_)?cov\b")
_SITES = ("lib/python3*/site-packages", "lib64/python3*/site-packages", "lib/python3*/dist-packages")
_SYSTEM_SITES = ("local/lib/python3*/dist-packages", "lib/python3/dist-packages")
_WORKERS = re.compile(r"(?<![\w-])(?:-n[ =]?(?:\d+|auto|logical)\b|--numprocesses|--dist\b|--tx\b)")
_WITHOUT_WORKERS = re.compile(r"-p[ =]?no:xdist\b")
COVERAGE_PLUGIN = "pytest_cov"
WORKERS_PLUGIN = "xdist"


def measures_coverage(cwd: Path, words: Sequence[str], environment: Mapping[str, str]) -> bool:
    options = _options(cwd, words, environment)
    return bool(_COV.search(options)) and not _NOT_LOADED.search(options)


def uses_workers(cwd: Path, words: Sequence[str], environment: Mapping[str, str]) -> bool:
    """Whether pytest-xdist is asked to spread the tests over processes."""
    options = _options(cwd, words, environment)
    return bool(_WORKERS.search(options)) and not _WITHOUT_WORKERS.search(options)


def _options(cwd: Path, words: Sequence[str], environment: Mapping[str, str]) -> str:
    """Set in the command, in `PYTEST_ADDOPTS`, or in `addopts` of the project."""
    files = [file for folder in (cwd, *cwd.parents) for name in _FILES if (file := folder / name).is_file()]
    text = files[0].read_text("utf-8", "replace") if files else ""
    return " ".join([*_ADDOPTS.findall(text), environment.get("PYTEST_ADDOPTS", ""), *words])


def has_plugin(plugin: str, python: Path, environment: Mapping[str, str], cwd: Path) -> bool:
    """Whether it is installed for that interpreter."""
    if environment.get("PYTEST_DISABLE_PLUGIN_AUTOLOAD"):
        return False
    return any((folder / plugin).is_dir() for folder in _sites(python, environment, cwd))


def _sites(python: Path, environment: Mapping[str, str], cwd: Path) -> Iterator[Path]:
    yield from (cwd / it for it in environment.get("PYTHONPATH", "").split(":") if it)
    prefix = python.parent.parent
    settings = prefix / "pyvenv.cfg"
    yield from _below(prefix, _SITES)
    if settings.is_file():
        text = dict(re.findall(r"(?m)^\s*([\w-]+)\s*=\s*(.*?)\s*$", settings.read_text("utf-8", "replace")))
        if text.get("include-system-site-packages", "").lower() != "true" or "home" not in text:
            return
        prefix = Path(text["home"]).parent
    else:
        prefix = python.resolve().parent.parent
    yield from _below(prefix, (*_SITES, *_SYSTEM_SITES))
    if not environment.get("PYTHONNOUSERSITE") and environment.get("HOME"):
        yield from _below(Path(environment["HOME"]) / ".local", _SITES)


def _below(prefix: Path, patterns: Sequence[str]) -> Iterator[Path]:
    for pattern in patterns:
        yield from prefix.glob(pattern)
