"""Finds the debug adapters of this machine, their versions, and the command that installs a missing one.

The user's settings come first, then Dragoman's own folder, the client's PATH, and the places where editors and
package managers put adapters. Nothing inside a workspace is searched: a workspace must not choose what Dragoman runs.
"""

from __future__ import annotations

import functools
import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import version as version_of_package
from pathlib import Path
from typing import Literal

from dragoman.core.errors import DragomanError
from dragoman.core.localization import LocalizedText, localize
from dragoman.core.paths import Paths, find_paths
from dragoman.core.settings.loader import load_settings

_ASKED_WITHIN_S = 5.0
_OLDEST_LLDB = 18  # the first whose adapter is called lldb-dap and supports our requests
_MASON = "~/.local/share/nvim/mason"

INSTALLABLE = frozenset({"javascript", "codelldb"})


# required program -> package, per adapter; the first installed package manager is suggested
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
_INSTALL_COMMANDS: Mapping[str, str] = {
    "apt-get": "apt-get install -y {packages}",
    "dnf": "dnf install -y {packages}",
    "pacman": "pacman -S --needed {packages}",
    "brew": "brew install {packages}",
}
_LANGUAGE_INSTALLERS: Mapping[str, tuple[str, str]] = {
    "go": ("go", "go install github.com/go-delve/delve/cmd/dlv@latest"),
    "ruby": ("gem", "gem install debug"),
}
_FALLBACK_COMMANDS: Mapping[str, str] = {
    "go": "go install github.com/go-delve/delve/cmd/dlv@latest",
    "lldb": "dragoman adapters install codelldb",
    "lua": "luarocks install luasocket",
    "ruby": "gem install debug",
}


def install_command(name: str, environment: Mapping[str, str]) -> str:
    """One line to paste into a shell."""
    if name in INSTALLABLE:
        return f"dragoman adapters install {name}"
    if name not in _PACKAGES:
        return "pip install --force-reinstall dragoman"
    return (
        _language_install_command(name, environment)
        or _package_install_command(name, environment)
        or _FALLBACK_COMMANDS[name]
    )


def _language_install_command(name: str, environment: Mapping[str, str]) -> str:
    """A language that the system's packages brought has its debugger there too, and of the matching version."""
    if name not in _LANGUAGE_INSTALLERS:
        return ""
    program, command = _LANGUAGE_INSTALLERS[name]
    found = shutil.which(program, path=environment.get("PATH"))
    is_systems = found is not None and Path(found).resolve().is_relative_to("/usr") and "/local/" not in found
    return command if found and not (is_systems and _package_manager(environment)) else ""


def _package_install_command(name: str, environment: Mapping[str, str]) -> str:
    manager = _package_manager(environment)
    if not manager:
        return ""
    packages = _PACKAGES[name][manager] or _newest_lldb()
    rights = "" if manager == "brew" or os.getuid() == 0 else "sudo "
    return rights + _INSTALL_COMMANDS[manager].format(packages=packages)


def _package_manager(environment: Mapping[str, str]) -> str:
    return next((it for it in _INSTALL_COMMANDS if shutil.which(it, path=environment.get("PATH"))), "")


@functools.cache
def _newest_lldb() -> str:
    """Debian and Ubuntu have several versions, and the one named just `lldb` is mostly too old."""
    printed = command_output(["apt-cache", "search", "--names-only", r"^lldb-[0-9]+$"])
    numbers = [int(it) for it in re.findall(r"^lldb-(\d+) ", printed, re.MULTILINE)]
    return f"lldb-{max(numbers)}" if numbers and max(numbers) >= _OLDEST_LLDB else "lldb"


