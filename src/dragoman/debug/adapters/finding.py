"""Where each debug adapter is on this machine, or the command that installs it here.

The user's settings say it first, then our own folder, the client's PATH, and the places where editors and package
managers put one. Nothing of a workspace is looked at.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from dragoman.debug.adapters.commands import install_command
from dragoman.errors import DragomanError
from dragoman.phrases import Phrase, say
from dragoman.places import Places, find_places
from dragoman.settings import load_settings

Origin = Literal["settings", "ours", "path", "machine"]

# Folders of extensions: VS Code, its server, its free build, its relatives, code-server.
_EXTENSIONS = tuple(
    f"~/{folder}/extensions"
    for folder in (".vscode", ".vscode-server", ".vscode-oss", ".cursor", ".windsurf", ".local/share/code-server")
)
_MASON = "~/.local/share/nvim/mason"


@dataclass(frozen=True, slots=True)
class Sought:
    """How one adapter is recognised. Patterns are as in a shell; of several matches the newest name wins."""

    name: str
    languages: str
    programs: tuple[str, ...] = ()
    """On PATH, the best first."""
    ours: str = ""
    """Under our own folder, where we can install it."""
    places: tuple[str, ...] = ()


_CODELLDB_PLACES = tuple(f"{folder}/vadimcn.vscode-lldb-*/adapter/codelldb" for folder in _EXTENSIONS)
SOUGHT: Mapping[str, Sought] = {
    it.name: it
    for it in (
        Sought("python", "Python"),
        Sought(
            "javascript",
            "JavaScript, TypeScript",
            programs=("js-debug-adapter", "js-debug"),
            ours="javascript/vsDebugServer.cjs",
            places=(f"{_MASON}/packages/js-debug-adapter/js-debug/src/dapDebugServer.js",),
        ),
        Sought("go", "Go", programs=("dlv",), places=("~/go/bin/dlv", f"{_MASON}/bin/dlv")),
        Sought(
            "lldb",
            "C, C++, Rust, Swift, Zig",
            programs=("lldb-dap", *(f"lldb-dap-{number}" for number in range(30, 17, -1))),
            places=(
                "/usr/lib/llvm-*/bin/lldb-dap",
                "/opt/homebrew/opt/llvm/bin/lldb-dap",
                "/usr/local/opt/llvm/bin/lldb-dap",
                "/Library/Developer/CommandLineTools/usr/bin/lldb-dap",
                "/Applications/Xcode.app/Contents/Developer/usr/bin/lldb-dap",
            ),
        ),
        Sought(
            "codelldb",
            "C, C++, Rust",
            programs=("codelldb",),
            ours="codelldb/adapter/codelldb",
            places=(*_CODELLDB_PLACES, f"{_MASON}/packages/codelldb/extension/adapter/codelldb"),
        ),
        Sought(
            "ruby",
            "Ruby",
            programs=("rdbg", *(f"rdbg3.{number}" for number in range(9, 0, -1))),
            places=("~/.local/share/gem/ruby/*/bin/rdbg", "~/.gem/ruby/*/bin/rdbg"),
        ),
    )
}


@dataclass(frozen=True, slots=True)
class Found:
    path: Path
    origin: Origin

    def where(self) -> Phrase:
        return _WHERE[self.origin]


_WHERE: Mapping[Origin, Phrase] = {
    "settings": say("named in the settings"),
    "ours": say("installed by dragoman"),
    "path": say("on PATH"),
    "machine": say("found on this machine"),
}


def find_adapter(name: str, environment: Mapping[str, str], places: Places | None = None) -> Found | None:
    """None where there is none. One that the settings name and that is not there is an error: it was meant."""
    sought, at = SOUGHT[name], places or find_places()
    return _named(name, at) or next(_candidates(sought, environment, at), None)


def require_adapter(name: str, environment: Mapping[str, str]) -> Path:
    found = find_adapter(name, environment)
    if found is None:
        raise missing(name, environment)
    return found.path


def missing(name: str, environment: Mapping[str, str]) -> DragomanError:
    return DragomanError(
        "adapter_missing",
        say(
            "The debugger for {languages} ({name}) was not found on this machine.",
            languages=SOUGHT[name].languages,
            name=name,
        ),
        hint=say("Install it with: {command}", command=install_command(name, environment)),
    )


def _named(name: str, places: Places) -> Found | None:
    told = load_settings(places).adapters.get(name)
    if told is None or told.path is None:
        return None
    path = Path(told.path).expanduser()
    if not path.is_file():
        raise DragomanError(
            "adapter_missing",
            say("The settings say that the adapter {name} is {path}, and there is no such file.", name=name, path=path),
            hint=say("Correct adapters.{name}.path in {file}.", name=name, file=places.settings_file),
        )
    return Found(path, "settings")


def _candidates(sought: Sought, environment: Mapping[str, str], places: Places) -> Iterator[Found]:
    if sought.ours and (own := places.adapters_folder / sought.ours).is_file():
        yield Found(own, "ours")
    for program in sought.programs:
        if path := on_path(program, environment):
            yield Found(path, "path")
    for pattern in sought.places:
        yield from (Found(path, "machine") for path in _matches(pattern, environment) if path.is_file())


def on_path(program: str, environment: Mapping[str, str]) -> Path | None:
    """What is not absolute would be looked for where the daemon stands, not where the client does."""
    folders = environment.get("PATH", os.defpath).split(os.pathsep)
    found = shutil.which(program, path=os.pathsep.join(it for it in folders if Path(it).is_absolute()))
    return Path(found) if found else None


def _matches(pattern: str, environment: Mapping[str, str]) -> list[Path]:
    home = environment.get("HOME") or str(Path.home())
    whole = Path(pattern.replace("~", home, 1))
    return sorted(Path(whole.anchor).glob(str(whole.relative_to(whole.anchor))), key=_newest, reverse=True)


def _newest(path: Path) -> list[int]:
    """`…-1.11.8` is newer than `…-1.9.0`, which the alphabet does not know."""
    return [int(number) for number in re.findall(r"\d+", str(path))]
