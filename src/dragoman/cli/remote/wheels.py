"""The wheels that `dragoman setup --on` takes to another machine, made from the packages that are installed here.

Our own package is always made from what runs now, in a checkout too. A dependency is taken as it is installed if it
fits the Python there, and fetched from an index otherwise.
"""

from __future__ import annotations

import base64
import hashlib
import re
import subprocess
import sys
import sysconfig
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

from dragoman.core.errors import DragomanError, ErrorSpec

_OURS = "dragoman"
_NOT_PACKED = frozenset({"INSTALLER", "RECORD", "REQUESTED", "direct_url.json"})  # of an installation, not of a wheel
_EPOCH = (1980, 1, 1, 0, 0, 0)  # the same files make the same wheel
_COMPRESSION_LEVEL = 1
_FETCHES_WITHIN_S = 180
_OLDEST_GLIBC = 5  # of the manylinux tags

wheels_missing = ErrorSpec(
    "wheels_missing",
    "{target} has Python {python} on {platform}, and this machine lacks wheels for it: {packages}.",
    "Give one of the two machines access to a package index, or run this from one with the same Python and system.",
)
_not_packed = ErrorSpec(
    "not_packed",
    "Cannot make a wheel of the Dragoman that runs here: {reason}.",
    "Install Dragoman with pip, pipx or uv, then try again.",
)


@dataclass(frozen=True, slots=True)
class FarPython:
    """The Python there, in the words of `sys` and `sysconfig`. They come from the other machine."""

    version: str
    suffix: str
    """Of compiled modules: it names the version, the processor and the C library."""
    platform: str
    libc: str
    """Such as `glibc 2.36`; empty for others."""

    @classmethod
    def here(cls) -> FarPython:
        libc = _glibc_here()
        version = ".".join(map(str, sys.version_info[:3]))
        return cls(version, sysconfig.get_config_var("EXT_SUFFIX") or "", sysconfig.get_platform(), libc)

    @property
    def glibc(self) -> tuple[int, int]:
        match = re.fullmatch(r"glibc (\d{1,3})\.(\d{1,3}).*", self.libc)
        return (int(match[1]), int(match[2])) if match else (0, 0)


def own_wheel(folder: Path) -> Path:
    try:
        ours = distribution(_OURS)
    except PackageNotFoundError as error:
        raise _not_packed(reason="it is not installed") from error
    package = Path(__file__).resolve().parents[2]
    files = {f"{_OURS}/{path.relative_to(package)}": path for path in sorted(package.rglob("*")) if _is_packed(path)}
    return _pack(ours, {**_installed_files(ours), **files}, folder)


def extras() -> str:
    """As in a requirement: the screen of a terminal is emulated there if it is here."""
    return "[screen]" if _find("pyte") else ""


def dependency_wheels(folder: Path, target: str, far: FarPython) -> list[Path]:
    """Every package that ours needs there: those that fit as they are installed here, the others from an index."""
    wheels, missing = [], []
    for needed in _closure():
        if _fits(needed, far):
            wheels.append(_pack(needed, _installed_files(needed), folder))
        else:
            missing.append(f"{needed.name}=={needed.version}")
    if missing:
        wheels += _fetch(missing, folder, target, far)
    return wheels


def _closure() -> list[Distribution]:
    """The dependencies that are installed here. Those that are not do not count on this system, by their markers."""
    found: dict[str, Distribution] = {}
    names = list(_required(distribution(_OURS))) + (["pyte"] if extras() else [])
    while names:
        name = _normal(names.pop())
        needed = None if name in found else _find(name)
        if needed is not None:
            found[name] = needed
            names += _required(needed)
    return [found[name] for name in sorted(found)]


def _required(of: Distribution) -> Iterator[str]:
    for requirement in of.requires or ():
        match = re.match(r"[A-Za-z0-9._-]+", requirement)
        if match and "extra" not in requirement.partition(";")[2]:
            yield match[0]


def _find(name: str) -> Distribution | None:
    try:
        return distribution(name)
    except PackageNotFoundError:
        return None


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _tags(of: Distribution) -> list[str]:
    return re.findall(r"^Tag: *(\S+)", of.read_text("WHEEL") or "", re.MULTILINE)


