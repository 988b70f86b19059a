"""`> file`: below the shell's folder, through no link, and over no other file by accident."""

from __future__ import annotations

import contextlib
import itertools
import os
import threading
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman.core.errors import DragomanError
from dragoman.shell.overlay.question import AnswerFile, save_answer, split_redirection
from tests.daemons import code_of


@pytest.mark.parametrize(
    ("typed", "question", "target"),
    [
        ("why? > a.txt", "why?", AnswerFile("a.txt", False)),
        ("why? >! sub/a", "why?", AnswerFile("sub/a", True)),
        ("> notes", "", AnswerFile("notes", False)),
        (">!notes", "", AnswerFile("notes", True)),
        ("is a > b", "is a > b", None),
        ("what does 2>&1 do", "what does 2>&1 do", None),
        ("why x > a.txt > b.txt", "why x > a.txt", AnswerFile("b.txt", False)),
        ("why", "why", None),
    ],
)
def test_where_an_answer_goes_is_reported_at_the_end(typed: str, question: str, target: AnswerFile | None) -> None:
    assert split_redirection(typed) == (question, target)


@pytest.mark.parametrize(
    "path",
    [
        "../x",
        "a/../../x",
        "/etc/x",
        "~/x",
        "sub/",
        "",
        ".",
        "..",
        "x\0y",
        "a\nb",
        "link/x",
        "link",
        "pipe",
        "hard",
        "sub",
    ],
)
@pytest.mark.parametrize("replaces", [False, True])
def test_every_way_out_of_the_folder_is_refused(path: str, replaces: bool, tmp_path: Path) -> None:
    outside, folder = tmp_path / "outside", tmp_path / "in"
    (folder / "sub").mkdir(parents=True)
    outside.mkdir()
    (outside / "kept").write_text("kept")
    (folder / "link").symlink_to(outside)
    os.mkfifo(folder / "pipe")
    os.link(outside / "kept", folder / "hard")
    before = sorted(tmp_path.rglob("*"))
    assert code_of(lambda: save_answer("answer", AnswerFile(path, replaces), str(folder)))
    assert sorted(tmp_path.rglob("*")) == before
    assert (outside / "kept").read_text() == "kept"


def test_a_new_file_is_the_persons_alone_and_escapes_are_shown(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    save_answer("a\x1b[2J\nb", AnswerFile("sub/x.txt", False), str(tmp_path))
    written = tmp_path / "sub" / "x.txt"
    assert written.read_text() == "a\\x1b[2J\nb\n"
    assert written.stat().st_mode & 0o777 == 0o600


def test_a_shorter_answer_replaces_all_of_a_longer_one(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("long " * 100)
    save_answer("short", AnswerFile("x", True), str(tmp_path))
    assert (tmp_path / "x").read_text() == "short\n"


def test_a_shell_that_has_not_reported_its_folder_gets_a_reason() -> None:
    assert code_of(lambda: save_answer("a", AnswerFile("x", False), None)) == "unknown_folder"


@settings(max_examples=200)
@given(st.lists(st.sampled_from(["..", ".", "a", "link", "", "~", "/", "x" * 300, "\u202e"]), max_size=6))
def test_no_path_whatever_is_written_outside(tmp_path_factory: pytest.TempPathFactory, parts: list[str]) -> None:
    root = tmp_path_factory.mktemp("root")
    (root / "in" / "a").mkdir(parents=True)
    (root / "in" / "link").symlink_to("..")
    with contextlib.suppress(DragomanError):
        save_answer("answer", AnswerFile("/".join(parts), True), str(root / "in"))
    assert sorted(path.name for path in root.iterdir()) == ["in"]


def test_a_folder_that_is_swapped_for_a_link_leads_nowhere_else(tmp_path: Path) -> None:
    folder, outside = tmp_path / "in", tmp_path / "outside"
    (folder / "real").mkdir(parents=True)
    outside.mkdir()
    (folder / "link").symlink_to(outside)
    stop = threading.Event()

    def swap() -> None:
        while not stop.is_set():
            (folder / "real").rename(folder / "x")
            (folder / "link").rename(folder / "real")
            (folder / "real").rename(folder / "link")
            (folder / "x").rename(folder / "real")

    swapper = threading.Thread(target=swap)
    swapper.start()
    written = 0
    try:
        # At least 2,000 attempts; more while none met the real folder, which depends on when the threads take turns.
        deadline = time.monotonic() + 20
        for attempt in itertools.count():
            if attempt >= 2000 and (written or time.monotonic() > deadline):
                break
            written += not code_of(lambda: save_answer("answer", AnswerFile("real/answer", True), str(folder)))
    finally:
        stop.set()
        swapper.join(10)
    assert list(outside.iterdir()) == []
    assert written
