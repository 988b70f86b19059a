"""What a program writes in the place of a record: anything at all, as much as it likes, and secrets."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

import pytest

from dragoman.core.redaction import Redactor
from dragoman.debug.evidence.calls.injection import _READ_CHARACTERS, _read_bounded, parse_record
from dragoman.tools.debug.values import ValueFormatter
from dragoman.tools.evidence.calls import RecordRedactor
from tests.debug.evidence.evidence_tools import agent_in

TOKEN = "sk-live-canary-0123456789abcdef"
HERE = Path("/work")


def record(**more: Any) -> dict[str, Any]:
    found: dict[str, Any] = {
        "function": "total", "file": "/shop/shop.py", "first": 1, "call": 1, "calls": 1, "lines": 1,
        "rows": [{"line": 2}], "end": {"how": "returned", "line": 2, "value": "3"},
    }  # fmt: skip
    return found | more


def redacted(found: dict[str, Any]) -> dict[str, Any]:
    return RecordRedactor(ValueFormatter(Redactor())).redacted(found, HERE)


@pytest.mark.parametrize(
    "spoiled",
    [
        {"rows": [7]},
        {"rows": {"line": 1}},
        {"rows": [{"line": "x"}]},
        {"rows": [{"line": 1, "calls": [["f"]]}]},
        {"rows": [{"line": 1, "changes": ["a"]}]},
        {"rows": [{"gap": 1, "lines": [1]}]},
        {"source": 5},
        {"end": None},
        {"end": {}},
        {"args": [[1, 2, 3]]},
        {"calls": "many"},
        {"lines": 1e400},
        {"all": [[]]},
        {"file": None, "first": None},
    ],
    ids=repr,
)
def test_a_malformed_record_is_no_record(spoiled: dict[str, Any]) -> None:
    assert redacted(record(**spoiled)) == {}


@pytest.mark.parametrize("text", ["", "{", "[]", "7", "[" * 100_000, '"text"'])
def test_a_file_that_is_not_a_record_is_empty(text: str) -> None:
    assert parse_record(text) == {}


def test_an_oversized_record_is_cut_before_it_is_redacted() -> None:
    pairs = [["name", "v" * 2000]] * 5000
    row = {"line": 1, "changes": pairs, "calls": [["f", pairs, "r", "", 0]] * 500, "yielded": ["y"] * 5000}
    found = record(rows=[row] * 100_000, args=pairs, source=[[1, "x" * 2000]] * 100_000, cycle=["f"] * 100_000)
    began_s = time.process_time()
    result = redacted(record(rows=[{"line": it} for it in range(100_000)]))
    assert len(result["rows"]) == 400
    result = redacted({**found, "rows": [row]})
    assert time.process_time() - began_s < 20
    assert (len(result["args"]), len(result["source"]), len(result["cycle"])) == (60, 400, 60)
    assert (
        len(result["rows"][0]["changes"]) == len(result["rows"][0]["calls"]) == len(result["rows"][0]["yielded"]) == 60
    )
    assert all(len(text) <= 400 for _, text in result["args"])


def test_a_file_is_read_up_to_a_bound_and_only_if_it_is_a_file(tmp_path: Path) -> None:
    long = tmp_path / "long"
    long.write_bytes(b"x" * (_READ_CHARACTERS + 10))
    assert len(_read_bounded(long)) == _READ_CHARACTERS
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    assert _read_bounded(pipe) == ""
    link = tmp_path / "link"
    link.symlink_to(long)
    assert _read_bounded(link) == ""
    assert _read_bounded(tmp_path / "none") == ""


@pytest.mark.parametrize(
    "path", ["user.password[0]", "env['API_TOKEN'].head", "settings.api_key.value", "rows[3]['secret'] +", "password"]
)
def test_a_secret_in_the_middle_of_a_path_is_hidden(path: str) -> None:
    row = {
        "line": 2,
        "changes": [[path, "'hunter2hunter2'"]],
        "calls": [["f", [[path, "'hunter2hunter2'"]], "1", "", 0]],
    }
    result = redacted(record(rows=[row], args=[[path, "'hunter2hunter2'"]], outer=[[path, "'hunter2hunter2'"]]))
    assert "hunter2" not in json.dumps(result)
    assert path.rpartition(" ")[0] or path in json.dumps(result)


def test_the_results_of_a_function_with_the_name_of_a_secret_are_hidden() -> None:
    listed = [[1, 1, [], "'hunter2hunter2'", ""]]
    row = {"line": 2, "calls": [["get_password", [], "'hunter2hunter2'", "", 0]], "yielded": ["'hunter2hunter2'"]}
    end = {"how": "returned", "line": 2, "value": "'hunter2hunter2'"}
    result = redacted(record(function="get_password", rows=[row], end=end, all=listed, all_last=listed, open=listed))
    assert result["all"]
    assert "hunter2" not in json.dumps(result)


def test_a_token_is_hidden_wherever_it_stands() -> None:
    row = {
        "line": 2,
        "note": f"ValueError: {TOKEN}",
        "calls": [["f", [], f"'{TOKEN}'", "", 0]],
        "yielded": [f"'{TOKEN}'"],
    }
    end = {"how": "raised", "line": 2, "error": f"ValueError: {TOKEN}", "values": [["x", f"'{TOKEN}'"]]}
    listed = [[1, 1, [["x", f"'{TOKEN}'"]], f"'{TOKEN}'", f"E: {TOKEN}"]]
    result = redacted(record(rows=[row], end=end, source=[[1, f"key = '{TOKEN}'"]], all=listed, where_error=TOKEN))
    assert "canary" not in json.dumps(result)


@pytest.mark.anyio
@pytest.mark.timeout(120)
async def test_a_program_that_is_gone_at_the_second_run_keeps_its_explanation(tmp_path: Path) -> None:
    text = "import os\n\n\ndef half(n):\n    os.unlink(__file__)\n    return 10 // n\n\n\nhalf(0)\n"
    async with agent_in(tmp_path) as agent:
        agent.write("once.py", text)
        answer = await agent.call("explain_failure", program="once.py")
    assert answer["verdict"] == "crashed"
    assert "ZeroDivisionError" in answer.text
    assert "n = 0" in answer.text


@pytest.mark.anyio
@pytest.mark.timeout(120)
async def test_an_answer_of_trace_call_has_at_most_4000_characters(tmp_path: Path) -> None:
    lines = "".join(f"    value_{it} = 'text {it} ' * {20 + it}\n" for it in range(120))
    text = f"def long():\n{lines}    raise ValueError('no ' * 3000)\n\n\n"
    text += "for _ in range(50):\n    print('o' * 900)\nlong()\n"
    async with agent_in(tmp_path) as agent:
        agent.write("long.py", text)
        answer = await agent.call("trace_call", program="long.py", function="long")
    assert 2000 < len(answer.text) <= 4000
    assert "raised ValueError" in answer.text


def test_what_a_reader_has_to_know_of_a_record_reaches_them() -> None:
    result = redacted(record(locals_changed=True, not_failing=True))
    assert result["locals_changed"]
    assert result["not_failing"]
