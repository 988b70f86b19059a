"""A command line as somebody typed it, read as something to debug; where that cannot be, why, and what can.

Nothing here is run. What a shell would compute is refused rather than guessed.
"""

from __future__ import annotations

import glob
import os
import re
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from dragoman.debug.evidence.node_commands import (
    MANAGERS,
    NodeRunner,
    NoScript,
    PackageLine,
    command_file,
    node_script,
    npx_line,
    package_line,
    runner_arguments,
    runner_of,
    test_files,
)
from dragoman.debug.evidence.pytest_coverage import has_plugin, measures_coverage
from dragoman.debug.evidence.shell_words import cannot_debug, commands_of
from dragoman.debug.launch.scripts import environment_script
from dragoman.debug.service import Wish
from dragoman.errors import DragomanError
from dragoman.phrases import say
from dragoman.workspace.interpreter import find_interpreter

Runner = Literal["", "pytest", "unittest", "node", "go", "cargo", "ruby"] | NodeRunner

_ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)=(.*)", re.DOTALL)
_OF_UV = frozenset(
    {"--with", "--with-editable", "--with-requirements", "--extra", "--group", "--only-group", "--python", "-p"}
    | {"--env-file", "--directory", "--project", "--package", "--index", "--default-index", "--config-file"}
)


@dataclass(frozen=True, slots=True)
class _Prefix:
    """What may stand before a command: how many words belong to it, and which of its options take one more."""

    words: int = 0
    with_value: frozenset[str] = frozenset()
    module: str = ""
    """Its option for a module of Python, which is then the command."""


# Before a command, by its first words.
_BEFORE: Mapping[tuple[str, ...], _Prefix] = {
    ("uv", "run"): _Prefix(with_value=_OF_UV, module="-m"),
    **dict.fromkeys(
        (("poetry", "run"), ("pipenv", "run"), ("hatch", "run"), ("pdm", "run"), ("rye", "run")), _Prefix()
    ),
    **dict.fromkeys((("time",), ("nohup",), ("exec",), ("command",), ("cross-env",), ("c8",), ("nyc",)), _Prefix()),
    ("env",): _Prefix(with_value=frozenset({"-u", "--unset", "-C", "--chdir"})),
    ("timeout",): _Prefix(1, frozenset({"-s", "--signal", "-k", "--kill-after"})),
    ("nice",): _Prefix(with_value=frozenset({"-n", "--adjustment"})),
}
_PYTHON = re.compile(r"(?:python|pypy)(\d(\.\d+)*)?")
_ANY_PYTHON = frozenset({"python", "python3"})
_PYTHON_WITH_VALUE = frozenset({"-W", "-X"})
_GO_WITH_VALUE = frozenset({"-run", "-count", "-timeout", "-bench", "-cpu", "-parallel", "-skip"})
_NODE_WITH_VALUE = frozenset(
    {"-r", "--require", "--import", "--loader", "--experimental-loader", "-C", "--conditions", "--env-file"}
    | {"--test-name-pattern", "--test-skip-pattern", "--test-reporter", "--test-reporter-destination"}
    | {"--test-concurrency", "--test-timeout", "--test-shard"}
)
# A debugger of its own, and what never ends.
_NOT_FOR_NODE = re.compile(r"--inspect(?:-\w+)*(?:=.*)?|--watch(?:-path=.*)?|--watch-preserve-output")
_DJANGO = frozenset({"manage.py", "django-admin", "django"})
_MOST_SCRIPTS = 8  # each of which runs another
_ELF = b"\x7fELF"


@dataclass(frozen=True, slots=True)
class Runnable:
    wish: Wish
    runner: Runner = ""


@dataclass(frozen=True, slots=True)
class _Situation:
    """What stood before the command, as far as it matters for it."""

    cwd: Path
    workspace: Path
    environment: Mapping[str, str]
    env: Mapping[str, str] = field(default_factory=dict)
    python: str = ""
    python_flags: tuple[str, ...] = ()
    scripts: int = 0
    """How many package scripts led here."""
    before: tuple[Mapping[str, str], ...] = ()
    """Tasks: what a package manager runs before those scripts."""


