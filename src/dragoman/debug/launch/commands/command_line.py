"""Reads a command line as something to debug, or explains why it cannot be debugged.

Nothing here runs, except `node --version` where tests are written in TypeScript. What a shell would compute is
refused rather than guessed, and so are options whose meaning would get lost.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from dragoman.core.errors import DragomanError
from dragoman.core.localization import localize
from dragoman.debug.backends.adapters.javascript import node_strips_types
from dragoman.debug.launch.commands.go import go_call
from dragoman.debug.launch.commands.makefile import make_target
from dragoman.debug.launch.commands.node import (
    CODE_OF_NODE,
    MANAGERS,
    NODE_WITH_VALUE,
    MissingScript,
    NodeRunner,
    PackageLine,
    command_file,
    enables_typescript,
    flags_to_debug,
    node_options,
    node_script,
    npx_line,
    package_line,
    runner_arguments,
    runner_of,
    test_files,
)
from dragoman.debug.launch.commands.pytest_coverage import (
    COVERAGE_PLUGIN,
    WORKERS_PLUGIN,
    has_plugin,
    measures_coverage,
    uses_workers,
)
from dragoman.debug.launch.commands.shell_words import (
    CommandContext,
    cannot_debug,
    expand_globs,
    split_commands,
    strip_prefixes,
    unsupported_flag,
    with_setup,
)
from dragoman.debug.launch.programs import environment_script
from dragoman.debug.model import LaunchRequest
from dragoman.workspace.python_interpreter import find_interpreter

TestRunner = Literal["", "pytest", "unittest", "doctest", "node", "go", "cargo", "ruby"] | NodeRunner

_PYTHON = re.compile(r"(?:python|pypy)(\d(\.\d+)*)?")
_ANY_PYTHON = frozenset({"python", "python3"})
_PYTHON_WITH_VALUE = "mcWX"  # Python's one-letter options with a value; they can follow others, as in `-Im`
_DJANGO = frozenset({"manage.py", "django-admin", "django"})
_RUNS_UNITTEST = re.compile(rb"(?:^|\s|:)unittest\.main\(")
_MOST_SCRIPT_BYTES = 1 << 20
_MOST_SCRIPTS = 8  # scripts that run one another
_ELF = b"\x7fELF"


@dataclass(frozen=True, slots=True)
class CommandTarget:
    launch_request: LaunchRequest
    runner: TestRunner = ""


def read_command_line(
    line: str,
    cwd: Path,
    environment: Mapping[str, str],
    env: Mapping[str, str] | None = None,
    *,
    workspace: Path | None = None,
    more: Sequence[str] = (),
) -> CommandTarget:
    """`environment` is where it would have been run, `env` what it is given besides, `more` further words of it."""
    return _read_line(line, CommandContext(cwd, workspace or cwd, environment, env or {}), more)


def read_command_words(
    words: Sequence[str], cwd: Path, environment: Mapping[str, str], *, workspace: Path
) -> CommandTarget:
    """In a command that no shell has split, text that looks like a pattern is plain text."""
    return _read_target(CommandContext(cwd, workspace, environment), list(words))


def _read_line(line: str, context: CommandContext, more: Sequence[str] = ()) -> CommandTarget:
    *before, words = split_commands(line)
    for part in before:
        context = with_setup(context, part)
    return _read_target(context, [*expand_globs(words, context.cwd), *more])


def _read_target(context: CommandContext, words: list[str]) -> CommandTarget:
    context, words = strip_prefixes(context, words)
    if not words:
        raise cannot_debug(
            localize("It contains no command."), localize("Pass a command such as `pytest tests/test_app.py`.")
        )
    return _choose_target(context, words)


def _choose_target(context: CommandContext, words: list[str]) -> CommandTarget:
    command = Path(words[0]).name
    if _PYTHON.fullmatch(command):
        return _python(context, words)
    chosen = _BY_COMMAND.get(command)
    if chosen is not None:
        return chosen(context, words)
    return _file(context, words)


def _python(context: CommandContext, words: Sequence[str]) -> CommandTarget:
    context = replace(context, python=_interpreter(context, words[0]))
    flags, way, rest = _python_words(words[1:])
    context = replace(context, python_flags=tuple(flags))
    if way == "c" or not (rest or way) or rest[:1] == ["-"]:
        raise cannot_debug(localize("Its code is not in a file."), localize("Save the code to a file and run that."))
    if way == "m":
        return _module(context, rest[:1], rest[1:])
    program = context.cwd / rest[0]
    launch_request = _launch_request(context, type="debugpy", program=str(program), args=rest[1:])
    return CommandTarget(launch_request, _runner_of_django(program.name, rest[1:]) or _runner_of_script(program))


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


def _runner_of_django(program: str, args: Sequence[str]) -> TestRunner:
    """`manage.py test`: Django's runner is one of unittest."""
    return "unittest" if program in _DJANGO and args[:1] == ["test"] else ""


