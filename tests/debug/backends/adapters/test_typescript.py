"""Which files of TypeScript are handed to node, and which are refused with what to do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dragoman.core.errors import DragomanError
from dragoman.debug.backends.adapters import JAVASCRIPT, LaunchContext


def situation(folder: Path, version: str, program: str = "main.ts", **arguments: Any) -> LaunchContext:
    node = folder / "bin" / "node"
    node.parent.mkdir()
    node.write_text(f"#!/bin/sh\necho {version}\n")
    node.chmod(0o755)
    return LaunchContext("launch", {"program": program, **arguments}, {"PATH": str(node.parent)}, folder)


@pytest.mark.parametrize(
    ("version", "program"),
    [("v20.20.2", "main.ts"), ("v22.17.1", "a/main.mts"), ("v23.5.0", "main.cts"), ("v24.1.0", "main.tsx")],
)
def test_a_node_that_knows_no_types_is_not_given_any(tmp_path: Path, version: str, program: str) -> None:
    with pytest.raises(DragomanError) as caught:
        JAVASCRIPT.require_runnable(situation(tmp_path, version, program))
    assert caught.value.code == "needs_build"


@pytest.mark.parametrize("version", ["v22.18.0", "v23.6.0", "v24.1.0", "unknown"])
def test_a_node_that_may_know_types_is_let_try(tmp_path: Path, version: str) -> None:
    JAVASCRIPT.require_runnable(situation(tmp_path, version))


@pytest.mark.parametrize("built", ["main.js", "dist/main.cjs", "out/bundle.js.map"])
def test_what_was_built_is_run(tmp_path: Path, built: str) -> None:
    (tmp_path / built).parent.mkdir(exist_ok=True)
    (tmp_path / built).touch()
    JAVASCRIPT.require_runnable(situation(tmp_path, "v20.1.0"))


def test_scripts_of_other_packages_are_not_what_was_built(tmp_path: Path) -> None:
    (tmp_path / "node_modules").mkdir()
    (tmp_path / "node_modules" / "main.js").touch()
    with pytest.raises(DragomanError):
        JAVASCRIPT.require_runnable(situation(tmp_path, "v20.1.0"))


@pytest.mark.parametrize(
    "result", [{"runtimeArgs": ["--import", "tsx"]}, {"runtimeExecutable": "tsx"}, {"outFiles": ["/b/*.js"]}]
)
def test_a_configuration_that_says_how_to_run_is_believed(tmp_path: Path, result: dict[str, Any]) -> None:
    JAVASCRIPT.require_runnable(situation(tmp_path, "v20.1.0", **result))


def test_a_script_is_not_typescript(tmp_path: Path) -> None:
    JAVASCRIPT.require_runnable(situation(tmp_path, "v20.1.0", "main.js"))