def read_command(
    line: str,
    cwd: Path,
    environment: Mapping[str, str],
    env: Mapping[str, str] | None = None,
    *,
    workspace: Path | None = None,
) -> Runnable:
    """`environment` is where it would have been run, `env` what it is given besides."""
    return _read(line, _Situation(cwd, workspace or cwd, environment, env or {}))


def read_words(words: Sequence[str], cwd: Path, environment: Mapping[str, str], *, workspace: Path) -> Runnable:
    """Of a command that no shell has taken apart: what looks like a pattern is none."""
    return _understood(_Situation(cwd, workspace, environment), list(words))


def _read(line: str, situation: _Situation) -> Runnable:
    *before, words = commands_of(line)
    for part in before:
        situation = _prepared(situation, part)
    return _understood(situation, _expanded(words, situation.cwd))


def _understood(situation: _Situation, words: list[str]) -> Runnable:
    situation, words = _stripped(situation, words)
    if not words:
        raise cannot_debug(say("There is no command in it."), say("Give a command such as `pytest tests/test_app.py`."))
    return _chosen(situation, words)


# What stands before a command.


def _prepared(situation: _Situation, words: Sequence[str]) -> _Situation:
    """`cd`, `export` and the activation of an environment, which stand before many a command."""
    match words:
        case ["cd", folder]:
            return replace(situation, cwd=situation.cwd / Path(folder).expanduser())
        case ["export", *pairs] if all(_ASSIGNMENT.fullmatch(it) for it in pairs):
            return replace(situation, env={**situation.env, **dict(_pair(it) for it in pairs)})
        case ["source" | ".", file] if Path(file).name.startswith("activate"):
            return replace(situation, python=str(situation.cwd / Path(file).parent / "python"))
        case _:
            raise cannot_debug(say("It is more than one command."), say("Give the one that fails."))


def _stripped(situation: _Situation, words: list[str]) -> tuple[_Situation, list[str]]:
    while words:
        if _ASSIGNMENT.fullmatch(words[0]):
            situation = replace(situation, env={**situation.env, **dict([_pair(words[0])])})
            words = words[1:]
            continue
        named = (Path(words[0]).name, *words[1:2])
        found = next((it for it in _BEFORE if named[: len(it)] == it), None)
        if found is None:
            return situation, words
        words = _behind(_BEFORE[found], words[len(found) :])
    return situation, words


def _behind(prefix: _Prefix, words: list[str]) -> list[str]:
    """The command, from what follows a word that stands before one."""
    while words and words[0].startswith("-"):
        if words[0] in {prefix.module, "--module"} and prefix.module:
            return ["python", "-m", *words[1:]]
        if words[0] == "--":
            words = words[1:]
            break
        words = words[2 if words[0] in prefix.with_value else 1 :]
    return words[prefix.words :]


def _pair(word: str) -> tuple[str, str]:
    name, _, value = word.partition("=")
    return name, value


def _expanded(words: Sequence[str], cwd: Path) -> list[str]:
    """Patterns of files as a shell fills them in; one that fits nothing stays as it is."""
    found = [sorted(glob.glob(word, root_dir=cwd)) or [word] if "*" in word else [word] for word in words]  # noqa: PTH207
    return [word for some in found for word in some]


# From words to what is debugged.


def _chosen(situation: _Situation, words: list[str]) -> Runnable:
    command = Path(words[0]).name
    if _PYTHON.fullmatch(command):
        return _python(situation, words)
    chosen = _BY_COMMAND.get(command)
    if chosen is not None:
        return chosen(situation, words)
    return _file(situation, words)


def _python(situation: _Situation, words: Sequence[str]) -> Runnable:
    situation = replace(situation, python=_interpreter(situation, words[0]))
    at = 1
    while at < len(words) and words[at].startswith("-") and words[at] not in {"-m", "-c", "-"}:
        at += 2 if words[at] in _PYTHON_WITH_VALUE else 1
    situation = replace(situation, python_flags=tuple(words[1:at]))
    if at >= len(words) or words[at] in {"-c", "-"}:
        raise cannot_debug(say("Its code stands in no file."), say("Put the code into a file and run that."))
    if words[at] == "-m":
        return _module(situation, words[at + 1 : at + 2], words[at + 2 :])
    wish = _wish(situation, type="debugpy", program=str(situation.cwd / words[at]), args=list(words[at + 1 :]))
    return Runnable(wish, _runner_of_django(Path(words[at]).name, words[at + 1 :]))


