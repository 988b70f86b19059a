"""`--map`: what a person may write, and which folder there a folder here is."""

from __future__ import annotations

from pathlib import Path

import pytest

from dragoman.cli.remote.folder_maps import far_workspace, folder_maps, mapped_path, written_maps
from dragoman.cli.remote.options import RemoteOptions, choosing, extract_options
from dragoman.core.errors import DragomanError


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shop = tmp_path / "shop"
    (shop / "lib").mkdir(parents=True)
    (shop / ".git").mkdir()
    monkeypatch.chdir(shop)
    return shop


def test_the_option_is_taken_out_of_the_arguments_of_a_remote_command() -> None:
    words, options = extract_options(["mcp", "--on", "ssh:a", "--map", "a=b", "--map=c=d", "--", "--map", "x=y"])
    assert words == ["mcp", "--", "--map", "x=y"]
    assert options.maps == ("a=b", "c=d")
    assert extract_options(["mcp", "--map", "a=b"], {})[0] == ["mcp", "--map", "a=b"]


def test_a_folder_may_be_named_relative_to_the_working_folder(shop: Path) -> None:
    with choosing(RemoteOptions(("ssh:a",), maps=(".=srv/shop/", f"{shop}/lib=/opt/lib"))):
        assert [(it.local, it.far) for it in folder_maps()] == [(shop, "srv/shop"), (shop / "lib", "/opt/lib")]


@pytest.mark.parametrize(
    ("written", "code"),
    [
        (".", "bad_map"),
        ("=/srv", "bad_map"),
        (".=", "bad_map"),
        (".=/", "bad_map"),
        (".=srv/../../etc", "bad_map"),
        (".=srv\x1b[2J", "bad_map"),
        ("missing=/srv/shop", "no_such_folder"),
        ("file=/srv/shop", "no_such_folder"),
        ("..=/srv/shop", "map_outside"),
        ("/etc=/srv/shop", "map_outside"),
        ("linked=/srv/shop", "map_outside"),
        ("lib/../../other=/srv/shop", "map_outside"),
    ],
)
def test_a_map_that_is_malformed_or_leaves_the_workspace_is_refused(shop: Path, written: str, code: str) -> None:
    (shop / "linked").symlink_to("/etc")
    (shop / "file").write_text("")
    (shop.parent / "other").mkdir()
    with choosing(RemoteOptions(("ssh:a",), maps=(written,))), pytest.raises(DragomanError) as refused:
        folder_maps()
    assert refused.value.code == code


def test_a_folder_is_mapped_once_and_not_too_many_are(shop: Path) -> None:
    for maps in ((".=/a", f"{shop}=/b"), tuple(f".=/{number}" for number in range(17))):
        with choosing(RemoteOptions(("ssh:a",), maps=maps)), pytest.raises(DragomanError, match=r"twice|At most 16"):
            folder_maps()


def test_the_workspace_there_is_the_one_that_this_folder_is_mapped_to(
    shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with choosing(RemoteOptions(("ssh:a",), maps=(f"{shop}=srv/shop",))):
        assert far_workspace(Path()) == "srv/shop"
        assert far_workspace(Path("lib")) == "srv/shop/lib"
        assert far_workspace(shop / "lib") == "srv/shop/lib"
        assert far_workspace(Path("/elsewhere")) == "/elsewhere"
        monkeypatch.chdir(shop / "lib")
        assert far_workspace(Path()) == "srv/shop"
        assert mapped_path("a.py") == str(shop / "lib" / "a.py")
        assert mapped_path("../../a.py") is None
    with choosing(RemoteOptions(("ssh:a",))):
        assert far_workspace(Path()) == ""
        assert far_workspace(Path("shop")) == "shop"


def test_a_client_that_starts_above_the_folder_works_in_it(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(shop.parent)
    with choosing(RemoteOptions(("ssh:a",), maps=(f"{shop}=srv/shop",))):
        assert far_workspace(Path()) == "srv/shop"


def test_a_folder_that_was_entered_by_a_link_is_the_same_folder(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    link = shop.parent / "link"
    link.symlink_to(shop)
    with choosing(RemoteOptions(("ssh:a",), maps=(f"{link}=srv/shop",))):
        assert far_workspace(Path()) == "srv/shop"
        assert mapped_path(str(link / "a.py")) == str(link / "a.py")
        assert mapped_path("a.py") == str(shop / "a.py")


def test_each_of_several_machines_may_have_the_folder_elsewhere(shop: Path) -> None:
    maps = ("ssh:a:.=/srv/shop", "docker:web:.=/app", ".=shop", "lib=/opt/lib", "ssh:a:lib=/srv/lib")
    with choosing(RemoteOptions(("ssh:a", "docker:web", "ssh:a2", "local"), maps=maps)):
        found = {name: [(it.local, it.far) for it in folder_maps(name)] for name in ("ssh:a", "docker:web", "ssh:a2")}
        assert found == {
            "ssh:a": [(shop, "/srv/shop"), (shop / "lib", "/srv/lib")],
            "docker:web": [(shop, "/app"), (shop / "lib", "/opt/lib")],
            "ssh:a2": [(shop, "shop"), (shop / "lib", "/opt/lib")],
        }
        assert [far_workspace(Path(), name) for name in found] == ["/srv/shop", "/app", "shop"]
        assert written_maps()[:4:3] == [f"ssh:a:{shop}=/srv/shop", f"{shop}/lib=/opt/lib"]
    twice = ("ssh:a:.=/srv/shop", f"ssh:a:{shop}=/srv/other")
    with choosing(RemoteOptions(("ssh:a",), maps=twice)), pytest.raises(DragomanError) as caught:
        folder_maps("ssh:a")
    assert caught.value.code == "bad_map"
