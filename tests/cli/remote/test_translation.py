"""The paths of one connection, with a far side that is played by the test and may lie."""

from __future__ import annotations

import base64
import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dragoman.cli.remote.folder_maps import FolderMap
from dragoman.cli.remote.message_streams import DapStream, LineStream
from dragoman.cli.remote.translation import Translation
from dragoman.core.errors import DragomanError
from dragoman.workspace.file_comparison import line_hashes

THERE = "/srv/shop"
HELLO = {"dragoman": 1, "role": "mcp", "about": {"workspace": THERE}}


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shop = Path(os.path.realpath(tmp_path)) / "shop"
    shop.mkdir()
    (shop / "orders.py").write_text("a\nb\nc\n")
    monkeypatch.chdir(shop)
    return shop


def translation(shop: Path, role: str = "mcp", **there: Any) -> Translation:
    made = Translation("ssh:a", role, [FolderMap(shop, "srv/shop")], "srv/shop")
    assert json.loads(made.first_query() or b"") == {"query": "folders", "folders": ["srv/shop"]}
    folder = {"path": THERE, "real": THERE, "is_folder": True, **there}
    assert made.handle_first_reply(json.dumps({"folders": [folder]}).encode())
    return made


def line(message: Any) -> bytes:
    return LineStream().encode(message)


def stopped(path: str, session: str = "s1", role: str = "mcp") -> dict[str, Any]:
    data = {"status": "stopped", "stop_event_data": {"session_id": session, "source": {"path": path}}}
    if role == "tools":
        return {"id": 1, "result": {"data": data, "lines": ["stopped"], "is_error": False}}
    content = [{"type": "text", "text": "stopped"}]
    return {"jsonrpc": "2.0", "id": 1, "result": {"content": content, "structuredContent": data}}


def hashes(text: str) -> bytes:
    lines = text.encode().split(b"\n")
    encoded = base64.b64encode(b"".join(line_hashes(lines, 0, 1, 5000))).decode()
    return json.dumps({"lines": len(lines), "hashes": encoded}).encode()


NOTE = "note: orders.py differs here and on ssh:a, first at line 2"


def test_messages_are_translated_both_ways_and_the_hello_is_not(shop: Path) -> None:
    made = translation(shop)
    assert made.to_far(line(HELLO)) == line(HELLO)
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"arguments": {"file_path": f"{shop}/a.py"}}}
    sent = made.to_far(line(call)[:20]) + made.to_far(line(call)[20:])
    assert json.loads(sent)["params"]["arguments"] == {"file_path": f"{THERE}/a.py"}
    assert made.to_near(b'{"jsonrpc": "2.0",  "id": 1}\n') == b'{"jsonrpc": "2.0",  "id": 1}\n'
    assert json.loads(made.to_near(line({"id": 1, "result": f"{THERE}/a.py:3"})))["result"] == f"{shop}/a.py:3"


def test_the_real_names_of_the_folders_are_known_too(shop: Path) -> None:
    link = shop.parent / "link"
    link.symlink_to(shop)
    made = Translation("ssh:a", "tools", [FolderMap(link, "s")], "s")
    folder = {"path": "/home/me/s", "real": "/data/s", "is_folder": True}
    assert made.handle_first_reply(json.dumps({"folders": [folder]}).encode())
    sent = made.to_far(
        line({"id": 1, "method": "call", "params": {"arguments": {"program": f"{shop}/a.py", "cwd": str(link)}}})
    )
    assert json.loads(sent)["params"]["arguments"] == {"program": "/home/me/s/a.py", "cwd": "/home/me/s"}
    assert (
        json.loads(made.to_near(line({"result": ["/home/me/s/a.py", "/data/s/a.py"]})))["result"]
        == [f"{link}/a.py"] * 2
    )


def test_dap_messages_are_translated_and_keep_their_frames(shop: Path) -> None:
    made, frame = translation(shop, "dap"), DapStream().encode
    assert made.to_far(line(HELLO)) == line(HELLO)
    launch = {"seq": 1, "type": "request", "command": "launch", "arguments": {"anything": [f"{shop}/a.py"]}}
    place = {
        "seq": 2,
        "type": "request",
        "command": "setBreakpoints",
        "arguments": {"source": {"path": f"{shop}/a.py"}},
    }
    code = {"seq": 3, "type": "request", "command": "evaluate", "arguments": {"expression": f"'{shop}/a.py'"}}
    expected = [
        {**launch, "arguments": {"anything": [f"{THERE}/a.py"]}},
        {**place, "arguments": {"source": {"path": f"{THERE}/a.py"}}},
        code,
    ]
    assert made.to_far(b"".join(map(frame, (launch, place, code)))) == b"".join(map(frame, expected))
    output = {"seq": 1, "type": "event", "event": "output", "body": {"output": f'File "{THERE}/a.py", line 3'}}
    assert made.to_near(line({"dragoman": 1}) + frame(output)) == line({"dragoman": 1}) + frame(
        {**output, "body": {"output": f'File "{shop}/a.py", line 3'}}
    )