def _runner_of_django(program: str, args: Sequence[str]) -> Runner:
    """`manage.py test`: Django's runner is one of unittest."""
    return "unittest" if program in _DJANGO and args[:1] == ["test"] else ""


def _interpreter(situation: _Situation, word: str) -> str:
    """As it was said, where it says more than `python`."""
    if "/" in word:
        return str(situation.cwd / Path(word).expanduser())
    found = None if word in _ANY_PYTHON else shutil.which(word, path=situation.environment.get("PATH"))
    return found or situation.python


def _module(situation: _Situation, name: Sequence[str], args: Sequence[str]) -> Runnable:
    if not name:
        raise cannot_debug(say("It names no module."), say("Give the name of the module after -m."))
    runners: Mapping[str, Runner] = {"pytest": "pytest", "py.test": "pytest", "unittest": "unittest"}
    runner = runners.get(name[0]) or _runner_of_django(name[0], args)
    more = ["--no-cov"] if runner == "pytest" and _is_measured(situation, args) else []
    wish = _wish(situation, type="debugpy", module=name[0], args=[*args, *more])
    return Runnable(wish, runner)


def _is_measured(situation: _Situation, args: Sequence[str]) -> bool:
    """Without its plugin nothing measures, and pytest does not know `--no-cov`."""
    environment = {**situation.environment, **situation.env}
    if not measures_coverage(situation.cwd, args, environment):
        return False
    try:
        python = Path(situation.python or find_interpreter(situation.workspace, environment).path)
    except DragomanError:
        return False
    return has_plugin(situation.cwd / python, environment, situation.cwd)


def _pytest(situation: _Situation, words: Sequence[str]) -> Runnable:
    """Of a script the first line says whose it is."""
    found = words[0] if "/" in words[0] else str(_on_path(situation, "pytest") or "")
    python = situation.python or _shebang(situation.cwd / Path(found).expanduser()) if found else situation.python
    return _module(replace(situation, python=python), ["pytest"], words[1:])


def _on_path(situation: _Situation, name: str) -> Path | None:
    """A command by its bare name: of the environment that `python` means, and else of the PATH."""
    environment = {**situation.environment, **situation.env}
    beside = Path(situation.python).parent / name if situation.python else None
    own = beside if beside and beside.is_file() else environment_script(name, situation.workspace, environment)
    found = own or shutil.which(name, path=environment.get("PATH"))
    return Path(found) if found else None


def _shebang(script: Path) -> str:
    try:
        with script.open("rb") as file:
            first = file.readline(1000)
    except OSError:
        return ""
    word = first[2:].split()[0].decode("utf-8", "replace") if first.startswith(b"#!/") else ""
    return word if _PYTHON.fullmatch(Path(word).name) else ""


def _node(situation: _Situation, words: Sequence[str]) -> Runnable:
    flags, rest = _node_words(words[1:])
    flags = [it for it in flags if not _NOT_FOR_NODE.fullmatch(it)]
    is_test = "--test" in flags
    if not (rest or is_test) or not {"-e", "--eval", "-p", "--print"}.isdisjoint(flags):
        raise cannot_debug(say("It names no file."), say("Give the file, such as `node --test test/app.test.js`."))
    if is_test:
        return _node_test(situation, flags, rest)
    script = node_script(situation.cwd / rest[0])
    runner = runner_of(script) if script else None
    given: dict[str, Any] = {"program": str(situation.cwd / rest[0]), "args": rest[1:]}
    if script and runner:
        given = {"program": str(script), "args": runner_arguments(runner, rest[1:]), **_SKIPS_NOTHING}
    return Runnable(_wish(situation, type="pwa-node", runtimeArgs=flags, **given), runner or "")


# What is thrown in Node's own `assert` is not told where its files are skipped.
_SKIPS_NOTHING: Mapping[str, Any] = {"skipFiles": []}


def _node_test(situation: _Situation, flags: list[str], rest: Sequence[str]) -> Runnable:
    """Files of tests, each in a process of its own; one alone runs its tests by itself."""
    named = [found for it in rest for found in _test_files(situation.cwd, it)]
    if len(named) == 1:
        flags.remove("--test")
        given: dict[str, Any] = {"program": named[0], "runtimeArgs": flags, "args": []}
    else:
        given = {"runtimeArgs": [*flags, *named]}
    return Runnable(_wish(situation, type="pwa-node", **given, **_SKIPS_NOTHING), "node")


