"""What goes into a shared session: everything redacted, nothing of the user's home, and no value of a variable."""

from __future__ import annotations

import json
from typing import Any

import pytest

from dragoman.cli.debug.report import ReportContent
from dragoman.cli.handover import contents
from dragoman.cli.handover.contents import RecordedSession, ShareBuilder, ShareContents
from dragoman.cli.handover.home_folder import HomeFolder
from dragoman.core.redaction import Redactor
from dragoman.protocols.share import SharedLaunch, SharedStop, read_share
from tests.protocols.share.test_share_file import file_of

HOME = "/home/ada-private"
SECRET = "sk-proj-abcdefghijklmnopqrstuvwx1234567890"
AT_NS = 1_000 * 10**9


def entry(kind: str, stop: dict[str, Any] | None = None, **body: Any) -> dict[str, Any]:
    return {"at_ns": AT_NS, "kind": kind, "by": "shell", "text": f"debug {kind} {SECRET}", "body": body, "stop": stop}


def stop(number: int, **values: str) -> dict[str, Any]:
    variables = [(name, value, "str") for name, value in values.items()]
    frames = [("pay", f"{HOME}/shop/pay.py", 4, False)]
    seen = (frames, variables, ["total"], 0, ("ValueError", f"bad {SECRET}"))
    return {"number": number, "at_ns": AT_NS, "reason": "breakpoint", "seen": seen}


def recording(*rows: list[Any]) -> bytes:
    header = {"version": 2, "width": 80, "height": 24, "timestamp": 990, "env": {"SHELL": f"{HOME}/bin/zsh"}}
    lines = [{**header, "dragoman": {"started_ms": 990_000, "id": "t"}}, *rows]
    return b"".join(json.dumps(it).encode() + b"\n" for it in lines)


def recorded(**changed: Any) -> RecordedSession:
    about = {"session": "debug-1", "title": "pay.py", "workspace": f"{HOME}/shop", "output": ""}
    entries = [entry("started"), entry("stopped", stop(1, total="90", password=f"'{'hunter2 and more'}'"))]
    launch = {
        "configuration_name": "",
        "configuration": {
            "type": "python",
            "program": f"{HOME}/shop/pay.py",
            "env": {"TOKEN_FILE": "/x", "LANG": "C", "MODE": "fast"},
            "linux": {"env": {"DEEP": "1"}, "environment": [{"name": "LISTED", "value": "v"}]},
            "steps": [{"env": {"IN_LIST": "fast"}}, [{"environment": [{"name": "DEEPER", "value": "fast"}]}], "plain"],
        },
        "program": f"{HOME}/shop/pay.py",
        "args": ["--api-key", SECRET, f"{HOME}/shop/in.csv"],
        "cwd": f"{HOME}/shop",
        "env": {"DATABASE": "postgres://u:p@h/db", "TZ": "UTC"},
        "inputs": ["pin"],
        "stdin": f"key={SECRET}",
        "no_debug": False,
    }
    points = [
        {"id": 3, "kind": "line", "path": f"{HOME}/shop/pay.py", "line": 4, "condition": "total > 1", "owner": "x"}
    ]
    given = {"content": ReportContent(about, entries), "output": f"key {SECRET} in {HOME}/shop\n", "launch": launch}
    return RecordedSession(**{**given, "breakpoints": points, "recording": b"", **changed})


def built(**changed: Any) -> ShareContents:
    return ShareBuilder(Redactor(), HomeFolder((HOME,))).contents(recorded(**changed))


