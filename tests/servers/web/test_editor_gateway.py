"""An editor names the gateway and its token; the daemon connects, and every window gets the status."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from anyio.from_thread import start_blocking_portal

from tests.daemons import eventually
from tests.document_gateway import DocumentGateway, Manner, document_gateway
from tests.page.page_fixture import DebugWorkspace, debug_workspace
from tests.servers.web.fake_editor import FakeEditor, Json, fake_editor

TOKEN = "known to the person alone"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DebugWorkspace]:
    with debug_workspace(tmp_path_factory.mktemp("gateways")) as place:
        yield place


@contextmanager
def _gateway() -> Iterator[DocumentGateway]:
    with start_blocking_portal() as portal:
        made = document_gateway(manner=Manner(token=TOKEN))
        with portal.wrap_async_context_manager(made) as gateway:
            yield gateway


def _states(editor: FakeEditor) -> list[str]:
    return [it["params"]["state"] for it in editor.notified if it["method"] == "gateway.state"]


def _call(editor: FakeEditor, method: str, **params: str) -> Json:
    result: Json = editor.call(method, params)["result"]
    return result


def test_an_editor_connects_the_daemon_with_a_token_that_is_kept_nowhere(place: DebugWorkspace) -> None:
    with _gateway() as gateway, fake_editor(place, {}) as editor, _beside(place) as other:
        assert _call(editor, "gateway.status")["state"] == "disconnected"
        connected = _call(editor, "gateway.connect", address=gateway.url, token=TOKEN)
        assert (connected["state"], connected["address"]) == ("connected", gateway.url)
        assert gateway.connects[0]["params"]["auth"] == {"token": TOKEN}
        eventually(lambda: "connected" in _states(other), every_s=0.02)  # every window shows it
        assert _call(editor, "gateway.disconnect")["state"] == "disconnected"
        eventually(lambda: _states(other)[-1] == "disconnected", every_s=0.02)
    home = place.daemon.paths.state.parent
    assert not [path for path in home.rglob("*") if path.is_file() and TOKEN.encode() in path.read_bytes()]


def test_a_wrong_token_and_an_invalid_address_are_reported_as_such(place: DebugWorkspace) -> None:
    with _gateway() as gateway, fake_editor(place, {}) as editor:
        refused = _call(editor, "gateway.connect", address=gateway.url, token="another")
        assert refused["state"] != "connected"
        assert refused["reason"]
        connected = _call(editor, "gateway.connect", address=gateway.url, token=TOKEN)
        assert connected["state"] == "connected"  # entered anew, it counts at once
        assert editor.call("gateway.connect", {"address": "http://x", "token": ""})["error"]["code"] == "bad_address"
        assert editor.call("gateway.connect", {"address": gateway.url, "token": "a\nb"})["error"]["code"] == "bad_token"
        _call(editor, "gateway.disconnect")


@contextmanager
def _beside(place: DebugWorkspace) -> Iterator[FakeEditor]:
    editor = FakeEditor(place, {})
    try:
        yield editor
    finally:
        editor.leave()
