"""npx, package scripts and the commands of packages, as what node finally runs. Nothing here runs."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from dragoman.debug.launch.commands.shell_words import unsupported_flag
from dragoman.debug.launch.tasks import npm_scripts, read_package_json

NodeRunner = Literal["jest", "vitest", "mocha"]

_MOST_BYTES = 1 << 20
_SCRIPTS = frozenset({".js", ".cjs", ".mjs"})
_TYPED = frozenset({".ts", ".cts", ".mts"})
_RUNS_TYPED = re.compile(
    r"tsx(?:/.*)?|ts-node(?:/.*)?|@swc-node/.*|@swc/register|esbuild-register(?:/.*)?"
    r"|--experimental-(?:strip|transform)-types"
)
_NODE_SHEBANG = re.compile(rb"#!\s*\S*(?:/env\s+(?:-S\s+)?)?\bnode\b")
_NODE_SHIM = re.compile(r'"\$basedir/([^"]+\.[cm]?js)"')  # pnpm writes one such script for each command
_TEST_FILE = re.compile(r"(?:test|test-.+|.+[._-]test)\.[cm]?[jt]s")
_PATIENCE_MS = 30_000  # under a debugger, tests take longer than their runner expects


# Node itself.

NODE_WITH_VALUE = frozenset(
    {"-r", "--require", "--import", "--loader", "--experimental-loader", "-C", "--conditions", "--env-file"}
    | {"--env-file-if-exists", "--experimental-config-file", "--input-type", "--experimental-default-type"}
    | {"--test-name-pattern", "--test-skip-pattern", "--test-reporter", "--test-reporter-destination"}
    | {"--test-concurrency", "--test-timeout", "--test-shard", "--test-isolation", "--experimental-test-isolation"}
    | {"--test-coverage-include", "--test-coverage-exclude", "--test-coverage-branches", "--test-coverage-functions"}
    | {"--test-coverage-lines", "--test-global-setup", "--test-rerun-failures", "--watch-path", "--watch-kill-signal"}
    | {"--inspect-port", "--debug-port", "--inspect-publish-uid", "--title", "--unhandled-rejections", "--icu-data-dir"}
    | {"--dns-result-order", "--disable-warning", "--redirect-warnings", "--diagnostic-dir", "--openssl-config"}
    | {"--max-http-header-size", "--localstorage-file", "--stack-trace-limit", "--tls-cipher-list", "--tls-keylog"}
    | {"--trace-event-categories", "--trace-event-file-pattern", "--v8-pool-size", "--secure-heap", "--use-largepages"}
    | {"--cpu-prof-dir", "--cpu-prof-name", "--cpu-prof-interval", "--heap-prof-dir", "--heap-prof-name"}
    | {"--heap-prof-interval", "--heapsnapshot-signal", "--heapsnapshot-near-heap-limit", "--report-dir"}
    | {"--report-directory", "--report-filename", "--report-signal", "--allow-fs-read", "--allow-fs-write"}
)
# Options that start another debugger, and commands that never end.
_NOT_FOR_NODE = re.compile(r"--inspect(?:-\w+)*|--debug-port|--watch(?:-\w+)*|--")
# The code to run is in no file, or not in the named one.
CODE_OF_NODE = frozenset({"-e", "--eval", "-p", "--print", "-pe", "-i", "--interactive", "--build-snapshot"})


def node_options(words: Sequence[str]) -> tuple[list[list[str]], list[str]]:
    """Node's own options, each with its value, and from the file on the program's words."""
    options, at = list[list[str]](), 0
    while at < len(words) and words[at].startswith("-"):
        taken = 2 if words[at] in NODE_WITH_VALUE else 1
        options.append(list(words[at : at + taken]))
        at += taken
        if options[-1] == ["--"]:
            break
    return options, list(words[at:])


def flags_to_debug(options: Iterable[Sequence[str]]) -> list[str]:
    return [word for it in options if not _NOT_FOR_NODE.fullmatch(it[0].partition("=")[0]) for word in it]


# Package managers: from the words of a command to the line of the script and its folder.


@dataclass(frozen=True, slots=True)
class PackageManager:
    runs: frozenset[str] = frozenset({"run", "run-script"})
    executes: frozenset[str] = frozenset({"exec"})
    aliases: Mapping[str, str] = field(default_factory=dict)
    """Scripts that are run by a word of their own."""
    any_script: bool = False
    """Any other word is a script, or a command of a package."""
    keeps_flags: bool = True
    """Flags behind a script are the script's, also without `--`."""
    folder_flags: frozenset[str] = frozenset()


