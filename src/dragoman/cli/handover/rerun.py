"""`dragoman open FILE --rerun`: start a shared session's program again, in this folder, as it was started there.

The file is somebody else's. So the daemon resolves the start and describes it, a person approves exactly that, the
folder must be trusted by name, and no variable of the file is set unless it is harmless.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dragoman.cli.caller import find_workspace
from dragoman.cli.handover.display import breakpoint_text, one_line
from dragoman.cli.handover.repository import has_commit, tree_state
from dragoman.cli.handover.variables import harmless_variables, with_harmless_variables
from dragoman.cli.output import ExitCode, confirm, show_message, warn
from dragoman.cli.tool_client import open_tool_client, show_reply
from dragoman.core.errors import ErrorSpec
from dragoman.core.labels import with_label
from dragoman.core.localization import LocalizedText, localize
from dragoman.protocols.share import SharedBreakpoint, SharedLaunch, SharedSession, SharedStop, SharedValue
from dragoman.workspace.repository import head_commit

_MARK = "<redacted "
_STDIN_CHARACTERS = 20_000
_ADDRESS = re.compile(r"\b0x[0-9a-fA-F]{4,}")
# No session's folder: their names stand in every command line, and mean the same on both machines.
_SYSTEM = (
    "bin",
    "boot",
    "dev",
    "etc",
    "lib",
    "lib32",
    "lib64",
    "nix",
    "proc",
    "sbin",
    "sys",
    "usr",
    "Library",
    "System",
)
_SYSTEM_FOLDER = re.compile(rf"/(?:{'|'.join(_SYSTEM)})(?:/.*)?", re.DOTALL)
_SHARED_FOLDERS = frozenset(
    f"/{it}"
    for it in ("Applications", "Users", "home", "media", "mnt", "opt", "private", "root", "run", "srv", "tmp", "var")
)
_CUT_VALUE = re.compile(r"… \(\d+ chars\)\Z")

no_start = ErrorSpec(
    "nothing_to_rerun",
    "The file does not say how its program was started.",
    "The sender can share the session again within ten minutes of its end.",
)
attached = ErrorSpec(
    "nothing_to_rerun",
    "The session was attached to a program that was running there. Only a started program can be started again.",
    "Start it here, and set the breakpoints that are listed above.",
)
program_missing = ErrorSpec(
    "program_missing",
    "{path} is missing here, so there is nothing to run.",
    "Change to the folder that corresponds to {folder}, then run the command again.",
)
long_input = ErrorSpec(
    "input_too_long",
    "The file gives the program {count} characters of input, more than can be shown before a start.",
    "Start the program yourself, with the input from launch.json in the file (it is a zip).",
)
needs_yes = ErrorSpec(
    "needs_confirmation",
    "Cannot ask for confirmation without a terminal, so nothing was started.",
    "Pass --yes to start what is listed above without a question.",
)


@dataclass(frozen=True, slots=True)
class Places:
    """What stands for a folder of the sender on this machine."""

    there: str
    here: Path
    home: Path

    def local(self, text: str) -> str:
        """The text with paths of this machine: of the session's folder, and of the home folder (`~`)."""
        there = re.escape(self.there.rstrip("/")) if _can_be_replaced(self.there) else r"(?!)"
        folder = rf"(?<![\w.~/-])(?:(?P<folder>{there})|~)(?=/|\Z|[\s\"',;:])"
        return re.sub(folder, lambda found: str(self.here if found["folder"] else self.home), text)

    def document(self, value: Any) -> Any:
        if isinstance(value, Mapping):
            return {key: self.document(it) for key, it in value.items()}
        if isinstance(value, list | tuple):
            return [self.document(it) for it in value]
        return self.local(value) if isinstance(value, str) else value


def _can_be_replaced(folder: str) -> bool:
    """Whether it may stand for the folder here, wherever its name is in the start: not a folder of the system, and not
    one that many others are in.
    """
    name = folder.rstrip("/")
    inner = name.removeprefix("~").removeprefix("/").split("/")
    if not name.startswith(("/", "~/")) or any(part in {"", ".", ".."} for part in inner):
        return False
    return not (_SYSTEM_FOLDER.fullmatch(name) or name in _SHARED_FOLDERS)


@dataclass(frozen=True, slots=True)
class RerunPlan:
    start: Mapping[str, Any]
    """Arguments of `start_debugging`."""
    points: tuple[SharedBreakpoint, ...]
    """With paths of this machine."""
    differences: tuple[LocalizedText, ...]


