"""A client and a gateway of the protocol document, with ours between them: each gets the other's messages once."""

from __future__ import annotations

from pathlib import Path

import pytest

from dragoman.servers.gateway.documented_protocol import DocumentedCanvas
from tests.document_gateway import Manner
from tests.servers.gateway.document_client import document_client
from tests.servers.gateway.gateway_fixture import running_gateway
from tests.servers.gateway.test_document_gateway import FORMS, SURFACE, connected, everything

pytestmark = pytest.mark.anyio


@pytest.mark.requirement("chat:router:a2ui-to-canvas", "chat:translate:no-double-text")
@pytest.mark.parametrize("text", FORMS)
@pytest.mark.parametrize("names_runs", [True, False])
async def test_a_run_goes_through_ours_whole_and_once(tmp_path: Path, text: str, names_runs: bool) -> None:
    manner = Manner(text=text, end="both", names_runs=names_runs)  # type: ignore[arg-type]
    async with (
        connected(tmp_path / "behind", everything, manner, gateway_relay=True) as (behind, link, canvas),
        running_gateway(tmp_path / "front", relay=link.relay) as front,
    ):
        link.listen(front.hub.relay_event, front.hub.publish)
        front.hub.canvas = DocumentedCanvas(canvas, in_sessions="chat")
        canvas.watch(front.hub.surface_changed)
        async with document_client(front.url, front.token) as client:
            await client.chat_send("acp:one", "go")
            await client.until_done()
            await client.until(lambda: client.router.canvas)
            await client.session_list()
            assert client.router.text == "Let me look. Done."
            entries = [it["kind"] for it in client.router.chat if it["kind"] != "text_delta"]
            assert entries == ["tool_start", "tool_result", "diff", "done"]
            assert client.router.canvas == [SURFACE]
            assert [it["sessionKey"] for it in behind.params("chat.send")] == ["acp:one"]
