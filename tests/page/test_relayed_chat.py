"""A chat with agents behind another gateway: what their file tools changed is shown, now and after a reload."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from anyio.from_thread import start_blocking_portal
from playwright.sync_api import expect

from tests.page.chat_page import say
from tests.page.tab import Tab
from tests.servers.target_daemon import TargetDaemon, target_daemon
from tests.support.fake_gateway import AcceptedConnection, fake_gateway

pytestmark = pytest.mark.needs("chromium", "page")

KEY = "agent:main:main"
EDIT = {"path": "src/app.py", "edits": [{"oldText": "total = 0\nreturn total", "newText": "total = 1\nreturn total"}]}
WRITE = {"file_path": "<b>new</b>.txt", "content": "one\ntwo\n"}
CALLS = [("edit", EDIT, False), ("write", WRITE, False), ("edit", {**EDIT, "path": "refused.py"}, True)]


async def script(accepted: AcceptedConnection) -> None:
    await accepted.welcome()
    history: list[Any] = []
    answers = {
        "sessions.list": {"sessions": [{"key": KEY, "displayName": "main", "updatedAt": 1, "hasActiveRun": False}]},
        "chat.history": {"sessionKey": KEY, "messages": history},
    }
    async for raw in accepted.socket:
        request = json.loads(raw)
        method = request["method"]
        if method == "chat.send":
            run_id = request["params"]["idempotencyKey"]
            await accepted.answer(request, {"runId": run_id, "status": "started"})
            await run(accepted, run_id)
            history += remembered(request["params"]["message"])
        else:
            await accepted.answer(request, answers.get(method, {}))


async def run(accepted: AcceptedConnection, run_id: str) -> None:
    about = {"runId": run_id, "sessionKey": KEY, "ts": 1}
    for number, (name, args, is_error) in enumerate(CALLS):
        call = {"name": name, "toolCallId": f"c{number}"}
        start = {"phase": "start", **call, "args": args}
        result = {
            "phase": "result",
            **call,
            "isError": is_error,
            "result": {"content": [{"type": "text", "text": "ok"}]},
        }
        for seq, data in enumerate((start, result)):
            await accepted.event("agent", {**about, "seq": 2 * number + seq + 1, "stream": "tool", "data": data})
    message = {"role": "assistant", "content": [{"type": "text", "text": "Done."}]}
    await accepted.event("chat", {**about, "seq": 99, "state": "final", "message": message})


def remembered(text: str) -> list[Any]:
    calls = [
        {"type": "toolCall", "id": f"c{number}", "name": name, "arguments": args}
        for number, (name, args, _) in enumerate(CALLS)
    ]
    results = [
        {"role": "toolResult", "toolCallId": f"c{number}", "isError": is_error, "content": "ok"}
        for number, (_, _, is_error) in enumerate(CALLS)
    ]
    data = {"role": "assistant", "content": [{"type": "text", "text": "Done."}, *calls], "stopReason": "stop"}
    return [{"role": "user", "content": text, "timestamp": 1}, {**data, "timestamp": 2}, *results]


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TargetDaemon]:
    with (
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(fake_gateway(script)) as gateway,
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setenv("DRAGOMAN_GATEWAY_ADDRESS", gateway.url)
        patch.setenv("DRAGOMAN_GATEWAY_RELAY", "true")
        with target_daemon(tmp_path_factory.mktemp("relayed")) as daemon:
            yield daemon


@pytest.mark.requirement("page:chat:diff-shown")
def test_the_changes_of_edit_and_write_are_shown_as_diffs_and_a_refused_one_is_not(tab: Tab) -> None:
    chat = tab.show("Chat")
    expect(chat.locator(".empty")).to_be_visible()
    expect(chat.locator(".state.connected")).to_be_visible()  # what is said before comes back
    say(chat, "fix it")
    for _ in range(2):
        expect(chat.locator("article.assistant .prose")).to_have_text("Done.")
        diffs = chat.locator("details.diff")
        expect(diffs.locator("summary")).to_have_text(["± src/app.py", "± <b>new</b>.txt"])
        expect(diffs.nth(0).locator(".line")).to_have_text(["− total = 0", "+ total = 1"])
        expect(diffs.nth(1).locator(".line.added")).to_have_text(["+ one", "+ two"])
        expect(chat.locator("details.tool.failed")).to_have_count(1)
        tab.page.reload()