def _test_files(cwd: Path, named: str) -> list[str]:
    folder = cwd / named
    if not folder.is_dir():
        return [str(folder)]
    found = test_files(folder)
    if not found:
        raise cannot_debug(
            say("{folder} holds no tests.", folder=ascii(named)[:80]),
            say("Give the file, such as `node --test test/app.test.js`."),
        )
    return found


def _package(situation: _Situation, words: Sequence[str]) -> Runnable:
    """npm, npx and their like: the line that they run."""
    command = Path(words[0]).name
    manager = MANAGERS.get(command)
    found = package_line(manager, words, situation.cwd) if manager else npx_line(words, situation.cwd)
    if isinstance(found, PackageLine) and situation.scripts < _MOST_SCRIPTS:
        before = [{"type": "npm", "script": it, "path": str(found.folder)} for it in found.before]
        inner = replace(situation, cwd=found.folder, scripts=situation.scripts + 1)
        return _read(found.line, replace(inner, before=(*situation.before, *before)))
    if isinstance(found, NoScript):
        raise cannot_debug(
            say("package.json has no script {name}.", name=ascii(found.name)[:80]),
            say("It has: {known}.", known=", ".join(found.known)[:400] or "-"),
        )
    raise cannot_debug(
        say("{command} runs nothing of the project here.", command=command),
        say("Give the command that it runs in the end, such as `jest test/app.test.js`."),
    )


def _node_words(words: Sequence[str]) -> tuple[list[str], list[str]]:
    """Node's own, and from the file on the program's."""
    at = 0
    while at < len(words) and words[at].startswith("-"):
        at += 2 if words[at] in _NODE_WITH_VALUE else 1
    return list(words[:at]), list(words[at:])


def _go(situation: _Situation, words: Sequence[str]) -> Runnable:
    match list(words[1:]):
        case ["test", *rest]:
            flags, packages = _go_words(rest)
            package = _go_package(situation.cwd, packages)
            return Runnable(_wish(situation, type="go", mode="test", program=package, args=flags), "go")
        case ["run", *rest]:
            files = [it for it in rest if it.endswith(".go") or it.startswith(".")]
            args = rest[rest.index(files[-1]) + 1 :] if files else []
            program = str(situation.cwd / (files[0] if files else "."))
            return Runnable(_wish(situation, type="go", mode="debug", program=program, args=args))
        case _:
            raise cannot_debug(say("Of go, `test` and `run` can be."), say("Give `go test -run NAME ./package`."))


def _go_package(cwd: Path, named: Sequence[str]) -> str:
    """The one that has tests, where a pattern fits several: a debugger runs one."""
    folders = [cwd / it.removesuffix("/...") for it in named or ["."]]
    patterns = ["**/*_test.go" if it.endswith("/...") else "*_test.go" for it in named or ["."]]
    found = sorted({file.parent for folder, it in zip(folders, patterns, strict=True) for file in folder.glob(it)})
    if len(found) > 1:
        raise cannot_debug(
            say("It runs the tests of {count} packages.", count=len(found)),
            say("Give the one that fails, such as `go test -run NAME ./package`."),
        )
    return str(found[0] if found else folders[0])


def _go_words(words: Sequence[str]) -> tuple[list[str], list[str]]:
    """Flags as the test program itself calls them, and packages."""
    flags, packages, at = [], [], 0
    while at < len(words):
        word = words[at]
        if not word.startswith("-"):
            packages.append(word)
        elif word in _GO_WITH_VALUE:
            flags += [f"-test.{word[1:]}", *words[at + 1 : at + 2]]
            at += 1
        elif word.partition("=")[0] in _GO_WITH_VALUE or word == "-v":
            flags.append(f"-test.{word[1:]}")
        at += 1
    return flags, packages


def _of_files(situation: _Situation, words: Sequence[str]) -> Runnable:
    """An interpreter and its file: the file says which debugger."""
    files = [at for at, word in enumerate(words) if at and not word.startswith("-")]
    if not files:
        raise cannot_debug(say("It names no file."), say("Put the code into a file and run that."))
    return _program(situation, words[files[0]], words[files[0] + 1 :])


