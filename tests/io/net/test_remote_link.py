"""What is wrong on the way to another machine is said in a sentence, with what helps, and nothing there is believed."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from dragoman.core.errors import DragomanError
from dragoman.io.drivers.control_client import ControlClient, DaemonPeer
from dragoman.io.net import remote_link
from dragoman.io.net.remote_errors import may_pass
from dragoman.io.net.remote_link import RemoteLink
from dragoman.io.net.targets import Target
from tests.daemons import eventually

ROOT = Path(__file__).parents[3]
FAR_SIDE = ROOT / "tests" / "support" / "far_side.py"


def target(kind: str) -> Target:
    return Target("ssh:build1", (sys.executable, str(FAR_SIDE), kind), by_hand="ssh build1")


def error_of(kind: str) -> DragomanError:
    with pytest.raises(DragomanError) as caught:
        RemoteLink.open(target(kind))
    return caught.value


@pytest.fixture
def opened() -> Iterator[list[RemoteLink]]:
    links: list[RemoteLink] = []
    yield links
    for link in links:
        link.socket.close()


@pytest.mark.parametrize(
    ("kind", "code", "words"),
    [
        ("old", "peer_too_old", "Dragoman 0.0.9 on ssh:build1 is too old for 0.1.0 on this machine. Run `dragoman"),
        ("new", "peer_too_new", "Dragoman 9.0.0 on ssh:build1 is too new for 0.1.0 on this machine. Update it here"),
        ("other_protocol", "peer_too_new", "Update it here"),
        ("not_dragoman", "not_dragoman", "Welcome to the router"),
        ("long_line", "not_dragoman", "is not Dragoman"),
        ("no_host_key", "host_key_unknown", "Connect once in your own terminal and check the key: `ssh build1`"),
        ("changed_host_key", "host_key_changed", "its host key is not the one that ssh remembers"),
        ("no_login", "login_refused", "until `ssh build1 true` asks nothing"),
        ("no_network", "unreachable", "port 22: Connection refused. Check"),
        ("no_name", "unreachable", "Could not resolve hostname"),
        ("no_container", "target_missing", "No such container: web"),
        ("no_pod", "target_missing", 'pods "api" not found'),
        ("no_dragoman", "not_installed", "Dragoman is not installed on ssh:build1"),
        ("no_dragoman_in_container", "not_installed", "`dragoman doctor --on ssh:build1` says what else is missing"),
        ("no_dragoman_by_runc", "not_installed", "Dragoman is not installed on ssh:build1"),
        ("no_container_in_pod", "target_missing", 'container not found ("web")'),
        ("old_dragoman", "not_installed", "Run `dragoman setup --on ssh:build1`"),
        ("floods_errors", "far_side_failed", "the last line"),
    ],
)
def test_each_cause_has_its_own_words(kind: str, code: str, words: str) -> None:
    error = error_of(kind)
    assert error.code == code
    assert words in str(error)


@pytest.mark.parametrize("kind", ["escapes", "refuses"])
def test_no_terminal_escape_of_the_far_side_is_passed_on(kind: str) -> None:
    error = error_of(kind)
    text = str(error)
    assert error.code in {"far_error", "far_side_failed"}
    assert "\x1b" not in text
    assert "\x07" not in text
    assert "\n" not in text
    assert "ssh:build1" in text


def test_a_program_that_is_not_here_is_named() -> None:
    with pytest.raises(DragomanError) as caught:
        RemoteLink.open(Target("docker:web", ("no-such-docker", "exec", "web")))
    assert str(caught.value).startswith("Cannot reach docker:web: `no-such-docker` was not found.")


def test_what_a_person_must_set_up_is_not_tried_again() -> None:
    assert not may_pass(error_of("no_login"))
    assert not may_pass(error_of("old"))
    assert may_pass(error_of("no_network"))


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("says_nothing", "ssh:build1 did not answer within 1 seconds. `dragoman doctor"),
        (
            "asks_for_a_touch",
            ": Confirm user presence for key ED25519-SK. If it waits for you, run `ssh build1`",
        ),
        ("greets_and_hangs", "The daemon on ssh:build1 does not answer."),
    ],
)
def test_a_side_that_hangs_before_it_is_ready_is_noticed_soon(
    kind: str, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remote_link, "SPEAKS_WITHIN_S", 1.5 if kind == "greets_and_hangs" else 1.0)
    began = time.monotonic()
    error = error_of(kind)
    assert words in str(error)
    assert time.monotonic() - began < 8
    assert may_pass(error)


def test_a_hang_before_a_side_is_ready_is_noticed_within_ten_seconds() -> None:
    assert remote_link.SPEAKS_WITHIN_S <= 10


def test_a_daemon_that_starts_slowly_is_waited_for(opened: list[RemoteLink], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote_link, "SPEAKS_WITHIN_S", 1.5)
    assert client_of("starts_slowly", opened).welcome.version == "0.1.0"


def test_what_the_command_asks_a_person_is_shown_while_it_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote_link, "SPEAKS_WITHIN_S", 1.0)
    monkeypatch.setattr(remote_link, "_SHOWN_AFTER_S", 0.1)
    shown: list[str] = []
    with pytest.raises(DragomanError):
        RemoteLink.open(target("asks_for_a_touch"), notice=shown.append)
    assert shown == ["Confirm user presence for key ED25519-SK"]


class Translator:
    """As far as a link needs one; it fails as a mistake of ours would."""

    def __init__(self, *, is_required: bool) -> None:
        self.is_required = is_required

    def first_query(self) -> bytes:
        return b"folders"

    def handle_first_reply(self, payload: bytes) -> bool:
        raise AssertionError(payload)

    def to_far(self, data: bytes) -> bytes:
        raise TypeError("cannot use 'list'\x1b[2J as a key")

    to_near = to_far

    def next_query(self) -> bytes | None:
        return None

    def handle_reply(self, payload: bytes | None) -> bytes:
        raise AssertionError(payload)


def test_paths_that_nobody_asked_to_translate_do_not_prevent_a_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote_link, "_FINDS_WITHIN_S", 0.3)
    RemoteLink.open(target("answers_no_query"), translator=Translator(is_required=False)).socket.close()
    with pytest.raises(DragomanError) as caught:
        RemoteLink.open(target("answers_no_query"), translator=Translator(is_required=True))
    assert caught.value.code == "far_side_silent"


def test_an_error_of_ours_in_the_thread_of_a_link_is_said(
    opened: list[RemoteLink], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Translator, "handle_first_reply", lambda *_: True)
    monkeypatch.setattr(Translator, "first_query", lambda _: b"folders")
    link = RemoteLink.open(target("answers_queries"), translator=Translator(is_required=True))
    opened.append(link)
    link.socket.settimeout(10)
    link.socket.sendall(b"a message")
    assert link.socket.recv(1) == b""
    assert str(link.fault).startswith(
        "The connection to ssh:build1 was closed, because Dragoman failed on this machine: TypeError: cannot use 'list'"
    )
    assert "\x1b" not in str(link.fault)
    eventually(lambda: link._process.poll() is not None)


def client_of(kind: str, opened: list[RemoteLink], silent_s: float = 9.0) -> ControlClient:
    link = RemoteLink.open(target(kind), silent_s=silent_s)
    opened.append(link)
    return ControlClient.over(link.socket, peer=DaemonPeer(fault=lambda: link.fault), least_s=12)


def test_a_login_script_may_print_before_dragoman_answers(opened: list[RemoteLink]) -> None:
    assert client_of("prints_first", opened).welcome.version == "0.1.0"


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("hangs", "ssh:build1 has been silent for"),
        ("dies", "The connection to ssh:build1 broke: Connection to build1 closed by remote host."),
        ("half_a_frame", "The connection to ssh:build1 broke"),
        ("damaged", "The connection to ssh:build1 lost or changed bytes"),
    ],
)
def test_a_call_on_a_link_that_fails_is_answered_with_who_what_and_what_next(
    kind: str, words: str, opened: list[RemoteLink]
) -> None:
    client = client_of(kind, opened, silent_s=1.0)
    began = time.monotonic()
    with pytest.raises(DragomanError) as caught:
        client.call("status")
    assert caught.value.code == "link_lost"
    assert str(caught.value).startswith(words)
    assert "The next call reconnects" in str(caught.value)
    assert time.monotonic() - began < 8
    assert opened[0]._process.poll() is not None, "a command that hangs does not outlive its link"


def test_an_endless_answer_of_a_hostile_far_side_is_refused(opened: list[RemoteLink]) -> None:
    client = client_of("huge_answer", opened)
    with pytest.raises(DragomanError) as caught:
        client.call("status")
    assert caught.value.code == "not_dragoman"
