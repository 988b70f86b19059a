"""The path rule against a real tree: whatever is asked for, nothing outside is ever read."""

from __future__ import annotations

import os
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman.workspace import file_access
from dragoman.workspace.file_access import MAX_FILE_BYTES, MAX_PATH_CHARACTERS, FileAccessError, FileAccessPolicy

SECRET = b"the secret of outside"
INSIDE = b"inside"


@dataclass(frozen=True)
class Tree:
    """A workspace beside things that are nobody's business."""

    top: Path

    @property
    def workspace(self) -> Path:
        return self.top / "workspace"

    @property
    def allowed(self) -> Path:
        return self.top / "allowed"

    def rule(self) -> FileAccessPolicy:
        return FileAccessPolicy(allowed=(self.allowed,), private=(self.workspace / "home" / "dragoman",))

    def read(self, path: str, *named: str) -> bytes:
        return self.rule().read(path, self.workspace, named)

    def why(self, path: str, *named: str) -> str:
        with pytest.raises(FileAccessError) as refused:
            self.read(path, *named)
        return refused.value.why


def planted(top: Path) -> Tree:
    tree = Tree(top)
    for folder in ("workspace/src", "workspace/home/dragoman", "outside", "allowed", "workspace2"):
        (top / folder).mkdir(parents=True)
    for name in ("outside/secret", "workspace2/secret", "workspace/home/dragoman/tokens.json"):
        (top / name).write_bytes(SECRET)
    for name in ("workspace/src/a.py", "allowed/lib.py"):
        (top / name).write_bytes(INSIDE)
    links = {
        "workspace/within": "src",
        "workspace/within_absolute": str(top / "workspace" / "src"),
        "workspace/out": "../outside",
        "workspace/out_file": str(top / "outside" / "secret"),
        "workspace/to_allowed": str(top / "allowed"),
        "workspace/loop": "loop",
        "workspace/src/up": "..",
        "workspace/root": "/",
        "workspace/fd": "/proc/self/fd",
    }
    for name, target in links.items():
        (top / name).symlink_to(target)
    os.mkfifo(top / "workspace" / "pipe")
    return tree


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    return planted(tmp_path)


@pytest.mark.parametrize(
    "name",
    ["src/a.py", "within/a.py", "within_absolute/a.py", "to_allowed/lib.py", "src/up/src/a.py", "../allowed/lib.py"],
)
def test_links_that_stay_within_are_followed(tree: Tree, name: str) -> None:
    assert tree.read(f"{tree.workspace}/{name}") == INSIDE


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("../outside/secret", "outside"),
        ("../workspace2/secret", "outside"),
        ("out/secret", "outside"),
        ("out_file", "outside"),
        ("src/up/out/secret", "outside"),
        ("root/etc/passwd", "outside"),
        ("root/proc/self/environ", "private"),
        ("home/dragoman/tokens.json", "private"),
        ("loop", "missing"),
        ("nothing.py", "missing"),
        ("src/a.py/further", "missing"),
        ("src", "not_a_file"),
        ("", "not_a_file"),
        ("pipe", "not_a_file"),
        ("a\0b", "bad_path"),
        ("x" * 5000, "bad_path"),
        ("x" * 300, "bad_path"),
    ],
)
def test_what_leads_elsewhere_or_is_not_a_file_is_refused_with_the_reason(tree: Tree, name: str, why: str) -> None:
    assert tree.why(f"{tree.workspace}/{name}") == why


@pytest.mark.parametrize("path", ["/proc/self/environ", "/proc/self/mem", "/dev/zero", "/sys/kernel/vmcoreinfo"])
def test_the_kernels_own_files_are_refused_also_where_a_stack_names_them(tree: Tree, path: str) -> None:
    assert tree.why(path, path) == "private"


def test_an_open_file_of_ours_is_not_a_way_out(tree: Tree) -> None:
    with (tree.top / "outside" / "secret").open() as stream:
        assert tree.why(f"/proc/self/fd/{stream.fileno()}") == "outside"
        assert tree.why(f"{tree.workspace}/fd/{stream.fileno()}") == "outside"


@pytest.mark.parametrize("path", ["relative.py", "//server/share/x", ""])
def test_a_path_that_is_not_plainly_absolute_is_refused(tree: Tree, path: str) -> None:
    assert tree.why(path) == "bad_path"


def test_a_file_that_a_live_stack_names_is_read_wherever_it_lies(tree: Tree) -> None:
    path = str(tree.top / "outside" / "secret")
    assert tree.why(path) == "outside"
    assert tree.read(path, path) == SECRET


def test_a_folder_that_may_be_passed_but_not_listed_is_passed(tree: Tree) -> None:
    (tree.workspace / "src").chmod(0o311)
    assert tree.read(f"{tree.workspace}/src/a.py") == INSIDE


