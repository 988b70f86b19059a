"""File systems for SQLite that fail, hang or lose power when a test says so.

Register one under a name, pass the name to `Journal.open(vfs=…)`, unregister it at the end of the block.
"""

from __future__ import annotations

import errno
import random
import threading
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Self

import apsw

_SECTOR = 512
_ERRORS: dict[int, Callable[[str], apsw.Error]] = {errno.ENOSPC: apsw.FullError, errno.EIO: apsw.IOError}


class WatchedVFS(apsw.VFS):
    """Passes everything on, and tells `happened` of each call that changes a file."""

    def __init__(self, name: str) -> None:
        self.name = name
        super().__init__(name, "")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.unregister()

    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> WatchedFile:  # noqa: N802
        self.happened("open")
        return WatchedFile(self, name, flags)

    def xDelete(self, filename: str, syncdir: bool) -> None:  # noqa: N802
        self.happened("delete")
        super().xDelete(filename, syncdir)
        self.deleted(filename)

    def happened(self, call: str) -> None:
        """Before the call: raise to make it fail."""

    def written(self, path: str, data: bytes, offset: int) -> None: ...

    def truncated(self, path: str, size: int) -> None: ...

    def synced(self, path: str) -> None: ...

    def deleted(self, path: str) -> None: ...


class WatchedFile(apsw.VFSFile):
    def __init__(self, vfs: WatchedVFS, name: str | apsw.URIFilename | None, flags: list[int]) -> None:
        self._vfs = vfs
        self._path = name.filename() if isinstance(name, apsw.URIFilename) else name or ""
        super().__init__("", name, flags)

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802
        self._vfs.happened("write")
        super().xWrite(data, offset)
        self._vfs.written(self._path, bytes(data), offset)

    def xTruncate(self, newsize: int) -> None:  # noqa: N802
        self._vfs.happened("truncate")
        super().xTruncate(newsize)
        self._vfs.truncated(self._path, newsize)

    def xSync(self, flags: int) -> None:  # noqa: N802
        self._vfs.happened("sync")
        super().xSync(flags)
        self._vfs.synced(self._path)


class FaultyVFS(WatchedVFS):
    """Call number `fail_at` fails, counted from `arm`; with `lasting` every later one does too, until `disarm`."""

    def __init__(self, name: str, *, code: int = errno.ENOSPC, lasting: bool = False) -> None:
        super().__init__(name)
        self.code = code
        self.lasting = lasting
        self.calls = 0
        self._fail_at: int | None = None

    def arm(self, fail_at: int) -> None:
        self.calls = 0
        self._fail_at = fail_at

    def disarm(self) -> None:
        self._fail_at = None

    @property
    def reached(self) -> bool:
        return self._fail_at is not None and self.calls >= self._fail_at

    def happened(self, call: str) -> None:
        self.calls += 1
        if self._fail_at is None or self.calls < self._fail_at:
            return
        if self.lasting or self.calls == self._fail_at:
            raise _ERRORS[self.code](f"{call} failed on purpose")


class HeldVFS(WatchedVFS):
    """Syncs wait from `hold` to `release`: a disk that hangs for exactly as long as a test needs."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self._free = threading.Event()
        self._free.set()
        self.waiting = threading.Event()
        self.syncs = 0

    def hold(self) -> None:
        self._free.clear()

    def release(self) -> None:
        self._free.set()

    def happened(self, call: str) -> None:
        if call != "sync":
            return
        self.syncs += 1
        if not self._free.is_set():
            self.waiting.set()
            self._free.wait()


class PowerLossVFS(WatchedVFS):
    """Remembers what was synced. `cut` gives the files as a machine might find them after the power went:

    everything synced, and of what was not, any subset of the writes in any order, torn at sector boundaries.
    `before_call` is told the number of every call, so that a test can cut between any two.
    """

    def __init__(self, name: str, before_call: Callable[[int], None]) -> None:
        super().__init__(name)
        self.calls = 0
        self._before_call = before_call
        self._safe: dict[str, bytearray] = {}
        self._loose: dict[str, list[tuple[int, bytes | None]]] = defaultdict(list)
        self._lock = threading.Lock()

    def written(self, path: str, data: bytes, offset: int) -> None:
        with self._lock:
            self._loose[path].append((offset, data))

    def truncated(self, path: str, size: int) -> None:
        with self._lock:
            self._loose[path].append((size, None))

    def synced(self, path: str) -> None:
        with self._lock:
            image = self._safe.setdefault(path, bytearray())
            for offset, data in self._loose.pop(path, []):
                _apply(image, offset, data)

    def deleted(self, path: str) -> None:
        with self._lock:
            self._safe.pop(path, None)
            self._loose.pop(path, None)

    def happened(self, call: str) -> None:
        self.calls += 1
        self._before_call(self.calls)

    def cut(self, folder: Path, dice: random.Random) -> None:
        """Write the surviving files into `folder`; the same dice give the same loss."""
        with self._lock:
            for path in {*self._safe, *self._loose}:
                image = bytearray(self._safe.get(path, b""))
                _apply_some(image, self._loose.get(path, []), dice)
                (folder / Path(path).name).write_bytes(image)


def _apply(image: bytearray, offset: int, data: bytes | None) -> None:
    if data is None:
        del image[offset:]
        return
    if len(image) < offset:
        image.extend(bytes(offset - len(image)))
    image[offset : offset + len(data)] = data


def _apply_some(image: bytearray, loose: list[tuple[int, bytes | None]], dice: random.Random) -> None:
    survived = [write for write in loose if dice.random() < 0.5]
    dice.shuffle(survived)
    for offset, data in survived:
        _apply(image, offset, None if data is None else data[: _torn(len(data), dice)])


def _torn(length: int, dice: random.Random) -> int:
    return length if dice.random() < 0.7 else dice.randrange(0, length + 1, _SECTOR) if length >= _SECTOR else 0