MANAGERS: Mapping[str, PackageManager] = {
    "npm": PackageManager(
        executes=frozenset({"exec", "x"}),
        aliases={"test": "test", "t": "test", "tst": "test", "start": "start"},
        keeps_flags=False,
        folder_flags=frozenset({"--prefix", "-C"}),
    ),
    "yarn": PackageManager(any_script=True, folder_flags=frozenset({"--cwd"})),
    "pnpm": PackageManager(aliases={"t": "test"}, any_script=True, folder_flags=frozenset({"--dir", "-C", "--prefix"})),
}
_NPX_WITH_VALUE = frozenset({"-p", "--package"})
_NPX = frozenset(
    {"-y", "--yes", "--no", "-n", "--no-install", "--ignore-existing", "-q", "--quiet", "-s", "--silent"}
    | {"--offline", "--prefer-offline", "--prefer-online", "--verbose", "--"}
)
_WITH_VALUE = frozenset(
    {"--loglevel", "--registry", "--cache", "--userconfig", "--script-shell", "--reporter", "--mutex"}
    | {"--cache-folder", "--modules-folder"}
)
# These options run the script in other packages, or run node differently.
_ELSEWHERE = frozenset(
    {"-w", "--workspace", "-ws", "--workspaces", "--workspace-root", "--filter", "-F", "--filter-prod"}
    | {"-r", "--recursive", "--node-options"}
)


@dataclass(frozen=True, slots=True)
class PackageLine:
    folder: Path
    line: str
    before: tuple[str, ...] = ()
    """Scripts that the package manager runs first, such as `pretest`. What it runs after a success, it does not."""


@dataclass(frozen=True, slots=True)
class MissingScript:
    """A script that package.json does not have, or no package.json: what there is instead."""

    name: str
    known: tuple[str, ...] = ()


def npx_line(words: Sequence[str], cwd: Path, *, keeps_flags: bool = True) -> PackageLine | None:
    """None: it names no command."""
    rest, is_over = list(words[1:]), False
    while rest and rest[0].startswith("-") and not is_over:
        flag, equals, _ = rest[0].partition("=")
        if flag in {"-c", "--call"} and len(rest) > 1:
            return PackageLine(cwd, rest[1])
        if not equals and flag not in _NPX | _NPX_WITH_VALUE:
            raise unsupported_flag(flag)
        is_over = flag == "--"
        rest = rest[2 if flag in _NPX_WITH_VALUE and not equals else 1 :]
    if not rest:
        return None
    arguments = rest[1:]
    if not keeps_flags and not is_over:
        arguments, cwd = _own_arguments(MANAGERS["npm"], arguments, cwd)
    return PackageLine(cwd, shlex.join([rest[0].partition("@")[0] or rest[0], *arguments]))


def package_line(manager: PackageManager, words: Sequence[str], cwd: Path) -> PackageLine | MissingScript | None:
    """What `npm test`, `yarn NAME` and the like run. None: nothing of the project."""
    rest, cwd = _options_taken(manager, list(words[1:]), cwd)
    if not rest:
        return None
    if rest[0] in manager.executes:
        return npx_line(rest, cwd, keeps_flags=manager.keeps_flags)
    is_run = rest[0] in manager.runs
    if is_run:
        rest, cwd = _options_taken(manager, rest[1:], cwd)
    name = rest[0] if is_run and rest else manager.aliases.get(rest[0] if rest else "", "")
    if not name and not (manager.any_script and rest):
        return None
    arguments, cwd = _own_arguments(manager, rest[1:], cwd)
    found = _script(name or rest[0], arguments, cwd, is_certain=bool(name))
    is_alone = "--ignore-scripts" in words[: words.index("--") if "--" in words else len(words)]
    return replace(found, before=()) if is_alone and isinstance(found, PackageLine) else found


