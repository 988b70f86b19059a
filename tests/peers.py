"""The real peers that tests run: how to find out whether one is installed."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable
from pathlib import Path

# Adapters that `dragoman adapters install` brings: tools/bootstrap.py installs them here.
INSTALLED = Path(__file__).parents[1] / ".peers" / "state" / "adapters"

# The page, as tools/build_page.py builds it.
BUILT = Path(__file__).parents[1] / "src" / "dragoman" / "servers" / "web" / "built"

# The editor that runs the extension's tests, as tools/install_editor.py installs it: the stamp is written last.
EDITOR = Path(__file__).parents[1] / ".peers" / "editor"

# A gdb that can call functions, where the system's cannot: tools/working_gdb.py makes it.
GDB = Path(__file__).parents[1] / ".peers" / "gdb"

# peer -> what must be there: each a program on PATH, or one of several, or a file
PEERS: dict[str, tuple[str, ...]] = {
    "bash": ("bash",),
    "tmux": ("tmux",),
    "editors": ("vim", "less"),
    "zsh": ("zsh",),
    "fish": ("fish",),
    "chromium": ("chromium-headless-shell chromium",),
    "editor": (str(EDITOR / ".whole"), "npm"),
    "runuser": ("runuser",),
    "gdb": ("gdb",),
    "sshd": ("/usr/sbin/sshd", "ssh"),
    "go": ("dlv", "go"),
    "lldb": ("lldb-dap lldb-dap-19 lldb-dap-20 lldb-dap-21 lldb-dap-22",),
    "codelldb": (str(INSTALLED / "codelldb" / "adapter" / "codelldb"),),
    "c": ("gcc", "g++"),
    "rust": ("rustc",),
    "ruby": ("ruby", "rdbg rdbg3.1 rdbg3.2 rdbg3.3"),
    "javascript": ("node", str(INSTALLED / "javascript" / "vsDebugServer.cjs")),
    "npm": ("npm",),
    "page": (str(BUILT / "index.html"),),
    "lua": (
        "lua5.1",
        "lua5.2",
        "lua5.3",
        "lua5.4",
        "luajit",
        "/usr/lib/x86_64-linux-gnu/lua/5.4/socket/core.so /usr/lib/aarch64-linux-gnu/lua/5.4/socket/core.so",
    ),
}


def on_ci() -> bool:
    return os.environ.get("CI") == "true"


def missing_peers(wanted: Iterable[str]) -> list[str]:
    return [peer for peer in wanted if not all(any(map(_is_there, one.split())) for one in PEERS[peer])]


def _is_there(name: str) -> bool:
    return Path(name).is_file() if name.startswith("/") else shutil.which(name) is not None


def use_working_gdb() -> None:
    """Before anything reads PATH: daemons, shells and programs of the tests take it from here."""
    path = os.environ.get("PATH", os.defpath)
    if (GDB / "gdb").is_file() and str(GDB) not in path.split(os.pathsep):
        os.environ["PATH"] = f"{GDB}{os.pathsep}{path}"


def give_adapters(home: Path) -> None:
    """The installed adapters, for a test whose DRAGOMAN_HOME is its own."""
    (home / "state").mkdir(parents=True, exist_ok=True)
    (home / "state" / "adapters").symlink_to(INSTALLED)


def spare_fish_its_first_start(home: Path) -> None:
    """With a new home, each interactive fish parses every manual page for a minute of processor time, in the
    background and beyond the end of the shell; this folder is what says that it was done."""
    (home / ".local" / "share" / "fish" / "generated_completions").mkdir(parents=True, exist_ok=True)
