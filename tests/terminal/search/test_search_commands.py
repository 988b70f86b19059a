"""Commands: filters, words and beginnings, pages, and speed that does not depend on how many there are."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from dragoman.journal import Journal
from dragoman.terminal.model import CommandFilter, RecordedCommand
from dragoman.terminal.record.command_store import CommandStore
from dragoman.terminal.service import TerminalService
from tests.daemons import PATIENCE
from tests.terminal.record_support import NOON_MS, Shell, fill_with_commands, recorded

pytestmark = pytest.mark.anyio
MANY = 100_000


async def lines(service: TerminalService, **wanted: object) -> list[str]:
    return [command.line for command in await service.commands(CommandFilter(**wanted))]  # type: ignore[arg-type]


async def test_all_that_is_wanted_must_hold(tmp_path: Path) -> None:
    async with recorded(tmp_path) as service:
        shell, other = Shell(service), Shell(service, "other")
        await shell.begin()
        await other.begin()
        await shell.run("git commit", cwd="/src/app")
        await shell.run("make test", cwd="/src/app/sub", exit_code=2)
        await shell.run("make test", cwd="/src/application", exit_code=2, unverified=True)
        other.now_ms = shell.now_ms
        last = await other.run("git push", cwd="/", exit_code=None)
        assert await lines(service) == ["git push", "make test", "make test", "git commit"]
        assert await lines(service, terminal="other") == ["git push"]
        assert await lines(service, cwd="/src/app") == ["make test", "git commit"], "the folder and those below it"
        assert await lines(service, cwd="/src/app/") == ["make test", "git commit"]
        assert len(await lines(service, cwd="/")) == 4
        assert len(await lines(service, failed=True)) == 2
        assert await lines(service, failed=True, verified=True, text="make") == ["make test"]
        assert await lines(service, since_ns=last.started_ns) == ["git push"]
        assert await lines(service, text="gi* co*") == ["git commit"]
        assert await lines(service, text='"test make"') == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("python", ["pytest -k python", "python3 app.py"]),
        ("PYTHON3", ["python3 app.py"]),
        ("test", ["pytest -k python"]),
        ("py", ["pytest -k python", "python3 app.py"]),
        ("app.p", ["python3 app.py"]),
        ("on3 app", ["python3 app.py"]),
        ('"on3 ap"', ["python3 app.py"]),
        ("test -k", ["pytest -k python"]),
        ("pyt* ap", ["python3 app.py"]),
        ("yth*", []),
        ("docker", []),
    ],
)
async def test_a_part_of_a_word_finds_it(tmp_path: Path, text: str, found: list[str]) -> None:
    async with recorded(tmp_path) as service:
        shell = Shell(service)
        await shell.begin()
        for line in ("python3 app.py", "ls -l", "pytest -k python"):
            await shell.run(line)
        assert await lines(service, text=text) == found


async def test_pages_follow_each_other_without_gap_or_double_even_within_one_millisecond(tmp_path: Path) -> None:
    async with recorded(tmp_path) as service:
        shell = Shell(service)
        await shell.begin()
        for number in range(25):
            await shell.ended(f"run {number}", NOON_MS)
        commands: list[RecordedCommand] = []
        while page := await service.commands(
            CommandFilter(text="run"), limit=7, before_ns=commands[-1].started_ns if commands else None
        ):
            commands += page
        assert len({command.id for command in commands}) == 25
        assert [command.id async for command in service.history()] == [command.id for command in reversed(commands)]


@pytest.mark.parametrize("text", ["rm -rf /", "a AND b", 'x"y', "col:umn", "(", "NEAR(a b)", "-v", "日本"])
async def test_no_words_are_a_syntax_error(tmp_path: Path, text: str) -> None:
    async with recorded(tmp_path) as service:
        shell = Shell(service)
        await shell.begin()
        await shell.run(f"echo {text} end")
        if any(character.isalnum() for character in text):
            assert len(await lines(service, text=text)) == 1


async def test_a_secret_in_a_command_line_a_folder_or_an_attribute_is_not_stored(tmp_path: Path) -> None:
    async with recorded(tmp_path) as service:
        shell = Shell(service)
        await shell.begin(API_TOKEN="hunter22hunter")
        command = await shell.run("export PASSWORD=hunter22hunter", cwd="/x/password=hunter22hunter")
        assert command.line == "export PASSWORD=<redacted 14 chars>"
        assert "hunter22" not in command.cwd + str(service.terminal(shell.terminal))


async def test_a_hundred_thousand_commands_are_filtered_within_milliseconds_and_streamed_within_seconds(
    tmp_path: Path,
) -> None:
    async with Journal.open(tmp_path / "journal", stores=[CommandStore()]):
        pass
    fill_with_commands(tmp_path / "journal", MANY)
    requests = [
        CommandFilter(),
        CommandFilter(text="make"),
        CommandFilter(text="car*"),
        CommandFilter(text="git 500"),
        CommandFilter(failed=True),
        CommandFilter(failed=True, verified=True, cwd="/src/project7"),
        CommandFilter(cwd="/rare"),
        CommandFilter(terminal="t7", failed=True),
        CommandFilter(cwd="/nowhere"),
        CommandFilter(since_ns=(NOON_MS + MANY - 5) * 1_000_000),
    ]
    async with recorded(tmp_path) as service:
        for request in requests:
            began_s = time.perf_counter()
            found = await service.commands(request)
            took_s = time.perf_counter() - began_s
            assert took_s < 0.25 * PATIENCE, (request, took_s)
            assert found or request.cwd == "/nowhere"
        began_s = time.perf_counter()
        assert len([command async for command in service.history()]) == MANY
        assert time.perf_counter() - began_s < 10 * PATIENCE
