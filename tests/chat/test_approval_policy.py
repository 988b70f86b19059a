"""Before an agent runs or writes what is new a person is asked: which of each tool's arguments that is, is judged."""

from __future__ import annotations

import argparse
import ast
import importlib
import inspect
import typing
from collections.abc import Iterable
from types import ModuleType
from typing import Any

import pytest

from dragoman.chat.approval_policy import (
    TOOL_RULES,
    UNKNOWN_EVALUATORS,
    Evaluators,
    approval_for,
    has_effects,
    hit_condition_has_effects,
    message_has_effects,
)
from dragoman.debug.backends.adapters import BUILT_IN
from dragoman.tools.tool import Effects, Parameters

PLAIN = Evaluators(calls_bare=False, has_console=False)
BARE = Evaluators(calls_bare=True, has_console=False)
LOOKS = [
    "total", "self.rows", "rows[0]", "rows[-1].name", "rows[:3]", "a + b * 2", "total == 3 and not done", "-x", "*p",
    "&x", "p->next->value", "ns::name", "x is not None", "x not in seen", "a if b else c", "(a + b) * c",
    "not (a or b)", "'rm -rf' == name", '"f(x)"', "a?.b ?? 0", "x ~= nil", "#t > 3", "$rax", "0xff & mask", "1e-3",
    "[]", "(a, b)", "matrix[i][j]", "ValueError, KeyError", "3.14", "a !== b", " spaced ", "s..t", "\"it's\"",
]  # fmt: skip
ACTS = [
    "f()", "total(rows)", "self.rows.clear()", "rows[f()]", "x = 1", "x := 1", "x += 1", "x ||= 1", "x++", "++x", "--x",
    "a; b", "import os", "del x", "await x", "new Thing", "delete x", "throw x", "f'{g()}'", "`ls`", "f{1}", 'f"x"',
    "a?.(b)", "a.(b)", "not(x)", "in(x)", "process kill", "call f", "-exec shell", "!ls /", "x\ny", "{**a}", "(f)(x)",
    "f (x)", "a +", "[a for a in b]", "lambda: (f)()", "a\rb", "@x", "x = f", "(int)x", "a) + (b", "(a",
    "x" * 2_001, "puts 1", "a\\b", "$(x)", "x!", "rows['a'](1)", "exec'x'", "print x", "x => 1",
    "/x/.test(y)", "3()", "''()", "a::(b)", "del[x]", "new[f][0]", "delete*p", "ch <-1", "exit",
]  # fmt: skip
READ_IN_TWO_WAYS = {
    # A long string of Lua is an argument, and hides a quote.
    "lua": ["dofile[[evil.lua]]", "dofile [[evil.lua]]", "o:run[[x]]", '[["]] .. f() .. [["]]'],
    # A comment ends where others see a string; so does a line.
    "c, go, javascript": ['a /* "*/ + f() //"', "a /* '*/ + f() //'", 'a // "\u2028 f() //"', "'\u2029'"],
    "ruby": [
        '"#{f}"',
        ':"#{f}"',
        'system ["ls", "x"]',
        "system *words",
        "puts -x",
        "f :x",
        'p ?" + f() + "',
        "p %x[ls]",
    ],
    "declared": ['"${f}"', "'${f}'", '"$(ls)"', '"{$f}"', '"\\(f)"'],
    "commands of a debugger": ["shell . notes", "shell .notes", "source . notes", ",kill", ", c", ":!ls", "a :: b"],
    "commands with a mark": ["shell /bin/ls", "source /x", "jump *0x1234", "-exec -gdb-exit"],
}


@pytest.mark.parametrize("expression", LOOKS)
def test_what_only_looks_is_seen_by_its_form(expression: str) -> None:
    assert not has_effects(expression)


@pytest.mark.parametrize("expression", ACTS)
def test_what_can_act_or_is_not_understood_acts(expression: str) -> None:
    assert has_effects(expression)


@pytest.mark.parametrize("language", READ_IN_TWO_WAYS)
def test_what_acts_in_one_language_acts_whatever_it_is_in_another(language: str) -> None:
    assert [it for it in READ_IN_TWO_WAYS[language] if not has_effects(it)] == []


@pytest.mark.parametrize("module", [argparse, typing])
def test_no_call_in_real_source_is_taken_for_a_look(module: ModuleType) -> None:
    text = inspect.getsource(module)
    acting = (ast.Call, ast.NamedExpr, ast.Yield, ast.ListComp, ast.GeneratorExp, ast.JoinedStr, ast.Lambda)
    found = [node for node in ast.walk(ast.parse(text)) if isinstance(node, acting)]
    written = [ast.unparse(node) for node in found if not isinstance(node, ast.Lambda) or "(" in ast.unparse(node)]
    assert len(written) > 500
    assert [it for it in written if not has_effects(it)] == []


