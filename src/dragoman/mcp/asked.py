"""What an HTTP request says about the client it speaks for: which workspace, which tools, which language."""

from __future__ import annotations

import os
import pwd
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

import anyio.to_thread
from starlette.requests import HTTPConnection

from dragoman.access.guard import HOLDER
from dragoman.access.tokens import DEFAULT, Holder
from dragoman.errors import DragomanError
from dragoman.ids import new_id
from dragoman.phrases import Language, say
from dragoman.tools import Caller
from dragoman.workspace.trust import is_wide

WORKSPACE_HEADER = "Dragoman-Workspace"
# Where system packages and the languages' own installers put programs, as a login shell would find them.
_PROGRAM_FOLDERS = (
    "~/.local/bin", "~/.cargo/bin", "~/go/bin", "/opt/homebrew/bin", "/usr/local/go/bin", "/usr/local/bin",
    "/usr/bin", "/bin", "/usr/local/sbin", "/usr/sbin", "/sbin",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Asked:
    """A session may be used by those who say the same as the one who opened it; to others it is unknown."""

    workspace: str
    tools: tuple[str, ...]
    credential: bytes = field(repr=False)
    token_name: str = DEFAULT
    """Whose token it bears: what the client has open ends when that is revoked."""
    language: Language = field(default="en", compare=False)

    @classmethod
    def of(cls, connection: HTTPConnection) -> Asked:
        headers, query = connection.headers, connection.query_params
        return cls(
            workspace=query.get("workspace") or _as_utf8(headers.get(WORKSPACE_HEADER, "")),
            tools=tuple(name.strip() for name in query.get("tools", "").split(",") if name.strip()),
            credential=sha256(headers.get("authorization", "").encode()).digest(),
            token_name=(connection.scope.get(HOLDER) or Holder("mcp")).name,
            language="zh" if headers.get("accept-language", "").lower().startswith("zh") else "en",
        )

    async def caller(self, default: Path) -> Caller:
        """Nobody started this client in the folder, so what is in it does not run before a person trusts it."""
        workspace = await anyio.to_thread.run_sync(_folder, self.workspace or str(default))
        return Caller(
            id=new_id("mcp"),
            workspace=workspace,
            cwd=workspace,
            language=self.language,
            environment=login_environment(),
            trusts_workspace=False,
        )


def login_environment() -> dict[str, str]:
    """For programs of clients whose own environment nobody tells us. Not the daemon's, which is that of whoever
    happened to start it: the same call would then run another interpreter from one day to the next."""
    home, user, shell = _account()
    folders = [folder.replace("~", home, 1) for folder in _PROGRAM_FOLDERS]
    return {
        "HOME": home,
        "USER": user,
        "LOGNAME": user,
        "SHELL": shell,
        "PATH": os.pathsep.join(folder for folder in folders if Path(folder).is_dir()),
        "LANG": os.environ.get("LANG") or "C.UTF-8",
    }


def _account() -> tuple[str, str, str]:
    try:
        entry = pwd.getpwuid(os.getuid())
    except KeyError:  # a container may run us under a number that has no name
        return os.environ.get("HOME", os.sep), str(os.getuid()), "/bin/sh"
    return entry.pw_dir, entry.pw_name, entry.pw_shell or "/bin/sh"


def _folder(text: str) -> Path:
    path = Path(text)
    try:
        if path.is_absolute() and path.is_dir():
            return _narrow(Path(os.path.realpath(path)))  # where it leads now: trust is asked for that, and stays that
    except (OSError, ValueError):  # too long, or with a NUL
        pass
    raise DragomanError(
        "no_such_folder",
        say("The workspace {path} is not a folder.", path=ascii(text[:200])),
        hint=say("Give one that exists: `?workspace=/folder` in the address, or the header Dragoman-Workspace."),
    )


def _narrow(folder: Path) -> Path:
    """Files of the workspace are read for the agent: nobody means the whole disk, or all of a home."""
    if is_wide(folder):
        raise DragomanError(
            "workspace_too_wide",
            say("{path} holds much more than one project: it is no workspace.", path=ascii(str(folder)[:200])),
            hint=say("Name the project's own folder: `?workspace=/folder`, or the header Dragoman-Workspace."),
        )
    return folder


def _as_utf8(value: str) -> str:
    """A header arrives as Latin-1; a path in it is UTF-8, as file names are."""
    try:
        return value.encode("latin-1").decode()
    except UnicodeError:
        return value
