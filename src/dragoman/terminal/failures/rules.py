"""How tools print errors, as a table of rules: from patterns that only one tool prints to words that any tool may
print.

A rule also names functions that look at the lines around the match: for the line that names the error, and for the place
in the user's own code.
"""
# ruff: noqa: E501  a pattern stays on one line

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

Lines = Sequence[str]
Names = Callable[[Lines, int], int]
"""Finds the line that names the error, from a line that leads to it."""
Shows = Callable[[Lines, int], Iterator[int]]
"""Finds the lines around it that are worth showing."""

_REACH = 60
_OTHERS_CODE = re.compile(
    r"site-packages|dist-packages|/lib/python\d|<frozen |node:|node_modules|/usr/lib/go|/usr/local/go/|/go/pkg/mod/|"
    r"\bat (?:java|javax|jdk|sun|kotlin|scala|org\.junit|org\.gradle|org\.apache\.maven)\.|/rustc/"
)
_PYTHON_FRAME = re.compile(r'\s*(?:\| )?\s*File "[^"]+", line \d+')
_FRAMES = re.compile(r"^\s+at |^\t\S+\.go:\d+|^\s+from \S+:\d+")


def itself(_lines: Lines, at: int) -> int:
    return at


def nothing(_lines: Lines, _at: int) -> Iterator[int]:
    return iter(())


def next_line(lines: Lines, at: int) -> int:
    """The first non-empty line after it."""
    return next((i for i in _after(lines, at) if lines[i].strip()), at)


def following_line(lines: Lines, at: int) -> Iterator[int]:
    yield next_line(lines, at)


def line_before(_lines: Lines, at: int) -> Iterator[int]:
    if at > 0:
        yield at - 1


def end_of_traceback(lines: Lines, at: int) -> int:
    """The exception is where the indentation of the frames ends."""
    indent = len(lines[at]) - len(lines[at].lstrip())
    for i in _after(lines, at):
        text = lines[i]
        if text.strip() and len(text) - len(text.lstrip()) <= indent:
            return i
    return at


def own_python_frame(lines: Lines, at: int) -> Iterator[int]:
    """The innermost frame outside libraries, or the innermost one if all are in libraries."""
    frames = [i for i in range(max(0, at - _REACH), at) if _PYTHON_FRAME.match(lines[i])]
    begun = max((i for i in range(max(0, at - _REACH), at) if "Traceback (most recent" in lines[i]), default=0)
    frames = [i for i in frames if i > begun]
    own = [i for i in frames if not _OTHERS_CODE.search(lines[i])]
    for i in (own or frames)[-1:]:
        yield i
        if i + 1 < at and not _PYTHON_FRAME.match(lines[i + 1]):
            yield i + 1


def own_frame(lines: Lines, at: int) -> Iterator[int]:
    """The first frame below it that is not in a library."""
    frames = (i for i in _after(lines, at) if _FRAMES.match(lines[i]) and not _OTHERS_CODE.search(lines[i]))
    if (first := next(frames, None)) is not None:
        yield first


def arrow(lines: Lines, at: int) -> Iterator[int]:
    """Where a Rust compiler prints the place, and the label under the code."""
    for i in list(_after(lines, at))[:4]:
        if lines[i].lstrip().startswith("-->"):
            yield i
            return


def _after(lines: Lines, at: int) -> range:
    return range(at + 1, min(at + 1 + _REACH, len(lines)))


@dataclass(frozen=True, slots=True)
class ErrorRule:
    """A line that contains a word of `needs` and matches scores `score`, and 8 more if the rule's tool was run."""

    score: int
    needs: tuple[str, ...]
    """Checked first: searching for a word costs a fraction of a match, and most lines contain none."""
    pattern: re.Pattern[str]
    tools: frozenset[str]
    counts: Literal["first", "last"]
    """Which of several counts: the first for compilers, because it causes the others; the last for programs, because
    it ends them."""
    names: Names
    shows: Shows


def _rule(
    score: int,
    needs: str,
    pattern: str,
    tools: str = "",
    counts: Literal["first", "last"] = "first",
    names: Names = itself,
    shows: Shows = nothing,
) -> ErrorRule:
    """`needs` lists words separated by bars. Quantifiers in patterns are bounded by the length of a line."""
    return ErrorRule(
        score, tuple(needs.split("|")), re.compile(pattern), frozenset(tools.split()), counts, names, shows
    )  # fmt: skip


