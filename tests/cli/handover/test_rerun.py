"""Running a shared session again: its paths become those of this machine, and only what is said to run runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from dragoman.cli.handover import rerun
from dragoman.cli.handover.rerun import Places
from dragoman.core.errors import DragomanError
from dragoman.protocols.share import SharedLaunch, encode_lines, read_share
from tests.protocols.share.test_share_file import PARTS, file_of

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
    for folder in ("", "/", "~", "~/", "//", "shop"):
        assert Places(folder, Path("/w"), Path("/home/bob")).local("/a/b x") == "/a/b x"


@pytest.mark.parametrize(
    "folder",
    ["/usr", "/usr/bin", "/bin/", "/home", "/etc/ssl", "~/a/../../bin", "~/a/./b", "/srv//x", "/srv/..", "~/.."],
)
def test_no_folder_of_the_system_is_replaced_whatever_the_file_says(folder: str) -> None:
    command = f"{folder.rstrip('/')}/env /usr/bin/python3 /etc/ssl/x"
    assert Places(folder, Path("/w"), Path("/home/bob")).local(command) == command.replace("~", "/home/bob")


def test_all_of_the_input_is_shown_before_a_start_or_there_is_none() -> None:
    def lines(stdin: str) -> str:
        plan = rerun.RerunPlan({"stdin": stdin}, (), ())
        return "\n".join(str(it) for it in rerun._question_lines(plan, "", "ada"))

    assert lines("y\n" * 5_000 + "rm -rf /").endswith("rm -rf /")
    launch = SharedLaunch(workspace="~/shop", program="a", args=(), cwd="", stdin="y" * 20_001)
    with pytest.raises(DragomanError) as caught:
        rerun.rerun_plan(read_share(file_of({**PARTS, "launch.json": encode_lines([launch])})), Path("/w"))
    assert caught.value.code == "input_too_long"
