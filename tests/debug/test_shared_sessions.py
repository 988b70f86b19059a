"""Opened shared sessions: bounded, for the folder in which they were opened, and named by the user's own keys."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from dragoman.core.errors import DragomanError
from dragoman.debug.shared_sessions import MAX_OPENED, SharedSessions
from dragoman.protocols.share import SharedSession, encode_manifest, read_share, sign_manifest
from tests.protocols.share.test_share_file import SEED, file_of

SHOP = Path("/w/shop")
KEY = sign_manifest(encode_manifest(read_share(file_of()).manifest), SEED).fingerprint


def session(number: int = 0) -> SharedSession:
    return read_share(file_of(created_at_ns=number))


def test_a_client_finds_only_what_was_opened_in_its_folder_or_below() -> None:
    shared = SharedSessions()
    id = shared.add(session(), SHOP).session.id
    for folder in ("/w/shop", "/w", "/", None):
        assert shared.find(id, folder).session.id == id
    for folder in ("/w/shop/api", "/w/sho", "/v"):
        with pytest.raises(DragomanError):
            shared.find(id, folder)


def test_the_oldest_makes_room() -> None:
    shared = SharedSessions()
    ids = [shared.add(session(number), SHOP).session.id for number in range(MAX_OPENED + 2)]
    assert [it.session.id for it in shared.opened()] == ids[2:]
    shared.add(session(2), SHOP)
    assert [it.session.id for it in shared.opened()] == [*ids[3:], ids[2]]
    shared.forget(ids[3])
    assert ids[3] not in [it.session.id for it in shared.opened()]
    shared.forget()
    assert shared.opened() == []


def test_a_key_is_known_by_the_users_settings_alone() -> None:
    known: dict[str, str] = {}
    shared = SharedSessions(lambda: known)
    opened = shared.add(session(), SHOP)
    assert (opened.signer, opened.signed_by) == ("", f"unknown key {KEY}")
    known["ada"] = KEY
    assert shared.add(session(), SHOP).signed_by == "ada"
    known["ada"] = KEY[::-1]
    assert shared.add(session(), SHOP).signer == ""


def test_a_stop_of_a_wrong_frame_is_kept_without_a_place() -> None:
    made = session()
    odd = msgspec.structs.replace(made, stops=(msgspec.structs.replace(made.stops[0], at=-5, frames=()),))
    assert SharedSessions().add(odd, SHOP).stops[0].frame is None
