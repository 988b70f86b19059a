"""The name of the user's home leaves in no form: whole, in pieces, coloured, or as the real folder behind a link."""

from __future__ import annotations

from pathlib import Path

import pytest

from dragoman.cli.handover.home_folder import HomeFolder

HOME = HomeFolder(("/home/ada-private",))


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("in /home/ada-private/shop", "in ~/shop"),
        ("/home/ada-private", "~"),
        ("No file in /home/ada-private.", "No file in ~."),
        ("/home/ada-private.\nnext", "~.\nnext"),
        ("/home/ada-private.bak /home/ada-privateer", "/home/ada-private.bak /home/ada-privateer"),
        ("file:///home/ada-private\x1b[0m", "file://~\x1b[0m"),
        ("\x1b[1m/home/\x1b[31mada-private\x1b[0m/x", "\x1b[1m~\x1b[31m\x1b[0m/x"),
        ("\x1b]7;file://h/home/ada-private/x\x07$ ", "\x1b]7;file://h~/x\x07$ "),
        ("/home/home/ada-private", "/home~"),
        ("plain /home", "plain /home"),
    ],
)
def test_it_is_hidden_however_it_is_cut(text: str, shown: str) -> None:
    assert HOME.hide(text) == shown
    for size in (1, 2, 3, 7):
        stream = HOME.stream()
        pieces = [stream.feed(text[at : at + size]) for at in range(0, len(text), size)]
        assert "".join([*pieces, stream.flush()]) == shown, size


def test_only_what_may_become_the_name_is_held_back() -> None:
    stream = HOME.stream()
    assert stream.feed("$ cat /home/a") == "$ cat "
    assert stream.feed("lice") == "/home/alice"
    assert stream.feed("$ ") == "$ "


def test_the_folder_behind_a_link_is_the_home_too(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    home = HomeFolder.at(tmp_path / "link")
    assert home.hide(f"{tmp_path}/link/a {tmp_path}/real/b") == "~/a ~/b"
    assert HomeFolder.at(Path("/")).hide("/a") == "/a"
