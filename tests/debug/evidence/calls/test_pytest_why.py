"""The pytest plugin, as its wheel installs it: the same tracer, byte for byte, in real runs with and without xdist."""

from __future__ import annotations

import itertools
import os
import re
import subprocess
import sys
import textwrap
import zipfile
from pathlib import Path

import psutil
import pytest

from tests.daemons import eventually

ROOT = Path(__file__).parents[4]
CALLS = ROOT / "src" / "dragoman" / "debug" / "evidence" / "calls"

SHOP = """\
def total(prices, rate):
    found = 0
    for price in prices:
        found += price
    return found * factor(rate)


def factor(rate):
    return 1 - rate


def share(whole, parts):
    each = whole // parts
    return each


def twice(number):
    \"\"\"
    >>> twice(2)
    5
    \"\"\"
    return number + number
"""
TESTS = """\
import asyncio
import itertools
import os
import time
import unittest

import pytest
import shop

made = []


@pytest.fixture(scope="module")
def used():
    return []


@pytest.fixture
def prices():
    made.append(1)
    return [20, 30]


@pytest.mark.parametrize("rate", [0, 3], ids=["none", "a/b [c]"])
def test_total(prices, rate, used):
    used.append(rate)
    print("noise")
    result = shop.total(prices, rate)
    assert result == 50


class TestShare:
    def test_crash(self):
        shop.share(5, 0)


def test_state(used):
    assert len(made) in (0, 2)  # in a worker of its own it is the only one
    assert used in ([], [0, 3])


def test_flaky(tmp_path_factory):
    mark = tmp_path_factory.getbasetemp() / "again"
    assert shop.share(5, 5) == 2 or mark.exists() or mark.write_text("x") is None


class UnitTest(unittest.IsolatedAsyncioTestCase):
    async def test_unit(self):
        await asyncio.sleep(0)
        self.assertEqual(shop.share(6, 2), 2)
"""
SECOND_TIMES = """\
import itertools
import os
import time

import shop

exits, hangs = [], []


def wait():
    seconds = 600 * bool(hangs)
    hangs.append(seconds)
    time.sleep(seconds)
    return seconds


def test_exits():
    exits.append(1)
    if len(exits) > 1:
        os._exit(3)
    assert shop.share(5, 5) == 2


def test_hangs():
    assert wait() == 2


def test_goes_on():
    assert (exits, hangs) == ([1], [0])
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("why")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder / "dist")]
    subprocess.run(command, cwd=ROOT / "pytest-why", check=True, capture_output=True, timeout=60)
    (wheel,) = (folder / "dist").glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder / "lib")
    return folder / "lib"


CI_OR_AGENT = ("CI", "CLAUDECODE", "CURSOR_AGENT", "CODEX_SANDBOX", "GEMINI_CLI", "AI_AGENT", "AGENT")


def run(folder: Path, installed: Path, *arguments: str, typed: str = "", **variables: str) -> str:
    (folder / "shop.py").write_text(SHOP)
    (folder / "test_shop.py").write_text(TESTS)
    kept = {name: value for name, value in os.environ.items() if name not in CI_OR_AGENT}
    environment = {**kept, "PYTHONPATH": str(installed), **variables}
    command = [sys.executable, "-m", "pytest", "-q", "-c", os.devnull, "--rootdir", str(folder), *arguments]
    done = subprocess.run(
        command, cwd=folder, env=environment, input=typed, capture_output=True, text=True, timeout=50, check=False
    )
    assert "INTERNALERROR" not in done.stdout + done.stderr, done.stdout
    return done.stdout


def test_the_wheel_has_the_tracer_byte_for_byte(installed: Path) -> None:
    # `call_selection` chooses among the calls of a whole run, which only the daemon has.
    names = sorted(it.name for it in CALLS.glob("call_*.py") if it.name != "call_selection.py")
    assert len(names) == 9
    names.append("assertion_calls.py")
    assert all((installed / "pytest_why" / it).read_bytes() == (CALLS / it).read_bytes() for it in names)


def section(shown: str, test: str) -> list[str]:
    """The lines of a test's section `why`."""
    about = re.split(r"(?m)^_{3,} .* _{3,}$", shown.split(f" {test} _", 1)[1])[0]
    text = re.split(r"(?m)^-+ why -+$", about)[1]
    return re.split(r"(?m)^(?:=|-){5,}", text)[0].strip().splitlines()


