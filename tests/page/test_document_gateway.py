"""The chat in front of a gateway that follows the protocol document alone: every flow of it, in a real browser."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal
from playwright.sync_api import expect

from tests.daemons import call, eventually
from tests.document_gateway import DocumentGateway, Manner, Run, document_gateway
from tests.faces.attacked import Attacked, attacked
from tests.page.tab import Tab
from tests.page.talking import fresh, say

pytestmark = pytest.mark.needs("chromium", "page")

MANNERS = {
    "streams and kinds": Manner(),
    "kinds alone, before the answer": Manner(text="kind", end="kind", events_first=True),
    "everything twice": Manner(text="both", end="both", names_runs=True),
}
SURFACE = {
    "type": "createSurface",
    "surface": {"id": "s1", "title": "Result"},
    "components": [{"id": "c1", "type": "Button", "props": {"label": "Go on"}}],
}


async def script(run: Run) -> None:
    if run.message == "wait":
        await run.text("Waiting")
        await run.stopped.wait()
        return await run.end("aborted")
    if run.message == "fail":
        return await run.end("error", "the model is away")
    await run.text("Let me look. ")
    await run.tool("t1", "readFile", "Reading src/main.ts", {"path": "src/main.ts"}, "the file")
    await run.tool("t2", "exec", "Running it", {}, "", "exit code 2")
    await run.diff("src/main.ts", "old\n", "new\n")
    await run.draw(SURFACE)
    await run.text("**Done.**")
    return await run.end()


@pytest.fixture(scope="module")
def portal() -> Iterator[BlockingPortal]:
    with start_blocking_portal() as portal:
        yield portal


@pytest.fixture(scope="module")
def gateway(portal: BlockingPortal) -> Iterator[DocumentGateway]:
    with portal.wrap_async_context_manager(document_gateway(script)) as gateway:
        yield gateway


@pytest.fixture(scope="module")
def daemon(gateway: DocumentGateway, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Attacked]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DRAGOMAN_GATEWAY_ADDRESS", gateway.url)
        patch.setenv("DRAGOMAN_GATEWAY_RELAY", "true")
        with attacked(tmp_path_factory.mktemp("documented")) as daemon:
            eventually(lambda: call(daemon.places, "gateway_status", {})["state"] == "connected")
            yield daemon


@pytest.mark.requirement(
    "page:chat:status-bar",
    "page:chat:tool-calls",
    "page:chat:diff-shown",
    "chat:session:create",
    "gateway:chat-history:method",
    "gateway:chat-history:session-key",
    "gateway:chat-history:messages",
)
@pytest.mark.parametrize("manner", MANNERS)
def test_an_answer_with_its_tools_and_changes_is_shown_once(tab: Tab, gateway: DocumentGateway, manner: str) -> None:
    gateway.manner = replace(MANNERS[manner])
    chat = fresh(tab)
    expect(chat.locator(".standing .state")).to_have_text("connected")
    expect(chat.locator(".standing .outer")).to_contain_text(f"connected {gateway.url}")
    for number in (1, 2):
        say(chat, "go")
        answers = chat.locator("article.assistant")
        expect(answers).to_have_count(number)
        expect(answers.last.locator(".prose").last).to_have_text("Done.")
        expect(answers.last.locator(".going")).to_have_count(0)
        assert answers.last.locator(".prose").all_inner_texts() == ["Let me look.", "Done."]
        expect(answers.last.locator(".tool .title")).to_have_text(["Reading src/main.ts", "Running it"])
        expect(answers.last.locator(".tool.failed")).to_have_count(1)
        expect(answers.last.locator("details.diff summary")).to_have_text("± src/main.ts")
    key = gateway.params("session.create")[-1]["key"]
    assert {it["sessionKey"] for it in gateway.params("chat.send")[-2:]} == {key}
    expect(chat.locator("select option", has_text=key)).to_have_count(1)
    expect(chat.locator(".bad")).to_have_count(0)
    tab.page.reload()
    expect(chat.locator("article")).to_have_count(4)


@pytest.mark.requirement("gateway:chat-abort:method", "gateway:chat-abort:session-key", "gateway:chat-abort:run-id")
def test_stop_names_the_run_and_the_next_answer_is_its_own(tab: Tab, gateway: DocumentGateway) -> None:
    gateway.manner = Manner()
    chat = fresh(tab)
    say(chat, "wait")
    expect(chat.locator("article.assistant .prose")).to_have_text("Waiting")
    chat.get_by_role("button", name="Stop").click()
    expect(chat.locator("article.assistant")).to_contain_text("Stopped.")
    (run_id,) = {it["runId"] for it in gateway.params("chat.abort")}
    assert run_id in gateway.seen.values()
    say(chat, "fail")
    expect(chat.locator("article.assistant").last).to_contain_text("the model is away")


@pytest.mark.requirement("canvas:action:forwarded")
def test_what_is_done_on_a_surface_goes_to_the_session_whose_run_drew_it(tab: Tab, gateway: DocumentGateway) -> None:
    gateway.manner = Manner()
    chat = fresh(tab)
    say(chat, "go")
    expect(chat.locator("article.assistant .prose").last).to_have_text("Done.")
    drew = gateway.params("chat.send")[-1]["sessionKey"]
    fresh(tab)
    canvas = tab.show("Canvas")
    canvas.get_by_role("button", name="Go on").click()
    eventually(lambda: "action=onClick" in gateway.params("chat.send")[-1]["message"])
    assert gateway.params("chat.send")[-1]["sessionKey"] == drew


@pytest.mark.requirement("chat:state:disconnected", "chat:reconnect:manual-disconnect")
def test_a_connection_that_somebody_ended_is_not_shown_and_what_is_said_is_given_back(
    tab: Tab, gateway: DocumentGateway, daemon: Attacked
) -> None:
    chat = tab.show("Chat")
    expect(chat.locator(".standing .outer")).to_be_visible()
    call(daemon.places, "gateway_disconnect", {})
    expect(chat.locator(".standing .outer")).to_have_count(0)
    say(chat, "nobody hears")
    expect(chat.locator(".bad")).to_contain_text("no connection to a gateway")
    expect(chat.get_by_label("Message")).to_have_value("nobody hears")
    call(daemon.places, "gateway_connect", {})
    expect(chat.locator(".standing .outer.connected")).to_be_visible()