@pytest.mark.parametrize(("more", "whole"), [(-1, True), (0, True), (1, False), (2, False)])
def test_a_file_is_read_up_to_the_limit_and_not_cut_silently(tree: Tree, more: int, whole: bool) -> None:
    large = tree.workspace / "large.py"
    large.write_bytes(b"x" * (MAX_FILE_BYTES + more))
    if whole:
        assert len(tree.read(str(large))) == MAX_FILE_BYTES + more
    else:
        assert tree.why(str(large)) == "too_large"


def open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def test_nothing_stays_open(tree: Tree) -> None:
    before = open_files()
    for name in ("src/a.py", "out/secret", "src", "pipe", "nothing.py", "src/a.py/further", "loop"):
        try:
            tree.read(f"{tree.workspace}/{name}")
        except FileAccessError:
            continue
    assert open_files() == before


_NAMES = st.sampled_from(
    [
        *(
            "..",
            ".",
            "",
            "src",
            "up",
            "out",
            "out_file",
            "within",
            "within_absolute",
            "to_allowed",
            "root",
            "fd",
            "loop",
        ),
        *(
            "secret",
            "a.py",
            "lib.py",
            "workspace",
            "workspace2",
            "outside",
            "allowed",
            "home",
            "dragoman",
            "tokens.json",
        ),
        *("proc", "self", "cwd", "etc", "passwd", "pipe", "x\0y", "é", "\udcff", "a" * 256),
    ]
)


@pytest.fixture(scope="module")
def lasting_tree() -> Iterator[Tree]:
    with tempfile.TemporaryDirectory() as folder:
        yield planted(Path(os.path.realpath(folder)))


@given(names=st.lists(_NAMES, max_size=8), start=st.sampled_from(["", "/", "//", "{workspace}/", "{workspace}/../"]))
@settings(max_examples=400, deadline=None)
def test_no_combination_of_names_reads_what_lies_outside(lasting_tree: Tree, names: list[str], start: str) -> None:
    path = start.replace("{workspace}", str(lasting_tree.workspace)) + "/".join(names)
    try:
        found = lasting_tree.read(path)
    except FileAccessError:
        return
    assert found == INSIDE
    real = Path(os.path.realpath(path))
    assert real.is_relative_to(lasting_tree.workspace) or real.is_relative_to(lasting_tree.allowed)


SWAPS = 10_000


@contextmanager
def swapped(tree: Tree, swaps: int) -> Iterator[threading.Event]:
    """`workspace/turn` is the folder within and the one outside, in turn; set once it has been swapped often enough."""
    turn, next_turn, done = tree.workspace / "turn", tree.workspace / "next", threading.Event()
    (tree.workspace / "src" / "secret").write_bytes(INSIDE)
    turn.symlink_to("src")
    ending = threading.Event()

    def swap() -> None:
        for number in range(10**9):
            next_turn.symlink_to("../outside" if number % 2 else "src")
            next_turn.rename(turn)
            if number >= swaps:
                done.set()
            if ending.is_set():
                return

    thread = threading.Thread(target=swap)
    thread.start()
    try:
        yield done
    finally:
        ending.set()
        thread.join()


@pytest.mark.timeout(120)
def test_a_link_swapped_ten_thousand_times_never_shows_the_file_outside(tree: Tree) -> None:
    rule, seen = tree.rule(), {"read": 0, "refused": 0}
    with swapped(tree, SWAPS) as done:
        while not done.is_set():
            try:
                assert rule.read(f"{tree.workspace}/turn/secret", tree.workspace) == INSIDE
                seen["read"] += 1
            except FileAccessError:
                seen["refused"] += 1
    assert min(seen.values()) > 10, seen


@pytest.mark.timeout(120)
def test_the_same_swaps_leak_where_the_place_judged_is_opened_by_its_name(
    tree: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The guard switched off: judged and then opened by the path that was asked for, as is usually done."""
    asked = f"{tree.workspace}/turn/secret"
    monkeypatch.setattr(file_access, "_open_without_links", lambda _: os.open(asked, os.O_RDONLY))
    with swapped(tree, 0):
        for _ in range(200_000):
            try:
                if tree.rule().read(asked, tree.workspace) == SECRET:
                    return
            except FileAccessError:
                continue
    pytest.fail("the race was never lost: this test would not notice a missing guard")


def test_a_path_of_the_longest_length_is_still_judged(tree: Tree) -> None:
    path = f"{tree.workspace}/" + "d/" * ((MAX_PATH_CHARACTERS - len(str(tree.workspace)) - 1) // 2)
    assert tree.why(path[:MAX_PATH_CHARACTERS]) in {"missing", "bad_path"}
