"""Tokens, links and the guard's judgement."""

from __future__ import annotations

import contextlib
import errno
import json
import stat
from itertools import product
from pathlib import Path

import anyio
import pytest

from dragoman.access.request_guard import AllowedNames, Audience, GuardRefusal, PresentedHeaders, judge
from dragoman.access.tokens import PURPOSES, AccessLinks, Tokens
from dragoman.core.errors import DragomanError
from tests.support.faulty_system import FaultySystem


@pytest.fixture
def tokens(tmp_path: Path) -> Tokens:
    return Tokens(tmp_path / "state" / "tokens")


def test_tokens_survive_a_restart_in_files_that_only_the_owner_reads(tmp_path: Path) -> None:
    folder = tmp_path / "state" / "tokens"
    first, second = Tokens(folder), Tokens(folder)
    assert [first.of(purpose) for purpose in PURPOSES] == [second.of(purpose) for purpose in PURPOSES]
    assert len({first.of(purpose) for purpose in PURPOSES}) == len(PURPOSES)
    assert {path.name for path in folder.iterdir()} == set(PURPOSES)
    assert {stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()} == {0o600}
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_a_token_opens_its_own_purpose_and_no_other(tokens: Tokens) -> None:
    accepted = {(a, b) for a, b in product(PURPOSES, PURPOSES) if tokens.accepts(a, tokens.of(b))}
    assert accepted == {(purpose, purpose) for purpose in PURPOSES}


def test_near_misses_are_refused(tokens: Tokens) -> None:
    token = tokens.of("mcp")
    near = ["", token[:-1], token + "x", token.swapcase(), token[::-1], " " + token, "." + token, token + ".", "\udcff"]
    assert [text for text in near if tokens.accepts("mcp", text)] == []


def test_a_page_session_survives_a_restart_and_dies_with_a_rotation(tmp_path: Path) -> None:
    path = tmp_path / "state" / "tokens"
    session = Tokens(path).new_session("page")
    restarted = Tokens(path)
    assert restarted.accepts("page", session)
    assert not restarted.accepts("mcp", session)
    assert not restarted.accepts("page", session[:-1] + ("0" if session[-1] != "0" else "1"))
    restarted.rotate("page")
    assert not restarted.accepts("page", session)


def test_rotation_refuses_the_old_token_at_once_and_leaves_the_others(tokens: Tokens) -> None:
    old, other = tokens.of("mcp"), tokens.of("gateway")
    tokens.rotate("mcp")
    assert not tokens.accepts("mcp", old)
    assert tokens.accepts("gateway", other)


def test_a_token_without_its_file_is_created_again_and_the_others_are_kept(tmp_path: Path) -> None:
    folder = tmp_path / "state" / "tokens"
    before = Tokens(folder)
    (folder / "mcp").unlink()
    after = Tokens(folder)
    assert after.of("mcp") != before.of("mcp")
    assert [after.of(it) for it in PURPOSES[1:]] == [before.of(it) for it in PURPOSES[1:]]


def test_tokens_of_the_earlier_single_file_are_kept_and_that_file_is_gone(tmp_path: Path) -> None:
    old = tmp_path / "state" / "tokens.json"
    old.parent.mkdir(mode=0o700)
    old.write_text(json.dumps({"mcp": "kept", "page": "kept-too"}))
    old.chmod(0o600)
    tokens = Tokens(tmp_path / "state" / "tokens")
    assert (tokens.of("mcp"), tokens.of("page")) == ("kept", "kept-too")
    assert (tmp_path / "state" / "tokens" / "mcp").read_text() == "kept\n"
    assert len(tokens.of("gateway")) > 40
    assert not old.exists()


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EIO])
def test_a_move_from_the_one_file_that_fails_at_any_call_loses_no_token(tmp_path: Path, code: int) -> None:
    for number in range(1, 100):
        old = tmp_path / str(number) / "tokens.json"
        old.parent.mkdir(mode=0o700)
        old.write_text(json.dumps({purpose: f"kept-{purpose}" for purpose in PURPOSES}))
        old.chmod(0o600)
        system = FaultySystem(number, code=code)
        with contextlib.suppress(OSError):
            Tokens(old.with_suffix(""), system=system)
        again = Tokens(old.with_suffix(""))
        assert [again.of(purpose) for purpose in PURPOSES] == [f"kept-{purpose}" for purpose in PURPOSES]
        if not system.reached:
            break
    assert number > 4


