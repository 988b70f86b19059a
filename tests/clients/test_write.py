"""Writing into every client's file, as people have them, and what may never happen to one."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from dragoman.clients import jsonc_text, toml_text
from dragoman.clients.catalog import BY_ID, McpClient
from dragoman.clients.entries import HttpEndpoint, desired_http_entry
from dragoman.clients.machine import Machine, ServerCommand
from dragoman.core.errors import DragomanError
from dragoman.io.files.system_calls import SystemCalls
from tests.clients.samples import WITH_FILES, broken, desired_entry_for, rich, writer, wrong_container
from tests.support.faulty_system import FaultySystem

CURSOR = BY_ID["cursor"]
every_client = pytest.mark.parametrize("client", WITH_FILES, ids=lambda client: client.id)


def servers(client: McpClient, path: Path) -> dict[str, object]:
    text = path.read_bytes().decode("utf-8-sig")
    found = (toml_text if client.format == "toml" else jsonc_text).parse(text).get(client.container, {})
    assert isinstance(found, dict)
    return found


def prepared(client: McpClient, machine: Machine, data: bytes) -> Path:
    path = desired_entry_for(client, machine).file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def files_beside(path: Path) -> set[str]:
    return {each.name for each in path.parent.iterdir()} - {path.name}


def require_untouched(client: McpClient, machine: Machine, data: bytes, reason: str) -> DragomanError:
    path = prepared(client, machine, data)
    before = files_beside(path)
    with pytest.raises(DragomanError, match=reason) as caught:
        writer(machine).write(desired_entry_for(client, machine))
    assert path.read_bytes() == data
    assert files_beside(path) == before
    return caught.value


@every_client
def test_a_missing_file_is_made_for_its_owner_alone(machine: Machine, client: McpClient) -> None:
    desired = desired_entry_for(client, machine)
    done = writer(machine).write(desired)
    assert (done.change, done.backup) == ("added", None)
    assert servers(client, desired.file) == {"dragoman": desired.entry}
    assert stat.S_IMODE(desired.file.stat().st_mode) == 0o600


@every_client
def test_an_empty_file_is_filled(machine: Machine, client: McpClient) -> None:
    path = prepared(client, machine, b"")
    assert writer(machine).write(desired_entry_for(client, machine)).change == "added"
    assert servers(client, path) == {"dragoman": desired_entry_for(client, machine).entry}


@every_client
def test_all_that_people_write_in_their_files_survives(machine: Machine, client: McpClient) -> None:
    old = rich(client)
    path = prepared(client, machine, old)
    done = writer(machine).write(desired_entry_for(client, machine))
    new = path.read_bytes()
    assert done.change == "added"
    assert list(servers(client, path)) == ["other", "dragoman"]
    assert new.startswith(b"\xef\xbb\xbf")
    assert b"\n" not in new.replace(b"\r\n", b"")
    assert [line for line in old.splitlines() if line not in new.splitlines()] == []
    assert done.backup is not None
    assert done.backup.read_bytes() == old


@every_client
def test_a_second_write_changes_nothing_and_says_so(machine: Machine, client: McpClient) -> None:
    path = prepared(client, machine, rich(client))
    writer(machine).write(desired_entry_for(client, machine))
    before, beside = path.stat(), files_beside(path)
    done = writer(machine).write(desired_entry_for(client, machine))
    assert (done.change, done.backup) == ("unchanged", None)
    assert path.stat() == before
    assert files_beside(path) == beside


@every_client
def test_an_older_entry_of_ours_is_brought_up_to_date(machine: Machine, client: McpClient) -> None:
    path = prepared(client, machine, rich(client))
    writer(machine).write(desired_entry_for(client, machine, ServerCommand("/old/dragoman")))
    assert writer(machine).write(desired_entry_for(client, machine)).change == "updated"
    assert servers(client, path)["dragoman"] == desired_entry_for(client, machine).entry
    assert list(servers(client, path)) == ["other", "dragoman"]


@every_client
def test_a_removal_gives_the_file_back_as_it_was(machine: Machine, client: McpClient) -> None:
    old = rich(client)
    path = prepared(client, machine, old)
    writer(machine).write(desired_entry_for(client, machine))
    assert writer(machine).remove(desired_entry_for(client, machine)).change == "removed"
    assert path.read_bytes() == old
    assert writer(machine).remove(desired_entry_for(client, machine)).change == "absent"


@every_client
def test_what_cannot_be_parsed_stays_to_the_byte_and_the_answer_helps(machine: Machine, client: McpClient) -> None:
    error = require_untouched(client, machine, broken(client), r"line \d+, column \d+")
    assert error.code == "client_config_left_alone"
    assert str(desired_entry_for(client, machine).file) in str(error)
    assert client.container in str(error.hint)
    assert "/opt/tools/dragoman" in str(error.hint)


@every_client
def test_a_container_of_another_type_is_refused(machine: Machine, client: McpClient) -> None:
    require_untouched(client, machine, wrong_container(client), "not an object with server names as keys")


@every_client
def test_bytes_that_are_not_text_are_refused(machine: Machine, client: McpClient) -> None:
    require_untouched(client, machine, b"\xff\xfe{\x00}\x00", "byte 0 is not UTF-8")


def test_a_removal_from_a_broken_file_does_not_propose_to_add(machine: Machine) -> None:
    prepared(CURSOR, machine, broken(CURSOR))
    with pytest.raises(DragomanError, match="remove the entry dragoman manually"):
        writer(machine).remove(desired_entry_for(CURSOR, machine))


def test_the_token_goes_into_the_file_and_into_no_message(machine: Machine) -> None:
    desired = desired_http_entry(CURSOR, machine, HttpEndpoint("http://127.0.0.1:1/mcp", "s3cret"))
    writer(machine).write(desired)
    assert "s3cret" in desired.file.read_text()
    desired.file.write_bytes(broken(CURSOR))
    with pytest.raises(DragomanError) as caught:
        writer(machine).write(desired)
    assert "s3cret" not in str(caught.value)


def test_the_mode_of_the_file_is_kept_and_the_backup_is_private(machine: Machine) -> None:
    path = prepared(CURSOR, machine, b"{}")
    path.chmod(0o644)
    done = writer(machine).write(desired_entry_for(CURSOR, machine))
    assert done.backup == path.with_name("mcp.json.bak-20260504-123059")
    assert stat.S_IMODE(path.stat().st_mode) == 0o644
    assert stat.S_IMODE(done.backup.stat().st_mode) == 0o600


def test_two_backups_of_one_second_are_two_files(machine: Machine) -> None:
    prepared(CURSOR, machine, b"{}")
    first = writer(machine).write(desired_entry_for(CURSOR, machine))
    second = writer(machine).remove(desired_entry_for(CURSOR, machine))
    assert first.backup is not None
    assert second.backup == first.backup.with_name("mcp.json.bak-20260504-123059-2")
    assert first.backup.read_bytes() == b"{}"


@every_client
def test_a_linked_dotfile_stays_a_link_and_its_target_is_edited(machine: Machine, client: McpClient) -> None:
    target = machine.project / "dotfiles" / "config"
    target.parent.mkdir()
    target.write_bytes(rich(client))
    path = desired_entry_for(client, machine).file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.symlink_to(target)
    done = writer(machine).write(desired_entry_for(client, machine))
    assert path.is_symlink()
    assert path.readlink() == target
    assert "dragoman" in servers(client, target)
    assert done.backup is not None
    assert done.backup.parent == target.parent


def test_a_link_to_a_file_that_is_not_there_yet_makes_the_file(machine: Machine) -> None:
    path = desired_entry_for(CURSOR, machine).file
    path.parent.mkdir()
    path.symlink_to(machine.project / "later.json")
    writer(machine).write(desired_entry_for(CURSOR, machine))
    assert path.is_symlink()
    assert "dragoman" in servers(CURSOR, machine.project / "later.json")


def test_a_link_in_a_circle_is_an_error_and_not_a_loop(machine: Machine) -> None:
    path = desired_entry_for(CURSOR, machine).file
    path.parent.mkdir()
    path.symlink_to(path)
    with pytest.raises(DragomanError, match="cannot be read"):
        writer(machine).write(desired_entry_for(CURSOR, machine))


@every_client
def test_a_read_only_file_is_respected(machine: Machine, client: McpClient) -> None:
    path = prepared(client, machine, rich(client))
    path.chmod(0o444)
    with pytest.raises(DragomanError, match="read-only"):
        writer(machine).write(desired_entry_for(client, machine))
    assert path.read_bytes() == rich(client)


def test_a_pipe_in_the_place_of_the_file_does_not_hold_us(machine: Machine) -> None:
    path = desired_entry_for(CURSOR, machine).file
    path.parent.mkdir()
    os.mkfifo(path)
    with pytest.raises(DragomanError, match="not a regular file"):
        writer(machine).write(desired_entry_for(CURSOR, machine))


def test_a_folder_in_the_place_of_the_file_is_refused(machine: Machine) -> None:
    desired_entry_for(CURSOR, machine).file.mkdir(parents=True)
    with pytest.raises(DragomanError, match="not a regular file"):
        writer(machine).write(desired_entry_for(CURSOR, machine))


@pytest.fixture
def as_nobody(machine: Machine, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Root may write anywhere, so root becomes somebody who may not; anybody else already is."""
    if os.geteuid() != 0:
        yield
        return
    nobody = 65534
    on_the_way = {
        folder: folder.stat().st_mode for folder in machine.home.parents if folder.stat().st_mode & 0o011 != 0o011
    }
    for folder, mode in on_the_way.items():
        folder.chmod(mode | 0o011)
    for path in [machine.home, *machine.home.rglob("*")]:
        os.chown(path, nobody, nobody)
    os.seteuid(nobody)
    try:
        yield
    finally:
        os.seteuid(0)
        for folder, mode in on_the_way.items():
            folder.chmod(mode)


