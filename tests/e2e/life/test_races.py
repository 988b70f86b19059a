"""Several starts at once: one daemon, and every caller gets that one."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import threading

import anyio
import pytest

from dragoman.core.errors import DragomanError
from dragoman.daemon.instance import Instance
from dragoman.io.files.lock import FileLock, is_held
from tests.daemons import Cli, daemons_of, eventually
from tests.e2e.life.process_watch import journal_rows, one_daemon, pid_in, require_sentences, require_success
from tests.e2e.life.rounds import Kills, finished, kill_daemons, measured_start, races_of_starts, races_with
from tests.sizes import sized

SEED = 20260
RACES = sized(brief=4, soak=20)
pytestmark = pytest.mark.timeout(180)


@pytest.mark.requirement("foundation:windows:one-server")
def test_of_two_starts_at_once_one_wins_and_both_name_it(cli: Cli) -> None:
    assert len(set(races_of_starts(cli, RACES, starters=2, seed=SEED))) == RACES


def test_of_eight_starts_at_once_one_wins_and_all_name_it(cli: Cli) -> None:
    rounds = sized(brief=1, soak=5)
    assert len(list(races_of_starts(cli, rounds, starters=8, seed=SEED))) == rounds


@pytest.mark.parametrize("rival", [("down",), ("restart", "--json"), ("up", "--take-over", "--json")])
def test_a_start_races_with_another_command(cli: Cli, rival: tuple[str, ...]) -> None:
    assert len(list(races_with(cli, 2, rival, seed=SEED))) == 2


def test_a_start_races_with_a_kill(cli: Cli) -> None:
    dice = random.Random(SEED)
    for _ in range(2):
        require_success(cli("up"))
        processes = [cli.begin("up", "--json") for _ in range(dice.randint(1, 2))]
        kill_daemons(cli)
        for process in processes:
            result = finished(process)
            require_sentences(result)
        assert pid_in(cli("up", "--json")) == one_daemon(cli)
        kill_daemons(cli)


def test_after_sigkill_the_next_start_works_at_once_and_nothing_acknowledged_is_missing(cli: Cli) -> None:
    first = pid_in(cli("up", "--json"))
    token = cli.token("mcp")
    os.kill(first, signal.SIGKILL)
    kills = Kills(cli, SEED, acknowledged={first}, tokens=token)
    kills.require_usable()
    assert cli.paths.state_file.exists()
    assert cli.status()["pid"] == one_daemon(cli) != first


def test_killed_at_random_moments_the_home_is_never_unusable(cli: Cli) -> None:
    kills = Kills(cli, SEED)
    kills.require_usable()
    assert set(kills.rounds(sized(brief=3, soak=12))) == {"starting", "working", "ending"}


def test_what_a_start_waits_for_by_itself_is_not_a_fault_of_the_machine(cli: Cli) -> None:
    """The measure of the test above: it sees the wait for a lock, however busy the machine is."""
    holder = FileLock(cli.paths.lock_file)
    assert holder.try_acquire()
    threading.Timer(2.0, holder.release).start()  # a machine whose others take half of it leaves a second to see
    result, took, _ = measured_start(cli)
    assert (pid_in(result), took > 1.0) == (one_daemon(cli), True)


def test_the_second_daemon_exits_before_its_heavy_imports(cli: Cli) -> None:
    holder = FileLock(cli.paths.lock_file)
    assert holder.try_acquire()
    command = [sys.executable, "-X", "importtime", "-P", "-m", "dragoman.daemon", "--workspace", str(cli.home)]
    second = subprocess.run(command, env=cli.variables(), capture_output=True, text=True, timeout=60, check=False)
    holder.release()
    assert json.loads(second.stdout)["error"]["code"] == "already_running"
    loaded = {line.rpartition("|")[2].strip() for line in second.stderr.splitlines()}
    assert "dragoman.daemon.instance" in loaded
    assert {"dragoman.daemon.app", "pydantic", "starlette"}.isdisjoint(loaded)


@pytest.mark.anyio
async def test_reading_the_lock_does_not_keep_a_daemon_from_it(cli: Cli) -> None:
    """`status` takes the lock for an instant to see whether it is free; a start at that instant must not fail."""
    asking = FileLock(cli.paths.lock_file)
    assert asking.try_acquire()
    instance = Instance(cli.paths)
    async with anyio.create_task_group() as group:
        group.start_soon(instance.acquire)
        await anyio.wait_all_tasks_blocked()
        asking.release()
    assert is_held(cli.paths.lock_file)
    instance.release()


@pytest.mark.anyio
async def test_a_lock_that_stays_held_is_a_daemon_that_runs_already(cli: Cli) -> None:
    holder = FileLock(cli.paths.lock_file)
    assert holder.try_acquire()
    with pytest.raises(DragomanError) as caught:
        await Instance(cli.paths).acquire()
    assert caught.value.code == "already_running"
    holder.release()


def test_a_lock_belongs_to_one_and_falls_with_it(cli: Cli) -> None:
    one, two = FileLock(cli.paths.lock_file), FileLock(cli.paths.lock_file)
    assert (one.try_acquire(), two.try_acquire(), is_held(cli.paths.lock_file)) == (True, False, True)
    one.release()
    assert (is_held(cli.paths.lock_file), two.try_acquire()) == (False, True)
    two.release()


def test_drafts_that_a_killed_daemon_left_are_removed(cli: Cli) -> None:
    require_success(cli("up"))
    kill_daemons(cli)
    eventually(lambda: not daemons_of(cli.home))
    drafts = [cli.paths.tokens_folder / ".mcp.17.new", cli.paths.runtime / ".daemon.json.17.new"]
    for draft in drafts:
        draft.write_text("half")
    require_success(cli("up"))
    assert [draft for draft in drafts if draft.exists()] == []
    assert len({row["sequence"] for row in journal_rows(cli)}) == len(journal_rows(cli))