@pytest.mark.parametrize("role", ["mcp", "tools"])
def test_a_file_that_differs_is_named_at_the_first_stop_in_it(shop: Path, role: str) -> None:
    made = translation(shop, role)
    assert made.to_near(line(stopped(f"{THERE}/orders.py", role=role)) + b'{"id":2}\n') == b""
    asked = json.loads(made.next_query() or b"")
    assert asked["path"] == f"{THERE}/orders.py"
    first, second = made.handle_reply(hashes("a\nB\nc")).splitlines()
    result = json.loads(first)["result"]
    data = result["structuredContent" if role == "mcp" else "data"]
    assert data["notes"] == [{"message": NOTE, "about": ""}]
    assert data["stop_event_data"]["source"]["path"] == f"{shop}/orders.py"
    assert (result["lines"][-1] if role == "tools" else result["content"][-1]["text"]) == NOTE
    assert second == b'{"id":2}'
    assert made.next_query() is None
    assert NOTE.encode() not in made.to_near(line(stopped(f"{THERE}/orders.py", role=role)))
    made.to_near(line(stopped(f"{THERE}/orders.py", "s2", role)))  # it is compared again, and was named already
    assert NOTE.encode() not in made.handle_reply(hashes("a\nB\nc"))
    made.to_near(line(stopped(f"{THERE}/orders.py", "s3", role)))
    assert b"first at line 3" in made.handle_reply(hashes("a\nb\nC"))


def test_a_client_that_gets_text_alone_reads_of_a_differing_file_too(shop: Path) -> None:
    made = translation(shop)
    text = "stopped: breakpoint 1\nat: orders.py:2 total\nlocals: …"
    answer = {"jsonrpc": "2.0", "id": 1, "result": {"content": [{"type": "text", "text": text}]}}
    assert made.to_near(line(answer)) == b""
    result = json.loads(made.handle_reply(hashes("a\nB\nc")))["result"]
    assert [it["text"] for it in result["content"]] == [text, NOTE]
    elsewhere = {**answer, "result": {"content": [{"type": "text", "text": text.replace("orders", "other")}]}}
    assert made.to_near(line(elsewhere)) == line(elsewhere)


def test_an_editor_is_told_in_its_console(shop: Path) -> None:
    made, frame = translation(shop, "dap"), DapStream().encode
    answer = {
        "seq": 5,
        "type": "response",
        "command": "stackTrace",
        "body": {"stackFrames": [{"source": {"path": f"{THERE}/orders.py"}}]},
    }
    assert made.to_near(line({}) + frame(answer)) == line({})
    pieces = DapStream()
    result, shown = pieces.feed(line({}) + made.handle_reply(hashes("a\nB\nc")))[1:]
    assert result.message["event"] == "output"
    assert result.message["body"]["output"] == f"{NOTE}\n"
    assert shown.message["body"]["stackFrames"][0]["source"]["path"] == f"{shop}/orders.py"


def test_the_same_file_is_not_named_and_one_that_cannot_be_compared_is_not_either(shop: Path) -> None:
    made = translation(shop)
    made.to_near(line(stopped(f"{THERE}/orders.py")))
    assert b"note" not in made.handle_reply(hashes("a\nb\nc"))
    (shop / "orders.py").write_text("changed\n")  # a new version of the file here
    for lie in (None, b"{}", b"no json", b'{"lines":-1,"hashes":"AAAA"}', b"[" * 99999):
        made.to_near(line(stopped(f"{THERE}/orders.py", str(lie)[:9])))
        assert made.next_query() is not None
        assert made.handle_reply(lie).endswith(b"}\n")
        assert made.next_query() is None


@pytest.mark.parametrize(
    "path",
    [
        f"{THERE}/\ud800.py",
        "/etc/passwd",
        f"{THERE}/../../etc/passwd",
        f"{THERE}/linked/passwd",
        f"{THERE}/missing.py",
        THERE,
        7,
        None,
    ],
)
def test_no_other_file_is_compared_whatever_the_far_side_says(shop: Path, path: Any) -> None:
    (shop / "linked").symlink_to("/etc")
    made = translation(shop)
    assert made.to_near(line(stopped(path))) != b""
    assert made.next_query() is None


