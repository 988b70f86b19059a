"""The history of a failed command: when it last worked, what changed since, and what fixed it before."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher

from dragoman.terminal.failures.diagnosis import ErrorLines, read_errors
from dragoman.terminal.model import CommandFilter, RecordedCommand, TerminalRecord, TerminalScope

_SAME_LINE = 60
_BETWEEN = 200
_AFTER = 30
_MOST_SHOWN = 4
_EARLIER_FAILURES = 4
_SIMILAR_RATIO = 0.75
_FOLDER_INDEPENDENT = re.compile(
    r"(?:sudo\s+)?(?:apt(?:-get)?|brew|dnf|pacman|snap|systemctl|pip3?|npm\s+(?:i|install)\s+-g|gem|nvm|pyenv|rustup)\b"
)
_OF_ITS_SHELL = re.compile(r"(?:export|unset|source|\.|alias|nvm|pyenv|conda|deactivate|direnv)\s|\w+=\S*$|deactivate$")
_CHANGES = re.compile(
    r"""(?:sudo\s+)?(?:
      git\s+(?:pull|checkout|switch|merge|rebase|reset|stash|revert|cherry-pick|apply|am|submodule|restore|clean)\b
    | (?:pip3?|uv|poetry|pipenv|conda|npm|yarn|pnpm|bun|cargo|gem|bundle|go|composer|luarocks
        |apt(?:-get)?|brew|dnf|pacman|snap|rustup)
      \s+(?:.*\s)?(?:install|i|ci|add|remove|rm|uninstall|update|upgrade|sync|get|mod|lock|require|default)\b
    | (?:vim?|nvim|nano|emacs|code|hx|micro|kak|subl|ed)\s+\S
    | (?:sed\s+(?:.*\s)?-i|patch|rm|mv|cp|ln|chmod|chown|tee|truncate|unzip|tar\s+\S*x)\b
    | (?:export|unset|source|alias)\s | \.\s+\S | (?:nvm|pyenv|conda|direnv|asdf)\s | \w+=\S*$
    | systemctl\s+\S+ | docker(?:-compose|\s+compose)?\s+(?:up|down|pull|build|restart|stop|start)\b
    | (?:kill|pkill|killall)\s
    )""",
    re.VERBOSE,
)  # fmt: skip
_WRITES = re.compile(r"[^|<>=-]>{1,2}\s*(?!/dev/null)[^&\s>]")
_READS_ONLY = re.compile(
    r"(?:ls|ll|la|cat|bat|less|more|head|tail|cd|pwd|echo|man|which|type|grep|rg|find|history|clear|tree|wc|stat|file|"
    r"git (?:status|diff|log|show|branch|blame)|ps|top|htop|df|du|env|date|whoami|dragoman)\b"
)


@dataclass(frozen=True, slots=True)
class FailureHistory:
    """The history of one failed command."""

    ran_before: bool = False
    worked: RecordedCommand | None = None
    changes: Sequence[RecordedCommand] = ()
    """Changes since the last success that may be the cause, oldest first."""
    more_changes: int = 0
    worked_since: RecordedCommand | None = None
    instead: RecordedCommand | None = None
    """A similar command that was run right after it and succeeded."""
    helped: Sequence[RecordedCommand] = ()
    """What was run between the same failure and the next success of the same command, the last time that happened."""
    helped_at_ns: int = field(default=0)


async def read_failure_history(
    record: TerminalRecord, failed: RecordedCommand, found: ErrorLines | None, scope: TerminalScope
) -> FailureHistory:
    """Read the history. It uses only terminals in the scope of the question."""
    same = [one for one in await _same_command_runs(record, failed) if _within(one, scope)]
    before = [one for one in same if one.started_ns < failed.started_ns]
    worked = _last_success(before, failed.cwd)
    changes = [one for one in await _changes(record, worked, failed) if _within(one, scope)] if worked else []
    helped = await _find_fix(record, failed, found, before)
    return FailureHistory(
        ran_before=bool(before),
        worked=worked,
        changes=changes[-_MOST_SHOWN:],
        more_changes=max(0, len(changes) - _MOST_SHOWN),
        worked_since=_last_success([one for one in same if one.started_ns > failed.started_ns], failed.cwd),
        instead=await _corrected_command(record, failed),
        helped=helped,
        helped_at_ns=helped[-1].started_ns if helped else 0,
    )


def _within(command: RecordedCommand, scope: TerminalScope) -> bool:
    return scope is None or command.terminal in scope


def normalized_line(line: str) -> str:
    return " ".join(line.split())


async def _same_command_runs(record: TerminalRecord, command: RecordedCommand) -> list[RecordedCommand]:
    """Every run of the same line, newest first."""
    words = " ".join(re.findall(r"\w+", command.line)[:12])
    if not words:
        return []
    found = await record.commands(CommandFilter(text=words), limit=_SAME_LINE)
    return [one for one in found if normalized_line(one.line) == normalized_line(command.line) and one.id != command.id]


def _last_success(newest_first: Sequence[RecordedCommand], cwd: str) -> RecordedCommand | None:
    """The last success in the same folder if there is one; otherwise the one elsewhere, marked as such."""
    worked = [one for one in newest_first if one.exit_code == 0 and one.verified]
    return next((one for one in worked if one.cwd == cwd), worked[0] if worked else None)


async def _changes(record: TerminalRecord, worked: RecordedCommand, failed: RecordedCommand) -> list[RecordedCommand]:
    since = worked.ended_ns or worked.started_ns
    wanted = CommandFilter(since_ns=since + 1, verified=True)
    between = await record.commands(wanted, limit=_BETWEEN, before_ns=failed.started_ns)
    chosen = {normalized_line(one.line): one for one in reversed(between) if _may_matter(one, failed)}
    return sorted(chosen.values(), key=lambda one: one.started_ns)


def _may_matter(command: RecordedCommand, failed: RecordedCommand) -> bool:
    """Whether a change is relevant: made in this shell, below or above this folder, or to the whole machine."""
    line = command.line.strip()
    if command.failed or not _changes_something(line):
        return False
    if _OF_ITS_SHELL.match(line):
        return command.terminal == failed.terminal
    return bool(_FOLDER_INDEPENDENT.match(line)) or _related(command.cwd, failed.cwd)


def _changes_something(line: str) -> bool:
    """Whether any command of the line, or a redirection, changes something."""
    return any(_CHANGES.match(part.strip()) for part in re.split(r"&&|;|\|\|", line)) or bool(_WRITES.search(line))


def _related(one: str, other: str) -> bool:
    shorter, longer = sorted((one.rstrip("/") + "/", other.rstrip("/") + "/"), key=len)
    return one == other or (longer.startswith(shorter) and shorter.count("/") > 2)


async def _corrected_command(record: TerminalRecord, failed: RecordedCommand) -> RecordedCommand | None:
    """The corrected form of a mistyped command: what the person typed next."""
    wanted = CommandFilter(terminal=failed.terminal, since_ns=failed.started_ns + 1, verified=True)
    after = await record.commands(wanted, limit=_AFTER)
    nearest = [one for one in after[-3:] if one.exit_code == 0 and one.line != failed.line]
    return next((one for one in reversed(nearest) if _is_similar(one.line, failed.line)), None)


def _is_similar(one: str, other: str) -> bool:
    return abs(len(one) - len(other)) <= 4 and SequenceMatcher(None, one[:200], other[:200]).ratio() >= _SIMILAR_RATIO


async def _find_fix(
    record: TerminalRecord, failed: RecordedCommand, found: ErrorLines | None, before: Sequence[RecordedCommand]
) -> Sequence[RecordedCommand]:
    """What ran between the *same* failure (same error line) and the next success of the same command."""
    if found is None:
        return ()
    worked: RecordedCommand | None = None
    looked_at = 0
    for one in before:
        if one.exit_code == 0:
            worked = one
        elif worked and one.exit_code == failed.exit_code and looked_at < _EARLIER_FAILURES:
            looked_at += 1
            if await _is_same_failure(record, one, found) and (steps := await _steps(record, one, worked)):
                return steps
    return ()


async def _is_same_failure(record: TerminalRecord, earlier: RecordedCommand, found: ErrorLines) -> bool:
    its = await read_errors(record, earlier)
    return its is not None and _signature(its.key_line) == _signature(found.key_line)


def _signature(line: str) -> str:
    """The error line without what differs between two runs: numbers, addresses, times."""
    return re.sub(r"0x[0-9a-f]+|\d+", "#", line)


async def _steps(
    record: TerminalRecord, failure: RecordedCommand, success: RecordedCommand
) -> Sequence[RecordedCommand]:
    wanted = CommandFilter(terminal=success.terminal, since_ns=failure.started_ns + 1, verified=True)
    between = await record.commands(wanted, limit=_AFTER, before_ns=success.started_ns)
    steps = [one for one in reversed(between) if one.exit_code == 0 and not _READS_ONLY.match(one.line)]
    return tuple(steps[-3:]) if len(steps) <= 6 else ()
