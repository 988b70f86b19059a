"""`dragoman adapters`: the version and path of each debug adapter, or the command that installs it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from dragoman.cli import completion
from dragoman.cli.commands import labelled_app
from dragoman.cli.output import ExitCode, render, show_json, show_message, show_text, warn
from dragoman.core.errors import DragomanError, ErrorSpec, quoted
from dragoman.core.localization import LocalizedText, localize
from dragoman.core.paths import find_paths

if TYPE_CHECKING:
    from dragoman.core.settings.adapters import AdapterSettings
    from dragoman.debug.backends.luapanda.runtime import LuaInterpreter

_LUA = "lua"
_Json = Annotated[bool, Parameter(negative="", help=render(localize("Print JSON.")))]


def list_adapters(*, json: _Json = False) -> int:
    rows = _rows()
    if json:
        show_json([{key: _plain(value) for key, value in row.items()} for row in rows])
    else:
        show_text(_table(rows))
    return ExitCode.OK


def install(
    name: Annotated[
        str,
        Parameter(
            help=render(localize("Adapter name. `dragoman adapters` lists them.")), completer=completion.adapters
        ),
    ],
    /,
) -> int:
    from dragoman.debug.backends.adapters.discovery import INSTALLABLE, find_adapter, install_command
    from dragoman.debug.backends.adapters.installation import install_adapter as install_it

    if name not in adapter_names():
        raise _unknown(name=name, known=adapter_names())
    if name in INSTALLABLE:
        warn(localize("Downloading {name} with npm…", name=name))
        made = install_it(name, find_paths(), os.environ)
        show_message(localize("Installed {name} {version}: {path}", name=name, version=made.version, path=made.path))
        return ExitCode.OK
    if name == "python" or (_lua() if name == _LUA else find_adapter(name, os.environ)):
        show_message(localize("{name} is already installed. `dragoman adapters` shows where.", name=name))
        return ExitCode.OK
    show_message(localize("Install {name} with your system's package manager:", name=name))
    show_text(f"  {install_command(name, os.environ)}")
    return ExitCode.FAILED


def adapter_names() -> list[str]:
    from dragoman.debug.backends.adapters.discovery import ADAPTER_SEARCHES

    return sorted([*ADAPTER_SEARCHES, _LUA])


_unknown = ErrorSpec(
    "unknown_adapter",
    "Unknown adapter: {name}.",
    "Available adapters: {known}.",
    name=quoted(60),
    known=", ".join,
)


def _rows() -> list[dict[str, Any]]:
    from dragoman.core.settings.loader import load_settings
    from dragoman.debug.backends.adapters.discovery import ADAPTER_SEARCHES

    declared = load_settings(find_paths()).adapters
    own = [_declared_row(name, it) for name, it in declared.items() if it.command is not None]
    return [*map(_row, ADAPTER_SEARCHES), _lua_row(), *own]


def _row(name: str) -> dict[str, Any]:
    """One row. A wrong path in the settings is shown in the row of that adapter; the others are still listed."""
    from dragoman.debug.backends.adapters.discovery import (
        ADAPTER_SEARCHES,
        adapter_version,
        find_adapter,
        install_command,
    )

    row: dict[str, Any] = {"name": name, "languages": ADAPTER_SEARCHES[name].languages, "types": _types(name)}
    nothing = {"version": None, "path": None, "found": None, "install": None, "problem": None}
    if name == "python":
        import debugpy

        path = os.path.dirname(debugpy.__file__)  # noqa: PTH120
        return {
            **row,
            **nothing,
            "version": debugpy.__version__,
            "path": path,
            "found": localize("bundled with dragoman"),
        }
    try:
        adapter = find_adapter(name, os.environ)
    except DragomanError as error:
        return {**row, **nothing, "problem": error.message}
    if adapter is None:
        return {**row, **nothing, "install": install_command(name, os.environ)}
    return {
        **row,
        **nothing,
        "version": adapter_version(name, adapter.path),
        "path": adapter.path,
        "found": adapter.where(),
    }


def _lua() -> LuaInterpreter | None:
    """The row for Lua. It has no adapter: the daemon talks to the program, which needs a Lua with luasocket."""
    from dragoman.debug.backends.luapanda.runtime import find_interpreters

    return next((it for it in find_interpreters(os.environ) if it.has_socket), None)


def _lua_row() -> dict[str, Any]:
    from dragoman.debug.backends.adapters.discovery import install_command

    found = _lua()
    row: dict[str, Any] = {"name": _LUA, "languages": "Lua", "types": _types(_LUA), "problem": None}
    if found is None:
        return {**row, "version": None, "path": None, "found": None, "install": install_command(_LUA, os.environ)}
    version = found.version.rpartition(" ")[2]
    return {**row, "version": version, "path": found.path, "found": localize("with luasocket"), "install": None}


def _declared_row(name: str, settings: AdapterSettings) -> dict[str, Any]:
    path = (settings.command or [""])[0]
    row = {
        "name": name,
        "languages": ", ".join(settings.types or ()),
        "types": settings.types,
        "version": None,
        "path": path,
    }
    return {**row, "found": localize("declared in the settings"), "install": None, "problem": None}


def _types(name: str) -> list[str]:
    from dragoman.debug.backends.adapters import BUILT_IN

    return sorted(type for spec in BUILT_IN if spec.name == name for type in spec.types)


def _plain(value: object) -> object:
    if isinstance(value, LocalizedText):
        return render(value)
    return value if value is None or isinstance(value, list) else str(value)


def _table(rows: list[dict[str, Any]]) -> str:
    cells = [_cells(row) for row in rows]
    widths = [max(len(row[column]) for row in cells) for column in range(3)]
    lines = (
        "  ".join([*(text.ljust(width) for text, width in zip(row, widths, strict=False)), row[3]]) for row in cells
    )
    return "\n".join(lines)


def _cells(row: dict[str, Any]) -> tuple[str, str, str, str]:
    if row["problem"]:
        return row["name"], row["languages"], "!", render(row["problem"])
    if row["path"] is None:
        return (
            row["name"],
            row["languages"],
            "-",
            render(localize("not installed; install it with: {command}", command=row["install"])),
        )
    return row["name"], row["languages"], row["version"] or "?", f"{row['path']}  ({render(row['found'])})"


app = labelled_app(name="adapters", default_command=list_adapters)
app.command(install, name="install", help=render(localize("Install a debug adapter, or print its install command.")))
