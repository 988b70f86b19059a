"""A command line as somebody typed it, read as something to debug; where that cannot be, why, and what can.

Nothing here is run, but for `node --version` where tests are written in TypeScript. What a shell would compute is
refused rather than guessed, and so are options whose meaning would get lost.
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

from dragoman.debug.adapters.typescript import node_strips_types
from dragoman.debug.evidence.command_prefixes import ASSIGNMENT, PREFIXES, CommandPrefix, assigned
from dragoman.debug.evidence.go_commands import go_call
from dragoman.debug.evidence.node_commands import (
    CODE_OF_NODE,
    MANAGERS,
    NODE_WITH_VALUE,
    NodeRunner,
    NoScript,
    PackageLine,
    command_file,
    flags_to_debug,
    node_options,
    node_script,
    npx_line,
    package_line,
    runner_arguments,
    runner_of,
    says_typescript,
    test_files,
)
from dragoman.debug.evidence.pytest_coverage import has_plugin, measures_coverage
from dragoman.debug.evidence.shell_words import cannot_debug, cannot_follow, commands_of
from dragoman.debug.launch.scripts import environment_script
from dragoman.debug.service import Wish
from dragoman.errors import DragomanError
from dragoman.phrases import say
from dragoman.workspace.interpreter import find_interpreter

Runner = Literal["", "pytest", "unittest", "node", "go", "cargo", "ruby"] | NodeRunner

_PYTHON = re.compile(r"(?:python|pypy)(\d(\.\d+)*)?")
_ANY_PYTHON = frozenset({"python", "python3"})
_PYTHON_WITH_VALUE = "mcWX"  # of its options of one letter, which may be written together
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
    env_files: tuple[str, ...] = ()
    unset: tuple[str, ...] = ()
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
        case ["export", *pairs] if all(ASSIGNMENT.fullmatch(it) for it in pairs):
            return replace(situation, env={**situation.env, **dict(assigned(it) for it in pairs)})
        case ["source" | ".", file] if Path(file).name.startswith("activate"):
            return replace(situation, python=str(situation.cwd / Path(file).parent / "python"))
        case _:
            raise cannot_debug(say("It is more than one command."), say("Give the one that fails."))


def _stripped(situation: _Situation, words: list[str]) -> tuple[_Situation, list[str]]:
    while words:
        if ASSIGNMENT.fullmatch(words[0]):
            situation = replace(situation, env={**situation.env, **dict([assigned(words[0])])})
            words = words[1:]
            continue
        named = (Path(words[0]).name, *words[1:2])
        found = next((it for it in PREFIXES if named[: len(it)] == it), None)
        if found is None:
            return situation, words
        situation, words = _behind(situation, PREFIXES[found], words[len(found) :])
    return situation, words


def _behind(situation: _Situation, prefix: CommandPrefix, words: list[str]) -> tuple[_Situation, list[str]]:
    """The command, from what follows a word that stands before one."""
    while words and words[0].startswith("-"):
        flag, equals, value = words[0].partition("=")
        if flag in prefix.refused:
            raise cannot_follow(flag)
        if flag in {prefix.module, "--module"} and prefix.module:
            return situation, ["python", "-m", *words[1:]]
        if flag == "--":
            words = words[1:]
            break
        takes_one = flag in prefix.with_value and not equals
        situation = _with_option(situation, prefix, flag, "".join(words[1:2]) if takes_one else value)
        words = words[2 if takes_one else 1 :]
    return situation, words[prefix.words :]


def _with_option(situation: _Situation, prefix: CommandPrefix, flag: str, value: str) -> _Situation:
    if flag in prefix.folder:
        return replace(situation, cwd=situation.cwd / value)
    if flag in prefix.unset:
        return replace(situation, unset=(*situation.unset, value))
    if flag == prefix.env_file:
        return replace(situation, env_files=(*situation.env_files, str(situation.cwd / value)))
    return situation


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
    flags, way, rest = _python_words(words[1:])
    situation = replace(situation, python_flags=tuple(flags))
    if way == "c" or not (rest or way) or rest[:1] == ["-"]:
        raise cannot_debug(say("Its code stands in no file."), say("Put the code into a file and run that."))
    if way == "m":
        return _module(situation, rest[:1], rest[1:])
    wish = _wish(situation, type="debugpy", program=str(situation.cwd / rest[0]), args=rest[1:])
    return Runnable(wish, _runner_of_django(Path(rest[0]).name, rest[1:]))


def _python_words(words: Sequence[str]) -> tuple[list[str], str, list[str]]:
    """Python's own options; `m` or `c`, where one of them says what is run; and the rest."""
    flags, rest = list[str](), list(words)
    while rest and rest[0].startswith("-") and rest[0] != "-":
        word = rest.pop(0)
        if word == "--check-hash-based-pycs":
            flags += [word, *rest[:1]]
            rest = rest[1:]
            continue
        at = 0 if word.startswith("--") else next((at for at, it in enumerate(word) if it in _PYTHON_WITH_VALUE), 0)
        before, letter, value = (word[:at], word[at], word[at + 1 :]) if at else (word, "", "")
        if letter in {"m", "c"}:
            flags += [before] if before != "-" else []
            return flags, letter, [*([value] if value else []), *rest]
        flags.append(word)
        if letter and not value:
            flags += rest[:1]
            rest = rest[1:]
    return flags, "", rest


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
    options, rest = node_options(words[1:])
    names = {it[0].partition("=")[0] for it in options}
    if "--run" in names:
        return _package(situation, ["npm", "run", "--ignore-scripts", *rest])
    flags = flags_to_debug(options)
    is_test = "--test" in flags
    if not (rest or is_test) or not names.isdisjoint(CODE_OF_NODE):
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
    named = [found for it in rest for found in _test_files(situation, flags, it)]
    if len(named) == 1:
        flags.remove("--test")
        given: dict[str, Any] = {"program": named[0], "runtimeArgs": flags, "args": []}
    else:
        given = {"runtimeArgs": [*flags, *named]}
    return Runnable(_wish(situation, type="pwa-node", **given, **_SKIPS_NOTHING), "node")