def _options_taken(manager: PackageManager, words: list[str], cwd: Path) -> tuple[list[str], Path]:
    """The package manager's own options before the command."""
    while words and words[0].startswith("-"):
        flag, equals, value = words.pop(0).partition("=")
        if flag in _ELSEWHERE:
            raise unsupported_flag(flag)
        if flag in manager.folder_flags | _WITH_VALUE and not equals and words:
            value = words.pop(0)
        cwd = cwd / value if flag in manager.folder_flags else cwd
    return words, cwd


def _own_arguments(manager: PackageManager, words: Sequence[str], cwd: Path) -> tuple[list[str], Path]:
    """The script's own arguments. npm takes its options wherever they stand before `--`."""
    at = words.index("--") if "--" in words else len(words)
    rest, own = list(words[:at]), list[str]()
    while rest and not manager.keeps_flags:
        rest, cwd = _options_taken(manager, rest, cwd)
        own += rest[:1]
        rest = rest[1:]
    return [*own, *rest, *words[at + 1 :]], cwd


def _script(name: str, arguments: Sequence[str], cwd: Path, *, is_certain: bool) -> PackageLine | MissingScript:
    folder = next((it for it in (cwd, *cwd.parents) if (it / "package.json").is_file()), None)
    lines = npm_scripts(folder) if folder else {}
    if folder is not None and name in lines:
        first = (f"pre{name}",) if f"pre{name}" in lines else ()
        return PackageLine(folder, f"{lines[name]} {shlex.join(arguments)}".strip(), first)
    if is_certain or command_file(name, cwd) is None:
        return MissingScript(name, tuple(lines))
    return PackageLine(cwd, shlex.join([name, *arguments]))


# Commands of packages.


def command_file(name: str, cwd: Path) -> Path | None:
    """The script behind a command of the packages that are installed at or above a folder."""
    for folder in (cwd, *cwd.parents):
        found = folder / "node_modules" / ".bin" / name
        if "/" not in name and found.is_file():
            return node_script(found)
    return None


def node_script(file: Path) -> Path | None:
    """The file of JavaScript that a command is, or stands for."""
    real = file.resolve()
    try:
        with real.open("rb") as opened:
            text = opened.read(4096)
    except OSError:
        return None
    if real.suffix in _SCRIPTS or _NODE_SHEBANG.match(text):
        return real
    shim = _NODE_SHIM.search(text.decode("utf-8", "replace"))
    return (file.parent / shim[1]).resolve() if shim else None


# Test runners.


@dataclass(frozen=True, slots=True)
class _RunnerOptions:
    packages: frozenset[str]
    added: Mapping[str, frozenset[str]]
    """Options that make it run in one process, to its end, and patiently, unless one of the words beside is given."""
    dropped: Mapping[str, int]
    """Options that prevent that, and how many words belong to each."""
    by_id: str