def rerun_session(shared: SharedSession, signer: str, *, yes: bool) -> int:
    workspace = find_workspace(None).resolve()
    _require_start(shared)
    with open_tool_client(workspace, starts_daemon=True) as client:
        files = _files(shared, workspace)
        folder = workspace
        if files.needs_copy:
            folder = Path(client.link.call("worktree", {"commit": shared.manifest.commit})["path"])
        places, plan = rerun_plan(shared, folder, files.differences)
        disclosed = client.link.call("disclose", {"start": plan.start})
        show_message(*_question_lines(plan, str(disclosed["would_run"]), signer))
        if not yes and not (sys.stdin.isatty() and sys.stderr.isatty()):
            raise needs_yes()
        if not (yes or confirm(localize("Run this in {folder}?", folder=str(folder)))):
            warn(localize("Nothing was started."))
            return ExitCode.DECLINED
        wanted = {"start": plan.start, "digest": disclosed["digest"]}
        reply = client.request("run", {**wanted, "breakpoints": list(map(_breakpoint_arguments, plan.points))})
    status = show_reply(reply, as_json=False)
    if not reply.is_error:
        show_message(*stop_differences(shared, places, reply.data.get("stop_event_data")))
        if files.needs_copy:
            show_message(
                localize("It runs in a copy of the commit. To go on, change to {folder}.", folder=str(folder)),
                localize("The copy is removed when the session ends."),
            )
    return status


def _require_start(shared: SharedSession) -> SharedLaunch:
    if shared.launch is None:
        raise no_start()
    if shared.launch.configuration.get("request") == "attach":
        raise attached()
    if shared.launch.stdin is not None and len(shared.launch.stdin) > _STDIN_CHARACTERS:
        raise long_input(count=f"{len(shared.launch.stdin):,}")
    return shared.launch


def rerun_plan(shared: SharedSession, workspace: Path, files: Sequence[LocalizedText] = ()) -> tuple[Places, RerunPlan]:
    """`files`: how the files differ from those of the session."""
    launch = _require_start(shared)
    places = Places(launch.workspace, workspace, Path.home())
    start, refused = _start(launch, places)
    _require_program(start, launch, places)
    points = [_local_point(it, places) for it in launch.breakpoints]
    missing = [it for it in points if it.kind == "line" and not Path(it.path).is_file()]
    differences = [
        *files,
        *(localize("{path} is missing here; its breakpoint is skipped.", path=one_line(it.path)) for it in missing),
        *_variable_differences(launch, refused),
    ]
    if _MARK in str(start):
        differences.append(localize('Secrets were removed from the start: it runs with "<redacted …>" instead.'))
    kept = tuple(it for it in dict.fromkeys(points) if it not in missing)
    return places, RerunPlan(start, kept, tuple(differences))


def _start(launch: SharedLaunch, places: Places) -> tuple[dict[str, Any], list[str]]:
    """The configuration as it was there, not the one that has its name here; and the variables that are not set."""
    env, refused = harmless_variables(launch.env)
    configuration, more = with_harmless_variables(launch.configuration)
    given = {
        # A compound has only its name.
        "configuration_name": "" if configuration or launch.program else launch.configuration_name,
        "configuration": places.document(configuration),
        "program": places.local(launch.program),
        "args": places.document(launch.args),
        "cwd": places.local(launch.cwd),
        "env": env,
        "stdin": launch.stdin,
        "no_debug": launch.no_debug,
    }
    start = {name: value for name, value in given.items() if value not in ("", None, False, [], {})}
    return start, sorted({*refused, *more})


def _require_program(start: Mapping[str, Any], launch: SharedLaunch, places: Places) -> None:
    program = start.get("program") or start.get("configuration", {}).get("program") or ""
    path = Path(program) if isinstance(program, str) else Path()
    if path.is_absolute() and "${" not in str(program) and not path.exists():
        raise program_missing(path=one_line(str(path)), folder=one_line(places.there or launch.cwd))


def _local_point(point: SharedBreakpoint, places: Places) -> SharedBreakpoint:
    values = {name: getattr(point, name) for name in point.__struct_fields__}
    return SharedBreakpoint(**{**values, "path": places.local(point.path)})


def _breakpoint_arguments(point: SharedBreakpoint) -> dict[str, Any]:
    place: dict[str, Any] = {"file_path": point.path, "line_number": point.line, "column_number": point.column}
    if point.kind == "function":
        place = {"function_name": point.function}
    elif point.kind == "exception":
        place = {"exception": point.filter}
    conditions = {name: getattr(point, name) for name in ("condition", "hit_condition", "log_message")}
    return {"kind": point.kind, **{name: it for name, it in {**place, **conditions}.items() if it}}