def test_a_failed_assertion_shows_what_the_functions_did(installed: Path, tmp_path: Path) -> None:
    shown = run(tmp_path, installed, "--why", "test_shop.py")
    assert "4 failed, 2 passed" in shown, shown
    block = section(shown, "test_total[a/b [c]]")
    assert 6 <= len(block) <= 30, block
    assert "arguments: prices = [20, 30], rate = 3" in block
    assert "3, 5: factor(rate=3) → -2" in block
    assert block.index("returned -100") < block.index("factor  shop.py:8") < block.index("returned -2")
    assert section(shown, "TestShare.test_crash")[-1].startswith("raised ZeroDivisionError")
    assert section(shown, "UnitTest.test_unit")[-1] == "returned 3"
    assert section(shown, "test_flaky") == [
        "The test passed when it ran again: it is not deterministic, or depends on what ran before."
    ]
    assert len(re.findall("(?m)^noise$", shown)) == 1, shown


def test_a_function_of_another_file_with_the_name_of_a_callee_is_not_taken_for_it(
    installed: Path, tmp_path: Path
) -> None:
    (tmp_path / "store.py").write_text(
        "def load(n):\n    own = n + 1\n    return own\n\n\ndef half(n):\n    return load(n)\n"
    )
    (tmp_path / "other.py").write_text("def load(n):\n    strange = n\n    return strange\n")
    (tmp_path / "test_half.py").write_text(
        "import other\nimport store\n\n\ndef test_half():\n    found = store.half(6)\n"
        "    other.load(9)\n    assert found == 3\n"
    )
    block = section(run(tmp_path, installed, "--why", "test_half.py"), "test_half")
    assert any("own = 7" in it for it in block), block
    assert not any("strange" in it for it in block), block


def test_with_xdist_the_blocks_reach_the_terminal(installed: Path, tmp_path: Path) -> None:
    shown = run(tmp_path, installed, "--why", "-n", "2", "test_shop.py")
    assert "4 failed, 2 passed" in shown, shown
    assert "returned -100" in section(shown, "test_total[a/b [c]]")


def test_a_doctest_shows_what_the_function_did(installed: Path, tmp_path: Path) -> None:
    shown = run(tmp_path, installed, "--why", "--doctest-modules", "shop.py")
    assert section(shown, "[doctest] shop.twice")[-1] == "returned 4"


def test_a_second_run_that_ends_its_process_or_hangs_ends_alone(installed: Path, tmp_path: Path) -> None:
    (tmp_path / "test_second.py").write_text(SECOND_TIMES)
    shown = run(tmp_path, installed, "--why", "test_second.py")
    assert "2 failed, 1 passed" in shown, shown
    assert section(shown, "test_exits") == ["The test ended its process when it ran again (exit code 3)."]
    hanging = section(shown, "test_hangs")
    assert hanging[0].startswith("wait  test_second.py:")
    assert "seconds = 600" in "\n".join(hanging)
    assert hanging[-2].startswith("still running at line ")


HANGS = """\
import os
import threading


def wait(path):
    with open(path, "a") as ran:
        ran.write(f"{os.getpid()}\\n")
    runs = open(path).read().split()
    if len(runs) > 1:
        threading.Event().wait()
    return len(runs)


def test_waits():
    assert wait("ran") == 2
"""