_RUNNERS: Mapping[NodeRunner, _RunnerOptions] = {
    "vitest": _RunnerOptions(
        frozenset({"vitest"}),
        {
            "--run": frozenset({"run", "--run"}),
            "--no-file-parallelism": frozenset({"--no-file-parallelism"}),
            "--coverage.enabled=false": frozenset(),
            f"--testTimeout={_PATIENCE_MS}": frozenset({"--testTimeout", "--test-timeout"}),
        },
        {"watch": 0, "dev": 0, "--watch": 0, "-w": 0, "--coverage": 0, "--ui": 0},
        "npx vitest run {id}",
    ),
    "jest": _RunnerOptions(
        frozenset({"jest", "jest-cli"}),
        {
            "--runInBand": frozenset({"--runInBand", "--run-in-band", "-i"}),
            "--coverage=false": frozenset(),
            f"--testTimeout={_PATIENCE_MS}": frozenset({"--testTimeout"}),
        },
        {"--watch": 0, "--watchAll": 0, "--coverage": 0, "--maxWorkers": 1, "-w": 1},
        "npx jest --runTestsByPath {id}",
    ),
    "mocha": _RunnerOptions(
        frozenset({"mocha"}),
        {
            "--no-parallel": frozenset({"--no-parallel"}),
            f"--timeout={_PATIENCE_MS}": frozenset({"--timeout", "--timeouts", "-t", "--no-timeout", "--no-timeouts"}),
        },
        {"--watch": 0, "-w": 0, "--parallel": 0, "-p": 0, "--jobs": 1, "-j": 1},
        "npx mocha {id}",
    ),
}


def runner_of(script: Path) -> NodeRunner | None:
    """By the package that a script belongs to."""
    parts = script.parts
    at = len(parts) - 1 - parts[::-1].index("node_modules") if "node_modules" in parts else len(parts)
    package = next(iter(parts[at + 1 : at + 2]), "")
    return next((name for name, it in _RUNNERS.items() if package in it.packages), None)


def runner_arguments(runner: NodeRunner, words: Sequence[str]) -> list[str]:
    how = _RUNNERS[runner]
    at = words.index("--") if "--" in words else len(words)
    kept = list(_kept(words[:at], how.dropped))
    given = {it.partition("=")[0] for it in kept}
    added = [flag for flag, instead in how.added.items() if given.isdisjoint(instead)]
    return [*kept, *added, *words[at:]]


def _kept(words: Sequence[str], dropped: Mapping[str, int]) -> Iterator[str]:
    left = 0
    for word in words:
        name, equals, _ = word.partition("=")
        if left:
            left -= 1
        elif name in dropped:
            left = 0 if equals else dropped[name]
        else:
            yield word


def command_of_test(file: str, cwd: Path) -> str:
    """By what the file imports, otherwise by what its project has: a template with `id`."""
    path = cwd / file
    try:
        with path.open("rb") as opened:
            text = opened.read(_MOST_BYTES)
    except OSError:
        text = b""
    if b"node:test" in text:
        return "node --test {id}"
    for folder in path.parents:
        package = read_package_json(folder)
        known = {str(name) for key in ("dependencies", "devDependencies") for name in package.get(key) or ()}
        for runner, how in _RUNNERS.items():
            if not how.packages.isdisjoint(known) or (folder / "node_modules" / runner).is_dir():
                return how.by_id
    return "node --test {id}"


def test_files(folder: Path, *, runs_typescript: Callable[[], bool]) -> list[str]:
    """The files that `node --test FOLDER` runs. Only some versions of node search for them."""
    found = sorted(_test_files(folder, is_test=folder.name == "test"))
    if any(it.suffix in _TYPED for it in found) and not runs_typescript():
        found = [it for it in found if it.suffix not in _TYPED]
    return [str(it) for it in found]


def enables_typescript(words: Iterable[str]) -> bool:
    """Whether words of node's name something that makes it run TypeScript."""
    return any(_RUNS_TYPED.fullmatch(it.rpartition("=")[2]) for it in words)


def _test_files(folder: Path, *, is_test: bool) -> Iterator[Path]:
    try:
        entries = sorted(folder.iterdir())
    except OSError:
        return
    for entry in entries:
        if entry.name.endswith((".d.ts", ".d.cts", ".d.mts")):
            continue
        if entry.is_dir() and not entry.is_symlink() and entry.name != "node_modules":
            yield from _test_files(entry, is_test=is_test or entry.name == "test")
        elif entry.suffix in _SCRIPTS | _TYPED and (is_test or _TEST_FILE.fullmatch(entry.name)):
            yield entry
