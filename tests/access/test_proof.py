"""The mutual proof without a socket: what convinces nobody, and what convinces the one it is for."""

from __future__ import annotations

import json
from dataclasses import fields, replace
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from dragoman.access.proof import (
    CODE_LIFETIME_S,
    EDITOR_KEY_ID,
    MESSAGE_CAP,
    Keyring,
    ProofHandshake,
    ProofKey,
    ProofSession,
    Transcript,
    UnprovedError,
    derive_session,
)
from dragoman.access.tokens import Tokens
from tests.support.clocks import VirtualClock

INSTANCE, ADDRESS, PATH = "0123456789abcdef" * 2, "127.0.0.1:8177", "/link/feed"
KEYS = {"mine": ProofKey("a secret", "page"), "other": ProofKey("another", "page")}
NONCE = "ab" * 32
_NONCES = count()


def handshake(path: str = PATH, instance: str = INSTANCE) -> ProofHandshake:
    nonce = f"{next(_NONCES):064x}"
    return ProofHandshake(KEYS.get, path=path, instance=instance, addresses={ADDRESS, "[::1]:8177"}, nonce=nonce)


def opening(**changed: Any) -> str:
    return json.dumps({"key": "mine", "nonce": NONCE, "dialled": ADDRESS, **changed})


def seen(answer: str, *, path: str = PATH, dialled: str = ADDRESS) -> Transcript:
    data = json.loads(answer)
    return Transcript("mine", path, NONCE, data["nonce"], data["instance"], dialled)


def mac(text: str) -> str:
    return json.dumps({"mac": text})


def test_both_sides_are_convinced() -> None:
    daemon = handshake()
    answer = daemon.open(opening())
    transcript = seen(answer)
    assert json.loads(answer)["mac"] == transcript.mac("a secret", "daemon")
    assert daemon.close(mac(transcript.mac("a secret", "client"))) == (KEYS["mine"], transcript)


def test_the_secret_is_in_no_message() -> None:
    answer = handshake().open(opening())
    spoken = [opening(), answer, mac(seen(answer).mac("a secret", "client"))]
    assert not [message for message in spoken if "a secret" in message]


@pytest.mark.parametrize(
    "changed",
    [
        {"dialled": "127.0.0.1:8178"},
        {"dialled": "localhost:8177"},
        {"dialled": "127.0.0.1:8177 "},
        {"dialled": "127.0.0.1"},
        {"dialled": ""},
        {"key": "unknown"},
        {"key": ""},
        {"nonce": NONCE[:-2]},
        {"nonce": NONCE.upper()},
        {"nonce": ""},
        {"nonce": 7},
        {"mac": "and more"},
        {"dialled": None},
    ],
)
def test_the_daemon_proves_nothing_for_a_wrong_address_or_without_a_key(changed: dict[str, Any]) -> None:
    with pytest.raises(UnprovedError):
        handshake().open(opening(**changed))


@pytest.mark.parametrize("result", ["", "{", "[]", "null", "{}", "\ud800", "[" * 5000, " " * MESSAGE_CAP + opening()])
def test_what_is_not_a_message_proves_nothing(result: str) -> None:
    with pytest.raises(UnprovedError):
        handshake().open(result)
    daemon = handshake()
    daemon.open(opening())
    with pytest.raises(UnprovedError):
        daemon.close(result)


def test_the_daemons_own_proof_is_worthless_when_it_is_reflected() -> None:
    daemon = handshake()
    with pytest.raises(UnprovedError):
        daemon.close(mac(json.loads(daemon.open(opening()))["mac"]))


@pytest.mark.parametrize("field", [it.name for it in fields(Transcript)])
def test_a_proof_is_for_exactly_what_both_saw(field: str) -> None:
    daemon = handshake()
    transcript = seen(daemon.open(opening()))
    with pytest.raises(UnprovedError):
        daemon.close(mac(replace(transcript, **{field: getattr(transcript, field) + "0"}).mac("a secret", "client")))


def test_swapped_nonces_prove_nothing() -> None:
    daemon = handshake()
    it = seen(daemon.open(opening()))
    swapped = replace(it, client_nonce=it.daemon_nonce, daemon_nonce=it.client_nonce)
    with pytest.raises(UnprovedError):
        daemon.close(mac(swapped.mac("a secret", "client")))


def test_the_macs_are_those_that_clients_compute() -> None:
    """The same numbers are in the extension's tests: whoever changes one side finds the other."""
    result = Transcript("code-1", "/link/calls", "ab" * 32, "cd" * 32, INSTANCE, f"{INSTANCE}.localhost:8177")
    assert [
        result.mac("a secret", "daemon"),
        result.mac("a secret", "client"),
        *derive_session(result, "a secret"),
    ] == [
        "fe3a1078afa026f8e44eccd903b480224bb33243888274806acb9370137211e8",
        "c341a92e4e4dfc369c995212db091249e423ce7ca7a773fae54d359c78f83264",
        "e5a14f2773076cbb76e17129bd5c6eb4",
        "eebe88d6142387408b29039b5568aa829a47ae11b8f5d3bccbcaca91764832e1",
    ]