def test_which_hits_and_what_is_logged_is_judged_by_what_is_evaluated() -> None:
    assert not any(map(hit_condition_has_effects, ["3", "== 3", "> 5", ">= 8", "% 2 == 0", " 7 "]))
    assert all(map(hit_condition_has_effects, ["f()", "x", "3; f()", ""]))
    assert not any(map(message_has_effects, ["plain (f)", "n = {n}", "{rows[0].name} of {total}"]))
    assert all(map(message_has_effects, ["{f()}", "{n = 1}", "{{n}}", "open {", "close }"]))


@pytest.mark.parametrize(
    ("tool", "arguments", "subject"),
    [
        ("run_in_terminal", {"command": "ls"}, "ls"),
        ("run_in_terminal", {"command": "ls", "terminal": "t1"}, '{"command": "ls", "terminal": "t1"}'),
        ("run_in_terminal", {"interrupt": True}, '{"interrupt": true}'),
        ("start_debugging", {"program": "a.py", "timeout_s": 5}, '{"program": "a.py"}'),
        ("start_debugging", {}, "{}"),
        (
            "start_debugging",
            {"configuration_name": "n", "inputs": {"what": "x"}},
            '{"configuration_name": "n", "inputs": {"what": "x"}}',
        ),
        (
            "start_debugging",
            {"configuration_name": "n", "process_id": 7},
            '{"configuration_name": "n", "process_id": 7}',
        ),
        ("debug_test", {"test": "t.py::x"}, '{"test": "t.py::x"}'),
        ("ide_run_in_terminal", {"command": "make", "name": "mine"}, "make"),
        # In a session nothing new runs, but for what is evaluated and can act.
        ("trace", {"program": "a.py", "points": [{"expressions": ["n"]}]}, '{"program": "a.py"}'),
        ("trace", {"command": "make test", "points": [{"expressions": ["n"]}]}, "make test"),
        ("trace", {"session_id": "s1", "of_tomorrow": "x"}, '{"of_tomorrow": "x"}'),
        ("trace", {"session_id": "s1", "points": [{"file_path": "a.py", "condition": "n > 3"}]}, None),
        ("trace", {"session_id": "s1", "points": [{"expressions": ["f()"]}]}, '{"points": [{"expressions": ["f()"]}]}'),
        ("trace", {"session_id": "s1", "points": [{"of_tomorrow": 1}]}, '{"points": [{"of_tomorrow": 1}]}'),
        ("trace", {"session_id": "s1", "points": "wrong"}, '{"points": "wrong"}'),
        ("check", {"session_id": "s1", "claim": "n >= 0", "expressions": ["n"]}, None),
        ("check", {"session_id": "s1", "claim": "n >= 0", "expressions": ["n.pop()"]}, '{"expressions": ["n.pop()"]}'),
        ("find_change", {"session_id": "s1", "expression": "n", "invariant": "g(n)"}, '{"invariant": "g(n)"}'),
        ("explain_crash", {"session_id": "s1"}, None),
        ("trace_call", {"session_id": "s1", "function": "Cart.total", "call": "last", "where": "n == 3"}, None),
        ("trace_call", {"session_id": "s1", "where": "rows.clear()"}, '{"where": "rows.clear()"}'),
        ("trace_call", {"test": "test_a.py::test_b", "function": "total"}, '{"test": "test_a.py::test_b"}'),
        ("explain_crash", {"program": "a.py"}, '{"program": "a.py"}'),
        ("compare_runs", {"points": [{"expressions": ["n"]}], "against": {"cwd": "x"}}, '{"against": {"cwd": "x"}}'),
        ("evaluate_expression", {"expression": "rows[0].name", "frame_id": 2}, None),
        ("evaluate_expression", {"expression": "rows.clear()", "context": "repl"}, "rows.clear()"),
        ("evaluate_expression", {"expression": ["f"]}, '{"expression": ["f"]}'),
        ("evaluate_expression", {"expression": "!reboot"}, "!reboot"),
        # What was allowed as arguments is not allowed as a line.
        ("run_in_terminal", {"command": '{"interrupt": true}'}, '{"command": "{\\"interrupt\\": true}"}'),
        ("set_variable", {"name": "n", "value": "3", "session_id": "s1"}, '{"name": "n", "value": "3"}'),
        ("set_breakpoint", {"file_path": "a.py", "line_number": 3, "condition": "n > 3"}, None),
        ("set_breakpoint", {"file_path": "a.py", "line_number": 3, "condition": "f(n)"}, '{"condition": "f(n)"}'),
        ("set_breakpoint", {"line_number": 3, "log_message": "n is {n}", "hit_condition": "> 5"}, None),
        ("set_breakpoint", {"line_number": 3, "log_message": "{n.pop()}"}, '{"log_message": "{n.pop()}"}'),
        ("set_breakpoint", {"line_number": 3, "hit_condition": "f()"}, '{"hit_condition": "f()"}'),
        ("set_breakpoint", {"kind": "data", "variable": "f().x"}, '{"variable": "f().x"}'),
        ("continue_debugging", {"until": {"file_path": "a.py", "line_number": 3}}, None),
        ("restart_debugging", {}, None),
        ("show_canvas", {"components": [{"id": "a"}]}, None),
        ("ide_diff", {"file_path": "a.py", "text": "x"}, None),
        ("a_tool_of_tomorrow", {"path": "x"}, '{"path": "x"}'),
    ],
)  # fmt: skip
def test_what_runs_or_writes_is_named_and_what_nobody_judged_is_asked_for(
    tool: str, arguments: dict[str, Any], subject: str | None
) -> None:
    leave = approval_for(tool, arguments, evaluators=PLAIN)
    assert (leave.subject if leave else None) == subject
    assert leave is None or leave.lasts


