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

import dragoman
from dragoman import tools as toolbox
from dragoman.core.localization import LocalizedText, localize
from dragoman.servers.control.shell_text import replace_tool_names, shell_text
from dragoman.tools import debug, evidence, terminal
from dragoman.tools.tool import Parameters
from tests.catalogues import chinese_of

# What a shell has no word for: these sentences are about launch.json, or about what only an agent can ask for.
ONLY_FOR_AGENTS = re.compile(r"get_debugger_configurations|variables_reference|line_text|file_path")
NAMES = re.compile(
    r"\b(continue_debugging|evaluate_expression|get_breakpoints|get_output|get_scopes|get_variables|list_sessions|"
    r"pause_debugging|remove_breakpoint|restart_debugging|set_breakpoint|set_variable|start_debugging|step_execution|"
    r"stop_debugging|wait_for_stop|stop_history|session_id|thread_id|process_id|timeout_s|hit_condition|no_debug)\b",
    re.ASCII,
)


@pytest.mark.parametrize("folder", ["src/dragoman/debug/", "src/dragoman/tools/debug/"])
def test_no_sentence_to_a_shell_names_a_tool_or_its_parameter(folder: str) -> None:
    named = [it for pair in chinese_of(folder).items() for it in pair if NAMES.search(it)]
    assert named, "some do, before they are said to a shell"
    left = [it for it in map(replace_tool_names, named) if NAMES.search(it) and not ONLY_FOR_AGENTS.search(it)]
    assert left == []


def test_a_word_of_another_meaning_is_left_alone() -> None:
    assert replace_tool_names("my_session_id_here and Give `session_id`.") == "my_session_id_here and Give `--session`."


# What is said to agents and editors alone: no command of the command line asks for it.
NOT_FOR_SHELLS = re.compile(
    r"^(canvas|editors|chat)/|^servers/(dap|mcp|omnish|gateway)/|^tools/(canvas|editor)/|^tools/(registry|arguments|errors)\.py|"
    r"^tools/terminal/run\.py|^tools/evidence/failures\.py|^terminal/agent_terminals/|^daemon/chat_wiring\.py"
)
# Names of launch.json, which a person writes as well.
OF_CONFIGURATIONS = {"type", "port", "mode", "cwd", "line"}


_WITH_HINT = 3


def advice() -> Iterator[tuple[str, str]]:
    """Every hint that the source has, with its file: those of errors, and those that are put together elsewhere."""
    source = Path(dragoman.__file__).parent
    for path in sorted(source.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "ErrorSpec" and len(node.args) == _WITH_HINT:
                yield str(path.relative_to(source)), str(ast.literal_eval(node.args[2]))
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
        if (
            isinstance(call, ast.Call)
            and ast.unparse(call.func) == "localize"
            and isinstance(call.args[0], ast.Constant)
        ):
            yield str(call.args[0].value)


def _filled(template: str) -> LocalizedText:
    return LocalizedText(template, {name: "-" for _, name, _, _ in string.Formatter().parse(template) if name})


def names_of_agents() -> re.Pattern[str]:
    """Tools and their parameters; a name of one plain word counts where it is quoted as such."""
    for module in pkgutil.walk_packages(toolbox.__path__, f"{toolbox.__name__}."):
        importlib.import_module(module.name)
    parameters = {name for kind in _kinds(Parameters) for name in kind.model_fields} - OF_CONFIGURATIONS
    named = {it[1] for _, template in advice() if (it := NAMES.search(template))}
    called = {it.name for table in (debug, evidence, terminal) for it in table.TOOLS} | parameters
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
    found = {it: shell_text(_filled(it), language) for it in hints for language in ("en", "zh")}
    assert {hints[it]: words for it, words in found.items() if agents.search(words)} == {}


def test_a_value_in_a_hint_and_braces_of_its_own_stay_as_they_are() -> None:
    phrase = localize("Give `session_id`: {known}, not ${{file}}.", known="a {session_id} of theirs")
    assert shell_text(phrase, "en") == "Give `--session`: a {session_id} of theirs, not ${file}."
    with_values = localize(
        "Install it with: {command}. get_command_output works without it.", command="pip install {x}"
    )
    expected = "Install it with: pip install {x}. `dragoman last --output` works without it."
    assert shell_text(with_values, "en") == replace_tool_names(str(with_values)) == expected