_COMPILERS = (
    _rule(92, "error: |错误：", r"[^\s:][^:]{0,300}:\d+(?::\d+)?: (?:(?:fatal|internal compiler) )?(?:error: |(?:致命)?错误：)"),
    _rule(92, "error TS", r"[^\s(]\S{0,300}(?:\(\d+,\d+\): | ?:\d+:\d+ - )error TS\d+", "tsc"),
    _rule(92, "): error ", r"[^\s(][^(]{0,300}\(\d+,\d+\): error \w+\d+:", "dotnet csc msbuild"),
    _rule(95, "error[E", r"error\[E\d{4}\]: ", "cargo rustc", shows=arrow),
    _rule(80, "error: ", r"error: (?!could not compile|aborting due|process didn't|test failed)", "cargo rustc", shows=arrow),
    _rule(45, "error: ", r"error: (?:could not compile|aborting due|process didn't|test failed)"),
    _rule(90, ".go:", r"(?:vet: )?(?:\.{1,2}/)?[\w./-]{1,200}\.go:\d+:\d+: (?!.*(?:declared (?:and|but) not used|imported and not used))", "go"),
    _rule(82, ".go:", r"(?:\.{1,2}/)?[\w./-]{1,200}\.go:\d+:\d+: ", "go"),
    _rule(88, "undefined reference to|cannot find -l|undefined symbol|ndefined symbols", r".*(?:undefined reference to|cannot find -l|[Uu]ndefined symbols?)"),
    _rule(40, "collect2: |linker command", r"collect2: error|.*linker command failed"),
    _rule(88, "CMake Error", r"CMake Error", "cmake", shows=following_line),
    _rule(85, "ninja: ", r"ninja: (?:error|fatal)", "ninja"),
    _rule(90, "*** No rule|*** missing|*** multiple", r"\w*make(?:\[\d+\])?: \*\*\* |.*Makefile:\d+: \*\*\* ", "make gmake"),
    _rule(55, "*** ", r"\w*make(?:\[\d+\])?: \*\*\* |\S*[Mm]akefile:\d+: \*\*\* ", "make gmake", "last"),
    _rule(88, "e: ", r"e: (?:file://)?\S+\.kts?:", "gradle gradlew kotlinc"),
    _rule(88, "went wrong:", r"\* What went wrong:", "gradle gradlew", names=next_line),
    _rule(72, "[ERROR]", r"\[ERROR\] (?!.*(?:Re-run Maven|To see the full|\[Help \d\]|After correcting)|\s*$)", "mvn mvnw"),
    _rule(82, "error", r"\s+\d+:\d+\s+error\s+\S", "eslint npx npm yarn pnpm"),
    _rule(80, ".py:", r"\S{1,300}\.py:\d+:\d+: [A-Z]{1,4}\d+ ", "ruff flake8 pylint"),
)  # fmt: skip
_PROGRAMS = (
    _rule(91, "Traceback (most", r"\s{0,8}Traceback \(most recent call last\):", "", "last", end_of_traceback, own_python_frame),
    _rule(72, "Error|Exception|Interrupt", r"[\w.]{0,80}(?:Error|Exception|KeyboardInterrupt)(?:: |$)", "python python3", "last", shows=own_python_frame),
    _rule(88, "Error", r"(?:Uncaught )?(?:[A-Z]\w{0,60})?Error(?: \[\w+\])?: ", "node npm npx deno bun", shows=own_frame),
    _rule(85, "Error", r"\s{1,8}(?:[A-Z]\w{0,60})?Error \[\w+\]: ", "node npm", shows=own_frame),
    _rule(88, "SyntaxError", r"SyntaxError: ", "node python python3", "last"),
    _rule(90, "panic: ", r"panic: ", "go", shows=own_frame),
    _rule(93, "panicked at ", r"thread '.*' (?:\(\d+\) )?panicked at [^']{1,300}:\d+:\d+:$", "cargo", names=next_line, shows=line_before),
    _rule(92, "panicked at '", r"thread '.*' panicked at '", "cargo"),
    _rule(90, ".rb:", r"\S{1,300}\.rb:\d+:in .*\(\S+\)\s*$", "ruby bundle rake"),
    _rule(88, "lua", r"(?:\S{0,100}/)?lua\S{0,10}: (?!warning)", "lua lua5.1 lua5.2 lua5.3 lua5.4 luajit"),
    _rule(80, " line ", r".* at \S+ line \d+\.?\s*$", "perl", "last"),
    _rule(90, "Fatal error: |Parse error: ", r"(?:PHP )?(?:Fatal|Parse) error: ", "php composer"),
    _rule(90, "Exception in thread", r"Exception in thread ", "java", shows=own_frame),
    _rule(91, "Caused by: ", r"Caused by: \S+[.:]\S", "java mvn gradle", "last", shows=own_frame),
    _rule(88, "what(): ", r"\s+what\(\): ", "", "last", shows=line_before),
    _rule(80, "terminate called", r"terminate called "),
    _rule(90, "Assertion", r".*: Assertion [`'].*' failed\.?"),
    _rule(92, "Sanitizer", r"(?:==\d+==\s?ERROR: |.*: runtime error: |SUMMARY: )\w*Sanitizer"),
    _rule(92, "heap out of memory", r".*heap out of memory", "node npm", "last"),
    _rule(86, "fault|Aborted|Abort|Killed|Bus error|instruction|exception|Terminated|已杀死|段错误", r"(?:.*: line \d+: +\d+ )?(?:Segmentation fault|Aborted|Abort trap|Bus error|Illegal instruction|Killed|Floating point exception|Trace/breakpoint trap|Terminated|段错误|已杀死)", "", "last"),
    _rule(86, "zsh: ", r"zsh: (?:segmentation fault|abort|killed|bus error|illegal hardware|floating point|terminated)", "", "last"),
    _rule(86, "terminated by signal", r"fish: .*terminated by signal", "", "last"),
    _rule(88, "** (", r"\*\* \(\w+(?:\.\w+)*\) ", "mix elixir iex"),
)  # fmt: skip
_TESTS = (
    _rule(94, "FAILED ", r"FAILED \S+(?:::\S+| - )", "pytest py.test tox nox"),
    _rule(93, "ERROR ", r"ERROR \S+(?:::\S+)? - ", "pytest py.test"),
    _rule(91, "E  ", r"E {2,}(?!\s*[+\-?] )\S", "pytest py.test"),
    _rule(70, "ERROR ", r"ERROR \S+\.py(?:::\S+)?$", "pytest py.test"),
    _rule(76, "FAIL: |ERROR: ", r"(?:FAIL|ERROR): \w+ \(", "unittest"),
    _rule(89, "_test.go:", r"\s+\w+_test\.go:\d+: ", "go"),
    _rule(80, "--- FAIL: ", r"\s*--- FAIL: ", "go"),
    _rule(86, "● ", r"\s+● .+ › ", "jest npm npx yarn", shows=following_line),
    _rule(80, "FAIL ", r"\s*(?:FAIL|❯|×) {1,2}\S+\.(?:test|spec)\.", "vitest jest npm npx"),
    _rule(70, "not ok ", r"\s*not ok \d+", "prove tap"),
    _rule(60, "✖ |✗ |✘ |✕ ", r"\s*[✖✗✘✕] \S"),
    _rule(78, " ... FAILED", r"test \S+ \.\.\. FAILED", "cargo"),
)  # fmt: skip
_TOOLS = (
    _rule(88, "fatal: |致命错误：", r"(?:fatal: |致命错误：)", "git"),
    _rule(92, "rejected]", r"\s!\s\[(?:remote )?rejected\]", "git"),
    _rule(90, "CONFLICT (", r"CONFLICT \(", "git"),
    _rule(82, "remote: ", r"remote: (?:error|fatal|ERROR)", "git"),
    _rule(60, "failed to push|Automatic merge", r"error: failed to push|Automatic merge failed", "git"),
    _rule(40, "npm ", r"npm (?:ERR!|error)(?:\s*$| (?:A complete log|code |errno |syscall |path |dest |command |To see a list|in workspace|location |   |This is probably not|Did you mean))", "npm"),
    _rule(77, "npm ", r"npm (?:ERR!|error) (?!A complete log|code |errno |syscall |path |dest |command |To see a list|in workspace|location |   |This is probably not|Did you mean|Lifecycle|Test failed)\S", "npm npx"),
    _rule(85, "ERR_PNPM", r".*ERR_PNPM_\w+", "pnpm"),
    _rule(85, "ERROR: ", r"ERROR: (?:Could not|No matching|Cannot install|Failed building|Invalid|Exception)", "pip pip3 uv"),
    _rule(84, "E: ", r"E: \S", "apt apt-get dpkg sudo"),
    _rule(90, "curl: (", r"curl: \(\d+\) ", "curl"),
    _rule(86, "ssh: |publickey|Host key", r"ssh: |.*Permission denied \(publickey|Host key verification failed", "ssh scp git rsync"),
    _rule(86, "response from daemon", r".*Error response from daemon: ", "docker podman"),
    _rule(82, "failed to solve", r".*failed to solve", "docker"),
    _rule(85, "ERROR: ", r"(?:psql:.{0,200})?ERROR: {2}", "psql"),
    _rule(88, "ERROR ", r"ERROR \d+ \(", "mysql mariadb"),
    _rule(86, "Error: ", r"[│|╷]?\s*Error: ", "terraform tofu helm pulumi"),
    _rule(86, "Error from server", r"Error from server", "kubectl"),
)  # fmt: skip
_SYSTEM = (
    _rule(90, "ommand not found|nknown command: |未找到命令|: not found", r"(?:\S+: )?(?:line \d+: )?.{0,200}(?:: [Cc]ommand not found|: 未找到命令)|zsh: command not found: |fish: Unknown command: |\S+: \d+: \S+: not found", "", "last"),
    _rule(
        76, "No such file|ermission denied|s a directory|ot a directory|File exists|No space left|Read-only file|onnection refused|Address already|not permitted|quota exceeded|Too many open|allocate memory|file busy|resource busy|Broken pipe|format error|Name or service|nput/output error|bad interpreter|没有那个文件|权限不够|设备上没有空间|address already in use",
        r".*(?:No such file or directory|[Pp]ermission denied|[Ii]s a directory|[Nn]ot a directory|File exists|No space left on device|Read-only file system|[Cc]onnection refused|[Aa]ddress already in use|[Oo]peration not permitted|quota exceeded|Too many open files|[Cc]annot allocate memory|Text file busy|resource busy|Broken pipe|[Ee]xec format error|Name or service not known|[Ii]nput/output error|bad interpreter|没有那个文件或目录|权限不够|设备上没有空间)", "", "last",
    ),
    _rule(78, "nrecognized|nvalid option|nknown option|nknown flag|o such option|nvalid choice|nknown command|missing operand|is not a ", r".*(?:unrecognized (?:option|argument|subcommand)|(?:invalid|illegal) option|[Uu]nknown (?:option|flag|command)|[Nn]o such option|invalid choice|missing operand|is not a \w+ command)", "", "last"),
    _rule(66, "timed out|imeout", r".*(?:timed out|[Tt]imeout(?:Error| exceeded| expired))", "", "last"),
)  # fmt: skip
_WORDS = (
    _rule(64, "error|Error|ERROR|fatal|Fatal|FATAL|错误", r"(?:\S{0,60}\s)?\[?(?:[Ee]rror|ERROR|[Ff]atal|FATAL|错误)\]?(?:\[\S+\])?\s?[:：]"),
    _rule(46, "error|Error|ERROR|错误", r".*(?:\b(?:[Ee]rror|ERROR)\b|错误)", "", "last"),
    _rule(42, "fail|Fail|FAIL|失败", r".*(?:\b(?:[Ff]ail(?:ed|ure|s)?|FAIL(?:ED|URE)?)\b|失败)", "", "last"),
    _rule(40, "annot|ould not|an't|nable to|无法", r".*(?:\b(?:[Cc]annot|[Cc]ould not|[Cc]an't|[Uu]nable to)\b|无法)", "", "last"),
    _rule(36, "denied|refused|nvalid|issing|ot found|o such|拒绝", r".*(?:\b(?:denied|refused|[Ii]nvalid|[Mm]issing|[Nn]ot found|[Nn]o such)\b|拒绝)", "", "last"),
    _rule(34, ": ", r"(?!note|info|hint|help|usage|debug|http)[a-z][\w.+-]{1,24}: \S"),
)  # fmt: skip
RULES = (*_COMPILERS, *_PROGRAMS, *_TESTS, *_TOOLS, *_SYSTEM, *_WORDS)
