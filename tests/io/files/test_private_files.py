"""Private files: what somebody planted before us is refused, and a failed write leaves the old file or the new one."""

from __future__ import annotations

import errno
import os
import socket
import stat
from pathlib import Path

import pytest

from dragoman.core.errors import DragomanError
from dragoman.io.files.private_files import (
    create_private,
    ensure_private_folder,
    open_private,
    read_private,
    replace_private,
)
from dragoman.io.net.unix_socket import bind_private_socket, is_own_peer
from tests.support.faulty_system import FaultySystem


def refused(action: object) -> str:
    with pytest.raises(DragomanError) as caught:
        action()  # type: ignore[operator]
    assert caught.value.hint is not None
    return caught.value.code


def test_a_folder_is_made_closed_whatever_the_umask(tmp_path: Path) -> None:
    old = os.umask(0)
    try:
        folder = ensure_private_folder(tmp_path / "a" / "b")
        replace_private(folder / "f", b"x")
    finally:
        os.umask(old)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE((folder / "f").stat().st_mode) == 0o600


def test_a_folder_of_ours_that_is_open_is_closed(tmp_path: Path) -> None:
    (tmp_path / "open").mkdir(mode=0o777)
    ensure_private_folder(tmp_path / "open")
    assert stat.S_IMODE((tmp_path / "open").stat().st_mode) == 0o700


def test_a_link_in_place_of_a_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert refused(lambda: ensure_private_folder(tmp_path / "link")) == "unsafe_file"


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a file away")
def test_a_foreign_folder_and_a_foreign_file_are_refused(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_bytes(b"")
    for name in ("folder", "file"):
        os.chown(tmp_path / name, 65534, 65534)
    assert refused(lambda: ensure_private_folder(tmp_path / "folder")) == "unsafe_file"
    assert refused(lambda: read_private(tmp_path / "file")) == "unsafe_file"


def test_a_home_of_ours_may_be_reached_by_a_link_of_ours(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "home").symlink_to(tmp_path / "real")
    assert ensure_private_folder(tmp_path / "home" / "state" / "tokens").is_dir()


@pytest.mark.parametrize("name", ["home", "link"])
@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a file away")
def test_a_folder_or_link_of_another_user_on_the_way_is_refused(tmp_path: Path, name: str) -> None:
    """Whoever it belongs to could put another folder in the place of ours."""
    (tmp_path / "home").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "home")
    inside = ensure_private_folder(tmp_path / name / "state")
    os.lchown(tmp_path / name, 65534, 65534)
    assert refused(lambda: ensure_private_folder(inside)) == "unsafe_file"


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a file away")
def test_a_link_of_another_user_that_a_link_of_ours_leads_through_is_refused(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "theirs").symlink_to("real")
    (tmp_path / "home").symlink_to("theirs")
    inside = ensure_private_folder(tmp_path / "home" / "state")
    os.lchown(tmp_path / "theirs", 65534, 65534)
    assert refused(lambda: ensure_private_folder(inside)) == "unsafe_file"


@pytest.mark.parametrize(("mode", "is_refused"), [(0o777, True), (0o1777, False), (0o755, False)])
def test_a_folder_where_anybody_can_rename_ours_is_refused(tmp_path: Path, mode: int, is_refused: bool) -> None:
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(mode)
    if is_refused:
        assert refused(lambda: ensure_private_folder(tmp_path / "open" / "state")) == "unsafe_file"
    else:
        assert ensure_private_folder(tmp_path / "open" / "state").is_dir()


def test_a_link_a_folder_and_a_pipe_in_place_of_a_file_are_refused(tmp_path: Path) -> None:
    (tmp_path / "target").write_bytes(b"secret")
    (tmp_path / "link").symlink_to(tmp_path / "target")
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    for name in ("link", "folder", "pipe"):
        assert refused(lambda name=name: read_private(tmp_path / name)) == "unsafe_file", name


def test_an_own_file_that_is_open_is_closed_when_it_is_used(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"x")
    (tmp_path / "f").chmod(0o666)
    os.close(open_private(tmp_path / "f", os.O_RDONLY))
    assert stat.S_IMODE((tmp_path / "f").stat().st_mode) == 0o600


