"""Why a breakpoint has not bound: what was looked for, what is loaded, and which setting would fit."""

from __future__ import annotations

import posixpath
from collections.abc import Sequence

from dragoman.debug.luapanda.functions import Definition
from dragoman.debug.luapanda.paths import Chunk, PathMap
from dragoman.debug.luapanda.settings import LuaSettings
from dragoman.phrases import Phrase, say

_NAMED = 6


def why_not_bound(path: str, chunks: Sequence[Chunk], paths: PathMap, settings: LuaSettings) -> str:
    """Nothing is wrong with a file that is yet to be loaded: then it is said what is."""
    looked_for = ", ".join(paths.names_of(path)) if not settings.auto_path else posixpath.basename(path)
    loaded = ", ".join(_names(chunks)) or "-"
    told = say("Not loaded yet: {looked_for}. Loaded: {loaded}.", looked_for=looked_for, loaded=loaded)
    hint = _what_would_fit(path, chunks, settings)
    return f"{told} {hint}" if hint else str(told)


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
    ours, theirs = posixpath.basename(path), posixpath.basename(name)
    stem, __, ending = ours.partition(".")
    if ours == theirs or stem != theirs.partition(".")[0] or ending == settings.extension or not ending:
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
