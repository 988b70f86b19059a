"""The ways to ask about a failing test: the tools of the installed product through MCP, and the plain runner."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import sysconfig
import tempfile
import time
import zipfile
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from bench.agent import COMMAND, Agent, agent_in
from bench.value.bugs import Bug

BASELINE = "runner"
WHY = "pytest --why"
TOOLS = ("debug_test", "explain_failure", "trace_call")
WAYS = (BASELINE, *TOOLS, WHY)
MEASURED = (BASELINE, "explain_failure", "trace_call", WHY)
"""For docs/performance.md."""

Outcome = Literal["answered", "refused", "not available", "not applicable"]

_ADAPTERS = Path(__file__).parents[2] / ".peers" / "state" / "adapters"
_WHY = Path(__file__).parents[2] / "pytest-why"
_WHY_SECTION = re.compile(r"(?ms)^-+ why -+$\n(?P<section>.*?)(?=^-{3,} [\w ]+ -{3,}$|^={3,} |^_{3,} |\Z)")
_COMMAND_S = 60
_HANG_S = 8.0
_TOOL_HANG_S = 50.0
"""How long the runner, and a tool, wait for a test that does not end."""


@dataclass(frozen=True, slots=True)
class Answer:
    """`refused`: the tool returned an error, which the agent pays for as for any other answer."""

    outcome: Outcome
    calls: int = 0
    text: str = ""
    seconds: float = 0.0
    failed: bool | None = None
    """Of the runner: whether the test failed."""
    added: str | None = None
    """Of a way that adds a section to the runner's text: that section."""


NOT_AVAILABLE = Answer("not available")
NOT_APPLICABLE = Answer("not applicable")


@dataclass(frozen=True, slots=True)
class Product:
    """A daemon with a home of its own, and the environment in which agents and programs run."""

    environment: Mapping[str, str]
    schemas: Mapping[str, Mapping[str, Any]]
    why: Path
    """A folder with the pytest plugin, as its wheel installs it."""

    def offers(self, way: str) -> bool:
        return way in {BASELINE, WHY} or way in self.schemas

    def ask(self, way: str, bug: Bug, folder: Path) -> Answer:
        if not self.offers(way):
            return NOT_AVAILABLE
        if way == BASELINE:
            return run_test(bug, folder, self.environment)
        if way == WHY:
            return self._why(bug, folder)
        return self._call(way, bug, folder)

    def _why(self, bug: Bug, folder: Path) -> Answer:
        if bug.language != "python":
            return NOT_APPLICABLE
        environment = {**self.environment, "PYTHONPATH": str(self.why)}
        timeout = f" --timeout={_HANG_S:.0f}" if bug.hangs else ""  # only a test that ends can be explained
        command = f"python -m pytest -q --why{timeout} {shlex.quote(bug.test)}"
        answer = run_command(command, folder, environment, bug.timeout_s)
        return replace(answer, added=why_section(answer.text))

    def _call(self, tool: str, bug: Bug, folder: Path) -> Answer:
        arguments = arguments_for(self.schemas[tool], bug)
        with agent_for(self.environment, folder) as agent:
            begun = time.perf_counter()
            message = json.loads(agent.line(agent.begin(tool, **arguments)))
            took = time.perf_counter() - begun
        if "error" in message:
            return Answer("refused", 1, message["error"]["message"], took)
        result = message["result"]
        text = "\n".join(it.get("text", "") for it in result["content"])
        is_error = result.get("isError") or (result.get("structuredContent") or {}).get("status") == "error"
        return Answer("refused" if is_error else "answered", 1, text, took)


def arguments_for(schema: Mapping[str, Any], bug: Bug) -> dict[str, Any]:
    """What an agent would pass: the test's id where a runner knows it, else the command or the program; of a call of
    the function, the one that the failed assertion is about. Of a test that does not end, also how long to wait.
    """
    known = schema.get("properties", {})
    subject = next(it for it in ("test", "command", "program") if it in known and getattr(bug, it))
    function = bug.traced or bug.function
    wanted = {subject: getattr(bug, subject), "function": function, "call": bug.call, "where": bug.where}
    wanted["timeout_s"] = _TOOL_HANG_S if bug.hangs else None
    return {name: value for name, value in wanted.items() if name in known and value}


def why_section(text: str) -> str:
    """What `--why` adds to the text of pytest."""
    found = _WHY_SECTION.search(text)
    return found["section"] if found else ""


