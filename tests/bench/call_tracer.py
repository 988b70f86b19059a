"""A pytest plugin that writes every call of a bug's functions, with values: what an ideal tool would show."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Generator
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

_MOST = 300  # events of one test: a test that hangs would write for as long as it runs
_FOLDER = Path(os.environ.get("CALL_TRACER_FOLDER", "."))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, None, None]:
    lines: list[str] = []
    root = str(item.path.parent)

    def begin(frame: FrameType, event: str, argument: Any) -> Any:
        if not frame.f_code.co_filename.startswith(root):
            return None
        trace = _tracer(lines)
        return trace(frame, event, argument)

    threading.settrace(begin)
    sys.settrace(begin)
    try:
        return (yield)
    finally:
        sys.settrace(None)
        threading.settrace(None)
        with (_FOLDER / f"{item.path.parent.name}.trace").open("a") as file:
            file.write("\n".join(lines[:_MOST]) + "\n")


def _tracer(lines: list[str]) -> Callable[[FrameType, str, Any], Any]:
    seen: dict[str, str] = {}

    def trace(frame: FrameType, event: str, argument: Any) -> Any:
        if len(lines) > _MOST:
            return None
        now = {name: _shown(value) for name, value in frame.f_locals.items()}
        changed = {name: value for name, value in now.items() if seen.get(name) != value}
        seen.update(now)
        place = f"{Path(frame.f_code.co_filename).name}:{frame.f_lineno} {frame.f_code.co_name}"
        values = f"-> {_shown(argument)}" if event == "return" else ", ".join(f"{k}={v}" for k, v in changed.items())
        lines.append(f"{event} {place} {values}")
        return trace

    return trace


def _shown(value: Any) -> str:
    try:
        return repr(value)[:300]
    except (AttributeError, KeyError, TypeError) as error:  # of an object that is not made yet
        return f"<{type(error).__name__}>"
