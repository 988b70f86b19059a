"""`cargo run` and `cargo test`: the program that cargo builds, and the command that builds it first."""

from __future__ import annotations

import os
import shlex
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dragoman.core.localization import LocalizedText, localize
from dragoman.debug.launch.errors import LaunchError, listed
from dragoman.debug.launch.task_commands import TaskCommand
from dragoman.debug.launch.tasks import TaskPlan
from dragoman.debug.launch.workspace_files import file_kind

_RUN = frozenset({"run", "r"})
_TEST = frozenset({"test", "t"})
_WITH_VALUE = frozenset(
    {"--bin", "--example", "--package", "-p", "--profile", "--features", "-F", "--target-dir", "--manifest-path"}
    | {"--target", "--jobs", "-j", "--color", "--message-format", "--config", "--test", "--bench", "--exclude"}
    | {"--lockfile-path", "-Z", "-C"}
)
_MOST_FILES = 5000


@dataclass(frozen=True, slots=True)
class CargoCall:
    options: Mapping[str, str]
    flags: tuple[str, ...]
    """The arguments as they were given, for the build."""
    args: tuple[str, ...]
    """The program's own."""


def cargo_program(words: Sequence[str], cwd: Path, env: Mapping[str, str]) -> tuple[dict[str, Any], TaskPlan | None]:
    """A configuration of what cargo would run, and what must be built for it first."""
    has_toolchain = len(words) > 1 and words[1].startswith("+")
    toolchain, rest = words[1 : 1 + has_toolchain], words[1 + has_toolchain :]
    command = rest[0] if rest else ""
    if command not in _RUN | _TEST:
        raise _refused(
            localize("Only `cargo run` and `cargo test` can be debugged."),
            localize("Use `cargo run` or `cargo test NAME`."),
        )
    call = _parse_call(rest[1:], is_test=command in _TEST)
    manifest = _manifest(call, cwd)
    if command in _TEST:
        return _configuration(_newest_test(call, manifest, env), cwd, _test_arguments(rest[1:], call)), None
    program = _target(call, manifest, env) / _binary(call, manifest)
    argv = ("cargo", *toolchain, "build", *call.flags)
    build = TaskCommand(argv, shlex.join(argv), str(cwd), dict(env), builds=True)
    return _configuration(program, cwd, call.args), TaskPlan("cargo build", build)


def _configuration(program: Path, cwd: Path, args: Sequence[str]) -> dict[str, Any]:
    return {"type": "native", "program": str(program), "args": list(args), "cwd": str(cwd)}


def _parse_call(words: Sequence[str], *, is_test: bool) -> CargoCall:
    """In `run`, everything from the first word that is not an option belongs to the program; a test's name may stand
    among options."""
    options: dict[str, str] = {}
    flags: list[str] = []
    args: list[str] = []
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if word == "--" or (not word.startswith("-") and not is_test):
            args += rest if word == "--" else [word, *rest]
            break
        if not word.startswith("-"):
            args.append(word)
            continue
        flag, equals, value = _option(word)
        taken = rest.pop(0) if flag in _WITH_VALUE and not equals and rest else value
        options[flag] = taken
        flags += [flag if not taken else f"{flag}={taken}" if flag.startswith("--") else flag]
        flags += [taken] if taken and not flag.startswith("--") else []
    return CargoCall(options, tuple(flags), tuple(args))


def _option(word: str) -> tuple[str, str, str]:
    """`--bin=app`, and `-papp`, which is `-p app`."""
    is_short = not word.startswith("--") and word[:2] in _WITH_VALUE and len(word) > 2
    return (word[:2], "=", word[2:].removeprefix("=")) if is_short else word.partition("=")


def _test_arguments(words: Sequence[str], call: CargoCall) -> list[str]:
    """One thread: a debugger looks at one test, and the others would run past it. What is printed, a panic's message
    too, is seen when it is printed."""
    added = {"--test-threads=1": "test-threads", "--nocapture": "capture"}
    return [*call.args, *(flag for flag, name in added.items() if not any(name in it for it in words))]