def is_running(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def test_a_second_run_that_hangs_ends_with_a_pytest_that_is_killed(installed: Path, tmp_path: Path) -> None:
    (tmp_path / "test_waits.py").write_text(HANGS)
    command = [sys.executable, "-m", "pytest", "-q", "-c", os.devnull, "--rootdir", str(tmp_path), "--why"]
    environment = {**os.environ, "PYTHONPATH": str(installed)}
    with subprocess.Popen(
        [*command, "test_waits.py"], cwd=tmp_path, env=environment, stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    ) as process:  # fmt: skip
        ran = tmp_path / "ran"
        second = eventually(lambda: ran.exists() and ran.read_text().split()[1:], within_s=20)
        process.kill()
    eventually(lambda: not is_running(int(second[0])), within_s=3)


def test_the_first_run_alone_counts(installed: Path, tmp_path: Path) -> None:
    """For `-x`, for the cache of `--lf`, and for the properties in a JUnit report."""
    (tmp_path / "test_properties.py").write_text(
        "import shop\n"
        "def test_one(record_property):\n"
        "    record_property('seen', 'once')\n"
        "    assert shop.share(4, 2) == 1\n"
        "def test_two():\n"
        "    pass\n"
    )
    shown = run(
        tmp_path, installed, "--why", "-x", "-o", "junit_family=legacy", "--junitxml=junit.xml", "test_properties.py"
    )
    assert "1 failed in" in shown, shown
    assert (tmp_path / "junit.xml").read_text().count('name="seen"') == 1
    again = run(tmp_path, installed, "--why", "--lf", "test_properties.py")
    assert "1 failed, 1 deselected" in again, again


def test_it_is_off_unless_it_is_asked_for(installed: Path, tmp_path: Path) -> None:
    only = "test_shop.py::TestShare"
    assert " why -" not in run(tmp_path, installed, only, **dict.fromkeys(CI_OR_AGENT, "1"))
    assert " why -" not in run(tmp_path, installed, "-o", "why_in_ci=true", only)


@pytest.mark.parametrize("variable", CI_OR_AGENT)
def test_a_project_can_ask_for_it_under_ci_and_agents(installed: Path, tmp_path: Path, variable: str) -> None:
    shown = run(tmp_path, installed, "-o", "why_in_ci=true", "test_shop.py::TestShare", **{variable: "true"})
    assert " why -" in shown


@pytest.mark.parametrize("option", ["--pdb", "--trace"])
def test_whoever_debugs_a_test_is_asked_once(installed: Path, tmp_path: Path, option: str) -> None:
    shown = run(tmp_path, installed, "--why", option, "test_shop.py::TestShare", typed="c\n" * 9)
    entered = "PDB post_mortem" if option == "--pdb" else "PDB runcall"
    assert shown.count(entered) == 1, shown
    assert " why -" not in shown


LOGIN = """\
class User:
    def __init__(self, name, password):
        self.name = name
        self.password = password


def access_token(user, depth):
    return "tok-" + user.name * 2 if not depth else access_token(user, depth - 1)


def tokenize(text):
    return text.split("+")


def login(name, DB_PASSWD, headers):
    user = User(name, DB_PASSWD[::-1])
    headers["Authorization"] = "Bearer " + name[::-1]
    headers["host"] = "example"
    config = {"nested": [{"api_key": name + "-k1", "port": 80}]}
    token = access_token(user, 1)
    parts = tokenize(name)
    return [user, headers, config, len(token)]
"""
LOGIN_TESTS = """\
import login


def stored_password():
    return "hunter" + "2"


def test_login():
    assert len(login.login("a+b", stored_password(), {})) == 5


def test_token():
    user = login.User("a+b", stored_password())
    assert len(login.access_token(user, 2)) == 5
"""


def test_values_of_names_that_look_like_secrets_are_hidden(installed: Path, tmp_path: Path) -> None:
    (tmp_path / "login.py").write_text(LOGIN)
    (tmp_path / "test_login.py").write_text(LOGIN_TESTS)
    shown = run(tmp_path, installed, "--why", "--tb=short", "test_login.py")
    blocks = "\n".join(it.split("\n____")[0].split("\n====")[0] for it in shown.split(" why -")[1:])
    assert "DB_PASSWD = <hidden>" in blocks, shown
    assert "password=<hidden>" in blocks, blocks
    assert "'Authorization': <hid" in blocks or "headers['Authorization'] = <hidden>" in blocks, blocks
    assert "'api_key': <hidden>, 'port': 80" in blocks, blocks
    assert "returned <hidden>" in blocks, blocks
    assert "['a', 'b']" in blocks, blocks
    for secret in ("hunter2", "2retnuh", "Bearer b+a", "a+b-k1", "tok-a+b"):
        assert secret not in blocks, blocks


EXAMPLES = ROOT / "pytest-why" / "examples"


def script_of(name: str, step: str) -> str:
    """The script of a step. The file is read as text: YAML is not one of our packages."""
    lines = (EXAMPLES / name).read_text().splitlines()
    at = lines.index("        run: |", lines.index(f"      - name: {step}")) + 1
    body = itertools.takewhile(lambda it: not it.strip() or it.startswith(" " * 10), lines[at:])
    return textwrap.dedent("\n".join(body))


def test_the_example_puts_nothing_of_a_pull_request_into_a_script() -> None:
    for path in EXAMPLES.glob("*.yml"):
        text = path.read_text()
        assert not re.search(r"^on:.*pull_request_target|^  pull_request_target:", text, re.MULTILINE)
        scripts = re.findall(r"run: (?:\|\n((?:          .*\n|\n)+)|(.+))", text)
        assert scripts
        assert not any("${{" in part for it in scripts for part in it)
    assert "write" not in (EXAMPLES / "why.yml").read_text().split("jobs:")[0].split("permissions:")[1]


@pytest.mark.parametrize("row", ["```", "`````` and ```", "no fence"])
def test_a_report_cannot_end_the_fence_of_its_comment(tmp_path: Path, row: str) -> None:
    """With a `gh` that keeps what it is given."""
    tool = tmp_path / "bin" / "gh"
    tool.parent.mkdir()
    tool.write_text(
        '#!/bin/sh\nif [ "$2" = view ]; then echo abc; exit; fi\necho "$@" > said.txt\ncp comment.md posted.md\n'
    )
    tool.chmod(0o755)
    (tmp_path / "why").mkdir()
    (tmp_path / "why/number.txt").write_text("12; rm -rf ~\n")
    report = f"E  assert '$(touch here)'\n{row}\n@someone [link](https://example.com)\n"
    (tmp_path / "why/report.txt").write_text(report)
    environment = {**os.environ, "PATH": f"{tool.parent}:{os.environ['PATH']}", "HEAD_SHA": "abc"}
    command = ["bash", "-e", "-o", "pipefail", "-c", script_of("comment.yml", "Comment")]
    subprocess.run(command, cwd=tmp_path, env=environment, check=True, timeout=20, capture_output=True)
    first, *middle, last = (tmp_path / "posted.md").read_text().splitlines()
    assert first == last == "`" * max(3, len(first))
    assert "\n".join(middle).strip() == report.strip()
    assert first not in report
    assert (tmp_path / "said.txt").read_text().startswith("pr comment 12 ")
    assert not (tmp_path / "here").exists()


def test_a_report_of_another_pull_request_is_not_posted(tmp_path: Path) -> None:
    tool = tmp_path / "bin" / "gh"
    tool.parent.mkdir()
    tool.write_text("#!/bin/sh\necho abc\ntouch posted\n")
    tool.chmod(0o755)
    (tmp_path / "why").mkdir()
    (tmp_path / "why/number.txt").write_text("7\n")
    (tmp_path / "why/report.txt").write_text("text\n")
    environment = {**os.environ, "PATH": f"{tool.parent}:{os.environ['PATH']}", "HEAD_SHA": "other"}
    command = ["bash", "-e", "-o", "pipefail", "-c", script_of("comment.yml", "Comment")]
    done = subprocess.run(command, cwd=tmp_path, env=environment, check=False, timeout=20, capture_output=True)
    assert done.returncode == 1
    assert not (tmp_path / "comment.md").exists()


ROUGH = """\
import os, resource, signal, time
import shop

resource.setrlimit(resource.RLIMIT_NOFILE, (4000, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
runs = []


class BatchError(Exception):
    failures = 3


class LyingError(Exception):
    def __getattribute__(self, name):
        if name == "failures":
            raise SystemExit(9)
        return super().__getattribute__(name)


def raises(kind):
    raise kind("wrong")


def test_failures_are_a_number():
    raises(BatchError)


def test_failures_exit():
    raises(LyingError)


def test_closes():
    runs.append(1)
    if len(runs) > 1:
        os.closerange(3, 300)
        time.sleep(600)
    assert shop.share(5, 5) == 2


def test_leaves_a_process():
    if os.fork() == 0:
        os.setsid()
        os.closerange(0, 3)
        time.sleep(20)
        os._exit(0)
    assert shop.share(5, 5) == 2


def test_leaks():
    leaked = [os.open(os.devnull, 0) for _ in range(1100)]
    assert shop.share(5, 5) == 2


def test_ignores_children():
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    assert shop.share(5, 5) == 2


def test_lacks_descriptors():
    leaked = []
    try:
        while True:
            leaked.append(os.open(os.devnull, 0))
    except OSError:
        os.close(leaked.pop())
    assert shop.share(5, 5) == 2
"""


def test_rough_tests_do_not_end_the_run(installed: Path, tmp_path: Path) -> None:
    (tmp_path / "test_rough.py").write_text(ROUGH)
    shown = run(tmp_path, installed, "--why", "--tb=short", "test_rough.py")
    assert "7 failed" in shown, shown
    for name in ("test_failures_are_a_number", "test_failures_exit"):
        assert section(shown, name)[-1].startswith("raised "), shown
    for name in ("test_leaves_a_process", "test_leaks", "test_ignores_children"):
        assert section(shown, name)[-1] == "returned 1", shown
    assert section(shown, "test_closes") == ["The test did not end within 10 s when it ran again."]
    assert section(shown, "test_lacks_descriptors") == ["The failure could not be explained: OSError."]


KEYS = """\
def connect(address, first, second):
    parts = [address, first]
    line = "Bearer " + second
    return parts


def test_keys():
    middle = "0123456789abcdefghij"
    assert connect("postgres://admin:" + "hunter" + "2@db/x", "ghp" + "_" + middle, "abcd" * 5) == 1
"""


def test_texts_that_look_like_keys_are_hidden_whatever_their_name(installed: Path, tmp_path: Path) -> None:
    (tmp_path / "test_keys.py").write_text(KEYS)
    block = "\n".join(section(run(tmp_path, installed, "--why", "--tb=short", "test_keys.py"), "test_keys"))
    assert "address = 'postgres://admin:<hidden>@db/x', first = '<hidden>'" in block, block
    for secret in ("hunter2", "0123456789abcdefghij", "Bearer abcd"):
        assert secret not in block, block