@pytest.mark.parametrize("name", ["tokens.json", "tokens/page"])
def test_unreadable_tokens_are_an_error_that_says_what_to_do(tmp_path: Path, name: str) -> None:
    path = tmp_path / "state" / name
    path.parent.mkdir(mode=0o700, parents=True)
    path.write_text("[ \x00")
    path.chmod(0o600)
    with pytest.raises(DragomanError, match="Delete the file") as caught:
        Tokens(tmp_path / "state" / "tokens")
    assert caught.value.code == "bad_tokens"
    assert path.read_text() == "[ \x00"


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EIO])
def test_a_rotation_that_fails_at_any_call_leaves_memory_and_disk_agreed(tmp_path: Path, code: int) -> None:
    path = tmp_path / "state" / "tokens"
    before = Tokens(path).of("mcp")
    system = FaultySystem(1, code=code)
    while not _rotates(tokens := Tokens(path, system=system)):
        assert Tokens(path).of("mcp") == tokens.of("mcp")
        system = FaultySystem(system.fail_at + 1, code=code)
    assert system.fail_at > 4
    assert not system.reached
    assert tokens.of("mcp") == Tokens(path).of("mcp") != before
    assert {it.name for it in path.iterdir()} == set(PURPOSES)
    assert list(path.parent.iterdir()) == [path]


def _rotates(tokens: Tokens) -> bool:
    try:
        tokens.rotate("mcp")
    except OSError:
        return False
    return True


@pytest.mark.anyio
async def test_rotation_ends_the_links_of_that_purpose_only(tokens: Tokens) -> None:
    links = AccessLinks(tokens)
    ended: list[str] = []

    async def hold(purpose: str, opened: anyio.Event) -> None:
        with links.hold(purpose) as scope:  # type: ignore[arg-type]
            opened.set()
            await anyio.sleep_forever()
        ended.append(purpose if scope.cancel_called else "?")

    async with anyio.create_task_group() as group:
        for purpose in ("mcp", "page"):
            opened = anyio.Event()
            group.start_soon(hold, purpose, opened)
            await opened.wait()
        assert [links.count(purpose) for purpose in PURPOSES] == [1, 1, 0, 0, 0]
        tokens.rotate("page")
        with anyio.fail_after(1):
            while links.count("page"):
                await anyio.lowlevel.checkpoint()
        assert links.count("mcp") == 1
        group.cancel_scope.cancel()
    assert ended == ["page"]


NAMES = AllowedNames.of("127.0.0.1", 8177)
GOOD_HOSTS = ["127.0.0.1:8177", "localhost:8177", "LOCALHOST:8177"]
BAD_HOSTS = [
    "evil.example",
    "localhost.evil.example:8177",
    "localhost6:8177",
    "127.0.0.1:1",
    "[::ffff:127.0.0.1]:8177",
    "127.0.0.1",
    "localhost",
    "127.0.0.1:8177.evil.example",
    "",
    "127.0.0.1:08177",
    "0.0.0.0:8177",
]
BAD_ORIGINS = [
    "http://evil.example",
    "null",
    "http://localhost:3000",
    "https://127.0.0.1:8177",
    "http://127.0.0.1",
    "http://127.0.0.1.evil.example:8177",
    "http://127.0.0.1:8177/",
    "http://127.0.0.1:81770",
    "",
]


def asked(
    tokens: Tokens, *, hosts: list[str], origins: list[str] | None = None, bearer: str | None = None
) -> GuardRefusal | None:
    authorizations = [f"Bearer {bearer}"] if bearer is not None else []
    return judge(PresentedHeaders(hosts, origins or [], authorizations), NAMES, tokens, "page")


def test_only_the_exact_own_host_passes(tokens: Tokens) -> None:
    token = tokens.of("page")
    assert [host for host in GOOD_HOSTS if asked(tokens, hosts=[host], bearer=token)] == []
    refusals = [asked(tokens, hosts=[host], bearer=token) for host in BAD_HOSTS]
    assert refusals == [GuardRefusal(421, "wrong_host")] * len(BAD_HOSTS)


def test_no_host_and_two_hosts_are_refused(tokens: Tokens) -> None:
    for hosts in ([], ["127.0.0.1:8177", "127.0.0.1:8177"]):
        assert asked(tokens, hosts=hosts, bearer=tokens.of("page")) == GuardRefusal(421, "wrong_host")


