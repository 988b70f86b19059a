"""The far side of `dragoman setup --on`. Its text is sent to a Python there, which has nothing else.

It makes a folder of its own for one version: an environment of that machine's Python, made by hand because `venv` and
`pip` are often missing, with the packages in it. Everything is made in a folder beside it and renamed when it was seen
to work, so that what broke in the middle never runs. It needs Python 3.11 and the standard library.

Requests arrive as lines of JSON, a file's bytes behind its line. Each is answered with one line behind `MARK`; lines
with `alive` come before, every two seconds, as long as it works: a silent far side is taken for one that hangs.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import sysconfig
import threading
import time
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from io import BufferedReader
from pathlib import Path
from typing import Any, BinaryIO, NoReturn

MARK = b"dragoman-setup "
MARKER = "dragoman-remote.json"
"""Shows that a folder is ours. Nothing without it is changed or removed."""
_FORMAT = 1
_MAX_LINE = 1 << 16
_CHUNK = 1 << 16
_BEAT_S = 2.0
_REQUEST_WITHIN_S = 300
_INDEX_WITHIN_S = 300.0
_RUNS_WITHIN_S = 90.0
_ABANDONED_AFTER_S = 3600.0
_START = '#!/bin/sh\nexec "${0%/*}/python3" -P -m dragoman.cli.main "$@"\n'
_PIP_OPTIONS = (
    *("--disable-pip-version-check", "--no-input", "--quiet", "--no-compile", "--only-binary", ":all:"),
    *("--retries", "0", "--timeout", "10", "--no-warn-script-location"),
)


class SetupRefusalError(Exception):
    def __init__(self, code: str, reason: object = "") -> None:
        super().__init__(code)
        self.code = code
        self.reason = str(reason)


class SetupConversation:
    """One conversation. It removes what it did not finish."""

    def __init__(self, requests: BufferedReader, answers: BinaryIO, home: Path) -> None:
        self._requests = requests
        self._answers = answers
        self._saying = threading.Lock()
        self._base = home / ".local" / "share" / "dragoman" / "remote"
        self._staging = self._base / f".new-{os.getpid()}"
        self._actions: Mapping[str, Callable[[Mapping[str, Any]], dict[str, Any]]] = {
            "look": self._look,
            "begin": self._begin,
            "file": self._file,
            "index": self._index,
            "unpack": self._unpack,
            "finish": self._finish,
            "undo": self._undo,
        }

    def serve(self) -> None:
        try:
            while line := self._requests.readline(_MAX_LINE):
                signal.alarm(_REQUEST_WITHIN_S)
                request = json.loads(line)
                try:
                    with self._beating():
                        answer = self._actions[request["do"]](request)
                except SetupRefusalError as error:
                    answer = {"error": error.code, "reason": error.reason}
                except OSError as error:
                    code = "full" if error.errno in {errno.ENOSPC, errno.EDQUOT} else "system"
                    answer = {"error": code, "reason": f"{error.strerror or error}: {error.filename or self._base}"}
                self._say(answer)
                if "error" in answer and answer["error"] != "no_index":
                    return
        finally:
            self._discard()

    def _say(self, answer: Mapping[str, Any]) -> None:
        with self._saying:
            self._answers.write(MARK + json.dumps(answer).encode() + b"\n")
            self._answers.flush()

    @contextlib.contextmanager
    def _beating(self) -> Iterator[None]:
        """A slow disk or a slow link is not a hang."""
        is_over = threading.Event()

        def beat() -> None:
            with contextlib.suppress(OSError):
                while not is_over.wait(_BEAT_S):
                    self._say({"alive": True})

        thread = threading.Thread(target=beat, daemon=True)
        thread.start()
        try:
            yield
        finally:
            is_over.set()
            thread.join()

    def _discard(self) -> None:
        shutil.rmtree(self._staging, ignore_errors=True)
        _remove_empty(self._base)

    # What is there.

    def _look(self, request: Mapping[str, Any]) -> dict[str, Any]:
        folder = self._base / _name(request["version"])
        return {
            "folder": str(folder),
            "installed": read_marker(folder),
            "is_foreign": os.path.lexists(folder) and read_marker(folder) is None,
            "python": ".".join(map(str, sys.version_info[:3])),
            "suffix": sysconfig.get_config_var("EXT_SUFFIX") or "",
            "platform": sysconfig.get_platform(),
            "libc": _libc(),
        }

    # A new folder.

    def _begin(self, request: Mapping[str, Any]) -> dict[str, Any]:
        folder = self._base / _name(request["version"])
        if os.path.lexists(folder) and read_marker(folder) is None:
            raise SetupRefusalError("not_ours", folder)
        self._base.mkdir(parents=True, exist_ok=True)
        self._remove_abandoned()
        self._staging.mkdir(0o700)
        (self._staging / "wheels").mkdir()
        _make_environment(self._staging)
        return {"ok": True}

    def _remove_abandoned(self) -> None:
        """What a setup left that was killed."""
        for path in (*self._base.glob(".new-*"), *self._base.glob(".old-*")):
            pid = path.name.partition("-")[2]
            is_old = time.time() - path.lstat().st_mtime > _ABANDONED_AFTER_S
            if is_old or not (pid.isdigit() and _is_running(int(pid))):
                shutil.rmtree(path, ignore_errors=True)

    def _file(self, request: Mapping[str, Any]) -> dict[str, Any]:
        digest, left = hashlib.sha256(), int(request["size"])
        with (self._staging / "wheels" / _name(request["name"])).open("xb") as file:
            while left:
                signal.alarm(_REQUEST_WITHIN_S)
                data = self._requests.read1(min(left, _CHUNK))
                if not data:
                    raise SetupRefusalError("cut", request["name"])
                file.write(data)
                digest.update(data)
                left -= len(data)
        if digest.hexdigest() != request["sha256"]:
            raise SetupRefusalError("damaged", request["name"])
        return {"ok": True}

    def _index(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Installs our wheel with what its index has. Where that fails, the near side sends the wheels."""
        wheel = self._staging / "wheels" / _name(request["name"])
        command = [sys.executable, "-m", "pip", "install", *_PIP_OPTIONS, "--target", str(_packages(self._staging))]
        # pip combines `--target` neither with its user scheme nor with a prefix.
        unset = {name: value for name, value in os.environ.items() if name not in {"PIP_USER", "PIP_PREFIX"}}
        status, output = self._run(
            [*command, f"{wheel}{request['extras']}"], _INDEX_WITHIN_S, {**unset, "PIP_USER": "0"}
        )
        if status != 0:
            shutil.rmtree(_packages(self._staging))
            _packages(self._staging).mkdir()
            raise SetupRefusalError("no_index", output)
        return {"ok": True}

    def _unpack(self, _: Mapping[str, Any]) -> dict[str, Any]:
        packages = _packages(self._staging)
        for wheel in sorted((self._staging / "wheels").iterdir()):
            with zipfile.ZipFile(wheel) as archive:
                archive.extractall(packages)
            for data in packages.glob("*.data"):
                for part in ("purelib", "platlib"):
                    if (data / part).is_dir():
                        shutil.copytree(data / part, packages, dirs_exist_ok=True)
                shutil.rmtree(data)
        return {"ok": True}

    def _finish(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Try it, then put it where `--on` looks for it."""
        shutil.rmtree(self._staging / "wheels")
        python = str(self._staging / "bin" / "python3")
        modules = "import dragoman.cli.main, dragoman.cli.stdio.pipe, dragoman.daemon.app"
        status, output = self._run([python, "-P", "-c", modules], _RUNS_WITHIN_S)
        if status != 0:
            raise SetupRefusalError("does_not_run", output)
        marker = {"dragoman_remote": _FORMAT, "version": request["version"], "digest": request["digest"]}
        text = json.dumps({**marker, "removes_itself": request["removes_itself"] is True})
        (self._staging / MARKER).write_text(text)
        folder = self._base / _name(request["version"])
        if read_marker(folder) is not None:
            self._stop_daemon(folder, force=False)
            remove_folder(folder)
        self._staging.rename(folder)
        if request["removes_itself"] is True:
            _start_watcher(folder)
        return {"ok": True}

    # The way back.

    def _undo(self, request: Mapping[str, Any]) -> dict[str, Any]:
        folders = sorted(self._base.iterdir()) if self._base.is_dir() else []
        removed, kept = [], []
        for folder in folders:
            if folder.name.startswith("."):
                continue
            if read_marker(folder) is None:
                kept.append(str(folder))
            elif not self._stop_daemon(folder, force=request["force"] is True):
                raise SetupRefusalError("busy", folder)
            else:
                remove_folder(folder)
                removed.append(str(folder))
        self._remove_abandoned()
        return {"removed": removed, "kept": kept}

    def _stop_daemon(self, folder: Path, *, force: bool) -> bool:
        """Whether no daemon of that folder runs any more. One that was installed in another way is left alone."""
        if not running_daemons(folder):
            return True
        down = [str(folder / "bin" / "dragoman"), "down", *(["--yes"] if force else [])]
        status, _ = self._run(down, _RUNS_WITHIN_S)
        return status == 0 and not running_daemons(folder)

    def _run(
        self, command: Sequence[str], within_s: float, environment: Mapping[str, str] = os.environ
    ) -> tuple[int, str]:
        """The exit status and the end of the output. The near side hears meanwhile, and if it is gone, this ends."""
        environment = {name: value for name, value in environment.items() if name != "DRAGOMAN_ON"}
        reader, writer = os.pipe()
        with open(reader, "rb") as output:  # noqa: PTH123  a descriptor
            process = subprocess.Popen(  # noqa: S603  our own words, and paths below our folder
                command, stdin=subprocess.DEVNULL, stdout=writer, stderr=writer, env=environment, start_new_session=True
            )
            os.close(writer)
            os.set_blocking(reader, False)
            tail, deadline = b"", time.monotonic() + within_s
            try:
                while True:
                    signal.alarm(_REQUEST_WITHIN_S)
                    status = _ended(process)
                    tail = (tail + (output.read() or b""))[-_CHUNK:]
                    if status is not None:
                        return status, tail.decode("utf-8", "replace")
                    if time.monotonic() > deadline:
                        return -1, f"no answer within {within_s:.0f} s"
                    self._say({"alive": True})
            finally:
                if process.returncode is None:
                    os.killpg(process.pid, signal.SIGKILL)
                    process.wait()


def _ended(process: subprocess.Popen[bytes]) -> int | None:
    try:
        return process.wait(_BEAT_S)
    except subprocess.TimeoutExpired:
        return None


def _make_environment(folder: Path) -> None:
    """What `python -m venv --without-pip` makes. Its scripts would name the folder, which is renamed later."""
    base = Path(getattr(sys, "_base_executable", None) or sys.executable)
    settings = f"home = {base.parent}\ninclude-system-site-packages = false\nversion = {sys.version.split()[0]}\n"
    (folder / "pyvenv.cfg").write_text(settings)
    (folder / "bin").mkdir()
    (folder / "bin" / "python3").symlink_to(base)
    start = folder / "bin" / "dragoman"
    start.write_text(_START)
    start.chmod(0o755)
    _packages(folder).mkdir(parents=True)


def _packages(folder: Path) -> Path:
    return folder / "lib" / f"python{sys.version_info[0]}.{sys.version_info[1]}" / "site-packages"


def read_marker(folder: Path) -> dict[str, Any] | None:
    """What our marker in the folder says; None if it is not ours."""
    try:
        if folder.is_symlink() or folder.stat().st_uid != os.getuid():
            return None
        marker = json.loads((folder / MARKER).read_bytes())
    except (OSError, ValueError):
        return None
    return marker if isinstance(marker, dict) and marker.get("dragoman_remote") == _FORMAT else None


def remove_folder(folder: Path) -> None:
    """Renamed first: a folder that is half removed never runs."""
    old = folder.parent / f".old-{os.getpid()}"
    shutil.rmtree(old, ignore_errors=True)
    folder.rename(old)
    shutil.rmtree(old)
    _remove_empty(folder.parent)


def _start_watcher(folder: Path) -> None:
    """It removes the folder after a time without use, also if it is never used."""
    code = "import sys; from pathlib import Path; from dragoman.cli.remote.idle_removal import ensure_watcher; "
    command = [str(folder / "bin" / "python3"), "-P", "-c", code + "ensure_watcher(Path(sys.prefix))"]
    subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False, timeout=_RUNS_WITHIN_S)  # noqa: S603


def _name(text: object) -> str:
    """A name for one file, from the near side."""
    name = str(text)
    if not name or name.startswith(".") or "/" in name or "\0" in name:
        raise SetupRefusalError("bad_name", name)
    return name


def running_daemons(folder: Path) -> list[int]:
    """The daemons that run from the folder, by their command lines."""
    start = os.fsencode(folder) + b"/"
    return [pid for pid, command in running_processes() if command.startswith(start) and b"dragoman.daemon" in command]


def running_processes() -> Iterator[tuple[int, bytes]]:
    if Path("/proc/self/cmdline").exists():
        for path in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):  # it ended, or belongs to somebody else
                yield int(path.name), (path / "cmdline").read_bytes()
        return
    done = subprocess.run(["ps", "-axo", "pid=,command="], capture_output=True, check=False, timeout=10)  # noqa: S607
    for line in done.stdout.splitlines():
        pid, _, command = line.strip().partition(b" ")
        yield int(pid), command.strip()


def _is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def _remove_empty(base: Path) -> None:
    """The folders above, if nothing is in them."""
    for folder in (base, base.parent):
        with contextlib.suppress(OSError):
            folder.rmdir()


def _libc() -> str:
    try:
        return os.confstr("CS_GNU_LIBC_VERSION") or ""
    except (AttributeError, ValueError, OSError):
        return ""


def _end(*_: object) -> NoReturn:
    raise SystemExit(1)


def main() -> None:
    for number in (signal.SIGHUP, signal.SIGTERM, signal.SIGINT, signal.SIGALRM):
        signal.signal(number, _end)
    os.umask(0o077)
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # nothing else may print between the answers
    requests = sys.stdin.buffer
    assert isinstance(requests, BufferedReader)
    with contextlib.suppress(BrokenPipeError):
        SetupConversation(requests, answers, Path(os.environ["HOME"])).serve()


if __name__ == "__main__":
    main()
