"""`dragoman adapters`: each debug adapter with its version and where it is, or the command that installs it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from dragoman.cli import completers
from dragoman.cli.labels import labelled_app
from dragoman.cli.output import ExitCode, show_json, show_text, shown, tell, warn
from dragoman.errors import DragomanError
from dragoman.phrases import Phrase, say
from dragoman.places import find_places

if TYPE_CHECKING:
    from dragoman.adapter_settings import AdapterSettings
    from dragoman.debug.luapanda.runtime import Interpreter

_LUA = "lua"
_Json = Annotated[bool, Parameter(negative="", help=shown(say("Answer with JSON.")))]


def listing(*, json: _Json = False) -> int:
    rows = _rows()
    if json:
        show_json([{key: _plain(value) for key, value in row.items()} for row in rows])
    else:
        show_text(_table(rows))
    return ExitCode.OK


def install(
    name: Annotated[
        str,
        Parameter(help=shown(say("An adapter's name; `dragoman adapters` lists them.")), completer=completers.adapters),
    ],
    /,
) -> int:
    from dragoman.debug.adapters.commands import INSTALLED_BY_US, install_command
    from dragoman.debug.adapters.finding import find_adapter
    from dragoman.debug.adapters.installing import install as install_it

    if name not in names():
        raise _unknown(name, names())
    if name in INSTALLED_BY_US:
        warn(say("Downloading {name} with npm…", name=name))
        made = install_it(name, find_places(), os.environ)
        tell(say("{name} {version} is installed: {path}", name=name, version=made.version, path=made.path))
        return ExitCode.OK
    if name == "python" or (_lua() if name == _LUA else find_adapter(name, os.environ)):
        tell(say("{name} is there already; `dragoman adapters` shows where.", name=name))
        return ExitCode.OK
    tell(say("Your system's own tools install {name}. Run this:", name=name))
    show_text(f"  {install_command(name, os.environ)}")
    return ExitCode.FAILED


def names() -> list[str]:
    from dragoman.debug.adapters.finding import SOUGHT

    return sorted([*SOUGHT, _LUA])


def _unknown(name: str, known: list[str]) -> DragomanError:
    return DragomanError(
        "unknown_adapter",
        say("There is no adapter {name}.", name=ascii(name[:60])),
        hint=say("Adapters there are: {known}.", known=", ".join(known)),
    )


def _rows() -> list[dict[str, Any]]:
    from dragoman.debug.adapters.finding import SOUGHT
    from dragoman.settings import load_settings

    declared = load_settings(find_places()).adapters
    own = [_declared_row(name, it) for name, it in declared.items() if it.command is not None]
    return [*map(_row, SOUGHT), _lua_row(), *own]


def _row(name: str) -> dict[str, Any]:
    """A wrong path in the settings is that adapter's own trouble: the others are still told."""
    from dragoman.debug.adapters.commands import install_command
    from dragoman.debug.adapters.finding import SOUGHT, find_adapter
    from dragoman.debug.adapters.versions import version_of

    row: dict[str, Any] = {"name": name, "languages": SOUGHT[name].languages, "types": _types(name)}
    nothing = {"version": None, "path": None, "found": None, "install": None, "problem": None}
    if name == "python":
        import debugpy

        path = os.path.dirname(debugpy.__file__)  # noqa: PTH120
        return {**row, **nothing, "version": debugpy.__version__, "path": path, "found": say("comes with dragoman")}
    try:
        found = find_adapter(name, os.environ)
    except DragomanError as error:
        return {**row, **nothing, "problem": error.message}
    if found is None:
        return {**row, **nothing, "install": install_command(name, os.environ)}
    return {**row, **nothing, "version": version_of(name, found.path), "path": found.path, "found": found.where()}


def _lua() -> Interpreter | None:
    """No adapter: the daemon speaks with the program, which needs a Lua that has luasocket."""
    from dragoman.debug.luapanda.runtime import interpreters

    return next((it for it in interpreters(os.environ) if it.has_socket), None)


def _lua_row() -> dict[str, Any]:
    from dragoman.debug.adapters.commands import install_command

    found = _lua()
    row: dict[str, Any] = {"name": _LUA, "languages": "Lua", "types": _types(_LUA), "problem": None}
    if found is None:
        return {**row, "version": None, "path": None, "found": None, "install": install_command(_LUA, os.environ)}
    version = found.version.rpartition(" ")[2]
    return {**row, "version": version, "path": found.path, "found": say("with luasocket"), "install": None}


def _declared_row(name: str, told: AdapterSettings) -> dict[str, Any]:
    path = (told.command or [""])[0]
    row = {"name": name, "languages": ", ".join(told.types or ()), "types": told.types, "version": None, "path": path}
    return {**row, "found": say("declared in the settings"), "install": None, "problem": None}


def _types(name: str) -> list[str]:
    from dragoman.debug.adapters import BUILT_IN

    return sorted(type for spec in BUILT_IN if spec.name == name for type in spec.types)


def _plain(value: object) -> object:
    if isinstance(value, Phrase):
        return shown(value)
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
        return row["name"], row["languages"], "!", shown(row["problem"])
    if row["path"] is None:
        return (
            row["name"],
            row["languages"],
            "-",
            shown(say("not here; install it with: {command}", command=row["install"])),
        )
    return row["name"], row["languages"], row["version"] or "?", f"{row['path']}  ({shown(row['found'])})"


app = labelled_app(
    name="adapters", help=shown(say("List the debug adapters, and install one.")), default_command=listing
)
app.command(install, name="install", help=shown(say("Install a debug adapter, or print the command that does.")))
