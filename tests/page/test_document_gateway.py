"""The chat in front of a gateway that follows the protocol document alone: every flow of it, in a real browser."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal
from playwright.sync_api import Browser, Locator, expect

from tests.daemons import call, eventually
from tests.document_gateway import DocumentGateway, Manner, Run, document_gateway
from tests.page.chat_page import fresh, say
from tests.page.tab import Tab
from tests.servers.target_daemon import TargetDaemon, target_daemon

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
    if run.message == "by hand":
        return None
    if run.message == "wait":
        await run.text("Waiting")
        await run.stopped.wait()
        return await run.end("aborted")
    if run.message == "fail":
        return await run.end("error", "the model is away")
    await run.text("Let me look. ")
    await run.tool("t1", "readFile", "Reading src/main.ts", {"path": "src/main.ts"}, "the file")
    await run.tool("t2", "exec", "Running it", {}, "half of it", "exit code 2")
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
def daemon(gateway: DocumentGateway, tmp_path_factory: pytest.TempPathFactory) -> Iterator[TargetDaemon]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DRAGOMAN_GATEWAY_ADDRESS", gateway.url)
        patch.setenv("DRAGOMAN_GATEWAY_RELAY", "true")
        with target_daemon(tmp_path_factory.mktemp("documented")) as daemon:
            eventually(lambda: call(daemon.paths, "gateway_status", {})["state"] == "connected")
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
        expect(answers.last.locator(".tool.failed pre").last).to_have_text("half of it\nexit code 2")
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
def test_actions_on_a_surface_go_to_the_session_of_the_run_that_drew_it(tab: Tab, gateway: DocumentGateway) -> None:
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
def test_an_ended_connection_is_not_shown_and_the_text_is_returned(
    tab: Tab, gateway: DocumentGateway, daemon: TargetDaemon
) -> None:
    chat = tab.show("Chat")
    expect(chat.locator(".standing .outer")).to_be_visible()
    call(daemon.paths, "gateway_disconnect", {})
    expect(chat.locator(".standing .outer")).to_have_count(0)
    say(chat, "nobody hears")
    expect(chat.locator(".bad")).to_contain_text("Not connected to a gateway")
    expect(chat.get_by_label("Message")).to_have_value("nobody hears")
    call(daemon.paths, "gateway_connect", {})
    expect(chat.locator(".standing .outer.connected")).to_be_visible()


SendAgentEvent = Callable[[dict[str, Any]], None]


@pytest.fixture
def send_agent_event(portal: BlockingPortal, gateway: DocumentGateway) -> SendAgentEvent:
    """Sends one `agent` event as the document writes it."""
    return lambda payload: portal.call(gateway.event, "agent", payload)


@pytest.mark.requirement(
    "page:chat:messages",
    "page:chat:text-grows",
    "page:chat:tool-start-shown",
    "page:chat:tool-calls",
    "page:chat:tool-result-shown",
    "page:chat:diff-shown",
    "page:chat:done-shown",
    "page:chat:markdown",
    "chat:translate:health-filtered",
    "chat:translate:tick-filtered",
    "chat:translate:lifecycle-filtered",
    "chat:router:text-delta-to-chat",
    "chat:router:tool-start-to-chat",
    "chat:router:tool-result-to-chat",
    "chat:router:diff-to-chat",
    "chat:router:done-to-chat",
)
def test_each_frame_of_the_document_is_shown_in_the_chat_as_it_comes(
    tab: Tab, gateway: DocumentGateway, portal: BlockingPortal, send_agent_event: SendAgentEvent
) -> None:
    gateway.manner = Manner(text="kind", end="kind")
    chat = fresh(tab)
    say(chat, "by hand")
    answer = chat.locator("article.assistant")
    send_agent_event({"kind": "text_delta", "content": "这是一段"})
    expect(answer.locator(".prose")).to_have_text("这是一段")
    send_agent_event({"stream": "lifecycle", "data": {"phase": "end", "text": "not shown"}})
    for name in ("health", "tick"):
        portal.call(gateway.event, name, {"text": "not shown"})
    send_agent_event({"kind": "text_delta", "content": "**文字**"})
    expect(answer.locator(".prose strong")).to_have_text("文字")
    start = {"tool": "readFile", "id": "tool-call-1", "title": "Reading src/main.ts", "input": {"path": "src/main.ts"}}
    send_agent_event({"kind": "tool_start", **start})
    tool = answer.locator("details.tool")
    expect(tool).to_have_class("tool running")
    expect(tool.locator(".title")).to_have_text("Reading src/main.ts")
    tool.locator("summary").click()
    expect(tool.locator("pre")).to_have_count(1)
    expect(tool.locator("pre")).to_contain_text('"path": "src/main.ts"')
    send_agent_event({"kind": "tool_result", "id": "tool-call-1", "output": "文件内容...", "error": None})
    expect(tool).to_have_class("tool done")
    expect(tool.locator("pre").last).to_have_text("文件内容...")
    send_agent_event({"kind": "diff", "path": "src/main.ts", "original": "原始内容", "modified": "修改后内容"})
    diff = answer.locator("details.diff")
    expect(diff.locator(".line")).to_have_text(["− 原始内容", "+ 修改后内容"])
    send_agent_event({"kind": "diff", "path": "src/new.ts", "original": None, "modified": "新文件"})
    expect(diff.last.locator("summary")).to_contain_text("src/new.ts")
    expect(answer.locator(".going")).to_be_visible()
    send_agent_event({"kind": "done", "stopReason": "end_turn"})
    expect(answer.locator(".going")).to_have_count(0)
    expect(answer).to_have_count(1)
    assert "not shown" not in chat.inner_text()


def on_canvas(tab: Tab, title: str) -> Locator:
    canvas = tab.show("Canvas")
    canvas.get_by_role("tab", name=title, exact=True).click()
    return canvas.get_by_role("tabpanel", name=title, exact=True)


def drawn(type: str, **members: Any) -> dict[str, Any]:
    return {"kind": "a2ui", "payload": {"type": type, **members}}


def component(id: str, type: str, **props: Any) -> dict[str, Any]:
    return {"id": id, "type": type, "props": props}


@pytest.mark.requirement(
    "a2ui:create-surface:type",
    "a2ui:create-surface:surface-id",
    "a2ui:create-surface:surface-title",
    "a2ui:create-surface:components",
    "a2ui:update-components:type",
    "a2ui:update-components:surface-id",
    "a2ui:update-components:components",
    "a2ui:update-data-model:type",
    "a2ui:update-data-model:surface-id",
    "a2ui:update-data-model:pointer",
    "a2ui:update-data-model:value",
    "a2ui:component:id",
    "a2ui:component:type",
    "a2ui:component:props",
    "a2ui:component:example-text",
    "a2ui:component:example-code-block",
    "canvas:surface:created",
    "canvas:surface:components-replaced",
    "canvas:surface:data-updated",
    "canvas:surface:data-bound",
    "canvas:surface:belongs",
    "canvas:messages:buffered",
    "canvas:messages:forwarded",
    "page:canvas:surface-rendered",
)
def test_the_documents_surface_is_drawn_on_the_page_through_its_three_messages(
    tab: Tab, gateway: DocumentGateway, send_agent_event: SendAgentEvent
) -> None:
    """The first is sent while no canvas is open, and outside of any answer."""
    gateway.manner = Manner()
    tab.show("Activity")
    text = component("c1", "Text", text="分析完成")
    code = component("c2", "CodeBlock", code="console.log('hello')")
    send_agent_event(drawn("createSurface", surface={"id": "seen", "title": "代码分析结果"}, components=[text, code]))
    send_agent_event(drawn("createSurface", surface={"id": "beside", "title": "Beside"}, components=[text]))
    surface = on_canvas(tab, "代码分析结果")
    expect(surface.locator("[data-type=Text]")).to_have_text("分析完成")
    expect(surface.locator("[data-type=CodeBlock]")).to_contain_text("console.log('hello')")
    new = [component("c1", "Text", text="更新后的内容"), component("c3", "Text", text={"path": "/results/0/status"})]
    send_agent_event(drawn("updateComponents", surfaceId="seen", components=new))
    expect(surface.locator("[data-type=Text]")).to_have_text(["更新后的内容", ""])
    expect(surface.locator("[data-type=CodeBlock]")).to_have_count(0)
    for status in ("running", "done"):
        send_agent_event(drawn("updateDataModel", surfaceId="seen", pointer="/results/0", value={"status": status}))
        expect(surface.locator("[data-type=Text]")).to_have_text(["更新后的内容", status])
    expect(on_canvas(tab, "Beside").locator("[data-type=Text]")).to_have_text("分析完成")


CATALOGUE = [
    component("text", "Text", text="words"),
    component("none", "Text"),
    component("press", "Button", label="Again"),
    component("tree", "FileTree", items=["src/main.ts", "/etc/hosts", "docs/"]),
    component("chart", "Chart", title="Memory"),
    component("sure", "Confirm", message="Sure?"),
    component("future", "Hologram", size=3),
    component("bare-press", "Button"),
    component("bare-code", "CodeBlock"),
    component("bare-tree", "FileTree"),
    component("bare-chart", "Chart"),
    component("bare-sure", "Confirm"),
]


def pressed(surface: Locator, label: str, gateway: DocumentGateway) -> str:
    """What the gateway is told when a person presses that."""
    before = len(gateway.params("chat.send"))
    surface.get_by_role("button", name=label).first.click()
    (sent,) = eventually(lambda: gateway.params("chat.send")[before:])
    return str(sent["message"])


@pytest.mark.requirement(
    "a2ui:user-action:action",
    "a2ui:user-action:context",
    "canvas:action:forwarded",
    "canvas:catalogue:text",
    "canvas:catalogue:button",
    "canvas:catalogue:button-click",
    "canvas:catalogue:code-block",
    "canvas:catalogue:file-tree",
    "canvas:catalogue:file-tree-select",
    "canvas:catalogue:chart",
    "canvas:catalogue:confirm",
    "canvas:catalogue:confirm-yes",
    "canvas:catalogue:confirm-no",
    "canvas:catalogue:missing-property",
    "canvas:catalogue:unknown-placeholder",
    "page:canvas:interaction",
)
def test_the_documents_components_are_drawn_and_each_sends_the_gateway_what_was_done(
    browser: Browser, daemon: TargetDaemon, gateway: DocumentGateway, send_agent_event: SendAgentEvent
) -> None:
    gateway.manner = Manner()
    context = browser.new_context(locale="zh-CN")
    tab = Tab.opened(context, daemon)
    tab.page.goto(tab.link())
    send_agent_event(drawn("createSurface", surface={"id": "all", "title": "Catalogue"}, components=CATALOGUE))
    surface = on_canvas(tab, "Catalogue")
    expect(surface.locator("[data-type=Text]")).to_have_text(["words", "", "Again", ""])  # the last two are buttons'
    expect(surface.locator("[data-type=Chart] figcaption")).to_have_text(["Memory"])
    expect(surface.locator("[data-type=Confirm]")).to_have_text(
        [re.compile(r"Sure\?"), re.compile(r"^\s*确认\s*取消\s*$")]
    )
    expect(surface.locator("[data-type=CodeBlock] .line span:last-child")).to_have_text([""])
    expect(surface.locator("[data-type=FileTree]").last.get_by_role("button")).to_have_count(0)
    expect(surface.locator("[data-type=Hologram]")).to_have_text("[Hologram: not yet implemented]")
    count = len(gateway.params("chat.send"))
    for silent in ("Text", "CodeBlock", "Chart", "Hologram"):
        surface.locator(f"[data-type={silent}]").first.click()
    for label, action, details in (
        ("Again", "onClick", {"componentId": "press"}),
        ("main.ts", "onSelect", {"path": "src/main.ts"}),
        ("hosts", "onSelect", {"path": "/etc/hosts"}),
        ("docs/", "onSelect", {"path": "docs/"}),
        ("确认", "onConfirm", {"componentId": "sure", "confirmed": True}),
        ("取消", "onConfirm", {"componentId": "sure", "confirmed": False}),
    ):
        gateway_data = pressed(surface, label, gateway)
        assert f"action={action} " in gateway_data
        assert json.loads(gateway_data.partition("context=")[2]) == details
    assert len(gateway.params("chat.send")) == count + 6  # nothing else acts
    tab.assert_at_home()
    context.close()
