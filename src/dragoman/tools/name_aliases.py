"""Names and words that models guess, and the published ones that they stand for. Nothing here is published.

Names are compared in snake case: `filePath`, `file-path` and `FILE_PATH` are `file_path`.
"""

from __future__ import annotations

from collections.abc import Mapping

_EXPRESSION_NAMES = ("expr", "exprs", "watch", "watches", "variable", "variables", "var", "vars", "value", "values")
_CLAIM_NAMES = ("assertion", "assert", "predicate", "expect", "expected", "invariant", "check", "property")
_TEST_NAMES = ("test_name", "test_id", "test_path", "test_case", "testcase", "nodeid", "node_id", "tests", "id")
FILE_NAMES = ("file", "path", "filename", "filepath", "file_name", "source", "source_file", "script_path", "uri")
LINE_NAMES = ("line", "lineno", "line_no", "lines", "line_num", "row")
# Within a function that is an object of its own.
FUNCTION_NAMES = ("name", "function", "func", "fn", "method", "symbol", "function_name", "qualname")
OWNER_NAMES = ("class", "class_name", "owner")

# A name that is not a parameter, and the parameters that it stands for: the first that the tool has and that is not
# given otherwise.
NAMES: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(FILE_NAMES, ("file_path",)),
    **dict.fromkeys(LINE_NAMES, ("line_number",)),
    **dict.fromkeys(("text", "line_contains", "source_line"), ("line_text",)),
    **dict.fromkeys(("column", "col"), ("column_number",)),
    **dict.fromkeys(("function", "func", "fn", "method", "symbol", "function_name"), ("function", "function_name")),
    **dict.fromkeys(_EXPRESSION_NAMES, ("expression", "expressions", "variable")),
    **dict.fromkeys(_CLAIM_NAMES, ("claim", "invariant")),
    "expression": ("claim", "expressions"),
    "expressions": ("expression",),
    **dict.fromkeys(("if", "when", "only_if", "filter"), ("condition",)),
    **dict.fromkeys(("session", "debug_session", "debug_session_id"), ("session_id",)),
    **dict.fromkeys(("thread", "tid"), ("thread_id",)),
    "frame": ("frame_id",),
    **dict.fromkeys(
        ("timeout", "timeout_seconds", "timeout_sec", "timeout_secs", "seconds", "max_seconds"), ("timeout_s",)
    ),
    **dict.fromkeys(("max", "limit", "hits", "count", "max_rows"), ("max_hits", "count")),
    **dict.fromkeys(("steps", "step_limit"), ("max_steps",)),
    **dict.fromkeys(("max_characters", "max_length"), ("max_chars",)),
    **dict.fromkeys(("repeats", "retries", "runs", "times", "attempts"), ("repeat",)),
    **dict.fromkeys(("step", "type", "direction"), ("step_type", "kind")),
    "breakpoint": ("breakpoint_id",),
    **dict.fromkeys(_TEST_NAMES, ("test", "breakpoint_id")),
    **dict.fromkeys(
        ("point", "tracepoints", "tracepoint", "locations", "breakpoints", "places", "probes"), ("points",)
    ),
    **dict.fromkeys(
        ("name", "config", "config_name", "launch_config", "launch_configuration"), ("configuration_name",)
    ),
    **dict.fromkeys(("arguments", "argv", "arg", "params", "program_args"), ("args",)),
    **dict.fromkeys(
        ("working_directory", "working_dir", "workdir", "work_dir", "directory", "dir", "folder", "root"), ("cwd",)
    ),
    **dict.fromkeys(("environment", "envs", "env_vars", "environment_variables"), ("env",)),
    **dict.fromkeys(("input", "stdin_text", "standard_input"), ("stdin",)),
    **dict.fromkeys(("cmd", "command_line", "commandline", "shell", "run", "exec"), ("command", "program")),
    "command": ("program",),
    **dict.fromkeys(("script", "entry", "entrypoint", "entry_point", "executable", "target", "binary"), ("program",)),
    **dict.fromkeys(("other", "second", "with", "versus", "vs", "compare_to", "baseline"), ("against",)),
    **dict.fromkeys(("ref", "rev", "revision", "branch", "tag", "sha", "git_ref"), ("commit",)),
    **dict.fromkeys(("call_number", "nth", "occurrence", "which", "index"), ("call",)),
}
# Words for a parameter's values.
VALUES: Mapping[str, Mapping[str, str]] = {
    "step_type": {
        **dict.fromkeys(("next", "step_over", "stepOver"), "over"),
        **dict.fromkeys(("in", "step_in", "step_into", "stepIn"), "into"),
        **dict.fromkeys(("finish", "return", "step_out", "stepOut"), "out"),
    },
    "call": {
        **dict.fromkeys(("first", "any", "outer", "all"), "outermost"),
        **dict.fromkeys(("latest", "final", "-1"), "last"),
        **dict.fromkeys(("failed", "fail", "error", "raising", "crash"), "failing"),
    },
}
# Names for a whole place, as one text: `orders.py:14`, `orders.py:total`, `Order.total`.
PLACES = ("place", "location", "where", "at", "point", "breakpoint", "position")
# In which a whole call is put once more.
WRAPPERS = ("arguments", "params", "parameters", "input", "kwargs")
# Names of one file, where a tool takes only a test.
FILES_OF_TESTS = frozenset({*FILE_NAMES, "file_path", "test_file", "file_of_test"})
# A test that begins with one of these is a command.
TEST_RUNNERS = frozenset(
    {
        "pytest",
        "py.test",
        "python",
        "python3",
        "npm",
        "npx",
        "yarn",
        "pnpm",
        "node",
        "go",
        "cargo",
        "uv",
        "make",
        "jest",
    }
    | {"vitest", "mocha", "tox", "poetry", "ruby", "bundle"}
)
# What a model calls the value that a function returns.
RETURN_VALUES = frozenset(
    {
        "__return__",
        "__returns__",
        "__return_value__",
        "__retval__",
        "__result__",
        "$return",
        "$ret",
        "<return>",
        "return",
    }
    | {"return_value", "retval", "(return)"}
)
