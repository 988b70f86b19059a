"""Where things live. Standard library alone: the stdio pump and `status` need it within milliseconds.

`DRAGOMAN_HOME` moves everything under one folder, so that tests and `make run` never meet a user's own daemon.
"""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

# sockaddr_un holds 104 bytes on macOS and 108 on Linux, with a closing NUL.
SOCKET_PATH_LIMIT = 100


@dataclass(frozen=True, slots=True)
class Places:
    config: Path
    state: Path
    runtime: Path

    @property
    def settings_file(self) -> Path:
        return self.config / "settings.toml"

    @property
    def tokens_file(self) -> Path:
        return self.state / "tokens.json"

    @property
    def journal_folder(self) -> Path:
        return self.state / "journal"

    @property
    def log_file(self) -> Path:
        return self.state / "logs" / "dragoman.log"

    @property
    def lock_file(self) -> Path:
        return self.runtime / "daemon.lock"

    @property
    def state_file(self) -> Path:
        return self.runtime / "daemon.json"

    @property
    def socket(self) -> Path:
        return self.runtime / "dragoman.sock"


def find_places(environment: Mapping[str, str] = os.environ) -> Places:
    home = environment.get("DRAGOMAN_HOME")
    if home:
        return _under(Path(home).expanduser().absolute())
    return _macos() if sys.platform == "darwin" else _xdg(environment)


def _under(home: Path) -> Places:
    return Places(config=home / "config", state=home / "state", runtime=_short(home / "run"))


def _macos() -> Places:
    support = Path.home() / "Library" / "Application Support" / "dragoman"
    return Places(config=support, state=support / "state", runtime=_short(support / "run"))


def _xdg(environment: Mapping[str, str]) -> Places:
    config = Path(environment.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "dragoman"
    state = Path(environment.get("XDG_STATE_HOME") or Path.home() / ".local" / "state") / "dragoman"
    runtime = environment.get("XDG_RUNTIME_DIR")
    return Places(config=config, state=state, runtime=_short(Path(runtime) / "dragoman" if runtime else state / "run"))


def _short(runtime: Path) -> Path:
    """A socket's path must fit the kernel's field: a folder too deep is replaced by one with a hashed name."""
    if len(os.fsencode(runtime / "dragoman.sock")) <= SOCKET_PATH_LIMIT:
        return runtime
    digest = hashlib.sha256(os.fsencode(runtime)).hexdigest()[:16]
    return Path(tempfile.gettempdir()) / f"dragoman-{os.getuid()}-{digest}"