def test_a_file_larger_than_the_limit_is_not_read(tmp_path: Path) -> None:
    replace_private(tmp_path / "f", b"x" * 11)
    assert refused(lambda: read_private(tmp_path / "f", limit=10)) == "unsafe_file"
    assert read_private(tmp_path / "f", limit=11) == b"x" * 11


def test_a_missing_file_is_distinguished_from_an_unsafe_one(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_private(tmp_path / "none")


def test_replacing_writes_through_no_link(tmp_path: Path) -> None:
    (tmp_path / "victim").write_bytes(b"untouched")
    (tmp_path / "f").symlink_to(tmp_path / "victim")
    replace_private(tmp_path / "f", b"new")
    assert (tmp_path / "victim").read_bytes() == b"untouched"
    assert read_private(tmp_path / "f") == b"new"


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EIO, errno.EDQUOT])
def test_replacing_with_the_nth_call_failing_leaves_old_or_new_whole(tmp_path: Path, code: int) -> None:
    path = tmp_path / "f"
    replace_private(path, b"old" * 1000)
    system = FaultySystem(0)
    while not _replaces(path, system := FaultySystem(system.fail_at + 1, code=code)):
        assert path.read_bytes() in {b"old" * 1000, b"new" * 1000}
        assert list(tmp_path.iterdir()) == [path]
    assert system.fail_at > 4
    assert not system.reached
    assert path.read_bytes() == b"new" * 1000


def _replaces(path: Path, system: FaultySystem) -> bool:
    try:
        replace_private(path, b"new" * 1000, system=system)
    except OSError:
        return False
    return True


class _NoLinks(FaultySystem):
    """A file system without hard links, such as FAT."""

    def link(self, source: Path, target: Path) -> None:
        raise OSError(errno.EPERM, os.strerror(errno.EPERM), source, None, target)


@pytest.mark.parametrize("kind", [FaultySystem, _NoLinks])
@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EIO])
def test_a_new_file_is_whole_or_missing_and_no_other_is_touched(
    tmp_path: Path, kind: type[FaultySystem], code: int
) -> None:
    data = b"new" * 1000
    for fail_at in range(1, 30):
        path, system = tmp_path / f"{fail_at}", kind(fail_at, code=code)
        try:
            create_private(path, data, system=system)
        except OSError:
            assert not path.exists()
        else:
            assert (path.read_bytes(), stat.S_IMODE(path.stat().st_mode)) == (data, 0o600)
        if not system.reached:
            break
    else:
        raise AssertionError("never ran clean")
    for other in (path, tmp_path / "link"):
        (tmp_path / "link").unlink(missing_ok=True)
        (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
        with pytest.raises(FileExistsError):
            create_private(other, b"other", system=kind(99))
    assert path.read_bytes() == data
    assert not (tmp_path / "elsewhere").exists()
    assert [it for it in tmp_path.iterdir() if it.name.startswith(".")] == []


def test_a_new_file_may_be_in_a_folder_behind_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    create_private(tmp_path / "link" / ("n" * 250), b"x")
    assert [it.name for it in (tmp_path / "real").iterdir()] == ["n" * 250]


def test_short_writes_are_continued(tmp_path: Path) -> None:
    replace_private(tmp_path / "f", b"x" * 1000, system=FaultySystem(2, short=True))
    assert (tmp_path / "f").read_bytes() == b"x" * 1000


def test_a_socket_is_closed_to_others_and_knows_its_peer(tmp_path: Path) -> None:
    path = tmp_path / "run" / "s"
    with bind_private_socket(path) as listener, socket.socket(socket.AF_UNIX) as client:
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        client.connect(str(path))
        accepted = listener.accept()[0]
        with accepted:
            assert is_own_peer(accepted)


def test_a_dead_socket_is_replaced_and_anything_else_in_its_place_is_not(tmp_path: Path) -> None:
    path = tmp_path / "run" / "s"
    bind_private_socket(path).close()
    bind_private_socket(path).close()
    path.unlink()
    path.write_text("a file of the user's")
    assert refused(lambda: bind_private_socket(path)) == "unsafe_file"
    assert path.read_text() == "a file of the user's"


def test_a_socket_path_that_does_not_fit_the_kernels_field_is_refused_in_words(tmp_path: Path) -> None:
    assert refused(lambda: bind_private_socket(tmp_path / ("x" * 100) / "s")) == "socket_path_too_long"
