"""The wheel: what a person installs needs Python alone, and carries everything it shows."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
pytestmark = [pytest.mark.needs("page"), pytest.mark.timeout(120)]  # types of the page are checked, and it is bundled


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built from what a clone has: the page is made on the way. Packages of npm are not fetched once more."""
    folder = tmp_path_factory.mktemp("wheel")
    clone = folder / "clone"
    for name in ("src", "lua", "locale", "skills", "web", "tools"):
        shutil.copytree(
            ROOT / name, clone / name, ignore=shutil.ignore_patterns("node_modules", "built", "*.mo", "__pycache__")
        )
    for name in ("pyproject.toml", "hatch_build.py", "README.md", "CHANGELOG.md"):
        shutil.copy(ROOT / name, clone)
    (clone / "web" / "node_modules").symlink_to(ROOT / "web" / "node_modules")
    pip = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation", "-w", str(folder)]
    subprocess.run([*pip, str(clone)], check=True, timeout=120, capture_output=True)
    return next(folder.glob("dragoman-*.whl"))


def test_it_is_pure_python_and_carries_the_page(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    page = {name for name in names if name.startswith("dragoman/servers/web/")}
    assert wheel.name.endswith("-py3-none-any.whl")
    assert {"dragoman/servers/web/static/icon.svg", "dragoman/servers/web/built/index.html"} <= page
    assert [name for name in page if name.startswith("dragoman/servers/web/built/assets/") and name.endswith(".js")]
    catalogue = "dragoman/locale/zh_CN/LC_MESSAGES/dragoman.mo"
    assert {"dragoman/py.typed", "dragoman/lua/dragoman.lua", catalogue} <= set(names)
    assert [
        name for name in names if name.startswith("dragoman/debug/backends/luapanda/helper/") and name.endswith(".lua")
    ]
    assert [name for name in names if not name.startswith(("dragoman/", "dragoman-"))] == []


def test_installed_elsewhere_it_starts_serves_and_ends(wheel: Path, tmp_path: Path) -> None:
    """Not from the source tree: unpacked into a folder of its own, run from another one."""
    zipfile.ZipFile(wheel).extractall(tmp_path / "site")
    environment = {**os.environ, "DRAGOMAN_HOME": str(tmp_path / "home"), "PYTHONPATH": str(tmp_path / "site")}

    def dragoman(*arguments: str) -> str:
        command = [sys.executable, "-m", "dragoman.cli.main", *arguments]
        done = subprocess.run(
            command, env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=40, check=True
        )
        return done.stdout

    where = subprocess.run(
        [sys.executable, "-c", "import dragoman; print(dragoman.__file__)"],
        env=environment, cwd=tmp_path, capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    assert where.startswith(str(tmp_path))
    try:
        assert "Running" in dragoman("up", "--port", "0")
        assert "No active sessions" in dragoman("status")
    finally:
        assert "stopped" in dragoman("down")


def test_the_demo_comes_with_it(wheel: Path, tmp_path: Path) -> None:
    zipfile.ZipFile(wheel).extractall(tmp_path / "site")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "site")}
    command = [sys.executable, "-m", "dragoman.cli.main", "demo"]
    text = subprocess.run(
        command, env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False
    )
    assert (text.returncode, "grace 200.0" in text.stdout) == (0, True), text.stderr