def test_only_the_exact_own_origin_passes(tokens: Tokens) -> None:
    own = ["http://127.0.0.1:8177"]
    assert asked(tokens, hosts=GOOD_HOSTS[:1], origins=own, bearer=tokens.of("page")) is None
    for origin in BAD_ORIGINS:
        refused = asked(tokens, hosts=GOOD_HOSTS[:1], origins=[origin], bearer=tokens.of("page"))
        assert refused == GuardRefusal(403, "wrong_origin"), origin
    assert asked(tokens, hosts=GOOD_HOSTS[:1], origins=own * 2, bearer=tokens.of("page")) == GuardRefusal(
        403, "wrong_origin"
    )


def test_a_token_is_needed_unless_the_route_is_public(tokens: Tokens) -> None:
    assert asked(tokens, hosts=GOOD_HOSTS[:1]) == GuardRefusal(401, "token_needed")
    assert asked(tokens, hosts=GOOD_HOSTS[:1], bearer=tokens.of("mcp")) == GuardRefusal(401, "token_needed")
    assert judge(PresentedHeaders(GOOD_HOSTS[:1], [], []), NAMES, tokens, None) is None


def test_a_request_bears_one_token_and_no_more(tokens: Tokens) -> None:
    bearer = f"Bearer {tokens.of('mcp')}"
    assert judge(PresentedHeaders(GOOD_HOSTS[:1], [], [bearer]), NAMES, tokens, "mcp") is None
    assert judge(PresentedHeaders(GOOD_HOSTS[:1], [], [bearer] * 2), NAMES, tokens, "mcp") == GuardRefusal(
        401, "token_needed"
    )


def test_a_remote_address_is_called_by_that_address_alone() -> None:
    assert AllowedNames.of("192.0.2.7", 80).hosts == {"192.0.2.7:80"}
    assert AllowedNames.of("192.0.2.7", 80).page == "192.0.2.7:80"
    assert AllowedNames.of("::1", 80).hosts == {"127.0.0.1:80", "[::1]:80", "localhost:80"}


def test_another_name_of_the_page_counts_only_as_long_as_it_is_open(tokens: Tokens) -> None:
    names = AllowedNames.of("127.0.0.1", 8177, page="0123.localhost:8177")
    name = "0123.localhost:4000"

    def refused(origin: str = f"http://{name}", audience: Audience = "page") -> GuardRefusal | None:
        return judge(PresentedHeaders([name], [origin], []), names, tokens, None, audience)

    assert refused() == GuardRefusal(421, "wrong_host")
    assert name not in names
    with names.forwarding(name):
        with names.forwarding(name):
            assert refused() is None
        assert refused(audience="link") is None
        assert refused("http://0123.localhost:8177") == GuardRefusal(403, "wrong_origin")
        assert refused(audience="programs") == GuardRefusal(421, "wrong_host")
        assert name in names
    assert refused() == GuardRefusal(421, "wrong_host")
    assert {"0123.localhost:8177", "127.0.0.1:8177"} <= {it for it in names.hosts | {names.page} if it in names}


PAGE = "0123.localhost:8177"
AT_PAGE = AllowedNames.of("127.0.0.1", 8177, page=PAGE)


@pytest.mark.parametrize(
    ("room", "host", "origin", "refused"),
    [
        ("page", PAGE, "", 0),
        ("page", PAGE, f"http://{PAGE}", 0),
        ("page", "127.0.0.1:8177", "", 421),
        ("page", "4567.localhost:8177", "", 421),
        ("page", PAGE, "http://127.0.0.1:8177", 403),
        ("link", PAGE, f"http://{PAGE}", 0),
        ("link", "127.0.0.1:8177", "", 0),
        ("link", "127.0.0.1:8177", "http://127.0.0.1:8177", 403),
        ("link", "127.0.0.1:8177", f"http://{PAGE}", 403),
        ("programs", "127.0.0.1:8177", "", 0),
        ("programs", "localhost:8177", "http://127.0.0.1:8177", 0),
        ("programs", PAGE, "", 421),
        ("programs", "127.0.0.1:8177", f"http://{PAGE}", 403),
        ("lobby", PAGE, "", 0),
        ("lobby", "127.0.0.1:8177", "", 0),
        ("lobby", "4567.localhost:8177", "", 421),
    ],
)
def test_the_page_and_programs_have_names_of_their_own(
    tokens: Tokens, room: Audience, host: str, origin: str, refused: int
) -> None:
    presented = PresentedHeaders([host], [origin] if origin else [], [])
    found = judge(presented, AT_PAGE, tokens, None, room)
    assert (found.status if found else 0) == refused
