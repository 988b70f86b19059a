"""Saves an answer to a file that a person named, below the shell's folder.

The folder is opened once, and every part of the path by handle without following links. There is no check before the
opening, so nothing can be swapped in between.
"""

from __future__ import annotations

import contextlib
import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass

from dragoman.core.errors import DragomanError, system_refused
from dragoman.core.localization import localize
from dragoman.core.safe_text import printable

# A name with a dot or a slash: “is a > b” stays a question.
_REDIRECTED = re.compile(r"(?P<question>.*?)(?:^|\s)>(?P<over>!?)\s*(?P<path>\S*[./]\S*)\s*", re.DOTALL)
_ALONE = re.compile(r">(?P<over>!?)\s*(?P<path>\S+)\s*")
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY


@dataclass(frozen=True, slots=True)
class AnswerFile:
    path: str
    replaces: bool


def split_redirection(text: str) -> tuple[str, AnswerFile | None]:
    """`QUESTION > file` and `> file`, which saves the last answer; `>!` may replace a file."""
    found = _ALONE.fullmatch(text) or _REDIRECTED.fullmatch(text)
    if found is None:
        return text, None
    question = found.groupdict().get("question") or ""
    return question.strip(), AnswerFile(found["path"], bool(found["over"]))


def save_answer(text: str, target: AnswerFile, folder: str | None) -> None:
    if folder is None:
        raise DragomanError("unknown_folder", localize("The shell's current folder is unknown. Nothing was written."))
    try:
        with _opened(folder, target) as file:
            os.truncate(file, 0)
            _write_all(file, printable(text.rstrip("\n") + "\n").encode(errors="replace"))
    except FileExistsError as error:
        raise DragomanError(
            "file_exists",
            localize("{path} already exists. Nothing was written.", path=printable(target.path)),
            hint=localize("Use `>!` instead of `>` to overwrite it."),
        ) from error
    except OSError as error:
        error.filename = printable(target.path)
        raise system_refused(error) from error


def _write_all(file: int, data: bytes) -> None:
    while data:
        data = data[os.write(file, data) :]


@contextlib.contextmanager
def _opened(folder: str, target: AnswerFile) -> Iterator[int]:
    *folders, name = _parts(target.path)
    with contextlib.ExitStack() as stack:
        at = _kept(stack, os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC))
        for each in folders:
            at = _kept(stack, os.open(each, _FOLDER, dir_fd=at))
        file = _kept(stack, os.open(name, _FILE | (0 if target.replaces else os.O_EXCL), 0o600, dir_fd=at))
        status = os.fstat(file)
        # A hard link of the same file may be anywhere.
        if not stat.S_ISREG(status.st_mode) or status.st_nlink > 1:
            raise _not_below(target.path)
        yield file


def _kept(stack: contextlib.ExitStack, handle: int) -> int:
    stack.callback(os.close, handle)
    return handle


def _parts(path: str) -> list[str]:
    parts = [part for part in path.split("/") if part not in ("", ".")]
    is_below = parts and ".." not in parts and not path.startswith(("/", "~")) and path.isprintable()
    if not is_below or path.endswith("/"):
        raise _not_below(path)
    return parts


def _not_below(path: str) -> DragomanError:
    return DragomanError(
        "path_outside",
        localize(
            "{path} is not a regular file in the shell's folder or below. Nothing was written.",
            path=printable(path)[:200],
        ),
        hint=localize("Choose a file in this folder or a subfolder."),
    )