def _fits(needed: Distribution, far: FarPython) -> bool:
    tags = _tags(needed)
    if not tags or not needed.files:
        return False
    if any(tag.endswith("-none-any") for tag in tags):
        return True
    here = FarPython.here()
    if (far.suffix, far.platform) != (here.suffix, here.platform):
        return False
    if not here.libc:
        return not far.libc
    least = [(2, int(minor)) for tag in tags for minor in re.findall(r"manylinux_2_(\d+)_", tag)]
    return far.glibc >= min(least, default=here.glibc)


def _fetch(missing: Sequence[str], folder: Path, target: str, far: FarPython) -> list[Path]:
    before = set(folder.iterdir())
    command = [
        *(sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-input", "--no-deps"),
        *("--only-binary", ":all:", "--retries", "0", "--timeout", "10", "--dest", str(folder)),
        *("--python-version", far.version, "--implementation", "cp"),
        *(word for platform in _platforms(far) for word in ("--platform", platform)),
    ]
    try:
        done = subprocess.run(  # noqa: S603  names and versions of installed packages, and words of a strict form
            [*command, *missing], capture_output=True, check=False, timeout=_FETCHES_WITHIN_S, stdin=subprocess.DEVNULL
        )
    except subprocess.TimeoutExpired:
        done = None
    if done is None or done.returncode != 0:
        raise wheels_missing(target=target, python=far.version, platform=far.platform, packages=", ".join(missing))
    return sorted(set(folder.iterdir()) - before)


def _platforms(far: FarPython) -> list[str]:
    """The platform tags of wheels that run there, newest first."""
    system, _, machine = far.platform.replace(".", "_").replace("-", "_").partition("_")
    if system != "linux" or "musl" in far.suffix:
        return [f"musllinux_1_{minor}_{machine}" for minor in (2, 1)] if system == "linux" else [f"{system}_{machine}"]
    major, minor = far.glibc
    modern = [f"manylinux_{major}_{it}_{machine}" for it in range(minor, _OLDEST_GLIBC - 1, -1)]
    return [*modern, *(f"{name}_{machine}" for name in ("manylinux2014", "manylinux2010", "manylinux1", "linux"))]


def _glibc_here() -> str:
    import os

    try:
        return os.confstr("CS_GNU_LIBC_VERSION") or ""
    except (ValueError, OSError):
        return ""


def _installed_files(of: Distribution) -> dict[str, Path]:
    """By their names in a wheel. Scripts are left out: they lie outside of the packages, and name this Python."""
    named = {file.as_posix(): Path(str(file.locate())) for file in of.files or ()}
    return {name: path for name, path in named.items() if not name.startswith(("..", "/")) and _is_packed(path)}


def _is_packed(path: Path) -> bool:
    return path.is_file() and path.suffix not in {".pyc", ".pth"} and path.name not in _NOT_PACKED


def _pack(of: Distribution, files: Mapping[str, Path], folder: Path) -> Path:
    tags = _tags(of) or ["py3-none-any"]
    name = re.sub(r"[-_.]+", "_", of.name)
    pythons, abis, platforms = (
        ".".join(dict.fromkeys(parts)) for parts in zip(*(it.split("-") for it in tags), strict=True)
    )
    wheel = folder / f"{name}-{of.version}-{pythons}-{abis}-{platforms}.whl"
    record = []
    try:
        with zipfile.ZipFile(wheel, "x", zipfile.ZIP_DEFLATED, compresslevel=_COMPRESSION_LEVEL) as archive:
            for entry, path in sorted(files.items()):
                data = path.read_bytes()
                archive.writestr(_entry(entry), data)
                digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
                record.append(f'"{entry}",sha256={digest},{len(data)}')
            info = next(entry.partition("/")[0] for entry in files if entry.partition("/")[0].endswith(".dist-info"))
            archive.writestr(_entry(f"{info}/RECORD"), "\n".join([*record, f"{info}/RECORD,,", ""]))
    except (OSError, StopIteration) as error:
        raise _not_packed(reason=error) from error
    return wheel


def _entry(name: str) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name, _EPOCH)
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.external_attr = 0o644 << 16
    return entry


def as_error(error: OSError) -> DragomanError:
    return _not_packed(reason=error.strerror or error)
