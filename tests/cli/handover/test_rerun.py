"""Running a shared session again: its paths become those of this machine, and only what is said to run runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from dragoman.cli.handover.rerun import Places

PLACES = Places("~/shop", Path("/home/bob/work/shop"), Path("/home/bob"))


@pytest.mark.parametrize(
    ("there", "here"),
    [
        ("~/shop/pay.py", "/home/bob/work/shop/pay.py"),
        ("~/shop", "/home/bob/work/shop"),
        ("~/shopping/pay.py", "/home/bob/shopping/pay.py"),
        ("~/data.csv", "/home/bob/data.csv"),
        ("--in=~/shop/a.csv,~/b.csv", "--in=/home/bob/work/shop/a.csv,/home/bob/b.csv"),
        ("${workspaceFolder}/a", "${workspaceFolder}/a"),
        ("a~b ~ada/x backup~", "a~b ~ada/x backup~"),
        ("/srv/~/shop", "/srv/~/shop"),
    ],
)
def test_paths_of_the_sender_become_paths_of_this_machine(there: str, here: str) -> None:
    assert PLACES.local(there) == here
    assert PLACES.document({"a": [there, 1]}) == {"a": [here, 1]}


def test_a_folder_outside_of_a_home_is_replaced_and_an_empty_one_is_nothing() -> None:
    assert Places("/srv/shop", Path("/w"), Path("/home/bob")).local("/srv/shop/a /srv/shop2") == "/w/a /srv/shop2"
    for folder in ("", "/", "~", "~/"):
        assert Places(folder, Path("/w"), Path("/home/bob")).local("/a/b x") == "/a/b x"