def command_output(
    argv: list[str],
    *,
    stdin: bytes = b"",
    read: Callable[[bytes], str] = bytes.decode,
    environment: Mapping[str, str] | None = None,
) -> str:
    """The output of a short command; empty if it cannot run or does not end in time."""
    try:
        done = subprocess.run(  # noqa: S603
            argv, input=stdin, capture_output=True, env=environment, timeout=_ASKED_WITHIN_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return read(done.stdout + done.stderr)


LocationOrigin = Literal["settings", "ours", "path", "machine"]


# Folders of extensions: VS Code, its server, its free build, its relatives, code-server.
_EXTENSIONS = tuple(
    f"~/{folder}/extensions"
    for folder in (".vscode", ".vscode-server", ".vscode-oss", ".cursor", ".windsurf", ".local/share/code-server")
)


@dataclass(frozen=True, slots=True)
class AdapterSearch:
    """How one adapter is recognised. Patterns are as in a shell; of several matches the newest name wins."""

    name: str
    languages: str
    programs: tuple[str, ...] = ()
    """On PATH, the best first."""
    ours: str = ""
    """Under our own folder, where we can install it."""
    paths: tuple[str, ...] = ()


_CODELLDB_PLACES = tuple(f"{folder}/vadimcn.vscode-lldb-*/adapter/codelldb" for folder in _EXTENSIONS)
ADAPTER_SEARCHES: Mapping[str, AdapterSearch] = {
    it.name: it
    for it in (
        AdapterSearch("python", "Python"),
        AdapterSearch(
            "javascript",
            "JavaScript, TypeScript",
            programs=("js-debug-adapter", "js-debug"),
            ours="javascript/vsDebugServer.cjs",
            paths=(f"{_MASON}/packages/js-debug-adapter/js-debug/src/dapDebugServer.js",),
        ),
        AdapterSearch("go", "Go", programs=("dlv",), paths=("~/go/bin/dlv", f"{_MASON}/bin/dlv")),
        AdapterSearch(
            "lldb",
            "C, C++, Rust, Swift, Zig",
            programs=("lldb-dap", *(f"lldb-dap-{number}" for number in range(30, 17, -1))),
            paths=(
                "/usr/lib/llvm-*/bin/lldb-dap",
                "/opt/homebrew/opt/llvm/bin/lldb-dap",
                "/usr/local/opt/llvm/bin/lldb-dap",
                "/Library/Developer/CommandLineTools/usr/bin/lldb-dap",
                "/Applications/Xcode.app/Contents/Developer/usr/bin/lldb-dap",
            ),
        ),
        AdapterSearch(
            "codelldb",
            "C, C++, Rust",
            programs=("codelldb",),
            ours="codelldb/adapter/codelldb",
            paths=(*_CODELLDB_PLACES, f"{_MASON}/packages/codelldb/extension/adapter/codelldb"),
        ),
        AdapterSearch(
            "ruby",
            "Ruby",
            programs=("rdbg", *(f"rdbg3.{number}" for number in range(9, 0, -1))),
            paths=("~/.local/share/gem/ruby/*/bin/rdbg", "~/.gem/ruby/*/bin/rdbg"),
        ),
    )
}


@dataclass(frozen=True, slots=True)
class AdapterLocation:
    path: Path
    origin: LocationOrigin

    def where(self) -> LocalizedText:
        return _ORIGIN_TEXTS[self.origin]


_ORIGIN_TEXTS: Mapping[LocationOrigin, LocalizedText] = {
    "settings": localize("set in the settings"),
    "ours": localize("installed by dragoman"),
    "path": localize("on PATH"),
    "machine": localize("found on this machine"),
}


def find_adapter(name: str, environment: Mapping[str, str], paths: Paths | None = None) -> AdapterLocation | None:
    """None if there is no adapter. An adapter that the settings name and that does not exist is an error."""
    sought, at = ADAPTER_SEARCHES[name], paths or find_paths()
    return _from_settings(name, at) or next(_candidates(sought, environment, at), None)


def require_adapter(name: str, environment: Mapping[str, str]) -> Path:
    adapter = find_adapter(name, environment)
    if adapter is None:
        raise adapter_missing(name, environment)
    return adapter.path


def adapter_missing(name: str, environment: Mapping[str, str]) -> DragomanError:
    return DragomanError(
        "adapter_missing",
        localize(
            "The debugger for {languages} ({name}) was not found on this machine.",
            languages=ADAPTER_SEARCHES[name].languages,
            name=name,
        ),
        hint=localize("Install it with: {command}", command=install_command(name, environment)),
    )


def _from_settings(name: str, paths: Paths) -> AdapterLocation | None:
    declared = load_settings(paths).adapters.get(name)
    if declared is None or declared.path is None:
        return None
    path = Path(declared.path).expanduser()
    if not path.is_file():
        raise DragomanError(
            "adapter_missing",
            localize("The setting adapters.{name}.path is {path}, which does not exist.", name=name, path=path),
            hint=localize("Fix adapters.{name}.path in {file}.", name=name, file=paths.settings_file),
        )
    return AdapterLocation(path, "settings")


def _candidates(sought: AdapterSearch, environment: Mapping[str, str], paths: Paths) -> Iterator[AdapterLocation]:
    if sought.ours and (own := paths.adapters_folder / sought.ours).is_file():
        yield AdapterLocation(own, "ours")
    for program in sought.programs:
        if path := find_on_path(program, environment):
            yield AdapterLocation(path, "path")
    for pattern in sought.paths:
        yield from (AdapterLocation(path, "machine") for path in _matches(pattern, environment) if path.is_file())


def find_on_path(program: str, environment: Mapping[str, str]) -> Path | None:
    """A relative path would be resolved in the daemon's folder, not in the client's."""
    folders = environment.get("PATH", os.defpath).split(os.pathsep)
    found = shutil.which(program, path=os.pathsep.join(it for it in folders if Path(it).is_absolute()))
    return Path(found) if found else None


def _matches(pattern: str, environment: Mapping[str, str]) -> list[Path]:
    home = environment.get("HOME") or str(Path.home())
    whole = Path(pattern.replace("~", home, 1))
    return sorted(Path(whole.anchor).glob(str(whole.relative_to(whole.anchor))), key=_version_key, reverse=True)


def _version_key(path: Path) -> list[int]:
    """`…-1.11.8` is newer than `…-1.9.0`, which the alphabet does not know."""
    return [int(number) for number in re.findall(r"\d+", str(path))]


_NUMBER = re.compile(r"\d+(?:\.\d+)+")
_INITIALIZE_REQUEST = {"seq": 1, "type": "request", "command": "initialize", "arguments": {"adapterID": "lldb-dap"}}


def adapter_version(name: str, path: Path) -> str:
    return _VERSION_READERS[name](path)


def _first_number(text: str) -> str:
    match = _NUMBER.search(text)
    return match[0] if match else ""


def _lldb_version(path: Path) -> str:
    """It has no option for this; its first answer says it."""
    body = json.dumps(_INITIALIZE_REQUEST).encode()
    printed = command_output([str(path)], stdin=b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
    match = re.search(r"lldb version (\d+(?:\.\d+)+)", printed)
    return match[1] if match else ""


def _version_file_reader(*names: str) -> Callable[[Path], str]:
    """A file beside the program, or above it, that has a `version`."""

    def read(path: Path) -> str:
        for name in names:
            try:
                printed = json.loads((path.parent / name).read_text())["version"]
            except (OSError, ValueError, KeyError, TypeError):
                continue
            return str(printed).removeprefix("v")
        return ""

    return read


_VERSION_READERS: Mapping[str, Callable[[Path], str]] = {
    "python": lambda _: version_of_package("debugpy"),
    "javascript": _version_file_reader("manifest.json", "../package.json"),
    "go": lambda path: _first_number(command_output([str(path), "version"])),
    "lldb": _lldb_version,
    "codelldb": _version_file_reader("../version.json", "../package.json"),
    "ruby": lambda path: _first_number(command_output([str(path), "--version"])),
}
