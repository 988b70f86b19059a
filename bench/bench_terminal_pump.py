"""A wrapped shell's price in text, keys and commands, beside a bare terminal and the plainest pump there is.

The reader of the outer terminal is this process, in all cases the same. The daemon is a stand-in that acknowledges and
hashes, so that what is measured is the wrapper; `terminal_load` measures the daemon.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import pty
import select
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from bench.claims import Claim

SIZE = 200_000_000
ROUNDS = 5
KEYS = 1000
_KEY_EVERY_S = 0.002
COMMANDS = 300
_COMMAND_EVERY_S = 0.02
_RC = {
    "bash": (".bashrc", "PS1='ready> '"),
    "zsh": (".zshrc", "PS1='ready> '"),
    "fish": (".config/fish/config.fish", "function fish_prompt; echo -n 'ready> '; end; set fish_greeting"),
}
_PROGRAMS = Path(__file__).parent / "programs"
_PLAIN_PUMP = str(_PROGRAMS / "plain_pump.py")
_STAND_IN = str(_PROGRAMS / "omnish_stand_in.py")
_RAW_CAT = ["sh", "-c", "stty raw -echo; echo ready; exec cat"]


@dataclass(frozen=True, slots=True)
class Flood:
    wall_s: float
    cpu_s: float
    digest: str


@dataclass(frozen=True, slots=True)
class Echo:
    p50_us: float
    p99_us: float


def run() -> list[Claim]:
    with tempfile.TemporaryDirectory(prefix="bench") as folder:
        return [*_floods(Path(folder)), *_echoes(Path(folder)), *_starts(Path(folder)), *_commands(Path(folder))]


def _floods(folder: Path, size: int = SIZE, rounds: int = ROUNDS) -> list[Claim]:
    text = _text(folder / "text", size)
    _flood(_wrapper("true"), _installed(folder))
    bare: list[Flood] = []
    plain: list[Flood] = []
    wrapped: list[Flood] = []
    recorded: list[dict[str, object]] = []
    for _ in range(rounds):
        bare.append(_flood(["cat", str(text)]))
        plain.append(_flood([sys.executable, _PLAIN_PUMP, str(folder / "record"), "cat", str(text)]))
        with _stand_in(folder) as (environment, result):
            wrapped.append(_flood(_wrapper("cat", str(text)), environment))
            recorded.append(result())
    screens = sum(it.digest == bare[0].digest for it in wrapped)
    records = sum(it["sha256"] == bare[0].digest for it in recorded)
    return [
        Claim("wall, of a bare terminal's", _ratio(wrapped, bare, lambda it: it.wall_s), "x", 2.6, "lower"),
        Claim("CPU, of a plain pump's", _ratio(wrapped, plain, lambda it: it.cpu_s), "x", 1.3, "lower"),
        Claim("screens byte for byte", 100 * screens / rounds, "%", 100, "higher"),
        Claim("records byte for byte", 100 * records / rounds, "%", 100, "higher"),
        Claim("gaps", sum(int(str(it["gaps"])) for it in recorded), "", 0, "lower"),
        Claim("load of the machine", os.getloadavg()[0], "", 2, "lower"),
    ]


def _ratio(ours: list[Flood], theirs: list[Flood], of: Callable[[Flood], float]) -> float:
    """Of each round its own ratio: what else ran on the machine then slowed both."""
    return statistics.median(of(our) / of(their) for our, their in zip(ours, theirs, strict=True))


def _text(path: Path, size: int) -> Path:
    line = b"%08d the quick brown fox jumps over the lazy dog and runs back home again\n"
    with path.open("wb") as file:
        for start in range(0, size // 78, 10_000):
            file.write(b"".join(line % number for number in range(start, start + 10_000)))
    return path


def _wrapper(*command: str) -> list[str]:
    return [sys.executable, "-P", "-m", "dragoman.shell", "--", *command]


def _flood(command: list[str], environment: dict[str, str] | None = None) -> Flood:
    began = time.perf_counter()
    pid, master = _started(command, environment)
    digest = hashlib.sha256()
    while data := _read(master):
        digest.update(data)
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
    wall_s, cpu_s = time.perf_counter() - began, _cpu_s(pid)
    os.waitpid(pid, 0)
    os.close(master)
    return Flood(wall_s, cpu_s, digest.hexdigest())


def _cpu_s(pid: int) -> float:
    """Of the process alone, to the nanosecond, while it is not yet reaped: what `cat` takes is not the wrapper's."""
    return int(Path(f"/proc/{pid}/schedstat").read_text().split()[0]) / 1e9


def _installed(folder: Path) -> dict[str, str]:
    """An installed package finds its modules compiled, and a home of its own."""
    cache = {"PYTHONPYCACHEPREFIX": str(folder / "cache"), "PYTHONDONTWRITEBYTECODE": ""}
    return {"DRAGOMAN_HOME": str(folder / "home"), **cache}


def _started(command: list[str], environment: dict[str, str] | None) -> tuple[int, int]:
    pid, master = pty.fork()
    if pid == 0:
        os.execvpe(command[0], command, {**os.environ, **(environment or {})})
    os.set_inheritable(master, False)  # or a terminal would not end while another one lives
    return pid, master


def _read(master: int) -> bytes:
    try:
        return os.read(master, 1 << 16)
    except OSError:
        return b""


