"""What `page --on` opens in a browser, and for whom it listens, with a far side that lies."""

from __future__ import annotations

import socket
import threading
from typing import Any

import pytest

from dragoman.cli.remote import page
from dragoman.core.errors import DragomanError
from dragoman.io.net.targets import Target
from dragoman.io.net.tcp_listener import listen_tcp_or_any

TARGET = Target("ssh:build1", ("false",), by_hand="ssh build1")
INSTANCE = "0123456789abcdef" * 2


class Client:
    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def call(self, method: str) -> Any:
        assert method == "login_link"
        return self.answer


def test_the_link_has_the_port_here(monkeypatch: pytest.MonkeyPatch) -> None:
    answer = {"link": f"http://{INSTANCE}.localhost:8177/#code=abc.DEF_-1"}
    monkeypatch.setattr(page, "open_target", lambda _: Client(answer))
    assert page._link_here(TARGET, 4000) == f"http://{INSTANCE}.localhost:4000/#code=abc.DEF_-1"


@pytest.mark.parametrize(
    "answer",
    [
        None,
        {"link": 7},
        {"link": "https://evil.example/#code=a.b"},
        {"link": f"http://{INSTANCE}.localhost.evil.example:8177/#code=a.b"},
        {"link": f"http://{INSTANCE}.localhost:8177@evil.example/#code=a.b"},
        {"link": f"http://{INSTANCE}.localhost:8177/path#code=a.b"},
        {"link": "file:///etc/passwd"},
        {"link": f"http://{INSTANCE}.localhost:8177/#code=a.b\n--option"},
    ],
)
def test_nothing_else_that_the_far_side_says_is_opened(answer: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page, "open_target", lambda _: Client(answer))
    with pytest.raises(DragomanError) as caught:
        page._link_here(TARGET, 4000)
    assert caught.value.code == "not_understood"


def test_another_user_gets_no_connection_and_an_error_is_said_once(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    allowed = [False, True, True]
    monkeypatch.setattr(page, "is_from_allowed_user", lambda _: allowed.pop(0))
    with listen_tcp_or_any("127.0.0.1") as listeners:
        listener = page.PageListener(TARGET, listeners.port)
        threading.Thread(target=listener.serve, args=(listeners.sockets,), daemon=True).start()
        for _ in range(3):
            with socket.create_connection(("127.0.0.1", listeners.port), timeout=20) as browser:
                assert browser.recv(1) == b""
    assert capsys.readouterr().err.count("ssh:build1 ended the connection") == 1
