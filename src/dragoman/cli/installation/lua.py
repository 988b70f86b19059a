"""`dragoman lua`: the path of the Lua runtime, a copy of it for a project, and checks of the Lua installation."""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from dragoman.cli.commands import labelled_app
from dragoman.cli.installation.written_files import WrittenFile, record_written_file
from dragoman.cli.output import ExitCode, render, show_message, show_text, warn
from dragoman.core.errors import DragomanError
from dragoman.core.localization import LocalizedText, localize
from dragoman.core.paths import find_paths

if TYPE_CHECKING:
    from dragoman.debug.backends.luapanda.runtime import LuaInterpreter, RuntimeCopy

_Target = Annotated[Path, Parameter(help=render(localize("Folder to copy the file into.")))]
_FileName = Annotated[str, Parameter(help=render(localize("Name of the copy.")))]
_Project = Annotated[Path, Parameter(help=render(localize("Project folder whose launch.json and paths to check.")))]


def path() -> int:
    from dragoman.debug.backends.luapanda.runtime import require_runtime

    show_text(str(require_runtime()))
    return ExitCode.OK


def install(folder: _Target, /, *, name: _FileName = "LuaPanda.lua") -> int:
    """Copy the runtime under LuaPanda's name, so that `require("LuaPanda")` finds it. Files of others are not
    overwritten.
    """
    from dragoman.debug.backends.luapanda.runtime import is_ours, require_runtime

    source, target = require_runtime(), folder / name
    if not folder.is_dir():
        raise DragomanError(
            "no_folder",
            localize("Folder not found: {path}.", path=folder),
            hint=localize("Create it first, or choose another folder."),
        )
    if target.exists() and not is_ours(target.read_text("utf-8", "replace")):
        raise DragomanError(
            "file_exists",
            localize("{path} already exists and was not created by Dragoman.", path=target),
            hint=localize("Move it, or choose another name with --name."),
        )
    record_written_file(find_paths(), WrittenFile(str(target.absolute())))
    shutil.copyfile(source, target)
    show_message(localize("Copied to {path}.", path=target))
    show_message(
        localize(
            'Add this to your program, with the file on its path: require("{module}").start("127.0.0.1", 8818)',
            module=Path(name).stem,
        )
    )
    return ExitCode.OK


def doctor(folder: _Project = Path(), /) -> int:
    from dragoman.debug.backends.luapanda.runtime import find_copies, find_interpreters, runtime_file

    interpreters = find_interpreters(os.environ)
    problems = [trouble for one in interpreters if (trouble := _interpreter_problem(one))]
    lines = [_interpreter_line(one) for one in interpreters]
    if not interpreters:
        problems.append(
            localize("Lua is not installed. Run `apt install lua5.4 lua-socket`, or use your package manager.")
        )
    runtime = runtime_file()
    lines.append(render(localize("runtime: {path}", path=runtime or "-")))
    here = list(find_copies(folder.resolve()))
    show_text("\n".join([*lines, *map(_copy_line, here)]))
    problems += [trouble for one in here if (trouble := _copy_problem(one))]
    problems += _configuration_problems(folder.resolve())
    for problem in problems:
        warn(problem)
    return ExitCode.FAILED if problems else ExitCode.OK


def _interpreter_line(one: LuaInterpreter) -> str:
    return f"{one.version}  {one.path}  luasocket: {'✓' if one.has_socket else '-'}"


def _copy_line(one: RuntimeCopy) -> str:
    return f"{'dragoman, as LuaPanda' if one.is_ours else 'LuaPanda'} {one.version}  {one.path}"


def _copy_problem(one: RuntimeCopy) -> LocalizedText | None:
    if one.is_current:
        return None
    command = shlex.join(["dragoman", "lua", "install", str(one.path.parent), "--name", one.path.name])
    return localize("{path} is from another Dragoman version. Update it: {command}", path=one.path, command=command)


def _interpreter_problem(one: LuaInterpreter) -> LocalizedText | None:
    if one.has_socket:
        return None
    return localize("{path} has no luasocket, so its programs cannot connect to a debugger.", path=one.path)


def _configuration_problems(folder: Path) -> list[LocalizedText]:
    """Problems in the project's launch.json that would keep programs from starting or breakpoints from being hit."""
    from dragoman.core.jsonc import JsoncError, parse

    file = folder / ".vscode" / "launch.json"
    if not file.is_file():
        return []
    problems: list[LocalizedText] = []
    try:
        document = parse(file.read_text("utf-8")).value()
    except (JsoncError, UnicodeDecodeError):
        return [localize("Cannot read {path}: invalid JSON.", path=file)]
    for each in (document.get("configurations") if isinstance(document, dict) else None) or ():
        if isinstance(each, dict) and each.get("type") in ("lua", "luapanda", "lua-panda"):
            given = {key: _expanded(value, folder) for key, value in each.items()}
            problems += _problems_of(str(each.get("name") or "?"), given, folder)
    return problems


def _problems_of(name: str, given: Mapping[str, Any], folder: Path) -> list[LocalizedText]:
    """The problems of one configuration. An unreadable one does not affect the others."""
    from dragoman.debug.backends.luapanda.runtime import choose_interpreter
    from dragoman.debug.backends.luapanda.settings import read_settings

    texts: list[LocalizedText] = []
    try:
        settings = read_settings(str(given.get("request") or "launch"), given, folder)
        texts += _missing_paths(name, settings.cwd, settings.program)
        if settings.mode == "started":
            choose_interpreter(settings, os.environ)
    except DragomanError as error:
        texts.append(localize("{name}: {problem}", name=name, problem=error.message))
    return texts


def _missing_paths(name: str, cwd: Path, program: Path | None) -> list[LocalizedText]:
    missing = [("cwd", cwd, cwd.is_dir())]
    missing += [("program", program, program.exists())] if program is not None else []
    return [
        localize("{name}: `{key}` is {path}, which does not exist.", name=name, key=key, path=place)
        for key, place, is_there in missing
        if not is_there and "${" not in str(place)
    ]


def _expanded(value: object, folder: Path) -> object:
    if not isinstance(value, str):
        return value
    return value.replace("${workspaceFolder}", str(folder)).replace("${workspaceRoot}", str(folder))


app = labelled_app(name="lua")
app.command(path, name="path", help=render(localize("Print the path of dragoman.lua.")))
app.command(install, name="install", help=render(localize("Copy the runtime into a folder as LuaPanda.lua.")))
app.command(
    doctor, name="doctor", help=render(localize("Check the Lua installations, luasocket and a project's paths."))
)
