"""Before debugpy gets into a running program by gdb, gdb has to show on a process of ours that it can."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from dragoman.core.errors import DragomanError
from dragoman.debug.backends.adapters.python import require_injection

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="gdb is used on Linux")

# What gdb 13.1 prints on a processor with AMX.
_BROKEN = """\
Using host libthread_db library "/lib/x86_64-linux-gnu/libthread_db.so.1".
71\t../sysdeps/unix/sysv/linux/clock_nanosleep.c: No such file or directory.
Couldn't write extended state status: Bad address.
"""


def _gdb(folder: Path, script: str) -> dict[str, str]:
    (folder / "gdb").write_text(f"#!/bin/sh\n{script}\n")
    (folder / "gdb").chmod(0o755)
    return {"PATH": f"{folder}:{os.defpath}"}


@pytest.mark.needs("gdb")
def test_a_gdb_that_calls_functions_is_accepted() -> None:
    require_injection(os.environ)


def test_a_gdb_that_cannot_call_functions_is_refused_with_its_reason(tmp_path: Path) -> None:
    environment = _gdb(tmp_path, f"cat <<'END' >&2\n{_BROKEN}END")
    for _ in range(2):  # a refusal is not kept
        with pytest.raises(DragomanError) as caught:
            require_injection(environment)
        assert caught.value.code == "cannot_inject"
        assert "Couldn't write extended state status: Bad address. Attaching would end" in str(caught.value)


def test_a_gdb_that_does_not_answer_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dragoman.debug.backends.adapters.python._WITHIN_S", 0.2)
    with pytest.raises(DragomanError, match="no answer within") as caught:
        require_injection(_gdb(tmp_path, "exec sleep 5"))
    assert caught.value.code == "cannot_inject"


def test_a_process_that_may_not_be_attached_to_is_left_to_the_debugger(tmp_path: Path) -> None:
    require_injection(_gdb(tmp_path, "echo 'ptrace: Operation not permitted.' >&2"))


def test_a_machine_without_gdb_is_named_at_once(tmp_path: Path) -> None:
    with pytest.raises(DragomanError) as caught:
        require_injection({"PATH": str(tmp_path)})
    assert caught.value.code == "needs_gdb"
