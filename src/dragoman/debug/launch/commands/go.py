"""`go run` and `go test`, read as the go command reads them: what is built, with which flags, and the program's
arguments.

Nothing here runs. Delve builds by itself and takes the build flags as one text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dragoman.core.localization import localize
from dragoman.debug.launch.commands.shell_words import cannot_debug, unsupported_flag

_BUILD = frozenset({"a", "race", "msan", "asan", "v", "x", "work", "linkshared", "modcacherw", "buildvcs"})
_BUILD_WITH_VALUE = frozenset(
    {"p", "asmflags", "buildmode", "compiler", "gccgoflags", "gcflags", "installsuffix", "ldflags", "mod", "modfile"}
    | {"overlay", "pgo", "pkgdir", "tags", "toolexec"}
)
_PATHS = frozenset({"modfile", "overlay", "pgo", "pkgdir"})
_TEST = frozenset({"benchmem", "failfast", "fullpath", "short", "v"})
_PROFILES = frozenset({"blockprofile", "cpuprofile", "memprofile", "mutexprofile", "trace"})
_TEST_WITH_VALUE = _PROFILES | {
    *("bench", "benchtime", "blockprofilerate", "count", "cpu", "list", "memprofilerate", "mutexprofilefraction"),
    *("outputdir", "parallel", "run", "shuffle", "skip", "timeout"),
}
# With `-cover` the compiled code differs from the source, and with `-trimpath` the debugger cannot find the files.
_DROPPED = frozenset({"cover", "trimpath", "json"})
_DROPPED_WITH_VALUE = frozenset({"covermode", "coverpkg", "coverprofile", "o", "vet"})
# These flags run another program, run elsewhere, or run nothing.
_REFUSED = frozenset({"n", "c", "i", "exec", "fuzz", "fuzztime", "fuzzminimizetime"})
_STRIPS = re.compile(r"(?:^|(?<=\s))-[sw](?=\s|$)")
_MODULE = re.compile(r'^\s*module\s+"?([^\s"]+)', re.MULTILINE)


@dataclass(frozen=True, slots=True)
class GoCall:
    """What Delve builds, and in which folder it runs."""

    mode: str
    program: Path
    cwd: Path
    args: tuple[str, ...] = ()
    build_flags: str = ""

    @property
    def configuration(self) -> Mapping[str, Any]:
        flags = {"buildFlags": self.build_flags} if self.build_flags else {}
        return {
            "type": "go",
            "mode": self.mode,
            "program": str(self.program),
            "cwd": str(self.cwd),
            "args": list(self.args),
            **flags,
        }


@dataclass(slots=True)
class _GoFlags:
    """The words of a call, sorted by their receiver."""

    cwd: Path
    packages: list[str] = field(default_factory=list)
    build: list[str] = field(default_factory=list)
    tests: list[str] = field(default_factory=list)
    own: list[str] = field(default_factory=list)
    """The program's arguments."""

    def has_profile(self) -> bool:
        return any(it.partition("=")[0].removeprefix("-test.") in _PROFILES for it in self.tests)


def go_call(words: Sequence[str], cwd: Path) -> GoCall:
    """From the words behind `go`."""
    rest, cwd = _folder_taken(list(words), cwd)
    command, *rest = rest or [""]
    rest, cwd = _folder_taken(rest, cwd)
    if command == "run":
        return _run(rest, cwd)
    if command == "test":
        return _test(rest, cwd)
    raise cannot_debug(
        localize("Only `go test` and `go run` are supported."), localize("Use `go test -run NAME ./package`.")
    )


def _folder_taken(words: list[str], cwd: Path) -> tuple[list[str], Path]:
    """`-C`, which stands before everything else."""
    name, equals, value = _flag(words[0]) if words else ("", "", "")
    if name != "C":
        return words, cwd
    return (words[1:], cwd / value) if equals else (words[2:], cwd / "".join(words[1:2]))


def _flag(word: str) -> tuple[str, str, str]:
    """Its name without dashes: one or two mean the same."""
    return re.sub(r"^--?", "", word).partition("=") if word.startswith("-") else ("", "", "")


def _run(words: list[str], cwd: Path) -> GoCall:
    taken = _GoFlags(cwd)
    while words and words[0].startswith("-"):
        word = words.pop(0)
        if word == "--":
            break
        name, equals, value = _flag(word)
        if name in _REFUSED or not _is_known(name, _BUILD, _BUILD_WITH_VALUE):
            raise unsupported_flag(word)
        _read_build_flag(taken, name, equals, _value_of(name, equals, value, words))
    count = next((at for at, word in enumerate(words) if not word.endswith(".go")), len(words))
    named, taken.own = (words[:count], words[count:]) if count else (words[:1], words[1:])
    if not named or named[0].startswith("-"):
        raise cannot_debug(localize("No package is given."), localize("Add it, as in `go run . ARGUMENT`."))
    if "..." in named[0]:
        raise cannot_debug(
            localize("{name} can match several packages.", name=ascii(named[0])[:80]),
            localize("Pass the one to run."),
        )
    program, files = _built(named, cwd)
    return GoCall("debug", program, cwd, tuple(taken.own), _spelled([*taken.build, *files]))


