"""Error lines of tools that no recorded session has, as these tools print them; and what exit codes mean."""
# ruff: noqa: E501  outputs stand on one line

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.terminal.failures import exit_meaning, find_errors

CASES = {
    "tsc": ("npx tsc", "src/a.ts(3,5): error TS2322: Type 'string' is not assignable to type 'number'.\n\nFound 1 error.", 0),
    "tsc_pretty": ("tsc", "src/a.ts:3:5 - error TS2322: Type 'x'.\n\n3 let a: number = 'x'\n      ~\n\nFound 1 error.", 0),
    "dotnet": ("dotnet build", "Restored.\n/p/A.cs(3,5): error CS0103: The name 'x' does not exist\n    1 Error(s)", 1),
    "jest": ("npm test", "PASS a.test.js\n  ● cart › adds\n\n    expect(received).toBe(expected)\n\nTests: 1 failed", 1),
    "eslint": ("npx eslint .", "\n/p/a.js\n  1:5  warning  x  no-x\n  3:10  error  'y' is not defined  no-undef\n\n2 problems", 3),
    "mypy": ("mypy .", "a.py:1: note: x\na.py:3: error: Name 'y' is not defined  [name-defined]\nFound 1 error in 1 file", 1),
    "gradle": ("./gradlew build", "> Task :a FAILED\n\n* What went wrong:\nExecution failed for task ':a'.\n\n* Try:\n> Run", 3),
    "maven": ("mvn package", "[INFO] x\n[ERROR] /p/A.java:[3,5] cannot find symbol\n[ERROR] \n[ERROR] Re-run Maven using -X", 1),
    "pip": ("pip install nosuch", "WARNING: old pip\nERROR: Could not find a version that satisfies nosuch (from versions: none)", 1),
    "apt": ("sudo apt install nosuch", "Reading package lists... Done\nE: Unable to locate package nosuch", 1),
    "docker": ("docker run x", "docker: Error response from daemon: No such image: x:latest.\nSee 'docker run --help'.", 0),
    "compose": ("docker build .", "#5 ERROR: process did not complete\nERROR: failed to solve: alpine:99: not found", 1),
    "psql": ("psql -f a.sql", 'CREATE TABLE\npsql:a.sql:3: ERROR:  relation "b" does not exist\nLINE 1: select', 1),
    "terraform": ("terraform plan", "Refreshing\n╷\n│ Error: Invalid reference\n│ \n│   on main.tf line 3", 2),
    "kubectl": ("kubectl get pod x", 'Error from server (NotFound): pods "x" not found', 0),
    "zsh": ("foo", "zsh: command not found: foo", 0),
    "fish": ("foo", "fish: Unknown command: foo", 0),
    "dash": ("sh a.sh", "start\na.sh: 3: foo: not found", 1),
    "zsh_segfault": ("./a", "zsh: segmentation fault (core dumped)  ./a", 0),
    "script_segfault": ("bash a.sh", "a.sh: line 3: 12345 Segmentation fault      (core dumped) ./a", 0),
    "cpp_throw": ("./a", "terminate called after throwing an instance of 'std::out_of_range'\n  what():  vector::_M_range_check\nAborted", 1),
    "asan": ("./a", "=====\n==12==ERROR: AddressSanitizer: heap-use-after-free on address 0x6\n#0 0x1 in main a.c:3", 1),
    "php": ("php a.php", "PHP Fatal error:  Uncaught Error: Call to undefined function f() in /p/a.php:3\nStack trace:", 0),
    "elixir": ("mix run", "Compiling\n** (ArgumentError) argument error\n    (elixir) x", 1),
    "node_heap": ("node a.js", "<--- Last few GCs --->\nFATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory", 1),
    "npm_eresolve": ("npm install", "npm ERR! code ERESOLVE\nnpm ERR! ERESOLVE unable to resolve dependency tree\nnpm ERR! \nnpm ERR! A complete log of this run can be found in: x", 1),
    "cargo_test": ("cargo test", "running 1 test\ntest a::b ... FAILED\n\nthread 'a::b' panicked at src/a.rs:3:5:\nassertion `left == right` failed\n  left: 1\nerror: test failed, to rerun pass `--lib`", 4),
    "cmake": ("cmake .", "-- Checking\nCMake Error at CMakeLists.txt:3 (find_package):\n  Could not find Foo\n-- Configuring incomplete, errors occurred!", 1),
    "old_warning": ("make", "warning: error handling is deprecated\nerror: disk gone\nwarning: cannot continue without errors", 1),
    "no_error": ("check", "0 errors, 0 warnings\nresult: failed to reach the host\nfinished without errors", 1),
    "chained": ("python a.py", 'Traceback (most recent call last):\n  File "/p/a.py", line 1, in f\nKeyError: 1\n\nDuring handling of the above exception, another exception occurred:\n\nTraceback (most recent call last):\n  File "/p/a.py", line 3, in f\nValueError: no such order', 8),
    "custom_exception": ("python a.py", 'Traceback (most recent call last):\n  File "/p/a.py", line 1, in f\n    x()\nshop.errors.OutOfStock: apples', 3),
    "option": ("mytool --frob", "usage: mytool [-h]\nmytool: error: unrecognized arguments: --frob", 1),
    "chinese": ("cat x", "cat: x: 没有那个文件或目录", 0),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_the_line_that_names_the_error_is_found(name: str) -> None:
    command, output, line = CASES[name]
    errors = find_errors(output, command)
    assert errors is not None
    assert errors.key_line == output.split("\n")[line].strip()


def test_the_place_in_the_users_own_code_is_shown_beside_an_exception() -> None:
    output = (
        'Traceback (most recent call last):\n  File "/p/app.py", line 3, in main\n    load()\n'
        '  File "/usr/lib/python3.11/json/decoder.py", line 9, in decode\n    raise x\nValueError: bad\n'
    )
    errors = find_errors(output, "python app.py")
    assert errors is not None
    assert errors.lines == ('File "/p/app.py", line 3, in main', "load()", "ValueError: bad")


def test_several_errors_are_shown_in_order_and_not_without_end() -> None:
    output = "".join(f"a.c:{line}:1: error: number {line}\n" for line in range(1, 100))
    errors = find_errors(output, "gcc a.c")
    assert errors is not None
    assert errors.lines == tuple(f"a.c:{line}:1: error: number {line}" for line in range(1, 6))


def test_nothing_printed_is_nothing_found() -> None:
    assert find_errors("", "make") is None
    assert find_errors("\n  \n", "make") is None


@given(st.text(max_size=400), st.text(max_size=60))
def test_any_output_of_any_command_is_judged_within_bounds(output: str, command: str) -> None:
    errors = find_errors(output, command)
    assert errors is None or (1 <= len(errors.lines) <= 5 and all(len(line) <= 400 for line in errors.lines))


@pytest.mark.parametrize(
    ("code", "meaning"),
    [
        (1, None),
        (2, None),
        (126, "found, but not executable"),
        (127, "command not found"),
        (130, "SIGINT: interrupted with Ctrl-C"),
        (134, "SIGABRT: aborted"),
        (137, "SIGKILL: killed, often because memory ran out"),
        (139, "SIGSEGV: segmentation fault"),
        (-9, "SIGKILL: killed, often because memory ran out"),
        (143, "SIGTERM: terminated"),
        (138, "terminated by SIGUSR1"),
        (255, None),
        (192, "terminated by SIGRTMAX"),
    ],
)
def test_exit_codes_mean_what_shells_mean_by_them(code: int, meaning: str | None) -> None:
    found = exit_meaning(code)
    assert (str(found) if found else None) == meaning
