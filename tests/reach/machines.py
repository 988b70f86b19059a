"""The other machines of `make test-reach`: a real second user, a real container, and a stand-in for a cluster.

What this machine does not allow is replaced by the next best, and `WAYS` says for docs/reach.md which was run.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import dragoman
from tests.support.ssh_machine import OtherUser

SYSTEM_PYTHON = "/usr/bin/python3"
SITE = Path(sys.prefix) / "lib" / f"python{sys.version_info.major}.{sys.version_info.minor}" / "site-packages"
WAYS: dict[str, str] = {}
_SCRIPT = '#!/bin/sh\nexec {python} -P -m dragoman.cli.main "$@"\n'
# Without a systemd, and where the kernel gives a container no higher limits than this process has.
_PODMAN = ("--cgroup-manager=cgroupfs", "--storage-driver=vfs", "--runtime=runc")
_LIMITS = ("--ulimit=nofile=1024:20000", "--ulimit=nproc=20000:20000")


@contextlib.contextmanager
def public_folder() -> Iterator[Path]:
    """One that every user can read, with a short path for sockets."""
    folder = Path(tempfile.mkdtemp(prefix="reach", dir="/tmp"))
    folder.chmod(0o755)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def install(folder: Path) -> Path | None:
    """A `dragoman` for every user, on the system's Python; None where that is another Python than ours."""
    venv = folder / "venv"
    version = "import sys; print(*sys.version_info[:2], sep='.')"
    theirs = subprocess.run([SYSTEM_PYTHON, "-c", version], capture_output=True, text=True, check=False).stdout.strip()
    if theirs != f"{sys.version_info.major}.{sys.version_info.minor}":
        return None
    subprocess.run([SYSTEM_PYTHON, "-m", "venv", "--without-pip", str(venv)], check=True)
    paths = f"{Path(dragoman.__file__).parents[1]}\n{SITE}\n"
    (venv / "lib" / SITE.parent.name / "site-packages" / "dragoman.pth").write_text(paths)
    script = venv / "bin" / "dragoman"
    script.write_text(_SCRIPT.format(python=venv / "bin" / "python"))
    script.chmod(0o755)
    return script.parent


@contextlib.contextmanager
def other_user(folder: Path, bin: Path | None) -> Iterator[OtherUser | None]:
    """A user of this machine for the time of the tests; None where only another home is possible."""
    name = f"reach{secrets.token_hex(3)}"
    if os.getuid() != 0 or bin is None or not shutil.which("useradd"):
        WAYS["ssh"] = "a real sshd with another home of the same user"
        yield None
        return
    home = str(folder / "m" / "far")
    # `*` as a password: a login by key alone. Without PAM, sshd takes `!` for a locked account.
    subprocess.run(["useradd", "-M", "-d", home, "-s", "/bin/bash", "-p", "*", name], check=True)
    try:
        runs = subprocess.run(
            ["runuser", "-u", name, "--", str(bin / "dragoman"), "--version"], capture_output=True, cwd="/", check=False
        )
        if runs.returncode == 0:
            WAYS["ssh"] = "a real sshd with a second Unix user"
            yield OtherUser(name, bin)
        else:
            WAYS["ssh"] = "a real sshd with another home of the same user, as no other user can read this checkout"
            yield None
    finally:
        subprocess.run(["userdel", name], check=False, capture_output=True)


class Podman:
    """Containers in a storage of their own, removed with it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.bin = folder / "podman-bin"
        self.bin.mkdir()
        options = [*_PODMAN, f"--root={folder}/store", f"--runroot={folder}/run"]
        script = self.bin / "podman"
        script.write_text(f'#!/bin/sh\nexec {shutil.which("podman")} {" ".join(options)} "$@"\n')
        script.chmod(0o755)

    def __call__(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(self.bin / "podman"), *arguments], capture_output=True, text=True, check=False, timeout=60
        )

    def start(self, name: str, project: Path) -> bool:
        """A container with the system's programs, ours, and nothing of this environment."""
        root = self._folder / f"root-{name}"
        for part in ("etc", "tmp", "proc", "dev", "sys", "run", "root", "var", "usr", "shop"):
            (root / part).mkdir(parents=True)
        for link in ("bin", "lib", "lib64", "sbin"):
            (root / link).symlink_to(f"usr/{link}")
        for part in ("hosts", "group", "resolv.conf", "hostname"):
            (root / "etc" / part).touch()
        (root / "etc" / "passwd").write_text("root:x:0:0:root:/root:/bin/bash\n")
        source = Path(dragoman.__file__).parents[1]
        venv = self._folder / "venv"
        shared = [f"--volume={it}:{it}:ro" for it in ("/usr", str(source), str(SITE), str(venv))]
        started = self(
            *("run", "-d", "--name", name, "--network=none", "--init=false", *_LIMITS, *shared),
            *(f"--volume={project}:/shop", f"--env=PATH={venv}/bin:/usr/local/bin:/usr/bin:/bin", "--env=HOME=/root"),
            *("--env=DRAGOMAN_PORT=0", "--workdir=/root", "--rootfs", str(root), "sleep", "3600"),
        )
        return started.returncode == 0 and self("exec", name, "dragoman", "--version").returncode == 0


@contextlib.contextmanager
def podman(folder: Path, bin: Path | None, project: Path) -> Iterator[Podman | None]:
    if os.getuid() != 0 or bin is None or not shutil.which("podman"):
        WAYS["podman"] = "a stand-in with podman's contract, as podman starts no containers here"
        yield None
        return
    machine = Podman(folder)
    try:
        if machine.start("web", project):
            version = machine("version", "--format={{.Client.Version}}").stdout.strip()
            WAYS["podman"] = f"real containers of podman {version}"
            yield machine
        else:
            WAYS["podman"] = "a stand-in with podman's contract, as podman starts no containers here"
            yield None
    finally:
        machine("rm", "--force", "--all", "--time=0")