def _manifest(call: CargoCall, cwd: Path) -> Path:
    named = call.options.get("--manifest-path")
    places = [cwd / named] if named else [folder / "Cargo.toml" for folder in (cwd, *cwd.parents)]
    place = next((path for path in places if file_kind(path) == "file"), None)
    if place is None:
        raise _refused(
            localize("No Cargo.toml in this folder or its parents."), localize("Set `cwd` to the crate's folder.")
        )
    package = call.options.get("-p") or call.options.get("--package")
    return _member(place, package) if package else place


def _member(root: Path, package: str) -> Path:
    workspace = _read_manifest(root).get("workspace")
    members = workspace.get("members", []) if isinstance(workspace, dict) else []
    paths = [path for it in members for path in root.parent.glob(f"{it}/Cargo.toml")]
    found = next((path for path in [root, *paths] if _package_name(path) == package), None)
    if found is None:
        known = listed(name for path in paths if (name := _package_name(path)))
        raise _refused(localize("No package has this name."), localize("Available: {known}.", known=known))
    return found


def _read_manifest(manifest: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(manifest.read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}


def _package_name(manifest: Path) -> str:
    package = _read_manifest(manifest).get("package")
    return str(package.get("name") or "") if isinstance(package, dict) else ""


def _binary(call: CargoCall, manifest: Path) -> Path:
    if example := call.options.get("--example"):
        return Path("examples", example)
    if named := call.options.get("--bin"):
        return Path(named)
    content = _read_manifest(manifest)
    bins = [str(it["name"]) for it in content.get("bin", []) if isinstance(it, dict) and it.get("name")]
    bins += [it.stem for it in manifest.parent.glob("src/bin/*.rs")]
    if not bins or (manifest.parent / "src/main.rs").is_file():
        bins = [_package_name(manifest), *bins]
    package = content.get("package")
    default = package.get("default-run") if isinstance(package, dict) else None
    if default:
        return Path(str(default))
    names = list(dict.fromkeys(it for it in bins if it))
    if len(names) != 1:
        raise _refused(
            localize("The crate has several programs: {names}.", names=listed(names)),
            localize("Choose one with `--bin NAME`."),
        )
    return Path(names[0])


def _target(call: CargoCall, manifest: Path, env: Mapping[str, str]) -> Path:
    named = call.options.get("--target-dir") or env.get("CARGO_TARGET_DIR")
    root = next((it for it in manifest.parents if "workspace" in _read_manifest(it / "Cargo.toml")), manifest.parent)
    profile = "release" if {"--release", "-r"} & set(call.options) else call.options.get("--profile", "debug")
    triple = call.options.get("--target", "")
    return (root / named if named else root / "target") / triple / {"dev": "debug"}.get(profile, profile)


def _newest_test(call: CargoCall, manifest: Path, env: Mapping[str, str]) -> Path:
    """Cargo writes a hash into its name: of those that are there the newest, unless a source is newer."""
    name = (call.options.get("--test") or call.options.get("--bin") or _package_name(manifest)).replace("-", "_")
    target = _target(call, manifest, env)
    programs = {it.stat().st_ino for it in target.glob("*") if _is_program(it)}  # cargo keeps these in `deps` as well
    found = [it for it in (target / "deps").glob(f"{name}-*") if _is_program(it) and it.stat().st_ino not in programs]
    newest = max(found, key=lambda it: it.stat().st_mtime_ns, default=None)
    if newest is None or newest.stat().st_mtime_ns < _newest_source(manifest.parent):
        raise LaunchError(
            "needs_build",
            localize("This crate's tests are not built, or are older than its sources."),
            hint=localize(
                "Run `{command}`, then start again.", command=shlex.join(("cargo", "test", "--no-run", *call.flags))
            ),
        )
    return newest


def _is_program(path: Path) -> bool:
    return not path.suffix and path.is_file() and os.access(path, os.X_OK)


def _newest_source(crate: Path) -> int:
    folders = ("src", "tests", "examples")
    files = [file for folder in folders for file in list((crate / folder).rglob("*.rs"))[:_MOST_FILES]]
    return max((file.stat().st_mtime_ns for file in files), default=0)


def _refused(why: LocalizedText, hint: LocalizedText) -> LaunchError:
    return LaunchError(
        "cannot_debug", localize("Cannot run this command under the debugger: {why}", why=why), hint=hint
    )