def _test_files(situation: _Situation, flags: Sequence[str], named: str) -> list[str]:
    folder = situation.cwd / named
    if not folder.is_dir():
        return [str(folder)]
    environment = {**situation.environment, **situation.env}
    said = [*flags, *environment.get("NODE_OPTIONS", "").split()]
    found = test_files(folder, runs_typescript=lambda: says_typescript(said) or node_strips_types(environment))
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


def _go(situation: _Situation, words: Sequence[str]) -> Runnable:
    call = go_call(words[1:], situation.cwd)
    return Runnable(_wish(situation, **call.configuration), "go" if call.mode == "test" else "")


def _of_files(situation: _Situation, words: Sequence[str]) -> Runnable:
    """An interpreter and its file: the file says which debugger."""
    files = [at for at, word in enumerate(words) if at and not word.startswith("-")]
    for flag in words[1 : files[0] if files else 1]:
        if not _ONLY_WARNS.fullmatch(flag):
            raise cannot_follow(flag)
    if not files:
        raise cannot_debug(say("It names no file."), say("Put the code into a file and run that."))
    return _program(situation, words[files[0]], words[files[0] + 1 :])


_ONLY_WARNS = re.compile(r"-[vwWEi]|-W[012]|-W:.*|--(?:enable|disable)[=-].*|--")


def _ruby(situation: _Situation, words: Sequence[str]) -> Runnable:
    """With the folders that it is to find files in: tests are told them, as by `ruby -Itest`."""
    rest, folders, kept = list(words[1:]), list[str](), list[str]()
    while rest and rest[0].startswith("-"):
        flag = rest.pop(0)
        if flag.startswith("-I"):
            named = flag[2:] or (rest.pop(0) if rest else "")
            folders += [str(situation.cwd / it) for it in named.split(os.pathsep)]
        else:
            kept.append(flag)
    if folders:
        already = situation.env.get("RUBYLIB") or situation.environment.get("RUBYLIB")
        path = os.pathsep.join([*folders, *([already] if already else [])])
        situation = replace(situation, env={**situation.env, "RUBYLIB": path})
    return replace(_of_files(situation, [words[0], *kept, *rest]), runner="ruby")


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
    _require_plain(situation)
    wish = Wish(program="cargo", args=tuple(words[1:]), cwd=str(situation.cwd), env=situation.env)
    return Runnable(wish, "cargo")


def _typescript(situation: _Situation, words: Sequence[str]) -> Runnable:
    """By the loader of the same name, in node itself: the command would start another node, and takes what it would
    know of its own options from the environment as well."""
    loader, own = _LOADERS[Path(words[0]).name]
    rest, flags = list(words[2:] if words[1:2] == ["watch"] else words[1:]), list[str]()
    while rest and rest[0].startswith("-"):
        flag, equals, value = rest.pop(0).partition("=")
        if flag in own:
            name, fixed = own[flag]
            given = fixed or value or (rest.pop(0) if rest else "")
            situation = replace(situation, env={**situation.env, name: given})
            continue
        flags.append(f"{flag}{equals}{value}")
        flags += [rest.pop(0)] if flag in NODE_WITH_VALUE and not equals and rest else []
    return _node(situation, ["node", *loader, *flags, *rest])


# What node is given, and the options that are not node's: each as a variable, with its value where it takes none.
_LOADERS: Mapping[str, tuple[list[str], Mapping[str, tuple[str, str]]]] = {
    "tsx": (["--import", "tsx"], {"--tsconfig": ("TSX_TSCONFIG_PATH", "")}),
    "ts-node": (
        ["--require", "ts-node/register"],
        {
            **dict.fromkeys(("-P", "--project"), ("TS_NODE_PROJECT", "")),
            **dict.fromkeys(("-T", "--transpile-only", "--transpileOnly"), ("TS_NODE_TRANSPILE_ONLY", "true")),
            "--files": ("TS_NODE_FILES", "true"),
        },
    ),
}


def _require_plain(situation: _Situation) -> None:
    """What is left to the start has variables, and none that it is to be without."""
    for flag, given in (("-u", situation.unset), ("--env-file", situation.env_files)):
        if given:
            raise cannot_follow(flag)


def _program(situation: _Situation, program: str, args: Sequence[str]) -> Runnable:
    _require_plain(situation)
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
    variables = {**situation.env, **dict.fromkeys(situation.unset)}
    env: dict[str, Any] = {"env": variables} if variables else {}
    env |= {"envFile": list(situation.env_files)} if situation.env_files else {}
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
