"""Explains why a breakpoint is not bound: what was searched for, what is loaded, and which setting would fit.

What is certain needs no question: a chunk whose name fits exactly one file of the project is that file, and a match
by file name alone is reported. A guess is offered as a line to evaluate.
"""

from __future__ import annotations

import posixpath
import shlex
from collections.abc import Sequence

from dragoman.core.localization import LocalizedText, localize
from dragoman.debug.backends.luapanda.lua_source import FunctionDefinition
from dragoman.debug.backends.luapanda.path_map import LuaChunk, LuaPathMap
from dragoman.debug.backends.luapanda.settings import LuaSettings

_MOST_NAMED = 6
_LONGEST_NAME = 200


def explain_unbound(path: str, chunks: Sequence[LuaChunk], paths: LuaPathMap, settings: LuaSettings) -> str:
    """A file that is not loaded yet is no problem: then the message says what is loaded."""
    looked_for = ", ".join(paths.runtime_names(path)) if not settings.auto_path else posixpath.basename(path)
    sentences = (
        localize("Not loaded yet: {looked_for}.", looked_for=looked_for),
        _suggested_path_command(path, chunks, paths),
        localize("Loaded: {loaded}.", loaded=", ".join(_names(chunks)) or "-"),
        _fitting_setting(path, chunks, settings),
    )
    return " ".join(str(each) for each in sentences if each)


def explain_binding(path: str, chunk: LuaChunk, paths: LuaPathMap, settings: LuaSettings) -> str:
    """For a chunk that matches by name only. A breakpoint that is certainly right needs no message."""
    if not paths.is_guess(chunk, path):
        return ""
    message = localize("Bound to {chunk}: same name, different folder.", chunk=chunk.plain or chunk.file)
    hint = _fitting_setting(path, [chunk], settings)
    return f"{message} {hint}" if hint else str(message)


def _suggested_path_command(path: str, chunks: Sequence[LuaChunk], paths: LuaPathMap) -> LocalizedText | None:
    """The loaded chunk without a file here that resembles this file most; if none does, the only such chunk."""
    strangers = [it for it in chunks if _is_printable(it.plain or it.file) and not paths.is_known(it)]
    alike = [it for it in strangers if _stem(it.plain or it.file) == _stem(path)]
    chosen = alike or strangers
    if len(chosen) != 1:
        return None
    name = chosen[0].plain or chosen[0].file
    return localize(
        "If {chunk} is this file, evaluate `{line}`.", chunk=name, line=path_command(name, paths.short(path))
    )


def path_command(chunk: str, path: str) -> str:
    return shlex.join(["dragoman", "path", chunk, path])


def parse_path_command(text: str) -> tuple[str, str] | None:
    """Parses the answer to a suggested command: the chunk and its file. It is not valid Lua."""
    if not text.startswith("dragoman path "):
        return None
    try:
        words = shlex.split(text)
    except ValueError:
        return None
    return (words[2], words[3]) if len(words) == 4 else None


def _is_printable(name: str) -> bool:
    """A program can call its chunks anything."""
    return 0 < len(name) <= _LONGEST_NAME and name.isprintable()


def _stem(path: str) -> str:
    return posixpath.basename(path).partition(".")[0].lower()


def explain_missing_function(name: str, found: Sequence[FunctionDefinition]) -> LocalizedText:
    if not found:
        return localize("No file of this project defines the function {name}.", name=name)
    places = ", ".join(f"{it.path}:{it.defined}" for it in found[:_MOST_NAMED])
    return localize("{name} is defined in a file that is not loaded yet: {places}.", name=name, places=places)


def _names(chunks: Sequence[LuaChunk]) -> list[str]:
    names = sorted({chunk.plain or chunk.file for chunk in chunks})
    return names if len(names) <= _MOST_NAMED else [*names[:_MOST_NAMED], f"… ({len(names)})"]


def _fitting_setting(path: str, chunks: Sequence[LuaChunk], settings: LuaSettings) -> LocalizedText | None:
    for chunk in chunks:
        name = chunk.plain or chunk.opath or chunk.file
        for judge in (_case_advice, _extension_advice, _folder_advice):
            advice = judge(path, name, chunk, settings)
            if advice is not None:
                return advice
    return None


def _case_advice(path: str, name: str, chunk: LuaChunk, settings: LuaSettings) -> LocalizedText | None:
    ours, theirs = posixpath.basename(path), posixpath.basename(chunk.file or name)
    if ours == theirs or ours.lower() != theirs.lower() or not settings.is_case_sensitive:
        return None
    return localize(
        "{chunk} differs only in case: set `pathCaseSensitivity` to false in the configuration.", chunk=name
    )


def _extension_advice(path: str, name: str, _: LuaChunk, settings: LuaSettings) -> LocalizedText | None:
    """Hosts that strip or change the extension."""
    ending = posixpath.basename(path).partition(".")[2]
    theirs = posixpath.basename(name).partition(".")[2]
    if theirs == ending or _stem(path) != _stem(name) or ending == settings.extension or not ending:
        return None
    return localize(
        "The program calls it {chunk}: set `luaFileExtension` to {ending} in the configuration.",
        chunk=name,
        ending=ending,
    )


def _folder_advice(path: str, name: str, _: LuaChunk, settings: LuaSettings) -> LocalizedText | None:
    """A relative chunk name whose file is elsewhere than the configured folder says."""
    if name.startswith("/") or not path.endswith("/" + name):
        return None
    fits = path[: -len(name) - 1]
    if fits == settings.cwd.as_posix():
        return None
    return localize("The program calls it {chunk}: set `cwd` to {cwd} in the configuration.", chunk=name, cwd=fits)
