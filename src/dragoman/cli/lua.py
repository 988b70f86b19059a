"""`dragoman lua`: where the Lua runtime is, a copy of it for a project, and what is wrong with Lua here."""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dragoman.cli.labels import labelled_app
from dragoman.cli.output import ExitCode, show_text, shown, tell, warn
from dragoman.cli.written_files import WrittenFile, remember
from dragoman.errors import DragomanError
from dragoman.phrases import Phrase, say
from dragoman.places import find_places

if TYPE_CHECKING:
    from dragoman.debug.luapanda.runtime import Copy, Interpreter


def path() -> int:
    from dragoman.debug.luapanda.runtime import require_runtime

    show_text(str(require_runtime()))
    return ExitCode.OK


def install(folder: Path, /, *, name: str = "LuaPanda.lua") -> int:
    """Under LuaPanda's own name, so that `require("LuaPanda")` finds it. What is there and is another's stays."""
    from dragoman.debug.luapanda.runtime import is_ours, require_runtime

    source, target = require_runtime(), folder / name
    if not folder.is_dir():
        raise DragomanError(
            "no_folder", say("There is no folder {path}.", path=folder), hint=say("Make it first, or name another.")
        )
    if target.exists() and not is_ours(target.read_text("utf-8", "replace")):
        raise DragomanError(
            "file_exists",
            say("{path} is there already and is not ours.", path=target),
            hint=say("Move it away, or choose another name with --name."),
        )
    remember(find_places(), WrittenFile(str(target.absolute())))
    shutil.copyfile(source, target)
    tell(say("Copied to {path}.", path=target))
    tell(
        say(
            'In the program, where it finds this file: require("{module}").start("127.0.0.1", 8818)',
            module=Path(name).stem,
        )
    )
    return ExitCode.OK


def doctor(folder: Path = Path(), /) -> int:
    from dragoman.debug.luapanda.runtime import copies, interpreters, runtime_file

    found = interpreters(os.environ)
    problems = [trouble for one in found if (trouble := _trouble(one))]
    lines = [_shown(one) for one in found]
    if not found:
        problems.append(say("There is no Lua here: `apt install lua5.4 lua-socket`, or your system's own way."))
    runtime = runtime_file()
    lines.append(shown(say("runtime: {path}", path=runtime or "-")))
    here = list(copies(folder.resolve()))
    show_text("\n".join([*lines, *map(_copy, here)]))
    problems += [trouble for one in here if (trouble := _outdated(one))]
    problems += _configurations(folder.resolve())
    for problem in problems:
        warn(problem)
    return ExitCode.FAILED if problems else ExitCode.OK


def _shown(one: Interpreter) -> str:
    return f"{one.version}  {one.path}  luasocket: {'✓' if one.has_socket else '-'}"


def _copy(one: Copy) -> str:
    return f"{'dragoman, as LuaPanda' if one.is_ours else 'LuaPanda'} {one.version}  {one.path}"


def _outdated(one: Copy) -> Phrase | None:
    if one.is_current:
        return None
    command = shlex.join(["dragoman", "lua", "install", str(one.path.parent), "--name", one.path.name])
    return say("{path} is of another dragoman than this one. Renew it: {command}", path=one.path, command=command)


def _trouble(one: Interpreter) -> Phrase | None:
    if one.has_socket:
        return None
    return say("{path} has no luasocket: a program that it runs cannot reach a debugger.", path=one.path)


def _configurations(folder: Path) -> list[Phrase]:
    """Of the project's launch file, what would keep programs from starting, or breakpoints from being hit."""
    from dragoman.jsonc import JsoncError, read

    file = folder / ".vscode" / "launch.json"
    if not file.is_file():
        return []
    problems: list[Phrase] = []
    try:
        told = read(file.read_text("utf-8")).value()
    except (JsoncError, UnicodeDecodeError):
        return [say("{path} cannot be read: it is not JSON.", path=file)]
    for each in (told.get("configurations") if isinstance(told, dict) else None) or ():
        if isinstance(each, dict) and each.get("type") in ("lua", "luapanda", "lua-panda"):
            given = {key: _expanded(value, folder) for key, value in each.items()}
            problems += _faults(str(each.get("name") or "?"), given, folder)
    return problems


def _faults(name: str, given: Mapping[str, Any], folder: Path) -> list[Phrase]:
    """One configuration that cannot be read says nothing about the others."""
    from dragoman.debug.luapanda.runtime import interpreter_of
    from dragoman.debug.luapanda.settings import read_settings

    found: list[Phrase] = []
    try:
        settings = read_settings(str(given.get("request") or "launch"), given, folder)
        found += _missing(name, settings.cwd, settings.program)
        if settings.way == "started":
            interpreter_of(settings, os.environ)
    except DragomanError as error:
        found.append(say("{name}: {problem}", name=name, problem=error.message))
    return found


def _missing(name: str, cwd: Path, program: Path | None) -> list[Phrase]:
    missing = [("cwd", cwd, cwd.is_dir())]
    missing += [("program", program, program.exists())] if program is not None else []
    return [
        say("{name}: `{key}` is {path}, which does not exist.", name=name, key=key, path=place)
        for key, place, is_there in missing
        if not is_there and "${" not in str(place)
    ]


def _expanded(value: object, folder: Path) -> object:
    if not isinstance(value, str):
        return value
    return value.replace("${workspaceFolder}", str(folder)).replace("${workspaceRoot}", str(folder))


app = labelled_app(
    name="lua", help=shown(say("The Lua runtime: where it is, a copy for a project, and what is wrong."))
)
app.command(path, name="path", help=shown(say("Print where dragoman.lua is.")))
app.command(install, name="install", help=shown(say("Copy it into a folder, as LuaPanda.lua.")))
app.command(doctor, name="doctor", help=shown(say("Check the Luas, luasocket, and a project's paths.")))