def test_a_read_only_folder_is_an_error_that_shows_what_to_paste(machine: Machine, as_nobody: None) -> None:
    path = prepared(CURSOR, machine, b"{}")
    path.parent.chmod(0o555)
    try:
        with pytest.raises(DragomanError, match="cannot be written: Permission denied") as caught:
            writer(machine).write(desired_entry_for(CURSOR, machine))
    finally:
        path.parent.chmod(0o755)
    assert "mcpServers" in str(caught.value.hint)
    assert path.read_bytes() == b"{}"


def test_a_file_of_another_user_is_left_to_that_user(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    path = prepared(CURSOR, machine, b"{}")
    monkeypatch.setattr(os, "geteuid", lambda: path.stat().st_uid + 1)
    with pytest.raises(DragomanError, match="owned by another user"):
        writer(machine).write(desired_entry_for(CURSOR, machine))


class Walked:
    """One scenario, repeated with the n-th system call failing, until n is beyond its last call."""

    def __init__(self, make: Callable[[int], FaultySystem]) -> None:
        self.make = make

    def __iter__(self) -> Iterator[FaultySystem]:
        for fail_at in range(1, 100):
            system = self.make(fail_at)
            yield system
            if not system.reached:
                return
        pytest.fail("the scenario has no end")


FAULTS = {
    "disk full": FaultySystem,
    "no permission": lambda n: FaultySystem(n, code=errno.EACCES),
    "i/o error": lambda n: FaultySystem(n, code=errno.EIO),
    "short write": lambda n: FaultySystem(n, short=True),
}


@pytest.mark.parametrize("client", [CURSOR, BY_ID["codex"]], ids=lambda client: client.id)
@pytest.mark.parametrize("make", FAULTS.values(), ids=FAULTS.keys())
@pytest.mark.parametrize("there", [True, False], ids=["file there", "file missing"])
def test_whatever_fails_the_file_is_the_old_one_or_the_new_one(
    machine: Machine, client: McpClient, make: Callable[[int], FaultySystem], there: bool
) -> None:
    desired, old = desired_entry_for(client, machine), rich(client) if there else None
    runs = 0
    for system in Walked(make):
        runs += 1
        desired.file.parent.mkdir(parents=True, exist_ok=True)
        for leftover in desired.file.parent.iterdir():
            leftover.unlink()
        if old is not None:
            desired.file.write_bytes(old)
        failed = raises(lambda system=system: writer(machine, system).write(desired))  # type: ignore[misc]
        is_new = desired.file.exists() and "dragoman" in servers(client, desired.file)
        assert is_new is not failed
        if failed:
            assert (desired.file.read_bytes() if desired.file.exists() else None) == old
            assert files_beside(desired.file) == set()
        else:
            assert files_beside(desired.file) == ({f"{desired.file.name}.bak-20260504-123059"} if there else set())
    assert runs > (7 if there else 4)


def raises(act: Callable[[], object]) -> bool:
    try:
        act()
    except DragomanError:
        return True
    return False


class Busy(SystemCalls):
    """Somebody else writes the file each time just before we put ours in place."""

    def __init__(self, path: Path, contents: list[bytes]) -> None:
        self.path = path
        self.contents = contents

    def fsync(self, fd: int) -> None:
        super().fsync(fd)
        if self.contents:
            self.path.write_bytes(self.contents.pop(0))


def test_a_write_of_the_client_in_between_is_kept(machine: Machine) -> None:
    path = prepared(CURSOR, machine, b'{"a": 1}')
    done = writer(machine, Busy(path, [b'{"b": 2}'])).write(desired_entry_for(CURSOR, machine))
    assert jsonc_text.parse(path.read_text()) == {
        "b": 2,
        "mcpServers": {"dragoman": desired_entry_for(CURSOR, machine).entry},
    }
    assert done.backup is not None
    assert done.backup.read_bytes() == b'{"b": 2}'


def test_a_file_that_appears_in_between_is_kept(machine: Machine) -> None:
    path = prepared(CURSOR, machine, b"")
    path.unlink()
    writer(machine, Busy(path, [b'{"b": 2}'])).write(desired_entry_for(CURSOR, machine))
    assert set(jsonc_text.parse(path.read_text())) == {"b", "mcpServers"}


def test_a_file_that_is_written_all_the_time_is_given_up(machine: Machine) -> None:
    path = prepared(CURSOR, machine, b"{}")
    writes = [b'{"n": %d}' % count for count in range(50)]
    with pytest.raises(DragomanError, match="another program keeps writing"):
        writer(machine, Busy(path, writes)).write(desired_entry_for(CURSOR, machine))
    assert path.read_bytes().startswith(b'{"n": ')
    assert files_beside(path) == set()


def test_a_plan_changes_nothing(machine: Machine) -> None:
    path = prepared(CURSOR, machine, b"{}")
    plan = writer(machine).plan(desired_entry_for(CURSOR, machine))
    assert plan.edited.change == "added"
    assert path.read_bytes() == b"{}"
