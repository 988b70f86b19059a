"""`setup --on` against a real Python with a home of its own: whatever breaks, nothing half-made stays."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
import zipfile
from collections.abc import Iterator
from io import BufferedReader, BytesIO
from pathlib import Path
from typing import Any

import pytest

from dragoman.cli.remote import setup_script, setup_session
from dragoman.cli.remote.setup_script import MARK, MARKER, SetupConversation
from dragoman.cli.remote.setup_session import SetupSession
from dragoman.core.errors import DragomanError
from dragoman.io.net.targets import Target
from tests.daemons import eventually

VERSION = "0.1.0"
TARGET = Target("docker:web", ("sh",), ("env",), "docker exec web")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path / "a home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    return home


@pytest.fixture
def far(home: Path) -> Iterator[SetupSession]:
    with SetupSession(TARGET, sys.executable) as far:
        yield far


def base(home: Path) -> Path:
    return home / ".local/share/dragoman/remote"


def wheel(folder: Path, daemon: str = "", name: str = "dragoman-0.1.0-py3-none-any.whl") -> Path:
    """A package with the names of ours."""
    path = folder / name
    modules = ("__init__", "cli/__init__", "cli/main", "cli/stdio/__init__", "cli/stdio/pipe", "daemon/__init__")
    with zipfile.ZipFile(path, "w") as archive:
        for module in modules:
            archive.writestr(f"dragoman/{module}.py", "")
        archive.writestr("dragoman/daemon/app.py", daemon)
    return path


def install(far: SetupSession, path: Path, digest: str = "d") -> None:
    far.ask("begin", version=VERSION)
    far.send_file(path)
    far.ask("unpack")
    far.ask("finish", version=VERSION, digest=digest, removes_itself=False)


def left(home: Path) -> list[str]:
    return sorted(it.name for it in base(home).iterdir()) if base(home).exists() else []


def marker(home: Path) -> dict[str, Any]:
    made: dict[str, Any] = json.loads((base(home) / VERSION / MARKER).read_text())
    return made


def test_what_was_made_runs_with_nothing_but_python(far: SetupSession, home: Path, tmp_path: Path) -> None:
    install(far, wheel(tmp_path))
    assert left(home) == [VERSION]
    assert marker(home)["digest"] == "d"
    start = base(home) / VERSION / "bin" / "dragoman"
    done = subprocess.run([start, "--version"], capture_output=True, check=False, env={"PATH": "/usr/bin:/bin"})
    assert (done.returncode, done.stderr) == (0, b"")
    assert far.ask("look", version=VERSION)["installed"]["digest"] == "d"


def test_a_machine_without_an_index_says_so_and_goes_on(far: SetupSession, home: Path, tmp_path: Path) -> None:
    far.ask("begin", version=VERSION)
    path = wheel(tmp_path)
    far.send_file(path)
    assert far.ask("index", name=path.name, extras="")["error"] == "no_index"
    far.ask("unpack")
    far.ask("finish", version=VERSION, digest="d", removes_itself=True)
    assert marker(home)["removes_itself"] is True


def test_a_file_that_was_changed_on_the_way_is_refused(
    far: SetupSession, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class _Wrong:
        def hexdigest(self) -> str:
            return "0" * 64

    far.ask("begin", version=VERSION)
    monkeypatch.setattr(hashlib, "file_digest", lambda *_: _Wrong())
    with pytest.raises(DragomanError, match="on docker:web was damaged"):
        far.send_file(wheel(tmp_path))
    eventually(lambda: not left(home))


@pytest.mark.parametrize("step", ["begin", "file", "unpack"])
def test_a_connection_that_dies_leaves_nothing(step: str, home: Path, tmp_path: Path) -> None:
    far = SetupSession(TARGET, sys.executable)
    with far:
        far.ask("begin", version=VERSION)
        if step != "begin":
            far.send_file(wheel(tmp_path))
        if step == "unpack":
            far.ask("unpack")
        assert [it.startswith(".new-") for it in left(home)] == [True]
    assert not base(home).parent.exists()


def test_half_a_file_is_not_kept(home: Path) -> None:
    requests = b'{"do":"begin","version":"0.1.0"}\n{"do":"file","name":"a.whl","size":100,"sha256":"00"}\nhalf'
    assert answers(requests, home)[1]["error"] == "cut"
    assert not left(home)


def answers(requests: bytes, home: Path) -> list[dict[str, Any]]:
    out = BytesIO()
    try:
        SetupConversation(BufferedReader(BytesIO(requests)), out, home).serve()
    finally:
        signal.alarm(0)
    return [json.loads(line.removeprefix(MARK)) for line in out.getvalue().splitlines()]


def test_a_full_disk_is_named_and_nothing_stays(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(path: Path, mode: str = "r", *_: object) -> Any:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))

    begin = b'{"do":"begin","version":"0.1.0"}\n'
    file = b'{"do":"file","name":"a.whl","size":4,"sha256":"00"}\nfull'
    monkeypatch.setattr(setup_script, "_make_environment", lambda _: None)
    monkeypatch.setattr(Path, "open", full)
    assert answers(begin + file, home)[1]["error"] == "full"
    assert not left(home)


def test_what_does_not_run_there_never_becomes_ours(home: Path, tmp_path: Path) -> None:
    with SetupSession(TARGET, sys.executable) as far:
        install(far, wheel(tmp_path), "good")
    broken = wheel(tmp_path, daemon="import no_such_module_here")
    with (
        SetupSession(TARGET, sys.executable) as far,
        pytest.raises(DragomanError, match="No module named 'no_such_module_here'"),
    ):
        install(far, broken, "broken")
    assert left(home) == [VERSION]
    assert marker(home)["digest"] == "good"


def test_another_build_of_the_same_version_is_replaced(home: Path, tmp_path: Path) -> None:
    for digest in ("first", "second"):
        with SetupSession(TARGET, sys.executable) as far:
            install(far, wheel(tmp_path, daemon=f"BUILD = {digest!r}"), digest)
    assert left(home) == [VERSION]
    assert marker(home)["digest"] == "second"
    assert "second" in next(base(home).rglob("daemon/app.py")).read_text()


@pytest.mark.parametrize("content", [None, "", "{}", '{"dragoman_remote": 2}', "[]"])
def test_a_folder_that_is_not_ours_is_never_touched(content: str | None, home: Path) -> None:
    folder = base(home) / VERSION
    folder.mkdir(parents=True)
    (folder / "file").write_text("precious")
    if content is not None:
        (folder / MARKER).write_text(content)
    with SetupSession(TARGET, sys.executable) as far, pytest.raises(DragomanError, match="nothing was changed"):
        far.ask("begin", version=VERSION)
    with SetupSession(TARGET, sys.executable) as far:
        assert far.ask("undo", force=True) == {"removed": [], "kept": [str(folder)]}
    assert (folder / "file").read_text() == "precious"


def test_a_link_to_another_folder_is_not_ours(home: Path, tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / MARKER).write_text('{"dragoman_remote": 1}')
    base(home).mkdir(parents=True)
    (base(home) / VERSION).symlink_to(precious)
    with SetupSession(TARGET, sys.executable) as far:
        assert far.ask("undo", force=True)["removed"] == []
    assert (precious / MARKER).exists()


def test_undo_removes_our_folders_and_what_a_killed_setup_left(home: Path, tmp_path: Path) -> None:
    with SetupSession(TARGET, sys.executable) as far:
        install(far, wheel(tmp_path))
        killed = base(home) / ".new-4194305"  # no process has this number
        killed.mkdir()
        assert far.ask("undo", force=False)["removed"] == [str(base(home) / VERSION)]
    assert not (home / ".local/share/dragoman").exists()
    assert (home / ".local/share").exists()


@pytest.mark.parametrize("name", ["../a.whl", "/a.whl", "", ".hidden", "a\0b"])
def test_names_of_files_cannot_lead_elsewhere(name: str, home: Path) -> None:
    file = json.dumps({"do": "file", "name": name, "size": 0, "sha256": ""}).encode() + b"\n"
    found = answers(b'{"do":"begin","version":"0.1.0"}\n' + file, home)
    assert found[1]["error"] == "bad_name"


# A far side that lies.


def session(script: str) -> SetupSession:
    return SetupSession(Target("docker:web", ("sh",), ("sh", "-c", script)), "python3")


@pytest.mark.parametrize(
    ("script", "code"),
    [
        ("echo 'dragoman-setup not json'; sleep 20", "not_dragoman"),
        ("echo 'dragoman-setup [1]'; sleep 20", "not_dragoman"),
        ("head -c 3000000 /dev/zero; sleep 20", "not_dragoman"),
        ("echo 'Error: No such container: web' >&2; exit 1", "target_missing"),
        ("exit 127", "not_installed"),
        ('echo \'dragoman-setup {"error":"made_up","reason":"\\u001b[2Jx"}\'; sleep 20', "far_setup_failed"),
    ],
)
def test_a_far_side_that_lies_is_an_error(script: str, code: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(setup_session, "_ENDS_WITHIN_S", 0.1)
    with session(script) as far, pytest.raises(DragomanError) as caught:
        far.ask("look", version=VERSION)
    assert caught.value.code == code
    assert "\x1b" not in str(caught.value)


def test_a_far_side_that_hangs_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(setup_session, "_CONNECTS_WITHIN_S", 0.2)
    monkeypatch.setattr(setup_session, "_ENDS_WITHIN_S", 0.1)
    with session("sleep 30") as far, pytest.raises(DragomanError, match="did not answer"):
        far.ask("look", version=VERSION)


def test_after_its_first_word_a_hang_is_noticed_within_ten_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    assert setup_session._SILENT_S <= 10
    assert setup_script._BEAT_S < setup_session._SILENT_S / 3
    monkeypatch.setattr(setup_session, "_SILENT_S", 0.2)
    monkeypatch.setattr(setup_session, "_ENDS_WITHIN_S", 0.1)
    began = time.monotonic()
    script = "echo 'dragoman-setup {\"alive\":true}'; sleep 30"
    with session(script) as far, pytest.raises(DragomanError, match="did not answer"):
        far.ask("look", version=VERSION)
    assert time.monotonic() - began < 10


def test_whatever_takes_long_there_says_that_it_lives(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(setup_script, "_BEAT_S", 0.01)
    reader, writer = os.pipe()
    with os.fdopen(reader, "rb") as requests, os.fdopen(writer, "wb", buffering=0) as near:
        answers = BytesIO()
        conversation = SetupConversation(requests, answers, home)
        thread = threading.Thread(target=conversation._file, args=({"name": "x", "size": 1, "sha256": "0"},))
        conversation._staging.joinpath("wheels").mkdir(parents=True)
        monkeypatch.setattr(signal, "alarm", lambda _: None)
        monkeypatch.setattr(threading, "excepthook", lambda _: None)
        with conversation._beating():
            thread.start()
            eventually(lambda: answers.getvalue().count(b'"alive"') >= 3)
            near.write(b"x")
            thread.join(10)


def test_a_far_side_that_is_always_busy_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(setup_session, "_ANSWERS_WITHIN_S", 0.3)
    monkeypatch.setattr(setup_session, "_ENDS_WITHIN_S", 0.1)
    script = "while sleep 0.05; do echo 'dragoman-setup {\"alive\":true}'; done"
    with session(script) as far, pytest.raises(DragomanError, match="did not answer"):
        far.ask("look", version=VERSION)


def test_what_login_scripts_print_is_skipped(home: Path) -> None:
    target = Target("docker:web", ("sh",), ("sh", "-c", 'echo Welcome; exec "$@"', "sh"))
    with SetupSession(target, sys.executable) as far:
        assert far.ask("look", version=VERSION)["folder"] == str(base(home) / VERSION)