LOOKED_AT = [
    ("evaluate_expression", {"expression": "user.destroy"}),
    ("evaluate_expression", {"expression": "User::delete_all"}),
    ("evaluate_expression", {"expression": "user.Destroy"}),
    ("set_breakpoint", {"line_number": 3, "condition": "queue.clear"}),
    ("set_breakpoint", {"line_number": 3, "log_message": "{rows.pop}"}),
    ("trace", {"session_id": "s1", "points": [{"file_path": "app.x", "expressions": ["rows.pop"]}]}),
]


@pytest.mark.parametrize(("tool", "arguments"), LOOKED_AT)
def test_where_a_name_alone_calls_a_member_is_asked_for(tool: str, arguments: dict[str, Any]) -> None:
    assert approval_for(tool, arguments, evaluators=PLAIN) is None
    assert approval_for(tool, arguments, evaluators=BARE) is not None
    assert approval_for(tool, arguments) is not None


def test_where_a_name_alone_calls_what_is_not_a_member_is_looked_at_as_ever() -> None:
    for expression in ("total > 3.14", "Shop::VAT", "rows[0]", "'a' == b"):
        assert approval_for("evaluate_expression", {"expression": expression}, evaluators=BARE) is None
    points = [{"file_path": "app.x", "line_text": "a.b", "expressions": ["total"]}]
    assert approval_for("trace", {"session_id": "s1", "points": points}, evaluators=BARE) is None
    log = {"line_number": 3, "log_message": "at a.b: {total}", "function_name": "Shop.total"}
    assert approval_for("set_breakpoint", log, evaluators=BARE) is None
    assert [spec.name for spec in BUILT_IN if spec.quirks.calls_bare] == ["ruby"]


COMMANDS = [
    (
        "evaluate_expression",
        "expression",
        ["shell . notes", "total", "n", "n > 3", "(ls)", "'ls'", "*p", "a.b", "x[0]"],
    ),
    ("set_breakpoint", "condition", ["n", "n > 3", "shell"]),
    ("set_breakpoint", "variable", ["total"]),
    ("set_breakpoint", "log_message", ["{n}", '"; shell ls', "$(ls)", "`ls`", "a\nb", "%s"]),
    ("set_breakpoint", "function_name", ["main; shell ls", "main ls", "main if f", "-exec", "main\nls", "$(ls)"]),
    ("check", "claim", ["n >= 0"]),
    ("check", "expressions", [["n"]]),
    ("check", "returns", ["main ls"]),
    ("find_change", "expression", ["n"]),
    ("find_change", "invariant", ["n"]),
    ("find_change", "function", ["main ls"]),
    (
        "trace",
        "points",
        [[{"expressions": ["n"]}], [{"condition": "n"}], [{"function": "main ls"}], [{"returns": "main ls"}]],
    ),
]


@pytest.mark.parametrize(("tool", "name", "values"), COMMANDS)
def test_what_may_come_to_a_console_is_asked_for_whatever_its_form(tool: str, name: str, values: list[Any]) -> None:
    for value in values:
        arguments = {"session_id": "s1", name: value}
        assert approval_for(tool, arguments, evaluators=Evaluators(calls_bare=False, has_console=True)) is not None, (
            value
        )
        assert approval_for(tool, arguments, evaluators=UNKNOWN_EVALUATORS) is not None, value