def test_no_part_has_a_secret_or_the_name_of_the_home() -> None:
    rows = [[11.0, "o", f"key {SECRET[:20]}"], [11.1, "o", f"{SECRET[20:]} in {HOME[:9]}"]]
    rows += [[11.2, "o", HOME[9:14]], [11.3, "r", "90x20"], [11.4, "o", f"{HOME[14:]}/shop\r\n"]]
    found = built(recording=recording(*rows))
    assert set(found.parts) == {
        "events.jsonl", "stops.jsonl", "output.txt", "recording.cast", "launch.json", "report.html",
    }  # fmt: skip
    for name, data in found.parts.items():
        for private in (SECRET, SECRET[:20], SECRET[20:], "hunter2", "ada-private", "postgres://u:p", "fast"):
            assert private.encode() not in data, (name, private)
        assert b"redacted" in data, name
    assert found.redactions >= 5
    assert read_share(file_of(found.parts)).output == "key <redacted 42 chars> in ~/shop\n"


def test_names_and_types_of_a_stop_are_texts_of_the_program_too() -> None:
    frames = [(f"call {SECRET}", f"{HOME}/pay.py", 4, False)]
    variables = [(f"{HOME}/key", "1", f"Row<{HOME}/row>"), (SECRET, "2", SECRET)]
    seen = (frames, variables, [f"{HOME}/key", SECRET], 0, (f"Error {SECRET}", f"in {HOME}"))
    odd = {"number": 1, "at_ns": AT_NS, "reason": f"exception {SECRET}", "seen": seen}
    about = {"session": "debug-1", "title": "pay.py", "workspace": f"{HOME}/shop", "output": ""}
    found = built(content=ReportContent(about, [entry("stopped", odd)]))
    for name, data in found.parts.items():
        assert SECRET.encode() not in data, name
        assert HOME.encode() not in data, name
    kept = read_share(file_of(found.parts)).stops[0]
    assert kept.changed == tuple(it.name for it in kept.variables)


def test_values_of_variables_stay_here_unless_they_are_harmless() -> None:
    launch = read_share(file_of(built().parts)).launch
    assert isinstance(launch, SharedLaunch)
    assert launch.env == {"TZ": "UTC"}
    assert launch.configuration["env"] == {"LANG": "C"}
    assert launch.configuration["linux"] == {"env": {}, "environment": []}
    assert launch.configuration["steps"] == [{"env": {}}, [{"environment": []}], "plain"]
    assert launch.left_out == ("DATABASE", "DEEP", "DEEPER", "IN_LIST", "LISTED", "MODE", "TOKEN_FILE", "pin")
    assert (launch.workspace, launch.program, launch.args[2]) == ("~/shop", "~/shop/pay.py", "~/shop/in.csv")
    assert [(it.path, it.line, it.condition) for it in launch.breakpoints] == [("~/shop/pay.py", 4, "total > 1")]


def test_only_what_the_terminal_showed_meanwhile_is_in_the_recording() -> None:
    rows = [[0.5, "o", "mail from bob\r\n"], [10.1, "o", "stopped\r\n"], [10.2, "i", "typed"], [99.0, "o", "later\r\n"]]
    found = built(recording=recording(*rows)).parts["recording.cast"]
    header, *lines = map(json.loads, found.splitlines())
    assert header == {"version": 2, "width": 80, "height": 24, "timestamp": 1000}
    assert lines == [[0.0, "o", "stopped\r\n"]]


def test_what_does_not_fit_is_left_out_and_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contents, "_PART_ROOM", 1500)
    stops = [entry("stopped", stop(number, total="9" * 300)) for number in range(1, 9)]
    about = {"session": "debug-1", "title": "pay.py", "workspace": f"{HOME}/shop", "output": ""}
    found = built(content=ReportContent(about, stops), output="x" * 2000)
    kept = read_share(file_of(found.parts)).stops
    assert [it.number for it in kept] == [7, 8]
    assert isinstance(kept[0], SharedStop)
    assert (found.left_out["stops.jsonl"], found.left_out["output.txt"]) == (6, 500)
    assert "report.html" not in found.parts


def test_a_session_that_is_not_known_any_more_has_no_configuration() -> None:
    found = built(launch=None, breakpoints=[])
    assert "launch.json" not in found.parts
    assert found.breakpoints == 0
