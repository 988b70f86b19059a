"""What the debug tools say to a shell names commands and options, never tools and their parameters."""

from __future__ import annotations

import ast
import importlib
import pkgutil
import re
import string
from collections.abc import Iterator
from pathlib import Path

import pytest

from dragoman import phrases
from dragoman import tools as toolbox
from dragoman.chinese import sessions, tools
from dragoman.daemon.shell_words import in_shell, in_shell_words
from dragoman.phrases import say
from dragoman.tools.debug import table as debug_table
from dragoman.tools.evidence import table as evidence_table
from dragoman.tools.operation import Parameters
from dragoman.tools.terminal import table as terminal_table

# What a shell has no word for: these sentences are about launch.json, or about what only an agent can ask for.
ONLY_FOR_AGENTS = re.compile(r"get_debugger_configurations|variables_reference|line_text|file_path")
NAMES = re.compile(
    r"\b(continue_debugging|evaluate_expression|get_breakpoints|get_output|get_scopes|get_variables|list_sessions|"
    r"pause_debugging|remove_breakpoint|restart_debugging|set_breakpoint|set_variable|start_debugging|step_execution|"
    r"stop_debugging|wait_for_stop|stop_history|session_id|thread_id|process_id|timeout_s|hit_condition|no_debug)\b",
    re.ASCII,
)


@pytest.mark.parametrize("table", [sessions.TABLE, tools.TABLE], ids=["sessions", "tools"])
def test_no_sentence_to_a_shell_names_a_tool_or_its_parameter(table: dict[str, str]) -> None:
    named = [it for pair in table.items() for it in pair if NAMES.search(it)]
    assert named, "some do, before they are said to a shell"
    left = [it for it in map(in_shell_words, named) if NAMES.search(it) and not ONLY_FOR_AGENTS.search(it)]
    assert left == []


def test_a_word_of_another_meaning_is_left_alone() -> None:
    assert in_shell_words("my_session_id_here and Give `session_id`.") == "my_session_id_here and Give `--session`."


# What is said to agents and editors alone: no command of the command line asks for it.
NOT_FOR_SHELLS = re.compile(
    r"^(canvas|editor|dap|mcp|omnish|gateway|chat)/|^tools/(canvas|editor)/|^tools/(toolbox|bounds)\.py|"
    r"^tools/terminal/running\.py|^tools/evidence/testing\.py|^terminal/agent_terminals\.py|^daemon/subjects\.py"
)
# Names of launch.json, which a person writes as well.
OF_CONFIGURATIONS = {"type", "port", "mode", "cwd", "line"}


def advice() -> Iterator[tuple[str, str]]:
    """Every hint that the source has, with its file: those of errors, and those that are put together elsewhere."""
    source = Path(phrases.__file__).parent
    for path in sorted(source.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if _is_hint(node):
                yield from ((str(path.relative_to(source)), template) for template in _templates(node))


def _is_hint(node: ast.AST) -> bool:
    if isinstance(node, ast.keyword):
        return node.arg == "hint"
    if isinstance(node, ast.Assign):
        return "hint" in ast.unparse(node.targets[0]).lower()
    return isinstance(node, ast.FunctionDef) and "hint" in node.name


def _templates(node: ast.AST) -> Iterator[str]:
    for call in ast.walk(node):
        if isinstance(call, ast.Call) and ast.unparse(call.func) == "say" and isinstance(call.args[0], ast.Constant):
            yield str(call.args[0].value)


def _filled(template: str) -> phrases.Phrase:
    return phrases.Phrase(template, {name: "-" for _, name, _, _ in string.Formatter().parse(template) if name})


def names_of_agents() -> re.Pattern[str]:
    """Tools and their parameters; a name of one plain word counts where it is quoted as such."""
    for module in pkgutil.walk_packages(toolbox.__path__, f"{toolbox.__name__}."):
        importlib.import_module(module.name)
    parameters = {name for kind in _kinds(Parameters) for name in kind.model_fields} - OF_CONFIGURATIONS
    named = {it[1] for _, template in advice() if (it := NAMES.search(template))}
    called = {it.name for table in (debug_table, evidence_table, terminal_table) for it in table.TOOLS} | parameters
    long = {"frame_id", *named, *(it for it in called if "_" in it)}
    return re.compile(rf"\b({'|'.join(sorted(long))})\b|`({'|'.join(sorted(called - long))})`", re.ASCII)


def _kinds(kind: type[Parameters]) -> Iterator[type[Parameters]]:
    for it in kind.__subclasses__():
        yield it
        yield from _kinds(it)


def test_no_hint_to_a_shell_names_a_tool_or_its_parameter() -> None:
    """In both languages, and as the socket that the command line calls says them."""
    agents = names_of_agents()
    hints = {template: file for file, template in advice() if not NOT_FOR_SHELLS.search(file)}
    assert sum(bool(agents.search(it)) for it in hints) > 20, "many do, before they are said to a shell"
    told = {it: in_shell(_filled(it), language) for it in hints for language in ("en", "zh")}
    assert {hints[it]: words for it, words in told.items() if agents.search(words)} == {}


def test_a_value_in_a_hint_and_braces_of_its_own_stay_as_they_are() -> None:
    phrase = say("Give `session_id`: {known}, not ${{file}}.", known="a {session_id} of theirs")
    assert in_shell(phrase, "en") == "Give `--session`: a {session_id} of theirs, not ${file}."
    with_values = say("Install it with: {command}. get_command_output works without.", command="pip install {x}")
    expected = "Install it with: pip install {x}. `dragoman last --output` works without."
    assert in_shell(with_values, "en") == in_shell_words(str(with_values)) == expected
