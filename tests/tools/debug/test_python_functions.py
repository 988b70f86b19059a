"""Python functions by name: those that exist, those that certainly do not, and those that cannot be decided."""

from __future__ import annotations

from pathlib import Path

import pytest

from dragoman.core.errors import DragomanError
from dragoman.tools.debug import breakpoint_validation
from dragoman.tools.debug.breakpoint_validation import require_function
from tests.tools.tool_fixture import opened

pytestmark = pytest.mark.anyio

FILES = {
    "app.py": "import requests\nfrom views import Page\n\ndef main():\n    requests.get('x')\n    def inner(): pass\n",
    "pkg/__init__.py": "def start(): pass\n",
    "pkg/views.py": (
        "from django import View\n\nclass Page(View):\n    async def show(self): pass\n\n"
        "class Plain:\n    def draw(self): pass\n"
    ),
    "build/made.py": "def built(): pass\n",
    "bin/tool": "#!/usr/bin/env python3\ndef tool(): pass\n",
    ".venv/lib/hidden.py": "def hidden(): pass\n",
    "env/pyvenv.cfg": "",
    "env/lib/other.py": "def other(): pass\n",
}


def written(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


async def check_function(
    workspace: Path, function: str, besides: tuple[Path, str] | None = None, *, is_python: bool | None = True
) -> bool | str:
    others = {str(besides[0]): besides[1]} if besides else {}
    try:
        return await require_function(function, workspace, is_python=is_python, besides=others)
    except DragomanError as refused:
        return refused.code


@pytest.mark.parametrize(
    ("function", "is_known"),
    [
        *((it, True) for it in ("main", "inner", "main.inner", "app.main", "built", "tool", "start", "pkg.start")),
        *((it, True) for it in ("Page.show", "views.Page.show", "pkg.views.Page.show", "Plain.draw", "Page.draw")),
        *((it, "no_such_function") for it in ("missing", "app.missing", "pkg.views.missing", "Plain.missing")),
        *((it, "no_such_function") for it in ("hidden", "other", "main.missing")),
        *((it, False) for it in ("get", "requests.get", "Page.dispatch", "json.dumps", "HTTPAdapter.send", "View")),
        *((it, True) for it in ("operator()", "main.(*T).f", "a::b")),
    ],
)
async def test_only_a_function_that_the_workspace_would_have_is_missed(
    tmp_path: Path, function: str, is_known: bool | str
) -> None:
    assert await check_function(written(tmp_path, FILES), function) == is_known


async def test_a_search_that_does_not_see_all_misses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here = written(tmp_path / "here", {"app.py": "def main(): pass\n"})
    elsewhere = written(tmp_path / "elsewhere", {"lib.py": "def lib(): pass\n"})
    assert await check_function(here, "lib") == "no_such_function"
    assert await check_function(here, "lib", (elsewhere / "lib.py", "def lib(): pass\n")) is True
    assert await check_function(here, "missing", (elsewhere / "lib.py", "")) is False
    (here / "linked").symlink_to(elsewhere)
    assert await check_function(here, "lib") is False
    (here / "linked").unlink()
    monkeypatch.setattr(breakpoint_validation, "_MAX_BYTES", 10)
    assert await check_function(here, "lib") is False
    assert await check_function(elsewhere.parent / "nowhere", "lib") is False


async def test_beside_other_languages_nothing_is_missed_unless_it_is_python(tmp_path: Path) -> None:
    written(tmp_path, {"app.py": "def main(): pass\n"})
    assert await check_function(tmp_path, "missing", is_python=None) == "no_such_function"
    written(tmp_path, {"main.c": ""})
    assert [await check_function(tmp_path, "missing", is_python=it) for it in (None, False, True)] == [
        True,
        True,
        "no_such_function",
    ]


async def test_a_breakpoint_at_a_function_that_does_not_exist_is_refused_with_the_nearest(tmp_path: Path) -> None:
    async with opened(tmp_path) as bench:
        bench.file.write_text("def total(): pass\n")
        refused = await bench.call("set_breakpoint", kind="function", function_name="totals")
        made = await bench.call("set_breakpoint", kind="function", function_name="total")
        listed = await bench.call("get_breakpoints")
    assert (refused.is_error, refused["code"]) == (True, "no_such_function")
    assert refused["details"]["nearest"] == ["total"]
    assert not made.is_error
    assert [it["function_name"] for it in listed["breakpoints"]] == ["total"]