def _runner_of_script(program: Path) -> TestRunner:
    """Of a file that runs its own tests."""
    try:
        with program.open("rb") as file:
            text = file.read(_MOST_SCRIPT_BYTES)
    except OSError:
        return ""
    return "unittest" if _RUNS_UNITTEST.search(text) else ""


def _interpreter(context: CommandContext, word: str) -> str:
    """As it was given, if that says more than `python`."""
    if "/" in word:
        return str(context.cwd / Path(word).expanduser())
    found = None if word in _ANY_PYTHON else shutil.which(word, path=context.environment.get("PATH"))
    return found or context.python


def _module(context: CommandContext, name: Sequence[str], args: Sequence[str]) -> CommandTarget:
    if not name:
        raise cannot_debug(localize("No module is given."), localize("Add the module name after -m."))
    runners: Mapping[str, TestRunner] = {
        "pytest": "pytest",
        "py.test": "pytest",
        "unittest": "unittest",
        "doctest": "doctest",
    }
    runner = runners.get(name[0]) or _runner_of_django(name[0], args)
    more = _pytest_words(context, args) if runner == "pytest" else []
    launch_request = _launch_request(context, type="debugpy", module=name[0], args=[*args, *more])
    return CommandTarget(launch_request, runner)


def _pytest_words(context: CommandContext, args: Sequence[str]) -> list[str]:
    """No coverage and no worker processes. Without their plugins, pytest knows neither option."""
    environment = {**context.environment, **context.env}
    wanted = {
        COVERAGE_PLUGIN: "--no-cov" if measures_coverage(context.cwd, args, environment) else "",
        WORKERS_PLUGIN: "-n0" if uses_workers(context.cwd, args, environment) else "",
    }
    if not any(wanted.values()):
        return []
    try:
        python = context.cwd / Path(context.python or find_interpreter(context.workspace, environment).path)
    except DragomanError:
        return []
    return [word for plugin, word in wanted.items() if word and has_plugin(plugin, python, environment, context.cwd)]


def _pytest(context: CommandContext, words: Sequence[str]) -> CommandTarget:
    """The first line of a script names its interpreter."""
    found = words[0] if "/" in words[0] else str(_on_path(context, "pytest") or "")
    python = context.python or _shebang(context.cwd / Path(found).expanduser()) if found else context.python
    return _module(replace(context, python=python), ["pytest"], words[1:])


def _on_path(context: CommandContext, name: str) -> Path | None:
    """A command by its bare name: of the environment that `python` means, and else of the PATH."""
    environment = {**context.environment, **context.env}
    beside = Path(context.python).parent / name if context.python else None
    own = beside if beside and beside.is_file() else environment_script(name, context.workspace, environment)
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


def _node(context: CommandContext, words: Sequence[str]) -> CommandTarget:
    options, rest = node_options(words[1:])
    names = {it[0].partition("=")[0] for it in options}
    if "--run" in names:
        return _package(context, ["npm", "run", "--ignore-scripts", *rest])
    flags = flags_to_debug(options)
    is_test = "--test" in flags
    if not (rest or is_test) or not names.isdisjoint(CODE_OF_NODE):
        raise cannot_debug(
            localize("No file is given."), localize("Pass a file, such as `node --test test/app.test.js`.")
        )
    if is_test:
        return _node_test(context, flags, rest)
    script = node_script(context.cwd / rest[0])
    runner = runner_of(script) if script else None
    given: dict[str, Any] = {"program": str(context.cwd / rest[0]), "args": rest[1:]}
    if script and runner:
        given = {"program": str(script), "args": runner_arguments(runner, rest[1:]), **_SKIPS_NOTHING}
    return CommandTarget(_launch_request(context, type="pwa-node", runtimeArgs=flags, **given), runner or "")


# If Node's own files are skipped, js-debug does not report exceptions raised in `assert`.
_SKIPS_NOTHING: Mapping[str, Any] = {"skipFiles": []}


