"""How a command may continue: from real records, on a replayed history, and with a model."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import anyio
import anyio.lowlevel
import pytest

from dragoman.core.redaction import Redactor
from dragoman.core.settings.schema import Settings
from dragoman.models.selection import select_model
from dragoman.terminal.completion.completer import CommandCompleter
from dragoman.terminal.completion.predictor import CommandPredictor, TypingContext
from dragoman.terminal.model import VERIFIES, CommandReport
from tests.daemons import PATIENCE
from tests.support.fake_model import Ends, FakeModel, Refuses, Says, Step, Waits
from tests.terminal.completion.typed_commands import history
from tests.terminal.recorded import Recorded, recorded

pytestmark = pytest.mark.anyio
SHOP, SITE = "/home/dev/shop", "/home/dev/site"


@pytest.fixture
async def record(tmp_path: Path) -> AsyncIterator[Recorded]:
    async with recorded(tmp_path) as record:
        yield record


async def loaded(record: Recorded) -> CommandCompleter:
    completions = CommandCompleter(record.service, redactor=Redactor())
    await completions.load()
    return completions


async def lines(
    completions: CommandCompleter, text: str, *, terminal: str = "t1", cwd: str = SHOP, limit: int = 5
) -> list[str]:
    found = await completions.suggest(text, len(text), terminal=terminal, cwd=cwd, limit=limit)
    assert all(one.text.startswith(text) and 0 < one.confidence <= 1 for one in found)
    return [one.text for one in found]


async def test_what_was_typed_before_is_suggested_and_what_is_typed_now_is_learnt(record: Recorded) -> None:
    await record.run("git status")
    completions = await loaded(record)
    assert await lines(completions, "git") == ["git status"]
    await record.run("git stash pop")
    assert set(await lines(completions, "git st")) == {"git status", "git stash pop"}
    assert await lines(completions, "git status") == []
    assert await lines(completions, "make") == []


async def test_commands_that_end_while_the_history_is_read_are_learnt_once(record: Recorded) -> None:
    for number in range(120):
        await record.run(f"echo {number}", took_s=0)
    completions = CommandCompleter(record.service, redactor=Redactor())
    async with anyio.create_task_group() as group:
        group.start_soon(completions.load)
        await record.run("make late")
    assert await lines(completions, "make") == ["make late"]
    assert completions._predictor.lines.count == 121


async def test_the_folder_chooses(record: Recorded) -> None:
    for _ in range(3):
        await record.run("make test", cwd=SHOP)
        await record.run("make publish", cwd=SITE)
    completions = await loaded(record)
    assert (await lines(completions, "mak", cwd=SHOP, terminal="t9"))[0] == "make test"
    assert (await lines(completions, "mak", cwd=SITE, terminal="t9"))[0] == "make publish"


async def test_the_command_before_chooses(record: Recorded) -> None:
    for _ in range(4):
        for line in ("git add -A", "git commit -v", "git push", "vim a.py"):
            await record.run(line)
    await record.run("git add -A")
    completions = await loaded(record)
    assert (await lines(completions, "git"))[0] == "git commit -v"
    await record.run("git commit -v")
    assert (await lines(completions, "git"))[0] == "git push"


async def test_what_is_used_often_and_lately_comes_first(record: Recorded) -> None:
    for _ in range(30):
        await record.run("ssh old.example.org", terminal="t2", cwd="")
    record.clock.advance(120 * 86_400)
    for _ in range(3):
        await record.run("ssh new.example.org", terminal="t2", cwd="")
    completions = await loaded(record)
    assert (await lines(completions, "ssh"))[0] == "ssh new.example.org"


@pytest.mark.parametrize(
    ("line", "options"),
    [
        ("make forged", {"verified": False}),
        ("make planted", {"agent": "an agent", "terminal": "t7"}),
        (" make hidden", {}),
        ("make first\nmake second", {}),
        ("make " + "x" * 600, {}),
        ("make \x1b[31mred", {}),
        ("make TOKEN=ghp_" + "a1B2c3D4e5" * 4, {}),
        ("", {}),
    ],
)
async def test_what_is_never_suggested(record: Recorded, line: str, options: dict[str, object]) -> None:
    await record.run(line, **options)  # type: ignore[arg-type]
    completions = await loaded(record)
    assert await lines(completions, "make", terminal="t7") == []
    assert await lines(completions, " make") == []


async def test_a_slip_is_not_suggested_until_it_runs(record: Recorded) -> None:
    await record.run("gti status", 127)
    await record.run("./deploy.sh", 126)
    completions = await loaded(record)
    assert await lines(completions, "gti") == await lines(completions, "./d") == []
    await record.run("./deploy.sh", 0)
    assert await lines(completions, "./d") == ["./deploy.sh"]


async def test_what_fails_comes_after_what_works(record: Recorded) -> None:
    for _ in range(5):
        await record.run("make good", 0, terminal="t2")
        await record.run("make bad", 2, terminal="t2")
    completions = await loaded(record)
    assert await lines(completions, "mak") == ["make good", "make bad"]


@pytest.mark.parametrize(("text", "cursor"), [("git st", 3), ("", 0), ("   ", 3), ("git\nst", 6), ("g" * 501, 501)])
async def test_nothing_is_suggested_where_a_whole_line_cannot_continue(
    record: Recorded, text: str, cursor: int
) -> None:
    await record.run("git status")
    completions = await loaded(record)
    assert await completions.suggest(text, cursor, terminal="t1", cwd=SHOP) == []


async def test_no_more_are_given_than_wanted(record: Recorded) -> None:
    for number in range(9):
        await record.run(f"make part{number}")
    completions = await loaded(record)
    assert len(await lines(completions, "mak")) == 5
    assert len(await lines(completions, "mak", limit=2)) == 2


def test_on_a_replayed_history_the_first_suggestion_is_right_in_two_of_five_cases(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """After three characters of each of 5,000 commands, learning as they come; beside the last one that began so."""
    guesses, before, latest = CommandPredictor(), dict[str, str](), dict[str, str]()
    tried = first = among_five = recent = 0
    sure: list[tuple[float, bool]] = []
    for typed in history():
        moment, beginning = TypingContext(typed.cwd, before.get(typed.terminal, "")), typed.line[:3]
        if len(typed.line) > 3:
            found = guesses.predict(beginning, moment, 5)
            tried += 1
            first += found[:1] != [] and found[0][0] == typed.line
            among_five += typed.line in [line for line, _ in found]
            recent += latest.get(beginning) == typed.line
            sure += [(found[0][1], found[0][0] == typed.line)] if found else []
        guesses.train(typed.line, moment, typed.at_s, typed.exit_code)
        before[typed.terminal] = latest[beginning] = typed.line
    with capsys.disabled():
        print(f"\nof {tried} commands, after three characters: first suggestion {first / tried:.1%}, "
              f"among five {among_five / tried:.1%}; most recent with that beginning {recent / tried:.1%}")  # fmt: skip
    assert first >= 0.40 * tried
    assert first >= 1.2 * recent
    likely = [right for confidence, right in sure if confidence >= 0.7]
    unlikely = [right for confidence, right in sure if confidence < 0.2]
    assert len(likely) > 100
    assert sum(likely) >= 0.7 * len(likely)
    assert sum(unlikely) <= 0.3 * len(unlikely)


@contextlib.asynccontextmanager
async def with_model(record: Recorded, *replies: Sequence[Step]) -> AsyncIterator[tuple[CommandCompleter, FakeModel]]:
    async with FakeModel.running(*replies) as fake, anyio.create_task_group() as group:
        model = select_model(Settings(model="openai", model_name="small", model_address=fake.address), {})
        completions = CommandCompleter(record.service, redactor=Redactor(), model=model)
        group.start_soon(completions.run)
        with anyio.fail_after(10 * PATIENCE):
            await completions.loaded.wait()
            yield completions, fake
        group.cancel_scope.cancel()


async def test_a_model_is_asked_where_the_history_knows_little(record: Recorded) -> None:
    await record.run("ls")
    async with with_model(record, [Says(["tar xzf ", "backup.tar.gz\n"]), Ends()]) as (completions, fake):
        assert completions._model is not None
        await completions._model.lines("tar x", SHOP, ["ls"], within_s=10 * PATIENCE)
        assert await lines(completions, "tar x") == ["tar xzf backup.tar.gz"]
        assert await lines(completions, "tar xzf b") == ["tar xzf backup.tar.gz"]
        assert len(fake.requests) == 1
        assert "$ ls" in fake.requests[0].body["messages"][1]["content"]


@pytest.mark.parametrize("result", ["rm -rf /", "tar x", "tar x\x1b[2J", "tar x" + "y" * 400, "", "Sure! `tar x`"])
async def test_a_models_line_that_is_not_a_way_to_continue_is_not_shown(record: Recorded, result: str) -> None:
    async with with_model(record, [Says([result]), Ends()]) as (completions, fake):
        assert completions._model is not None
        assert await completions._model.lines("tar x", SHOP, [], within_s=10 * PATIENCE) == []
        assert await lines(completions, "tar x") == []
        assert len(fake.requests) == 1


async def test_a_slow_model_holds_nothing_up_and_its_failure_is_not_a_fault(record: Recorded) -> None:
    await record.run("tar tf backup.tar")
    await record.run("make")
    async with with_model(record, [Waits()], [Refuses(500)]) as (completions, fake):
        with anyio.fail_after(3 * PATIENCE):
            assert await lines(completions, "tar", cwd="/elsewhere") == ["tar tf backup.tar"]
            fake.go_on.set()
            assert await lines(completions, "tar ", cwd="/elsewhere") == ["tar tf backup.tar"]


async def test_a_model_that_failed_is_not_asked_with_every_key(record: Recorded) -> None:
    async with with_model(record, [Refuses(401)]) as (completions, fake):
        assert completions._model is not None
        assert await completions._model.lines("tar", SHOP, [], within_s=10 * PATIENCE) == []
        assert await lines(completions, "tar x") == await lines(completions, "tar xz") == []
        assert len(fake.requests) == 1


async def test_a_model_is_not_asked_where_the_history_is_sure(record: Recorded) -> None:
    for _ in range(12):
        await record.run("make deploy")
    async with with_model(record) as (completions, fake):
        assert (await completions.suggest("make d", 6, terminal="t1", cwd=SHOP))[0].confidence > 0.5
        assert fake.requests == []


@pytest.mark.parametrize("typed", ["export API_TOKEN=hunter2hunter2", "curl -H 'Authorization: Bearer abcdef123456"])
async def test_a_secret_that_is_being_typed_reaches_no_model(record: Recorded, typed: str) -> None:
    async with with_model(record, [Says([typed + "!"]), Ends()]) as (completions, fake):
        assert await lines(completions, typed) == []
        assert fake.requests == []


async def ran_unverified(record: Recorded, terminal: str, line: str) -> None:
    """By a client that gives its shell no nonce."""
    now_ms = record.clock.wall_ns() // 1_000_000
    await record.service.begin(terminal, parent="", at_ms=now_ms, attributes={"shell": "bash"})
    result = CommandReport(
        id=f"{terminal}:1", terminal=terminal, line=line, started_ms=now_ms, ended_ms=now_ms, exit_code=0
    )
    await record.service.command_ended(result)


async def test_what_nobody_verified_is_given_to_a_model_for_its_own_terminal_alone(
    record: Recorded, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dragoman.terminal.completion.completer._WAIT_FOR_MODEL_S", 10 * PATIENCE)
    for terminal in ("plain", "other"):
        await ran_unverified(record, terminal, f"echo {terminal}")
    await record.run("make ours", terminal="ours")
    replies: list[Sequence[Step]] = [[Says([f"tar x{it}"]), Ends()] for it in (1, 2, 3)]
    async with with_model(record, *replies) as (completions, fake):
        for number, terminal in enumerate(("plain", "other", "ours"), 1):
            assert await lines(completions, "tar x", terminal=terminal) == [f"tar x{number}"]
        entries = [it.body["messages"][1]["content"] for it in fake.requests]
    seen = [{word for word in ("echo plain", "echo other", "make ours") if word in it} for it in entries]
    assert seen == [{"echo plain", "make ours"}, {"echo other", "make ours"}, {"make ours"}]


async def test_a_session_that_verifies_nothing_is_suggested_its_own_commands_and_nobody_elses(record: Recorded) -> None:
    for terminal in ("plain", "other"):
        await ran_unverified(record, terminal, f"git {terminal}")
    await record.run("git status", terminal="ours")
    await record.run("git forged", terminal="ours", verified=False)
    completions = await loaded(record)
    assert set(await lines(completions, "git", terminal="plain")) == {"git plain", "git status"}
    assert await lines(completions, "git", terminal="ours") == ["git status"]


async def test_a_command_of_the_far_future_does_not_keep_later_ones_from_being_learnt(record: Recorded) -> None:
    await record.run("git status")
    far_ms = record.clock.wall_ns() // 1_000_000 + 10**11
    result = CommandReport(id="t1:far", terminal="t1", line="git far", started_ms=far_ms, ended_ms=far_ms, exit_code=0)
    await record.service.command_ended(result)
    completions = await loaded(record)
    await record.run("git stash")
    assert "git stash" in await lines(completions, "git")


async def test_a_command_of_a_clock_that_was_not_set_leaves_others_their_age(record: Recorded) -> None:
    result = CommandReport(id="t1:unset", terminal="t1", line="git unset", started_ms=1, ended_ms=1, exit_code=0)
    await record.service.begin("t1", parent="", at_ms=1, attributes={VERIFIES: "1"})
    await record.service.command_ended(result)
    for _ in range(3):
        await record.run("git old")
    record.clock.advance(400 * 86_400)
    await record.run("git new")
    assert (await lines(await loaded(record), "git"))[:2] == ["git new", "git old"]
