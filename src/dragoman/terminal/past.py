"""What the record knows about a failure besides its output: when it last worked, what changed, what helped before."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher

from dragoman.terminal.failures.finding import Found
from dragoman.terminal.failures.reading import errors_of
from dragoman.terminal.model import Command
from dragoman.terminal.port import Record, Scope
from dragoman.terminal.told import CommandFilter

_SAME_LINE = 60
_BETWEEN = 200
_AFTER = 30
_TOLD = 4
_EARLIER_FAILURES = 4
_ALIKE = 0.75
_EVERYWHERE = re.compile(
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
_LOOKS = re.compile(
    r"(?:ls|ll|la|cat|bat|less|more|head|tail|cd|pwd|echo|man|which|type|grep|rg|find|history|clear|tree|wc|stat|file|"
    r"git (?:status|diff|log|show|branch|blame)|ps|top|htop|df|du|env|date|whoami|dragoman)\b"
)


@dataclass(frozen=True, slots=True)
class Past:
    """Of one failed command."""

    ran_before: bool = False
    worked: Command | None = None
    changes: Sequence[Command] = ()
    """Since it last worked, oldest first; those that may have changed something for it."""
    more_changes: int = 0
    worked_since: Command | None = None
    instead: Command | None = None
    """What was run right after it, nearly the same, and worked."""
    helped: Sequence[Command] = ()
    """What was run between the same failure and the same command working, the last time that happened."""
    helped_at_ns: int = field(default=0)


async def look_back(record: Record, failed: Command, found: Found | None, scope: Scope) -> Past:
    """Nothing is told of terminals that the question does not speak of."""
    same = [one for one in await _same(record, failed) if _within(one, scope)]
    before = [one for one in same if one.started_ns < failed.started_ns]
    worked = _last_success(before, failed.cwd)
    changes = [one for one in await _changes(record, worked, failed) if _within(one, scope)] if worked else []
    helped = await _what_helped(record, failed, found, before)
    return Past(
        ran_before=bool(before),
        worked=worked,
        changes=changes[-_TOLD:],
        more_changes=max(0, len(changes) - _TOLD),
        worked_since=_last_success([one for one in same if one.started_ns > failed.started_ns], failed.cwd),
        instead=await _instead(record, failed),
        helped=helped,
        helped_at_ns=helped[-1].started_ns if helped else 0,
    )


def _within(command: Command, scope: Scope) -> bool:
    return scope is None or command.terminal in scope


def same_line(line: str) -> str:
    return " ".join(line.split())


async def _same(record: Record, command: Command) -> list[Command]:
    """Every run of the same line, newest first."""
    words = " ".join(re.findall(r"\w+", command.line)[:12])
    if not words:
        return []
    found = await record.commands(CommandFilter(text=words), limit=_SAME_LINE)
    return [one for one in found if same_line(one.line) == same_line(command.line) and one.id != command.id]


def _last_success(newest_first: Sequence[Command], cwd: str) -> Command | None:
    """In the same folder if ever; elsewhere is told as elsewhere."""
    worked = [one for one in newest_first if one.exit_code == 0 and one.verified]
    return next((one for one in worked if one.cwd == cwd), worked[0] if worked else None)


async def _changes(record: Record, worked: Command, failed: Command) -> list[Command]:
    since = worked.ended_ns or worked.started_ns
    wanted = CommandFilter(since_ns=since + 1, verified=True)
    between = await record.commands(wanted, limit=_BETWEEN, before_ns=failed.started_ns)
    chosen = {same_line(one.line): one for one in reversed(between) if _may_matter(one, failed)}
    return sorted(chosen.values(), key=lambda one: one.started_ns)


def _may_matter(command: Command, failed: Command) -> bool:
    """A change counts where it was made: in this shell, below or above this folder, or for the whole machine."""
    line = command.line.strip()
    if command.failed or not _changes_something(line):
        return False
    if _OF_ITS_SHELL.match(line):
        return command.terminal == failed.terminal
    return bool(_EVERYWHERE.match(line)) or _related(command.cwd, failed.cwd)


def _changes_something(line: str) -> bool:
    """Any of the commands of a line, or what it writes."""
    return any(_CHANGES.match(part.strip()) for part in re.split(r"&&|;|\|\|", line)) or bool(_WRITES.search(line))


def _related(one: str, other: str) -> bool:
    shorter, longer = sorted((one.rstrip("/") + "/", other.rstrip("/") + "/"), key=len)
    return one == other or (longer.startswith(shorter) and shorter.count("/") > 2)


async def _instead(record: Record, failed: Command) -> Command | None:
    """A slip of the fingers is told by what was typed next."""
    wanted = CommandFilter(terminal=failed.terminal, since_ns=failed.started_ns + 1, verified=True)
    after = await record.commands(wanted, limit=_AFTER)
    nearest = [one for one in after[-3:] if one.exit_code == 0 and one.line != failed.line]
    return next((one for one in reversed(nearest) if _alike(one.line, failed.line)), None)


def _alike(one: str, other: str) -> bool:
    return abs(len(one) - len(other)) <= 4 and SequenceMatcher(None, one[:200], other[:200]).ratio() >= _ALIKE


async def _what_helped(
    record: Record, failed: Command, found: Found | None, before: Sequence[Command]
) -> Sequence[Command]:
    """Only what stood between the *same* failure, by its error line, and the next success of the same command."""
    if found is None:
        return ()
    worked: Command | None = None
    looked_at = 0
    for one in before:
        if one.exit_code == 0:
            worked = one
        elif worked and one.exit_code == failed.exit_code and looked_at < _EARLIER_FAILURES:
            looked_at += 1
            if await _is_same_failure(record, one, found) and (steps := await _steps(record, one, worked)):
                return steps
    return ()


async def _is_same_failure(record: Record, earlier: Command, found: Found) -> bool:
    its = await errors_of(record, earlier)
    return its is not None and _signature(its.telling) == _signature(found.telling)


def _signature(line: str) -> str:
    """Without what differs between two runs: numbers, addresses, times."""
    return re.sub(r"0x[0-9a-f]+|\d+", "#", line)


async def _steps(record: Record, failure: Command, success: Command) -> Sequence[Command]:
    wanted = CommandFilter(terminal=success.terminal, since_ns=failure.started_ns + 1, verified=True)
    between = await record.commands(wanted, limit=_AFTER, before_ns=success.started_ns)
    steps = [one for one in reversed(between) if one.exit_code == 0 and not _LOOKS.match(one.line)]
    return tuple(steps[-3:]) if len(steps) <= 6 else ()