@dataclass(frozen=True, slots=True)
class _Files:
    """The files of the folder, compared with those of the session."""

    differences: tuple[LocalizedText, ...] = ()
    needs_copy: bool = False
    """Whether the program runs in a copy of the session's commit, so that the user's own files stay as they are."""


def _files(shared: SharedSession, workspace: Path) -> _Files:
    commit, here = shared.manifest.commit, head_commit(workspace)
    there = one_line(commit[:12])
    if not commit:
        return _Files(
            (localize("The sender's program was not in a git repository, so its files may differ from yours."),)
        )
    changed = localize("The files there had changes that are not in commit {commit}.", commit=there)
    also = (changed,) if shared.manifest.is_dirty else ()
    if not here:
        return _Files(
            (*also, localize("This folder is not in a git repository. There it was at commit {commit}.", commit=there))
        )
    if here == commit and not tree_state(workspace, here).is_dirty:
        return _Files(also)
    if not has_commit(workspace, commit):
        missing = localize(
            "Your files are used, at commit {here}: commit {there} of the session is not in this repository.",
            here=here[:12],
            there=there,
        )
        return _Files((*also, missing))
    copied = localize("Your files differ from commit {commit}, so the program runs in a copy of it.", commit=there)
    return _Files((*also, copied), needs_copy=True)


def _variable_differences(launch: SharedLaunch, refused: list[str]) -> Iterator[LocalizedText]:
    if launch.left_out:
        names = ", ".join(map(one_line, launch.left_out))
        yield localize("Taken from your environment, because the file does not contain them: {names}.", names=names)
    if refused:
        names = ", ".join(map(one_line, refused))
        yield localize("Variables of the file that are not set, because they could run code: {names}.", names=names)


def _question_lines(plan: RerunPlan, would_run: str, signer: str) -> Iterator[LocalizedText]:
    yield localize("Differences:") if plan.differences else localize("No difference is known.")
    yield from (localize("  {row}", row=it) for it in plan.differences)
    who = signer or localize("somebody whose key is unknown")
    yield localize("This will run on your machine with your permissions, as {who} ran it:", who=who)
    yield from (localize("  {row}", row=line) for line in would_run.splitlines())
    stdin = plan.start.get("stdin")
    if stdin is not None:
        yield localize("  {row}", row=with_label(localize("input"), one_line(stdin, _STDIN_CHARACTERS)))
    for point in plan.points:
        yield localize("  {row}", row=with_label(localize("breakpoint"), breakpoint_text(point)))


def stop_differences(
    shared: SharedSession, places: Places, stopped: Mapping[str, Any] | None
) -> Iterator[LocalizedText]:
    """How the first stop here compares with the first one there."""
    first = min(shared.stops, key=lambda it: it.number, default=None)
    if first is None or first.frame is None:
        return
    there = f"{places.local(first.frame.path)}:{first.frame.line}"
    if not stopped:
        yield localize("The original run stopped at {place}; this run did not stop.", place=one_line(there))
        return
    here = f"{(stopped.get('source') or {}).get('path', '')}:{stopped.get('line', '')}"
    if here != there:
        yield localize("There it first stopped at {place}.", place=one_line(there))
        return
    differing = list(_differing_values(first, places, stopped))
    if not differing:
        yield localize("It stopped at the same place as the original run, with the same values.")
        return
    yield localize("It stopped at the same place as the original run. Values that differ:")
    yield from differing


def _differing_values(first: SharedStop, places: Places, stopped: Mapping[str, Any]) -> Iterator[LocalizedText]:
    variables = (stopped.get("top_frame_variables") or {}).get("variables") or ()
    here = {str(it["name"]): str(it["value"]) for it in variables}
    for value in first.variables:
        mine = here.get(value.name)
        if mine is not None and not _is_same(value, mine, places):
            yield localize(
                "  {name} = {mine}, there {theirs}",
                name=one_line(value.name),
                mine=one_line(mine, 100),
                theirs=one_line(value.value, 100),
            )


def _is_same(value: SharedValue, mine: str, places: Places) -> bool:
    """Addresses differ in every run; what was removed or cut cannot be compared."""
    ours, theirs = _ADDRESS.sub("0x", mine), _ADDRESS.sub("0x", places.local(value.value))
    if _MARK in ours or _MARK in theirs:
        return True
    cut = _CUT_VALUE.search(theirs)
    return ours.startswith(theirs[: cut.start()]) if cut else ours == theirs
