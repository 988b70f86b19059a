"""Write our entry into a client's configuration, or remove it.

If a client has its own `mcp add`, it adds the first entry: with a deadline, without a shell, and with the reason if it
fails.
"""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from dragoman.clients.catalog import McpClient
from dragoman.clients.config_file import (
    ConfigFile,
    StaleConfigError,
    UneditableConfigError,
    read_config,
    replace_config,
)
from dragoman.clients.edits import Change, EditedText, add_entry, remove_entry, snippet
from dragoman.clients.entries import DesiredEntry
from dragoman.clients.machine import SERVER_NAME, Machine
from dragoman.core.errors import DragomanError
from dragoman.core.localization import LocalizedText, localize
from dragoman.io.files.system_calls import REAL_SYSTEM, SystemCalls

DEADLINE_S = 20.0
_MAX_SHOWN = 200
_ATTEMPTS = 3


def run_client_command(
    command: Sequence[str], machine: Machine, *, deadline_s: float = DEADLINE_S, system: SystemCalls = REAL_SYSTEM
) -> LocalizedText | None:
    """Run the client's command. Returns None on success, else the reason."""
    with tempfile.TemporaryFile() as output:
        try:
            process = system.spawn(command, environment=machine.environment, cwd=machine.home, output=output.fileno())
        except OSError as error:
            return localize("it did not start: {reason}", reason=error.strerror)
        try:
            status = process.wait(deadline_s)
        except subprocess.TimeoutExpired:
            return localize("it did not exit within {seconds} seconds", seconds=round(deadline_s, 1))
        finally:
            _end_process(process)
        output.seek(0)
        return None if status == 0 else _failure_message(status, output.read())


def _end_process(process: subprocess.Popen[bytes]) -> None:
    """End the process group, because these programs are scripts that start others. If it exited by itself, its children
    (an editor window) are left alone: the group number may belong to others by now.
    """
    if process.returncode is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _failure_message(status: int, output: bytes) -> LocalizedText:
    lines = output.decode(errors="replace").strip().splitlines() or [""]
    return localize("it exited with status {status}: {line}", status=status, line=lines[-1][:_MAX_SHOWN])


@dataclass(frozen=True, slots=True)
class WritePlan:
    file: ConfigFile
    edited: EditedText


@dataclass(frozen=True, slots=True)
class WriteOutcome:
    client: McpClient
    path: Path
    change: Change
    backup: Path | None = None
    own_command: tuple[str, ...] = ()
    own_failure: LocalizedText | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigWriter:
    """Adds, updates and removes our entry in clients' files.

    It holds what a write needs from outside: the machine, the time and the system calls. It changes nothing but our
    entry, and never asks the user: commands do.
    """

    machine: Machine
    now: Callable[[], datetime]
    system: SystemCalls = REAL_SYSTEM
    deadline_s: float = DEADLINE_S

    def plan(self, desired: DesiredEntry, *, removing: bool = False) -> WritePlan:
        """What a write or removal would do, without doing it."""
        try:
            file = read_config(desired.file)
            if removing:
                return WritePlan(file, remove_entry(desired.client, file.text))
            return WritePlan(file, add_entry(desired.client, file.text, desired.entry, desired.transport))
        except UneditableConfigError as refusal:
            raise _left_unchanged(desired, refusal, removing=removing) from refusal

    def write(self, desired: DesiredEntry) -> WriteOutcome:
        """Write the entry. Idempotent. The client's own command adds a first entry if there is one."""
        if self.plan(desired).edited.change != "added" or not self._has_command(desired):
            return self._apply(desired, removing=False)
        failure = run_client_command(desired.own_command, self.machine, deadline_s=self.deadline_s, system=self.system)
        if failure is None and self.plan(desired).edited.change == "unchanged":
            return WriteOutcome(desired.client, desired.file, "added", own_command=desired.own_command)
        failure = failure or localize("it reported success, but the entry is missing")
        done = self._apply(desired, removing=False)
        return replace(done, own_command=desired.own_command, own_failure=failure)

    def remove(self, desired: DesiredEntry) -> WriteOutcome:
        return self._apply(desired, removing=True)

    def _has_command(self, desired: DesiredEntry) -> bool:
        return bool(desired.own_command) and self.machine.which(desired.own_command[0]) is not None

    def _apply(self, desired: DesiredEntry, *, removing: bool) -> WriteOutcome:
        """Apply the edit. If a client wrote the file in between, start again from its version."""
        for _ in range(_ATTEMPTS):
            plan = self.plan(desired, removing=removing)
            if plan.edited.change in {"unchanged", "absent"}:
                return WriteOutcome(desired.client, desired.file, plan.edited.change)
            try:
                data = plan.file.encoded(plan.edited.text)
                backup = replace_config(plan.file, data, now=self.now(), system=self.system)
                return WriteOutcome(desired.client, desired.file, plan.edited.change, backup=backup)
            except StaleConfigError:
                continue
            except UneditableConfigError as refusal:
                raise _left_unchanged(desired, refusal, removing=removing) from refusal
        busy = UneditableConfigError(localize("another program keeps writing to it"))
        raise _left_unchanged(desired, busy, removing=removing)


def _left_unchanged(desired: DesiredEntry, refusal: UneditableConfigError, *, removing: bool) -> DragomanError:
    by_hand = (
        localize("Fix it and run this again, or remove the entry {name} manually.", name=SERVER_NAME)
        if removing
        else localize(
            "Fix it and run this again, or add this manually:\n{snippet}",
            snippet=snippet(desired.client, desired.redacted),
        )
    )
    return DragomanError(
        "client_config_left_alone",
        localize("{path} is unchanged: {reason}.", path=desired.file, reason=refusal.reason),
        hint=by_hand,
    )
