"""`dragoman gateway` at a gateway that follows the protocol document alone: every command of it, and none hangs."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal

from tests.daemons import Cli, call, eventually
from tests.document_gateway import DocumentGateway, Manner, Run, document_gateway
from tests.servers.target_daemon import TargetDaemon, target_daemon


async def script(run: Run) -> None:
    if run.message == "hang":
        return await run.text("half an answer")
    if run.message == "break":
        await run.text("so ")
        return await run.gateway.cut()
    if run.message == "fail":
        return await run.end("error", "the model is away")
    await run.text("Let me look. ")
    await run.tool("t1", "readFile", "Reading src/main.ts", {"path": "src/main.ts"}, "the file")
    await run.tool("t2", "exec", "Running it", {}, "", "exit code 2")
    await run.diff("src/main.ts", None, "new")
    await run.text("Done.")
    return await run.end()


@pytest.fixture(scope="module")
def portal() -> Iterator[BlockingPortal]:
    with start_blocking_portal() as portal:
        yield portal


@pytest.fixture(scope="module")
def gateway(portal: BlockingPortal) -> Iterator[DocumentGateway]:
    with portal.wrap_async_context_manager(document_gateway(script, Manner(token="secret"))) as gateway:
        yield gateway


@pytest.fixture(scope="module")
def daemon(gateway: DocumentGateway, tmp_path_factory: pytest.TempPathFactory) -> Iterator[TargetDaemon]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DRAGOMAN_GATEWAY_ADDRESS", gateway.url)
        patch.setenv("DRAGOMAN_GATEWAY_TOKEN_VARIABLE", "OUTER_TOKEN")
        patch.setenv("OUTER_TOKEN", "secret")
        with target_daemon(tmp_path_factory.mktemp("documented")) as daemon:
            daemon.patch("dragoman.chat.gateway_client.remote_run:LOOKS_EVERY_S", 0.2)
            yield daemon


@pytest.fixture(scope="module")
def client(daemon: TargetDaemon) -> Cli:
    made = Cli(daemon.paths.state.parent)
    assert made("gateway", "connect").returncode == 0
    return made


@pytest.mark.requirement("gateway:connect:auth-token", "chat:state:connected")
def test_the_connection_is_visible_while_it_is_up(client: Cli, gateway: DocumentGateway) -> None:
    assert client.json("gateway", "status")["state"] == "connected"
    assert f"Gateway: {gateway.url}, connected." in client("status").stdout
    assert client.status()["gateway"] == {"state": "connected", "address": gateway.url}
    assert gateway.connects[0]["params"]["auth"] == {"token": "secret"}


@pytest.mark.requirement("chat:client:send-path", "chat:session:list")
def test_an_answer_is_printed_with_what_was_done_for_it(client: Cli, gateway: DocumentGateway) -> None:
    answer = client("gateway", "chat", "go", "--session", "acp:one")
    assert answer.returncode == 0, answer.stderr
    lines = ["Let me look. ", "[Reading src/main.ts]", "[Running it]", "[exit code 2]", "[src/main.ts]", "Done."]
    assert answer.stdout.splitlines() == lines
    data = client.json("gateway", "chat", "go")
    assert (data["text"], data["outcome"], data["run"] in gateway.seen.values()) == (
        "Let me look. Done.",
        "final",
        True,
    )
    assert [it["key"] for it in client.json("gateway", "sessions")] == ["acp:one", "main"]


def test_a_run_that_fails_is_reported_with_the_gateways_words(client: Cli) -> None:
    failed = client("gateway", "chat", "fail")
    assert (failed.returncode, "the model is away" in failed.stderr) == (1, True)


@pytest.mark.parametrize("message", ["hang", "break"])
def test_a_run_that_never_ends_is_left_with_a_word_and_the_next_is_answered(
    client: Cli, daemon: TargetDaemon, message: str
) -> None:
    with daemon.patched("dragoman.chat.gateway_client.remote_run:UNCONFIRMED_AT_MOST_S", 1.0):
        left = client("gateway", "chat", message)
        assert (left.returncode, "No update on this answer" in left.stderr) == (1, True), left
    eventually(lambda: client.json("gateway", "status")["state"] == "connected")
    assert client.json("gateway", "chat", "go")["text"] == "Let me look. Done."


@pytest.mark.requirement("chat:state:error", "chat:reconnect:max-attempts", "chat:reconnect:manual-disconnect")
def test_after_the_last_attempt_the_state_says_that_it_gave_up(
    client: Cli, daemon: TargetDaemon, portal: BlockingPortal
) -> None:
    call(
        daemon.paths, "test_patch", {"name": "dragoman.chat.gateway_client.connection_status:DELAYS_S", "value": [0.01]}
    )
    with portal.wrap_async_context_manager(document_gateway()) as other:
        assert client.json("gateway", "connect", other.url)["state"] == "connected"
    eventually(lambda: call(daemon.paths, "gateway_status", {})["state"] == "error")
    result = client("gateway", "status")
    assert (result.returncode, "after 10 attempts" in result.stdout) == (1, True)
    assert f"Gateway: {other.url}, error." in client("status").stdout
    refused = client("gateway", "chat", "hello")
    assert (refused.returncode, "10 attempts" in refused.stderr) == (1, True)
    assert client.json("gateway", "disconnect")["state"] == "disconnected"
    assert "Gateway:" not in client("status").stdout