def run_test(bug: Bug, folder: Path, environment: Mapping[str, str], options: str = "-l") -> Answer:
    """The plain runner: with the locals of each frame in Python, where it offers them."""
    command = f"python -m pytest -q {options} {shlex.quote(bug.test)}" if bug.language == "python" else bug.command
    return run_command(command, folder, environment, _limit(bug))


def run_command(command: str, folder: Path, environment: Mapping[str, str], limit_s: float) -> Answer:
    begun = time.perf_counter()
    with subprocess.Popen(
        command, shell=True, cwd=folder, env=dict(environment), start_new_session=True, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
    ) as process:  # fmt: skip
        try:
            text, _ = process.communicate(timeout=limit_s)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            text, _ = process.communicate(timeout=limit_s)
            text += f"killed after {limit_s:.0f} s\n"
    return Answer("answered", 1, text, time.perf_counter() - begun, process.returncode != 0)


def _limit(bug: Bug) -> float:
    return min(bug.timeout_s, _HANG_S) if bug.hangs else bug.timeout_s


@contextlib.contextmanager
def product(ways: Collection[str] = WAYS) -> Iterator[tuple[Product, Path]]:
    """What these ways need of the installed product, and a trusted folder for the bugs."""
    with tempfile.TemporaryDirectory(prefix="value") as name:
        folder = Path(name)
        workspace = folder / "work"
        workspace.mkdir()
        environment = environment_in(folder)
        why = build_why(folder / "why") if WHY in ways else folder
        if not set(TOOLS).intersection(ways):
            yield Product(environment, {}, why), workspace
            return
        _run_dragoman(["up"], environment)
        try:
            _run_dragoman(["trust", str(workspace)], environment)
            with agent_for(environment, workspace) as agent:
                schemas = {it["name"]: it["inputSchema"] for it in _tools(agent)}
            yield Product(environment, schemas, why), workspace
        finally:
            _run_dragoman(["down", "--yes"], environment)


def agent_for(environment: Mapping[str, str], workspace: Path) -> AbstractContextManager[Agent]:
    """An agent that is shown every tool, also those that are not in the default list."""
    return agent_in(environment, workspace, "--tools", "all")


def environment_in(folder: Path) -> dict[str, str]:
    """A home of its own with the installed adapters, and a Python for programs, which is never dragoman's own."""
    home = folder / "home"
    (home / "state").mkdir(parents=True, mode=0o700)
    if _ADAPTERS.exists():
        (home / "state" / "adapters").symlink_to(_ADAPTERS)
    python = make_python(folder / "python")
    return {
        **{name: value for name, value in os.environ.items() if not name.startswith(("DRAGOMAN_", "PYTEST_"))},
        "DRAGOMAN_HOME": str(home),
        "DRAGOMAN_PORT": "0",
        "DRAGOMAN_LANG": "en",
        "PATH": f"{python / 'bin'}:{os.environ['PATH']}",
        "VIRTUAL_ENV": str(python),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTEST_ADDOPTS": "-p no:cacheprovider",
        "GOFLAGS": "-mod=mod",
        "GOPROXY": "off",
    }


def make_python(folder: Path) -> Path:
    """An environment that sees the packages of ours (pytest, and the product's plugin), and fetches nothing."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True, timeout=_COMMAND_S)
    [packages] = folder.glob("lib/python*/site-packages")
    (packages / "ours.pth").write_text(f"import site; site.addsitedir({sysconfig.get_path('purelib')!r})\n")
    script = folder / "bin" / "pytest"
    script.write_text(f"#!{folder}/bin/python\nimport sys\nfrom pytest import console_main\nsys.exit(console_main())\n")
    script.chmod(0o755)
    return folder


def _tools(agent: Agent) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    cursor: dict[str, str] = {}
    while True:
        page = json.loads(agent.line(agent._request("tools/list", cursor)))["result"]
        found += page["tools"]
        if not page.get("nextCursor"):
            return found
        cursor = {"cursor": page["nextCursor"]}


def build_why(folder: Path) -> Path:
    """The pytest plugin in a folder of its own, so that the other ways run without it."""
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=_WHY, check=True, capture_output=True, timeout=_COMMAND_S)
    [wheel] = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder / "installed")
    return folder / "installed"


def _run_dragoman(words: Sequence[str], environment: Mapping[str, str]) -> None:
    subprocess.run([*COMMAND, *words], env=dict(environment), check=True, capture_output=True, timeout=_COMMAND_S)