_TEXTS = st.sampled_from([THERE, f"{THERE}/orders.py", "stackTrace", "launch", "\ud800", "", "x"])
_NAMES = st.sampled_from(
    [
        *("command", "arguments", "params", "body", "stackFrames", "source", "path", "result", "structuredContent"),
        *("data", "stop_event_data", "session_id", "notes", "content", "lines", "seq", "method", "id", "needs_trust"),
    ]
)
_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | _TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_NAMES, inner, max_size=5),
    max_leaves=12,
)


@pytest.mark.parametrize("role", ["mcp", "dap", "tools"])
@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(message=_VALUES, stop=st.booleans(), reply=_VALUES)
def test_messages_of_any_shape_pass(shop: Path, role: str, message: Any, stop: bool, reply: Any) -> None:
    """Either side may send what no protocol knows: that must not end the connection."""
    made = translation(shop, role)
    encode = DapStream().encode if role == "dap" else line
    if stop and isinstance(message, dict):
        frames = [{"source": {"path": f"{THERE}/orders.py"}}]
        message = {"command": "stackTrace", **message, "body": {"stackFrames": frames}}
        if role != "dap":
            message = {**message, "result": {**stopped(f"{THERE}/orders.py", role=role)["result"], "content": reply}}
    sent = (line(HELLO) if role == "dap" else b"") + encode(message)
    assert made.to_far(sent)
    answered = made.to_near(sent)
    while made.next_query() is not None:
        answered += made.handle_reply(json.dumps(reply).encode())
    assert answered.count(b"\n") >= sent.count(b"\n")


def test_what_has_to_be_trusted_there_is_shown_as_it_is_named_there(shop: Path) -> None:
    made = translation(shop, "tools")
    refused = line({"id": 1, "result": {"data": {"code": "needs_trust", "message": f"{THERE} is not trusted"}}})
    assert made.to_near(refused) == refused


@pytest.mark.parametrize(
    "reply",
    [
        {},
        {"folders": []},
        {"folders": [7]},
        {"folders": [{"path": THERE, "real": THERE, "is_folder": False}]},
        {"folders": [{"path": "/", "real": "/..", "is_folder": True}]},
        {"folders": [{"path": "/a\x1b[2J", "real": "relative", "is_folder": True}]},
        {"folders": [{"path": "/" + "a" * 5000, "is_folder": True}]},
        {"folders": [{"path": "/srv/\ud800", "real": "/srv/\udce9", "is_folder": True}]},
    ],
)
def test_a_folder_that_is_not_there_is_an_error_whatever_else_the_far_side_says(shop: Path, reply: Any) -> None:
    made = Translation("ssh:a", "mcp", [FolderMap(shop, "srv/shop")], "")
    with pytest.raises(DragomanError, match="srv/shop is not a folder on ssh:a"):
        made.handle_first_reply(json.dumps(reply).encode())


def checkout_reply(origin: str, roots: Any) -> bytes:
    return json.dumps({"checkout": {"path": THERE, "real": THERE, "origin": origin, "roots": roots}}).encode()


def test_checkouts_find_each_other_by_their_origin(shop: Path) -> None:
    (shop / ".git").mkdir()
    (shop / ".git" / "config").write_text('[remote "origin"]\n\turl = git@example.org:me/shop.git\n')
    made = Translation("ssh:a", "mcp", [], "srv/shop")
    asked = json.loads(made.first_query() or b"")
    assert asked["checkout"] == "srv/shop"
    assert "example.org" not in str(asked)
    assert made.handle_first_reply(checkout_reply(asked["origin"], []))
    assert json.loads(made.to_near(line({"result": f"{THERE}/a.py"})))["result"] == f"{shop}/a.py"
    for reply in (checkout_reply("", []), checkout_reply("other", ["0" * 40]), checkout_reply("x", 7), b"{}", b"x"):
        again = Translation("ssh:a", "mcp", [], "srv/shop")
        again.first_query()
        assert not again.handle_first_reply(reply)


def test_without_a_map_a_checkout_or_a_workspace_there_nothing_is_asked(shop: Path) -> None:
    assert Translation("ssh:a", "mcp", [], "srv/shop").first_query() is None
    (shop / ".git").mkdir()
    assert Translation("ssh:a", "mcp", [], "").first_query() is None