def test_leave_for_a_text_that_a_console_may_take_is_for_its_file_alone() -> None:
    condition = {"line_number": 3, "condition": "f(n)"}
    plain = approval_for("set_breakpoint", {"file_path": "a.py", **condition}, evaluators=PLAIN)
    asked = [approval_for("set_breakpoint", {"file_path": it, **condition}) for it in ("deploy.sh", "undo.sh")]
    assert [it and it.subject for it in (plain, *asked)] == [
        '{"condition": "f(n)"}',
        '{"condition": "f(n)", "file_path": "deploy.sh"}',
        '{"condition": "f(n)", "file_path": "undo.sh"}',
    ]
    assert approval_for("set_breakpoint", {"file_path": "deploy.sh", "line_number": 3}) is None


def test_what_no_console_can_run_is_looked_at_as_ever() -> None:
    for name, value in {
        "expression": "3",
        "condition": "1",
        "hit_condition": "> 5",
        "function_name": "shop.total",
    }.items():
        tool = "evaluate_expression" if name == "expression" else "set_breakpoint"
        assert approval_for(tool, {name: value}) is None, name
    assert approval_for("set_breakpoint", {"log_message": "the end was reached, at last."}) is None


def test_a_function_with_its_types_is_a_name_and_one_with_a_second_line_is_not() -> None:
    for name in ("main", "shop::Cart::add(int, char const*)", "operator<<", "pkg.(*T).Run"):
        assert approval_for("set_breakpoint", {"function_name": name}, evaluators=PLAIN) is None, name
    assert approval_for("set_breakpoint", {"function_name": "main\nshell ls"}, evaluators=PLAIN) is not None


def test_leave_for_what_changes_does_not_last() -> None:
    assert approval_for("debug_last_failure", {"timeout_s": 9}) == ("the last command that failed", False)
    assert approval_for("debug_last_failure", {"terminal": "t1"}) == ('{"terminal": "t1"}', False)
    assert approval_for("debug_last_failure", {"command_id": "c1"}) == ('{"command_id": "c1"}', True)
    assert approval_for("explain_failure", {"repeat": 20}) == ("the last command that failed", False)
    assert approval_for("explain_failure", {"command": "make test"}) == ("make test", True)


def test_what_only_reads_is_not_asked_for_and_being_said_to_frees_no_tool_that_acts() -> None:
    assert approval_for("a_tool_of_tomorrow", {"path": "x"}, reads_only=True) is None
    assert approval_for("run_in_terminal", {"command": "ls"}, reads_only=True) is not None


def every_tool() -> Iterable[tuple[str, type[Parameters], Effects]]:
    """All there are but the general ones, which read."""
    for name in ("debug", "terminal", "evidence", "canvas", "editor"):
        for tool in importlib.import_module(f"dragoman.tools.{name}").TOOLS:
            yield tool.name, tool.parameters, tool.effects


def test_every_tool_that_does_more_than_read_is_judged_with_each_of_its_parameters() -> None:
    """Who adds one says in the table what of it a person is asked about."""
    acting = {name: parameters for name, parameters, effects in every_tool() if not effects.reads_only}
    assert set(TOOL_RULES) == set(acting)
    for name, parameters in acting.items():
        named = {*TOOL_RULES[name].plain, *TOOL_RULES[name].code}
        asked = set(parameters.model_fields) - named
        assert asked == ASKED.get(name, set()), name
        assert named - set(parameters.model_fields) <= SHARED, name


STARTED = {"configuration_name", "configuration", "file", "program", "args", "cwd", "env", "stdin", "test", "command"}
SHARED = {
    *(
        "session_id",
        "timeout_s",
        "wait",
        "thread_id",
        "until",
        "step_type",
        "max_hits",
        "max_chars",
        "max_steps",
        "stop",
    ),
    *("function", "title", "subject", "subject_id", "changes", "remove"),
}
"""Rows share sets of names, so that a row may name what its tool does not take."""
ASKED = {
    "start_debugging": STARTED - {"test", "command"} | {"inputs", "process_id"},
    "run_in_terminal": {"command", "input", "keys", "interrupt", "terminal", "cwd"},
    "ide_run_in_terminal": {"command"},
    "debug_test": {"test", "command", "cwd", "env"},
    "debug_last_failure": {"terminal", "command_id"},
    "explain_failure": {"test", "command", "program", "args", "cwd", "env"},
    "compare_runs": STARTED | {"against"},
    **dict.fromkeys(("trace", "trace_call", "check", "find_change", "explain_crash"), STARTED),
    "set_variable": {"name", "value", "variables_reference"},
}
