"""Large, many and unread: neither the pump nor the daemon grows, and nothing is lost."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator

import pytest

from tests.daemons import Cli, eventually
from tests.servers.mcp.mcp_fixture import Serving, serving
from tests.servers.mcp.raw_client import RawClient, raw_client

MB = 1_000_000


@pytest.fixture
def served(cli: Cli) -> Iterator[Serving]:
    with serving(cli.paths) as served:
        yield served


@pytest.fixture
def talking(cli: Cli, served: Serving) -> Iterator[RawClient]:
    with raw_client(cli) as client:
        client.initialize()
        yield client


def in_background(client: RawClient, data: bytes) -> threading.Thread:
    def send() -> None:
        with contextlib.suppress(OSError, ValueError):  # the test has left meanwhile
            client.send_bytes(data)

    thread = threading.Thread(target=send, daemon=True)
    thread.start()
    return thread


def calls(count: int, size: int) -> bytes:
    line = '{"jsonrpc":"2.0","id":"%d","method":"tools/call","params":{"name":"large","arguments":{"size":%d}}}\n'
    return "".join(line % (at, size) for at in range(count)).encode()


def settled(measure: Callable[[], float]) -> bool:
    """Whether what is measured has stopped growing: the same at two looks, a tenth of a second apart."""
    before = measure()
    time.sleep(0.1)
    return before == measure()


def test_ten_megabytes_arrive_whole(talking: RawClient) -> None:
    result = talking.call("large", size=10 * MB)
    assert result["structuredContent"] == {"text": "x" * 10 * MB}
    assert talking.ask("ping")["result"] == {}


def test_ten_megabytes_are_taken(talking: RawClient) -> None:
    """Too many for the tool, which is what comes back: the line went through whole."""
    answer = talking.call("large", size=1, other="y" * 10 * MB)
    assert answer["isError"] is True
    assert "large are too large" in answer["content"][0]["text"]


def test_a_result_beyond_reason_is_refused_by_name(talking: RawClient) -> None:
    error = talking.answer(talking.begin_call("large", size=33 << 20))["error"]
    assert error["data"] == {"code": "result_too_large"}
    assert talking.ask("ping")["result"] == {}


@pytest.mark.parametrize("id_first", [True, False])
def test_a_line_beyond_the_cap_is_refused_by_its_id_and_the_next_is_served(talking: RawClient, id_first: bool) -> None:
    begins, ends = (b'{"jsonrpc":"2.0","id":"big",', b"}") if id_first else (b"{", b',"jsonrpc":"2.0","id":"big"}')
    talking.send_bytes(begins + b'"method":"ping","params":{"x":"')
    for _ in range(65):
        talking.send_bytes(b"z" * (1 << 20))
    talking.send_bytes(b'"}' + ends + b"\n")
    refused = talking.answer("big")
    assert refused["error"]["code"] == -32600
    assert refused["error"]["data"] == {"code": "line_too_long"}
    assert talking.ask("ping")["result"] == {}


def test_a_client_that_stops_reading_costs_little_and_loses_nothing(cli: Cli, talking: RawClient) -> None:
    count, size = 2000, 40_000
    before = talking.resident_mb()
    writing = in_background(talking, calls(count, size))
    eventually(lambda: settled(talking.resident_mb), within_s=20)
    assert talking.resident_mb() < before + 20
    with raw_client(cli) as other:
        other.initialize()
        assert other.ask("ping")["result"] == {}
    for at in range(count):
        assert len(talking.answer(str(at))["result"]["structuredContent"]["text"]) == size
    writing.join()


@pytest.mark.parametrize("count", [50, 500])
def test_a_client_that_stops_reading_can_still_leave(served: Serving, talking: RawClient, count: int) -> None:
    in_background(talking, calls(count, 400_000))
    eventually(lambda: settled(talking.resident_mb))
    assert served.links.count("mcp") == 1
    assert talking.leave() == 0
    eventually(lambda: served.links.count("mcp") == 0)


def test_a_daemon_that_does_not_read_costs_the_pump_little(cli: Cli) -> None:
    with raw_client(cli) as client:
        client.initialize()
        pid = client.call("dragoman_status")["structuredContent"]["pid"]
        os.kill(pid, signal.SIGSTOP)
        before = client.resident_mb()
        line = b'{"jsonrpc":"2.0","id":"%d","method":"ping","params":{"x":"' + b"y" * 10_000 + b'"}}\n'
        writing = in_background(client, b"".join(line % at for at in range(2000)))
        eventually(lambda: settled(client.resident_mb))
        assert writing.is_alive(), "the pump took 20 MB that nobody reads"
        assert client.resident_mb() < before + 20
        os.kill(pid, signal.SIGCONT)
        assert all(client.answer(str(at))["result"] == {} for at in range(2000))
        writing.join()


def test_only_so_many_calls_are_open_at_once(served: Serving, talking: RawClient) -> None:
    line = '{"jsonrpc":"2.0","id":"%d","method":"tools/call","params":{"name":"wait","arguments":{}}}\n'
    in_background(talking, "".join(line % at for at in range(1000)).encode())
    for _ in range(100):
        assert served.entered.acquire(timeout=10)
    eventually(lambda: settled(lambda: served.at_once))
    assert 100 < served.most_at_once <= 130
    assert talking.leave() == 0
    eventually(lambda: served.at_once == 0)


def test_a_cancelled_call_ends_and_is_not_answered(served: Serving, talking: RawClient) -> None:
    waiting = talking.begin_call("wait")
    assert served.entered.acquire(timeout=10)
    talking.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": waiting}})
    assert served.cancelled.wait(10)
    assert talking.ask("ping")["id"] == waiting + 1


def test_the_calls_of_a_client_that_leaves_end(served: Serving, talking: RawClient) -> None:
    talking.begin_call("wait")
    assert served.entered.acquire(timeout=10)
    assert talking.leave() == 0
    assert served.cancelled.wait(10)


def test_open_calls_learn_of_an_orderly_end_as_a_restart(cli: Cli) -> None:
    with raw_client(cli) as client:
        with serving(cli.paths) as served:
            client.initialize()
            waiting = client.begin_call("wait")
            assert served.entered.acquire(timeout=10)
        assert client.answer(waiting)["error"]["data"] == {"code": "daemon_restarted"}


def test_a_failure_inside_is_reported_without_its_inside(talking: RawClient) -> None:
    result = talking.call("fail")
    assert result["isError"] is True
    assert result["content"][0]["text"].startswith("internal_error: ")
    assert "secret" not in str(result)


def test_an_error_has_its_code_in_text_and_in_data(talking: RawClient) -> None:
    result = talking.call("refuse")
    data = {"code": "journal_closed", "message": "No daemon is running.", "hint": "Start one with `dragoman up`."}
    assert result["content"][0]["text"] == "journal_closed: No daemon is running. Start one with `dragoman up`."
    assert result["_meta"]["dragoman/error"] == data


def test_text_that_is_not_unicode_arrives(talking: RawClient) -> None:
    result = talking.call("odd")
    assert result["content"][0]["text"] == "a\ud800b\0\u2028"
    assert result["structuredContent"] == {"text": "\udcff\n"}
