"""The exact command that installs an adapter on this machine, by the package managers that it has."""

from __future__ import annotations

import functools
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

_ASKED_WITHIN_S = 5.0
_OLDEST_LLDB = 18  # the first whose adapter is called lldb-dap and takes what we say to it

INSTALLED_BY_US = frozenset({"javascript", "codelldb"})

# program that must be there -> package, per adapter; the first manager that is there is told
_PACKAGES: Mapping[str, Mapping[str, str]] = {
    "go": {"apt-get": "delve golang-go", "dnf": "delve golang", "pacman": "delve go", "brew": "delve go"},
    "lldb": {"apt-get": "", "dnf": "lldb", "pacman": "lldb", "brew": "llvm"},
    "ruby": {"apt-get": "ruby", "dnf": "ruby rubygem-debug", "pacman": "ruby ruby-debug", "brew": "ruby"},
    "lua": {
        "apt-get": "lua5.4 lua-socket",
        "dnf": "lua lua-socket",
        "pacman": "lua lua-socket",
        "brew": "lua luarocks",
    },
}
_INSTALLS: Mapping[str, str] = {
    "apt-get": "apt-get install -y {packages}",
    "dnf": "dnf install -y {packages}",
    "pacman": "pacman -S --needed {packages}",
    "brew": "brew install {packages}",
}
_LANGUAGES_OWN: Mapping[str, tuple[str, str]] = {
    "go": ("go", "go install github.com/go-delve/delve/cmd/dlv@latest"),
    "ruby": ("gem", "gem install debug"),
}
_WHEREVER: Mapping[str, str] = {
    "go": "go install github.com/go-delve/delve/cmd/dlv@latest",
    "lldb": "dragoman adapters install codelldb",
    "lua": "luarocks install luasocket",
    "ruby": "gem install debug",
}


def install_command(name: str, environment: Mapping[str, str]) -> str:
    """One line to paste into a shell."""
    if name in INSTALLED_BY_US:
        return f"dragoman adapters install {name}"
    if name not in _PACKAGES:
        return "pip install --force-reinstall dragoman"
    return _by_language(name, environment) or _by_manager(name, environment) or _WHEREVER[name]


def _by_language(name: str, environment: Mapping[str, str]) -> str:
    """A language that the system's packages brought has its debugger there too, and of the matching version."""
    if name not in _LANGUAGES_OWN:
        return ""
    program, command = _LANGUAGES_OWN[name]
    found = shutil.which(program, path=environment.get("PATH"))
    is_systems = found is not None and Path(found).resolve().is_relative_to("/usr") and "/local/" not in found
    return command if found and not (is_systems and _manager(environment)) else ""


def _by_manager(name: str, environment: Mapping[str, str]) -> str:
    manager = _manager(environment)
    if not manager:
        return ""
    packages = _PACKAGES[name][manager] or _newest_lldb()
    rights = "" if manager == "brew" or os.getuid() == 0 else "sudo "
    return rights + _INSTALLS[manager].format(packages=packages)


def _manager(environment: Mapping[str, str]) -> str:
    return next((it for it in _INSTALLS if shutil.which(it, path=environment.get("PATH"))), "")


@functools.cache
def _newest_lldb() -> str:
    """Debian and Ubuntu carry several, and the one that is just called `lldb` is mostly too old."""
    told = output_of(["apt-cache", "search", "--names-only", r"^lldb-[0-9]+$"])
    numbers = [int(it) for it in re.findall(r"^lldb-(\d+) ", told, re.MULTILINE)]
    return f"lldb-{max(numbers)}" if numbers and max(numbers) >= _OLDEST_LLDB else "lldb"


def output_of(
    argv: list[str],
    *,
    stdin: bytes = b"",
    read: Callable[[bytes], str] = bytes.decode,
    environment: Mapping[str, str] | None = None,
) -> str:
    """What a short question to a program brings; empty where it cannot be asked or does not answer in time."""
    try:
        done = subprocess.run(  # noqa: S603
            argv, input=stdin, capture_output=True, env=environment, timeout=_ASKED_WITHIN_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return read(done.stdout + done.stderr)
