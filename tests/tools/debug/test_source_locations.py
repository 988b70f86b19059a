"""What an agent calls a place: every way to be invalid, distinguished, with the specification's sentence."""

from __future__ import annotations

import os
from collections.abc import Collection
from pathlib import Path

import pytest

from dragoman.core.errors import DragomanError
from dragoman.tools.debug.source_locations import SourceFiles, SourceLocations
from dragoman.workspace.file_access import MAX_FILE_BYTES, FileAccessPolicy
from tests.requirements import sentence

pytestmark = pytest.mark.anyio


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    (folder / "src").mkdir(parents=True)
    (folder / "src" / "app.py").write_text("one\ntwo\n\x0cthree\u2028still three\r\nfour")
    (tmp_path / "secret.py").write_text("secret")
    (folder / "out.py").symlink_to(tmp_path / "secret.py")
    os.mkfifo(folder / "pipe")
    return folder


def places(*allowed: Path) -> SourceLocations:
    return SourceLocations(SourceFiles(FileAccessPolicy(allowed=allowed)))


async def fault(workspace: Path, path: str, line: int | None = 1, text: str = "") -> DragomanError:
    with pytest.raises(DragomanError) as raised:
        await places().resolve_line(path, workspace, (), line, text)
    return raised.value


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("src/ap.py", "file_not_found"),
        ("src", "not_a_file"),
        ("pipe", "not_a_file"),
        ("out.py", "outside_workspace"),
        ("../secret.py", "outside_workspace"),
        ("/etc/passwd", "outside_workspace"),
        ("/proc/self/environ", "private_file"),
        ("a\0b", "bad_path"),
        ("x" * 5000, "bad_path"),
        ("//server/share/app.py", "bad_path"),
    ],
)
@pytest.mark.requirement("debug:set-breakpoint:error-path")
async def test_each_wrong_path_has_its_code_and_says_what_to_do(workspace: Path, path: str, code: str) -> None:
    error = await fault(workspace, path)
    assert error.code == code
    assert error.hint is not None
    assert error.message.in_language("zh").startswith(sentence("debug:set-breakpoint:error-path"))
    assert len(error.details["path"]) < 500


async def test_a_misspelt_file_is_reported_with_the_one_that_is_there(workspace: Path) -> None:
    error = await fault(workspace, "src/ap.py")
    assert error.details["nearest"] == ["src/app.py"]


@pytest.mark.parametrize(("line", "code"), [(5, "line_past_end"), (10**9, "line_past_end")])
async def test_a_line_past_the_end_says_how_many_there_are(workspace: Path, line: int, code: str) -> None:
    error = await fault(workspace, "src/app.py", line)
    assert (error.code, error.details["line_count"]) == (code, 4)


async def test_lines_are_counted_as_a_debugger_counts_them(workspace: Path) -> None:
    path, lines = await places().read("src/app.py", workspace, ())
    assert path == str(workspace / "src" / "app.py")
    assert lines == ["one", "two", "\x0cthree\u2028still three", "four"]


async def test_a_file_too_large_to_show_can_have_a_breakpoint_by_number_only(workspace: Path) -> None:
    (workspace / "large.py").write_bytes(b"x\n" * MAX_FILE_BYTES)
    place = await places().resolve_line("large.py", workspace, (), 70_000, "")
    assert place == (str(workspace / "large.py"), 70_000)
    assert (await fault(workspace, "large.py", None, "x")).code == "unreadable_file"


@pytest.mark.parametrize("named", [("/nowhere",), ()])
async def test_an_allowed_folder_and_a_named_file_open_what_is_else_closed(
    workspace: Path, named: Collection[str]
) -> None:
    outside = str(workspace.parent / "secret.py")
    assert await places(workspace.parent).read(outside, workspace, named) == (outside, ["secret"])
    assert await places().read(outside, workspace, {outside, *named}) == (outside, ["secret"])


async def test_where_a_stack_leads_is_read_through_a_link_as_the_program_named_it(workspace: Path) -> None:
    linked = str(workspace / "out.py")
    assert await places().read("out.py", workspace, {linked}) == (linked, ["secret"])