def _node_test(context: CommandContext, flags: list[str], rest: Sequence[str]) -> CommandTarget:
    """Test files, each in a process of its own; a single file runs its tests in its own process."""
    named = [found for it in rest for found in _test_files(context, flags, it)]
    if len(named) == 1:
        flags.remove("--test")
        given: dict[str, Any] = {"program": named[0], "runtimeArgs": flags, "args": []}
    else:
        given = {"runtimeArgs": [*flags, *named]}
    return CommandTarget(_launch_request(context, type="pwa-node", **given, **_SKIPS_NOTHING), "node")


def _test_files(context: CommandContext, flags: Sequence[str], named: str) -> list[str]:
    folder = context.cwd / named
    if not folder.is_dir():
        return [str(folder)]
    environment = {**context.environment, **context.env}
    node_flags = [*flags, *environment.get("NODE_OPTIONS", "").split()]
    found = test_files(folder, runs_typescript=lambda: enables_typescript(node_flags) or node_strips_types(environment))
    if not found:
        raise cannot_debug(
            localize("{folder} has no tests.", folder=ascii(named)[:80]),
            localize("Pass a file, such as `node --test test/app.test.js`."),
        )
    return found


def _package(context: CommandContext, words: Sequence[str]) -> CommandTarget:
    """npm, npx and their like: the line that they run."""
    command = Path(words[0]).name
    manager = MANAGERS.get(command)
    found = package_line(manager, words, context.cwd) if manager else npx_line(words, context.cwd)
    if isinstance(found, PackageLine) and context.scripts < _MOST_SCRIPTS:
        before = [{"type": "npm", "script": it, "path": str(found.folder)} for it in found.before]
        inner = replace(context, cwd=found.folder, scripts=context.scripts + 1)
        return _read_line(found.line, replace(inner, before=(*context.before, *before)))
    if isinstance(found, MissingScript):
        raise cannot_debug(
            localize("package.json has no script {name}.", name=ascii(found.name)[:80]),
            localize("Available scripts: {known}.", known=", ".join(found.known)[:400] or "-"),
        )
    raise cannot_debug(
        localize("{command} does not run code of this project.", command=command),
        localize("Pass the command that it runs, such as `jest test/app.test.js`."),
    )


def _make(context: CommandContext, words: Sequence[str]) -> CommandTarget:
    """The one command of a target, if all of the target can be read."""
    target = make_target(context.cwd, words[1:])
    if target is None or not target.lines:
        raise cannot_debug(
            localize("The Makefile has no such target with commands."),
            localize("Pass the command that it runs, such as `pytest tests`."),
        )
    if len(target.lines) > 1 or not target.is_whole or context.scripts >= _MOST_SCRIPTS:
        raise cannot_debug(
            localize("It contains several commands."),
            localize("Pass the one that fails: {commands}.", commands="; ".join(target.lines)[:400]),
        )
    return _read_line(target.lines[0], replace(context, scripts=context.scripts + 1))


def _go(context: CommandContext, words: Sequence[str]) -> CommandTarget:
    call = go_call(words[1:], context.cwd)
    return CommandTarget(_launch_request(context, **call.configuration), "go" if call.mode == "test" else "")


def _interpreted_file(context: CommandContext, words: Sequence[str]) -> CommandTarget:
    """An interpreter and its file: the file says which debugger."""
    files = [at for at, word in enumerate(words) if at and not word.startswith("-")]
    for flag in words[1 : files[0] if files else 1]:
        if not _ONLY_WARNS.fullmatch(flag):
            raise unsupported_flag(flag)
    if not files:
        raise cannot_debug(localize("No file is given."), localize("Save the code to a file and run that."))
    return _program(context, words[files[0]], words[files[0] + 1 :])


_ONLY_WARNS = re.compile(r"-[vwWEi]|-W[012]|-W:.*|--(?:enable|disable)[=-].*|--")


def _ruby(context: CommandContext, words: Sequence[str]) -> CommandTarget:
    """With the folders in which it finds files: tests get them, as in `ruby -Itest`."""
    rest, folders, kept = list(words[1:]), list[str](), list[str]()
    while rest and rest[0].startswith("-"):
        flag = rest.pop(0)
        if flag.startswith("-I"):
            named = flag[2:] or (rest.pop(0) if rest else "")
            folders += [str(context.cwd / it) for it in named.split(os.pathsep)]
        else:
            kept.append(flag)
    if folders:
        already = context.env.get("RUBYLIB") or context.environment.get("RUBYLIB")
        path = os.pathsep.join([*folders, *([already] if already else [])])
        context = replace(context, env={**context.env, "RUBYLIB": path})
    return replace(_interpreted_file(context, [words[0], *kept, *rest]), runner="ruby")