def _ruby(situation: _Situation, words: Sequence[str]) -> Runnable:
    """With the folders that it is to find files in: tests are told them, as by `ruby -Itest`."""
    rest, folders = list(words[1:]), list[str]()
    while rest and rest[0].startswith("-"):
        flag = rest.pop(0)
        if flag.startswith("-I"):
            named = flag[2:] or (rest.pop(0) if rest else "")
            folders += [str(situation.cwd / it) for it in named.split(os.pathsep)]
    if folders:
        already = situation.env.get("RUBYLIB") or situation.environment.get("RUBYLIB")
        path = os.pathsep.join([*folders, *([already] if already else [])])
        situation = replace(situation, env={**situation.env, "RUBYLIB": path})
    return replace(_of_files(situation, [words[0], *rest]), runner="ruby")


def _file(situation: _Situation, words: Sequence[str]) -> Runnable:
    path = situation.cwd / Path(words[0]).expanduser()
    found = path if "/" in words[0] else _on_path(situation, words[0]) or path
    if found.suffix in {".py", ".pyw"}:
        return _python(situation, ["python", *words])
    script = command_file(words[0], situation.cwd) or node_script(found)
    if script is not None:
        return _node(situation, ["node", str(script), *words[1:]])
    try:
        with found.open("rb") as file:
            first = file.read(4)
    except OSError as error:
        raise cannot_debug(
            say("{name} is no file that can be read.", name=ascii(words[0])[:80]), say("Give the path of the program.")
        ) from error
    python = _shebang(found)
    if python:
        situation = replace(situation, python=python)
        wish = _wish(situation, type="debugpy", program=str(found), args=list(words[1:]))
        return Runnable(wish, _runner_of_django(found.name, words[1:]))
    if first != _ELF or "/" not in words[0]:
        raise cannot_debug(
            say("{name} is a program that Dragoman has no debugger for.", name=ascii(words[0])[:80]),
            say("Give what it runs in the end: a Python, JavaScript, Go, Lua or Ruby file, or a compiled program."),
        )
    return _program(situation, words[0], words[1:])


def _cargo(situation: _Situation, words: Sequence[str]) -> Runnable:
    """Left to the start, which knows what to build and where that is then."""
    wish = Wish(program="cargo", args=tuple(words[1:]), cwd=str(situation.cwd), env=situation.env)
    return Runnable(wish, "cargo")


def _typescript(situation: _Situation, words: Sequence[str]) -> Runnable:
    """By the loader of the same name, in node itself: the command would start another node."""
    return _node(situation, ["node", *_LOADERS[Path(words[0]).name], *(it for it in words[1:] if it != "watch")])


_LOADERS: Mapping[str, list[str]] = {"tsx": ["--import", "tsx"], "ts-node": ["--require", "ts-node/register"]}


def _program(situation: _Situation, program: str, args: Sequence[str]) -> Runnable:
    return Runnable(
        Wish(
            program=str(situation.cwd / Path(program).expanduser()),
            args=tuple(args),
            cwd=str(situation.cwd),
            env=situation.env,
        )
    )


def _wish(situation: _Situation, **given: Any) -> Wish:
    is_python = given["type"] == "debugpy"
    python: dict[str, Any] = {"python": situation.python} if situation.python and is_python else {}
    python |= {"pythonArgs": list(situation.python_flags)} if situation.python_flags and is_python else {}
    env: dict[str, Any] = {"env": dict(situation.env)} if situation.env else {}
    env |= {"preLaunchTask": list(situation.before)} if situation.before else {}
    named = {"request": "launch", "name": "evidence", "cwd": str(situation.cwd)}
    return Wish(configuration={**named, **python, **env, **given})


_BY_COMMAND: Mapping[str, Callable[[_Situation, Sequence[str]], Runnable]] = {
    "pytest": _pytest,
    "py.test": _pytest,
    "node": _node,
    "nodejs": _node,
    "go": _go,
    "cargo": _cargo,
    **dict.fromkeys(_LOADERS, _typescript),
    **dict.fromkeys(("npx", "pnpx", *MANAGERS), _package),
    **dict.fromkeys(("lua", "lua5.1", "lua5.2", "lua5.3", "lua5.4", "luajit"), _of_files),
    "ruby": _ruby,
}