def test_a_field_cannot_grow_into_its_neighbour() -> None:
    one = Transcript("ab", "c", "d", "e", "f", "g")
    other = Transcript("a", "bc", "d", "e", "f", "g")
    assert one.mac("k", "daemon") != other.mac("k", "daemon")


@pytest.mark.parametrize("cut", [0, 1, 32, 63])
def test_a_truncated_proof_is_refused(cut: int) -> None:
    daemon = handshake()
    whole = seen(daemon.open(opening())).mac("a secret", "client")
    with pytest.raises(UnprovedError):
        daemon.close(mac(whole[:cut]))


def test_a_proof_counts_once_and_on_its_own_socket_only() -> None:
    first, second = handshake(), handshake()
    proof = mac(seen(first.open(opening())).mac("a secret", "client"))
    second.open(opening())
    with pytest.raises(UnprovedError):
        second.close(proof)
    first.close(proof)
    with pytest.raises(UnprovedError):
        first.close(proof)
    with pytest.raises(UnprovedError):
        handshake().close(proof)


def test_a_relay_cannot_pass_the_daemons_proof_on() -> None:
    """It tells the daemon the right address, and the client computes with the one that it dialled."""
    answer = handshake().open(opening())
    relayed = seen(answer, dialled="127.0.0.1:9999")
    assert json.loads(answer)["mac"] != relayed.mac("a secret", "daemon")


@pytest.fixture
def clock() -> VirtualClock:
    return VirtualClock()


@pytest.fixture
def tokens(tmp_path: Path) -> Tokens:
    return Tokens(tmp_path / "state" / "tokens")


@pytest.fixture
def keys(tokens: Tokens, clock: VirtualClock) -> Keyring:
    return Keyring(tokens, clock)


def of_code(code: str) -> Transcript:
    return Transcript(code.partition(".")[0], "/link/calls", NONCE, NONCE[::-1], INSTANCE, ADDRESS)


def test_a_code_becomes_one_session_that_both_sides_derive(keys: Keyring) -> None:
    code = keys.issue_code()
    transcript, secret = of_code(code), code.partition(".")[2]
    assert keys.find(transcript.key_id) == ProofKey(secret, "page", is_code=True)
    session = keys.spend(transcript)
    assert session == derive_session(transcript, secret)
    assert keys.spend(transcript) is None
    assert keys.find(transcript.key_id) is None
    assert session is not None
    assert keys.find(session.id) == ProofKey(session.secret, "page")
    assert not {session.id, session.secret} & {code, secret, transcript.key_id}


def test_a_code_is_refused_after_two_minutes_and_the_wall_clock_does_not_matter(
    keys: Keyring, clock: VirtualClock
) -> None:
    early, late = of_code(keys.issue_code()), of_code(keys.issue_code())
    clock.set_wall_back(86_400)
    clock.advance(CODE_LIFETIME_S - 0.1)
    assert keys.spend(early)
    clock.advance(0.1)
    assert keys.find(late.key_id) is None
    assert keys.spend(late) is None


def test_of_many_codes_and_sessions_only_the_newest_are_kept(keys: Keyring) -> None:
    issued = [of_code(keys.issue_code()) for _ in range(1000)]
    assert [sum(keys.find(it.key_id) is not None for it in some) for some in (issued[:-32], issued[-32:])] == [0, 32]
    sessions: list[ProofSession] = []
    for _ in range(300):
        session = keys.spend(of_code(keys.issue_code()))
        assert session is not None
        sessions.append(session)
    assert [keys.find(it.id) is not None for it in (sessions[0], sessions[-1])] == [False, True]


def test_a_session_belongs_to_one_instance(keys: Keyring, tokens: Tokens, clock: VirtualClock) -> None:
    session = keys.spend(of_code(keys.issue_code()))
    assert session is not None
    assert Keyring(tokens, clock).find(session.id) is None


def test_a_rotation_ends_the_keys_of_its_purpose(keys: Keyring, tokens: Tokens) -> None:
    session, unspent = keys.spend(of_code(keys.issue_code())), of_code(keys.issue_code())
    assert session is not None
    before = keys.find(EDITOR_KEY_ID)
    tokens.rotate("editor")
    assert keys.find(EDITOR_KEY_ID) not in (before, None)
    assert keys.find(session.id) is not None
    tokens.rotate("page")
    assert [keys.find(it) for it in (session.id, unspent.key_id)] == [None, None]