def _file(context: CommandContext, words: Sequence[str]) -> CommandTarget:
    path = context.cwd / Path(words[0]).expanduser()
    found = path if "/" in words[0] else _on_path(context, words[0]) or path
    if found.suffix in {".py", ".pyw"}:
        return _python(context, ["python", *words])
    script = command_file(words[0], context.cwd) or node_script(found)
    if script is not None:
        return _node(context, ["node", str(script), *words[1:]])
    try:
        with found.open("rb") as file:
            first = file.read(4)
    except OSError as error:
        raise cannot_debug(
            localize("Cannot read {name}.", name=ascii(words[0])[:80]),
            localize("Pass the path of the program."),
        ) from error
    python = _shebang(found)
    if python:
        context = replace(context, python=python)
        launch_request = _launch_request(context, type="debugpy", program=str(found), args=list(words[1:]))
        return CommandTarget(launch_request, _runner_of_django(found.name, words[1:]))
    if first != _ELF or "/" not in words[0]:
        raise cannot_debug(
            localize("Dragoman has no debugger for {name}.", name=ascii(words[0])[:80]),
            localize("Pass what it runs: a Python, JavaScript, Go, Lua or Ruby file, or a compiled program."),
        )
    return _program(context, words[0], words[1:])


def _cargo(context: CommandContext, words: Sequence[str]) -> CommandTarget:
    """Left to the start, which knows what to build and where that is then."""
    _require_plain(context)
    launch_request = LaunchRequest(program="cargo", args=tuple(words[1:]), cwd=str(context.cwd), env=context.env)
    return CommandTarget(launch_request, "cargo")


def _typescript(context: CommandContext, words: Sequence[str]) -> CommandTarget:
    """Run node with the loader of the same name, because `tsx` and `ts-node` would start a second node. Their own
    options become environment variables.
    """
    loader, own = _LOADERS[Path(words[0]).name]
    rest, flags = list(words[2:] if words[1:2] == ["watch"] else words[1:]), list[str]()
    while rest and rest[0].startswith("-"):
        flag, equals, value = rest.pop(0).partition("=")
        if flag in own:
            name, fixed = own[flag]
            given = fixed or value or (rest.pop(0) if rest else "")
            context = replace(context, env={**context.env, name: given})
            continue
        flags.append(f"{flag}{equals}{value}")
        flags += [rest.pop(0)] if flag in NODE_WITH_VALUE and not equals and rest else []
    return _node(context, ["node", *loader, *flags, *rest])


# The arguments for node. The loader's own options become environment variables; the second text is the value for an
# option that takes none.
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


def _require_plain(context: CommandContext) -> None:
    """Such a launch request carries added variables only: it cannot unset one or name an env file."""
    for flag, given in (("-u", context.unset), ("--env-file", context.env_files)):
        if given:
            raise unsupported_flag(flag)


def _program(context: CommandContext, program: str, args: Sequence[str]) -> CommandTarget:
    _require_plain(context)
    return CommandTarget(
        LaunchRequest(
            program=str(context.cwd / Path(program).expanduser()),
            args=tuple(args),
            cwd=str(context.cwd),
            env=context.env,
        )
    )


def _launch_request(context: CommandContext, **given: Any) -> LaunchRequest:
    is_python = given["type"] == "debugpy"
    python: dict[str, Any] = {"python": context.python} if context.python and is_python else {}
    python |= {"pythonArgs": list(context.python_flags)} if context.python_flags and is_python else {}
    variables = {**context.env, **dict.fromkeys(context.unset)}
    env: dict[str, Any] = {"env": variables} if variables else {}
    env |= {"envFile": list(context.env_files)} if context.env_files else {}
    env |= {"preLaunchTask": list(context.before)} if context.before else {}
    named = {"request": "launch", "name": "evidence", "cwd": str(context.cwd)}
    return LaunchRequest(configuration={**named, **python, **env, **given})


_BY_COMMAND: Mapping[str, Callable[[CommandContext, Sequence[str]], CommandTarget]] = {
    "pytest": _pytest,
    "py.test": _pytest,
    "node": _node,
    "nodejs": _node,
    "go": _go,
    "cargo": _cargo,
    **dict.fromkeys(("make", "gmake"), _make),
    **dict.fromkeys(_LOADERS, _typescript),
    **dict.fromkeys(("npx", "pnpx", *MANAGERS), _package),
    **dict.fromkeys(("lua", "lua5.1", "lua5.2", "lua5.3", "lua5.4", "luajit"), _interpreted_file),
    "ruby": _ruby,
}