@contextlib.contextmanager
def _stand_in(folder: Path) -> Iterator[tuple[dict[str, str], Callable[[], dict[str, object]]]]:
    """The daemon's place, and what it has to tell once the wrapper is gone."""
    folder.mkdir(exist_ok=True)
    address = folder / "omnish.sock"
    address.unlink(missing_ok=True)
    with subprocess.Popen([sys.executable, _STAND_IN, str(address)], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        process.stdout.readline()
        home = {**_installed(folder), "OMNISH_SOCKET": str(address), "STAND_IN": str(process.pid)}
        try:
            yield home, lambda: json.loads(process.stdout.readline())  # type: ignore[union-attr]
        finally:
            process.send_signal(signal.SIGCONT)
            process.kill()


def _echoes(folder: Path, keys: int = KEYS) -> list[Claim]:
    """A key to each in turn: what else the machine does then meets them all."""
    with contextlib.ExitStack() as stack:
        daemons = [stack.enter_context(_stand_in(folder / name))[0] for name in ("answers", "hangs")]
        terminals = [_ready(_RAW_CAT, None), *(_ready(_wrapper(*_RAW_CAT), daemon) for daemon in daemons)]
        os.kill(int(daemons[1]["STAND_IN"]), signal.SIGSTOP)
        bare, wrapped, stopped = _echo([master for _, master in terminals], keys)
        for pid, master in terminals:
            os.close(master)
            os.waitpid(pid, 0)
    return [
        claim
        for how, echo in (("", wrapped), (", the daemon stopped", stopped))
        for claim in (
            Claim(f"key echo p50 over bare{how}", echo.p50_us - bare.p50_us, "µs", 150, "lower"),
            Claim(f"key echo p99 over bare{how}", echo.p99_us - bare.p99_us, "µs", 1500, "lower"),
        )
    ]


def _ready(command: list[str], environment: dict[str, str] | None) -> tuple[int, int]:
    pid, master = _started(command, environment)
    seen = b""
    while b"ready" not in seen:
        seen += _read(master)
    return pid, master


def _echo(masters: list[int], keys: int) -> list[Echo]:
    took: list[list[float]] = [[] for _ in masters]
    for _ in range(keys):
        for master, times in zip(masters, took, strict=True):
            time.sleep(_KEY_EVERY_S)
            _drain(master)
            began = time.perf_counter()
            os.write(master, b"x")
            _read(master)
            times.append((time.perf_counter() - began) * 1e6)
    return [Echo(statistics.median(times), sorted(times)[keys * 99 // 100]) for times in took]


def _drain(master: int) -> None:
    while select.select([master], [], [], 0)[0]:
        _read(master)


def _starts(folder: Path) -> list[Claim]:
    """From the start to the first prompt, and what a wrapper holds in memory after a command."""
    environment = {**_installed(folder), "PS1": "ready> ", "HOME": str(folder)}
    shell = ["bash", "--norc", "-i"]
    typed = [sys.executable, "-P", "-m", "dragoman.cli.main", "shell", "--", *shell]  # as a person opens it
    _start(typed, environment)
    rounds = [(_start(shell, environment)[0], *_start(typed, environment)) for _ in range(2 * ROUNDS)]
    later = statistics.median(wrapped - bare for bare, wrapped, _ in rounds)
    return [
        Claim("first prompt after a bare shell's", 1000 * later, "ms", 80, "lower"),
        Claim("resident", statistics.median(it[2] for it in rounds), "MB", 20, "lower"),
    ]


def _start(command: list[str], environment: dict[str, str]) -> tuple[float, float]:
    began = time.perf_counter()
    pid, master = _started(command, environment)
    seen = b""
    while b"ready> " not in seen:
        seen += _read(master)
    took = time.perf_counter() - began
    os.write(master, b"echo $((6 * 7))\r")  # with the first command everything is in memory
    while b"42" not in seen:
        seen += _read(master)
    resident = int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6
    os.close(master)
    os.waitpid(pid, 0)
    return took, resident


def _commands(folder: Path, commands: int = COMMANDS) -> list[Claim]:
    """From Enter to the next prompt of a command that does nothing, in a bare shell and a wrapped one in turn."""
    return [
        Claim(
            f"a trivial command in {shell}, over a bare shell's", _command_ms(folder, shell, commands), "ms", 2, "lower"
        )
        for shell in _RC
        if shutil.which(shell)
    ]


def _command_ms(folder: Path, shell: str, commands: int) -> float:
    rc = folder / _RC[shell][0]
    rc.parent.mkdir(parents=True, exist_ok=True)
    rc.write_text(_RC[shell][1] + "\n")
    # Where it is there, fish does not spend its first minute on making it.
    (folder / ".local" / "share" / "fish" / "generated_completions").mkdir(parents=True, exist_ok=True)
    own = {"HOME": str(folder), "ZDOTDIR": str(folder), "HISTFILE": "", "TERM": "xterm"}
    with _stand_in(folder) as (environment, _):
        terminals = [_started([shell, "-i"], own), _started(_wrapper(shell), {**environment, **own})]
        for _, master in terminals:
            _prompted(master)
        bare: list[float] = []
        wrapped: list[float] = []
        for _ in range(commands):
            for (_, master), times in zip(terminals, (bare, wrapped), strict=True):
                time.sleep(_COMMAND_EVERY_S)
                _drain(master)
                began = time.perf_counter()
                os.write(master, b":\r")
                _prompted(master, b"\n")
                times.append((time.perf_counter() - began) * 1000)
        for pid, master in terminals:
            os.close(master)
            os.waitpid(pid, 0)
    return statistics.median(wrapped) - statistics.median(bare)


def _prompted(master: int, after: bytes = b"") -> None:
    """fish draws the prompt once more with the line that was entered: what counts is the one on a line of its own."""
    seen = b""
    while after not in seen or b"ready> " not in seen.rpartition(b"\n")[2]:
        seen += _read(master)
