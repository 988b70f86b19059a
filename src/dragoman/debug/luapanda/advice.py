"""Why a breakpoint has not bound: what was looked for, what is loaded, which setting would fit, and how to go on.

What is certain is done without asking: a chunk whose name can be only one file of the project is that file, and where
its name alone agrees, that is told. What is a guess is offered, as a line to evaluate.
"""

from __future__ import annotations

import posixpath
import shlex
from collections.abc import Sequence

from dragoman.debug.luapanda.functions import Definition
from dragoman.debug.luapanda.paths import Chunk, PathMap
from dragoman.debug.luapanda.settings import LuaSettings
from dragoman.phrases import Phrase, say

_NAMED = 6
_LONGEST = 200


def why_not_bound(path: str, chunks: Sequence[Chunk], paths: PathMap, settings: LuaSettings) -> str:
    """Nothing is wrong with a file that is yet to be loaded: then it is said what is."""
    looked_for = ", ".join(paths.names_of(path)) if not settings.auto_path else posixpath.basename(path)
    said = (
        say("Not loaded yet: {looked_for}.", looked_for=looked_for),
        _offer(path, chunks, paths),
        say("Loaded: {loaded}.", loaded=", ".join(_names(chunks)) or "-"),
        _what_would_fit(path, chunks, settings),
    )
    return " ".join(str(each) for each in said if each)


def how_bound(path: str, chunk: Chunk, paths: PathMap, settings: LuaSettings) -> str:
    """Of what agrees in its name alone; a breakpoint that is right without doubt needs no words."""
    if not paths.is_guess(chunk, path):
        return ""
    told = say("Bound to {chunk}, which has the same name and another folder.", chunk=chunk.plain or chunk.file)
    hint = _what_would_fit(path, [chunk], settings)
    return f"{told} {hint}" if hint else str(told)


def _offer(path: str, chunks: Sequence[Chunk], paths: PathMap) -> Phrase | None:
    """Of the chunks that are no file here, the one that resembles it most; where none does, the only one."""
    strangers = [it for it in chunks if _can_be_said(it.plain or it.file) and not paths.is_known(it)]
    alike = [it for it in strangers if _stem(it.plain or it.file) == _stem(path)]
    chosen = alike or strangers
    if len(chosen) != 1:
        return None
    name = chosen[0].plain or chosen[0].file
    return say("If {chunk} is this file, evaluate `{line}`.", chunk=name, line=path_line(name, paths.short(path)))


def path_line(chunk: str, path: str) -> str:
    return shlex.join(["dragoman", "path", chunk, path])


def read_path_line(text: str) -> tuple[str, str] | None:
    """What an offer says, come back: the chunk and its file. No Lua looks so."""
    if not text.startswith("dragoman path "):
        return None
    try:
        words = shlex.split(text)
    except ValueError:
        return None
    return (words[2], words[3]) if len(words) == 4 else None


def _can_be_said(name: str) -> bool:
    """A program can call its chunks anything."""
    return 0 < len(name) <= _LONGEST and name.isprintable()


def _stem(path: str) -> str:
    return posixpath.basename(path).partition(".")[0].lower()


def why_no_function(name: str, found: Sequence[Definition]) -> Phrase:
    if not found:
        return say("No function {name} is defined in the files of this project.", name=name)
    places = ", ".join(f"{it.path}:{it.defined}" for it in found[:_NAMED])
    return say("{name} is defined in a file that is not loaded yet: {places}.", name=name, places=places)


def _names(chunks: Sequence[Chunk]) -> list[str]:
    names = sorted({chunk.plain or chunk.file for chunk in chunks})
    return names if len(names) <= _NAMED else [*names[:_NAMED], f"… ({len(names)})"]


def _what_would_fit(path: str, chunks: Sequence[Chunk], settings: LuaSettings) -> Phrase | None:
    for chunk in chunks:
        name = chunk.plain or chunk.opath or chunk.file
        for judge in (_case, _extension, _folder):
            advice = judge(path, name, chunk, settings)
            if advice is not None:
                return advice
    return None


def _case(path: str, name: str, chunk: Chunk, settings: LuaSettings) -> Phrase | None:
    ours, theirs = posixpath.basename(path), posixpath.basename(chunk.file or name)
    if ours == theirs or ours.lower() != theirs.lower() or not settings.is_case_sensitive:
        return None
    return say("{chunk} differs in case alone: `pathCaseSensitivity` false in the configuration would fit.", chunk=name)


def _extension(path: str, name: str, _: Chunk, settings: LuaSettings) -> Phrase | None:
    """Hosts that strip or change the extension."""
    ending = posixpath.basename(path).partition(".")[2]
    theirs = posixpath.basename(name).partition(".")[2]
    if theirs == ending or _stem(path) != _stem(name) or ending == settings.extension or not ending:
        return None
    return say(
        "The program calls it {chunk}: `luaFileExtension` {ending} in the configuration would fit.",
        chunk=name,
        ending=ending,
    )


def _folder(path: str, name: str, _: Chunk, settings: LuaSettings) -> Phrase | None:
    """A relative chunk name whose file stands elsewhere than the configured folder says."""
    if name.startswith("/") or not path.endswith("/" + name):
        return None
    fits = path[: -len(name) - 1]
    if fits == settings.cwd.as_posix():
        return None
    return say("The program calls it {chunk}: `cwd` {cwd} in the configuration would fit.", chunk=name, cwd=fits)