def _test(words: list[str], cwd: Path) -> GoCall:
    """Packages stand together. What stands behind them, and flags that go does not know, are the test program's."""
    taken = _GoFlags(cwd)
    is_over, may_be_value = False, False
    while words:
        word = words[0]
        name, equals, value = _flag(word)
        if word == "--" or (not name and is_over and not may_be_value):
            taken.own += words
            break
        words.pop(0)
        if name == "args":
            taken.own += words
            break
        if not name:
            (taken.own if is_over else taken.packages).append(word)
            may_be_value = False
            continue
        is_over = is_over or bool(taken.packages)
        may_be_value = False
        if name in _REFUSED:
            raise unsupported_flag(word)
        if _is_known(name, _BUILD | _TEST, _BUILD_WITH_VALUE | _TEST_WITH_VALUE):
            _read_test_flag(taken, name, equals, _value_of(name, equals, value, words))
        else:
            is_over, may_be_value = True, not equals
            taken.own.append(word)
    if taken.has_profile() and not any("-test.outputdir" in it for it in taken.tests):
        taken.tests.append(f"-test.outputdir={cwd}")
    program, files = _tested(taken.packages, cwd)
    folder = program if program.suffix != ".go" else program.parent
    return GoCall("test", program, folder, (*taken.tests, *taken.own), _spelled([*taken.build, *files]))


def _is_known(name: str, plain: frozenset[str], with_value: frozenset[str]) -> bool:
    return name in plain | with_value | _DROPPED | _DROPPED_WITH_VALUE


def _value_of(name: str, equals: str, value: str, words: list[str]) -> str:
    takes_one = name in _BUILD_WITH_VALUE | _TEST_WITH_VALUE | _DROPPED_WITH_VALUE
    return words.pop(0) if takes_one and not equals and words else value


def _read_build_flag(taken: _GoFlags, name: str, equals: str, value: str) -> None:
    if name in _DROPPED | _DROPPED_WITH_VALUE:
        return
    if name == "ldflags":  # without symbols, a debugger has nothing to show
        value = _STRIPS.sub("", value).strip()
    if name in _PATHS and value not in {"", "auto", "off"}:  # the build runs in the program's folder
        value = str(taken.cwd / value)
    if name in _BUILD_WITH_VALUE:
        taken.build += [f"-{name}={value}"] if value else []
    else:
        taken.build.append(f"-{name}{equals}{value}")


def _read_test_flag(taken: _GoFlags, name: str, equals: str, value: str) -> None:
    """Named as the test program itself names a flag."""
    if name == "json":
        taken.tests.append("-test.v")
    elif name in _TEST_WITH_VALUE:
        taken.tests.append(f"-test.{name}={value}")
    elif name in _TEST:
        taken.tests.append(f"-test.{name}{equals}{value}")
    else:
        _read_build_flag(taken, name, equals, value)


def _spelled(flags: Sequence[str]) -> str:
    """Split like Delve splits them: words, or parts of them, between single quotes."""
    return " ".join(it if re.fullmatch(r"[^\s'\\]+", it) else f"'{_escaped(it)}'" for it in flags)


def _escaped(word: str) -> str:
    return word.replace("\\", "\\\\").replace("'", "\\'")


# Packages.


def _built(named: Sequence[str], cwd: Path) -> tuple[Path, list[str]]:
    """Of several files, the first, and the others, which come before it in the build command."""
    if named[0].endswith(".go"):
        first, *others = (cwd / it for it in named)
        return first, [str(it) for it in others]
    return _folder(named[0], cwd), []


def _tested(named: Sequence[str], cwd: Path) -> tuple[Path, list[str]]:
    """The package that has tests, where a pattern fits several: a debugger runs one."""
    if any(it.endswith(".go") for it in named):
        tests_first = sorted(named, key=lambda it: not it.endswith("_test.go"))
        return _built(tests_first, cwd)
    folders = [_folder(it.removesuffix("...").removesuffix("/") or ".", cwd) for it in named or ["."]]
    patterns = ["**/*_test.go" if it.endswith("...") else "*_test.go" for it in named or ["."]]
    files = (file for folder, it in zip(folders, patterns, strict=True) for file in folder.glob(it))
    found = sorted({file.parent for file in files})
    if len(found) > 1:
        raise cannot_debug(
            localize("It runs the tests of {count} packages.", count=len(found)),
            localize("Pass only the one that fails, such as `go test -run NAME ./package`."),
        )
    return (found[0] if found else folders[0]), []


def _folder(named: str, cwd: Path) -> Path:
    """A path, or an import path of a module that is here."""
    if named.startswith(("./", "../", "/")) or named in {".", ".."}:
        return cwd / named
    for root, module in _modules(cwd):
        if named == module or named.startswith(f"{module}/"):
            return root / named.removeprefix(module).removeprefix("/")
    raise cannot_debug(
        localize("No module here has the package {name}.", name=ascii(named)[:80]),
        localize("Pass its folder, such as `./cmd/app`, or run it from its module."),
    )


def _modules(cwd: Path) -> Iterator[tuple[Path, str]]:
    """The one that a folder is in, and those of its workspace."""
    for folder in (cwd, *cwd.parents):
        if module := _module(folder / "go.mod"):
            yield folder, module
            break
    for folder in (cwd, *cwd.parents):
        for used in _used(folder / "go.work"):
            if module := _module(folder / used / "go.mod"):
                yield folder / used, module


def _text(file: Path) -> str:
    try:
        return re.sub(r"//.*", "", file.read_text("utf-8", "replace"))
    except OSError:
        return ""


def _module(file: Path) -> str:
    match = _MODULE.search(_text(file))
    return match[1] if match else ""


def _used(file: Path) -> list[str]:
    text = _text(file)
    blocks = re.findall(r"^use\s*\(([^)]*)\)", text, re.MULTILINE)
    return [*re.findall(r"^use\s+([^\s(]+)", text, re.MULTILINE), *" ".join(blocks).split()]
