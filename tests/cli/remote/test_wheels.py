"""The wheels for another machine are made from what is installed here."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
import zipfile
from importlib.metadata import distribution
from pathlib import Path

import pytest

from dragoman.cli.remote import wheels
from dragoman.cli.remote.wheels import FarPython, dependency_wheels, own_wheel
from dragoman.core.errors import DragomanError

HERE = FarPython.here()


def test_our_own_wheel_is_what_runs_now_and_always_the_same(tmp_path: Path) -> None:
    made = []
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        made.append(own_wheel(tmp_path / name))
    assert made[0].name == "dragoman-0.1.0-py3-none-any.whl"
    assert made[0].read_bytes() == made[1].read_bytes()
    with zipfile.ZipFile(made[0]) as archive:
        assert archive.read("dragoman/cli/remote/wheels.py") == Path(wheels.__file__).read_bytes()
        names = archive.namelist()
    assert {"dragoman/lua/dragoman.lua", "dragoman-0.1.0.dist-info/METADATA", "dragoman-0.1.0.dist-info/RECORD"} <= {
        *names
    }
    assert not [it for it in names if it.endswith((".pyc", ".pth", "direct_url.json"))]


def test_pip_accepts_our_wheel(tmp_path: Path) -> None:
    wheel = own_wheel(tmp_path)
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--no-compile", "--target"]
    done = subprocess.run([*command, tmp_path / "there", wheel], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "there" / "dragoman" / "daemon" / "app.py").is_file()


def test_a_package_is_taken_as_it_is_installed_where_it_fits() -> None:
    compiled, pure = distribution("apsw"), distribution("anyio")
    others = (
        dataclasses.replace(HERE, suffix=".cpython-399-x86_64-linux-gnu.so"),
        dataclasses.replace(HERE, suffix=HERE.suffix.replace("gnu", "musl"), libc=""),
        dataclasses.replace(HERE, platform="linux-riscv64"),
        dataclasses.replace(HERE, libc="glibc 2.1"),
    )
    assert wheels._fits(compiled, HERE)
    assert [wheels._fits(compiled, other) for other in others] == [False] * 4
    assert all(wheels._fits(pure, other) for other in (HERE, *others))


def test_everything_that_ours_needs_is_found() -> None:
    names = {wheels._normal(it.name) for it in wheels._closure()}
    assert {"anyio", "apsw", "debugpy", "pydantic-core", "mcp", "pyte", "wcwidth", "cffi"} <= names
    assert not names & {"pytest", "ruff", "dragoman"}


def test_what_is_missing_for_another_system_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = FarPython("3.99.0", ".cpython-399-x86_64-linux-gnu.so", "linux-x86_64", "glibc 2.36")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    monkeypatch.setattr(wheels, "_closure", lambda: [distribution("anyio"), distribution("apsw")])
    with pytest.raises(DragomanError) as caught:
        dependency_wheels(tmp_path, "ssh:build1", other)
    assert caught.value.code == "wheels_missing"
    assert "has Python 3.99.0 on linux-x86_64" in str(caught.value)
    assert "apsw==" in str(caught.value)
    assert "anyio" not in str(caught.value)  # in Python alone, so it was there
    assert [it.name.partition("-")[0] for it in tmp_path.iterdir()] == ["anyio"]


def test_the_platforms_of_a_machine_are_named_newest_first() -> None:
    linux = FarPython("3.12.1", ".cpython-312-x86_64-linux-gnu.so", "linux-x86_64", "glibc 2.36")
    assert wheels._platforms(linux)[0] == "manylinux_2_36_x86_64"
    assert "manylinux2014_x86_64" in wheels._platforms(linux)
    alpine = FarPython("3.12.1", ".cpython-312-x86_64-linux-musl.so", "linux-x86_64", "")
    assert wheels._platforms(alpine) == ["musllinux_1_2_x86_64", "musllinux_1_1_x86_64"]
    mac = FarPython("3.12.1", ".cpython-312-darwin.so", "macosx-14.0-arm64", "")
    assert wheels._platforms(mac) == ["macosx_14_0_arm64"]
