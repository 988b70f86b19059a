"""Where Dragoman keeps its files: configuration, state and runtime folders, and every file inside them.

Standard library only: the stdio pump and `dragoman status` need them within milliseconds. `DRAGOMAN_HOME` moves
everything under one folder, so that tests and `make run` never touch a user's own daemon.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

# sockaddr_un holds 104 bytes on macOS and 108 on Linux, including a NUL.
SOCKET_PATH_LIMIT = 100


@dataclass(frozen=True, slots=True)
class Paths:
    """The folders and files of one Dragoman home. It only computes paths and never touches the disk."""

    config: Path
    state: Path
    runtime: Path

    @property
    def settings_file(self) -> Path:
        return self.config / "settings.toml"

    @property
    def tokens_folder(self) -> Path:
        return self.state / "tokens"

    def token_file(self, purpose: str) -> Path:
        """One file per purpose, so that each token can be shared and revoked separately."""
        return self.tokens_folder / purpose

    @property
    def journal_folder(self) -> Path:
        return self.state / "journal"

    @property
    def adapters_folder(self) -> Path:
        """Debug adapters that Dragoman installed."""
        return self.state / "adapters"

    @property
    def worktrees_folder(self) -> Path:
        return self.state / "worktrees"

    @property
    def port_file(self) -> Path:
        """The port that the last daemon listened on."""
        return self.state / "port"

    @property
    def preferences_file(self) -> Path:
        """Settings that the user chose on the page."""
        return self.state / "page.json"

    @property
    def written_file(self) -> Path:
        """The list of files that Dragoman wrote in the user's projects."""
        return self.state / "written.json"

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

    @property
    def omnish_socket(self) -> Path:
        """The socket for shell wrappers, Dragoman's own and others that speak the protocol."""
        return self.runtime / "omnish.sock"

    @property
    def dap_socket(self) -> Path:
        """The socket for editors that speak the Debug Adapter Protocol from the first byte."""
        return self.runtime / "dap.sock"

    @property
    def terminal_folder(self) -> Path:
        """Data derived from recorded terminals that can be rebuilt: the index of their output."""
        return self.state / "terminal"


def find_paths(environment: Mapping[str, str] = os.environ) -> Paths:
    home = environment.get("DRAGOMAN_HOME")
    if home:
        return _under(Path(home).expanduser().absolute())
    return _macos() if sys.platform == "darwin" else _xdg(environment)


def _under(home: Path) -> Paths:
    return Paths(config=home / "config", state=home / "state", runtime=_short(home / "run"))


def _macos() -> Paths:
    support = Path.home() / "Library" / "Application Support" / "dragoman"
    return Paths(config=support, state=support / "state", runtime=_short(support / "run"))


def _xdg(environment: Mapping[str, str]) -> Paths:
    """An XDG folder. XDG_RUNTIME_DIR is not used: MCP clients, cron and ssh start Dragoman with different variables,
    and a client that looked for the socket in another folder would start a second daemon.
    """
    config = _absolute(environment, "XDG_CONFIG_HOME", ".config") / "dragoman"
    state = _absolute(environment, "XDG_STATE_HOME", ".local/state") / "dragoman"
    return Paths(config=config, state=state, runtime=_short(state / "run"))


def _absolute(environment: Mapping[str, str], variable: str, default: str) -> Path:
    """An absolute path from a variable. The XDG rules say to ignore a relative one."""
    path = Path(environment.get(variable, ""))
    return path if path.is_absolute() else Path.home() / default


def _short(runtime: Path) -> Path:
    """A folder for sockets with a path that fits the kernel's limit: a deep one is replaced by one with a hashed name.

    Not in TMPDIR, which differs between desktop programs, shells and services.
    """
    if len(os.fsencode(runtime / "dragoman.sock")) <= SOCKET_PATH_LIMIT:
        return runtime
    import hashlib  # noqa: PLC0415  hardly any home is so deep, and every wrapped shell would carry OpenSSL for it

    digest = hashlib.sha256(os.fsencode(runtime)).hexdigest()[:16]
    return Path("/tmp") / f"dragoman-{os.getuid()}-{digest}"  # noqa: S108  its owner is proven before it is used
