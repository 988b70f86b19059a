"""The page in a real browser: text from a gateway's socket to the page, the first paint, and what it weighs."""

from __future__ import annotations

import gzip
import json
import statistics
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from anyio.from_thread import start_blocking_portal
from playwright.sync_api import Browser

from bench.claims import Claim
from tests.page.chat_page import say
from tests.page.tab import Tab
from tests.peers import BUILT
from tests.servers.target_daemon import TargetDaemon, target_daemon
from tests.servers.web.browser import chromium
from tests.support.fake_gateway import AcceptedConnection, fake_gateway

_PIECES = 240
_SKIPPED = 40
"""The first ones load the chat and the markdown reader: what is measured is the stream."""
_EVERY_S = 0.03
_PAINTS = 7
_KEY = "agent:main:main"
_LATER = ("screen-", "editor-")
"""Chunks that come when a terminal or an editor is shown."""
_WATCH = """
(chat) => {
  window.seen = {};
  const look = (root) => {
    const text = root.textContent;
    const last = Math.max(0, ...[...text.matchAll(/#(\\d+)#/g)].map((found) => Number(found[1])));
    for (let number = last; number > 0 && !(number in window.seen); number--) window.seen[number] = Date.now();
  };
  const found = [];
  const watch = (root) => {
    if (found.includes(root)) return;
    found.push(root);
    new MutationObserver(() => { look(root); every(root); })
      .observe(root, { subtree: true, childList: true, characterData: true });
    every(root);
  };
  const every = (root) => root.querySelectorAll("*").forEach((it) => it.shadowRoot && watch(it.shadowRoot));
  watch(chat.shadowRoot);
}
"""


def run() -> list[Claim]:
    sent: dict[int, float] = {}
    with tempfile.TemporaryDirectory() as room, _relayed(Path(room), sent) as daemon, chromium() as browser:
        delays_ms = _delays_ms(browser, daemon, sent)
        paint_ms = _first_paint_ms(browser, daemon)
    return [
        Claim("page: text from a gateway's socket to the page, p95", _p95(delays_ms), "ms", 20, "lower"),
        Claim("page: first paint, median", paint_ms, "ms", 1000, "lower"),
        Claim("page: gzipped, without terminal and editor", _gzipped_kb(), "KB", 600, "lower"),
    ]


@contextmanager
def _relayed(room: Path, sent: dict[int, float]) -> Iterator[TargetDaemon]:
    """A daemon in front of a gateway that streams numbered pieces, and notes when each was written."""

    async def script(connection: AcceptedConnection) -> None:
        await connection.welcome()
        async for raw in connection.socket:
            request = json.loads(raw)
            if request["method"] == "chat.send":
                run_id = request["params"]["idempotencyKey"]
                await connection.answer(request, {"runId": run_id, "status": "started"})
                await _stream(connection, run_id, sent)
            else:
                await connection.answer(request, {"sessionKey": _KEY, "messages": [], "sessions": []})

    with (
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(fake_gateway(script)) as gateway,
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setenv("DRAGOMAN_GATEWAY_ADDRESS", gateway.url)
        patch.setenv("DRAGOMAN_GATEWAY_RELAY", "true")
        with target_daemon(room) as daemon:
            yield daemon


async def _stream(connection: AcceptedConnection, run_id: str, sent: dict[int, float]) -> None:
    about: dict[str, Any] = {"runId": run_id, "sessionKey": _KEY, "stream": "assistant"}
    text = ""
    for number in range(1, _PIECES + 1):
        delta = f"#{number}# "
        text += delta
        sent[number] = time.time() * 1000
        await connection.event("agent", {**about, "seq": number, "ts": 1, "data": {"text": text, "delta": delta}})
        await anyio.sleep(_EVERY_S)
    message = {"role": "assistant", "content": [{"type": "text", "text": text}]}
    end = {"runId": run_id, "sessionKey": _KEY, "seq": _PIECES, "state": "final", "message": message}
    await connection.event("chat", end)


def _delays_ms(browser: Browser, daemon: TargetDaemon, sent: dict[int, float]) -> list[float]:
    tab = Tab.opened(browser.new_context(), daemon)
    tab.log_in()
    chat = tab.show("Chat")
    chat.get_by_label("Message").wait_for()
    chat.evaluate(_WATCH)
    say(chat, "go")
    tab.page.wait_for_function(f"() => {_PIECES} in window.seen", timeout=60_000)
    seen = {int(number): float(at) for number, at in tab.page.evaluate("window.seen").items()}
    tab.page.context.close()
    return [seen[number] - sent[number] for number in range(_SKIPPED, _PIECES + 1)]


def _first_paint_ms(browser: Browser, daemon: TargetDaemon) -> float:
    """Each time with an empty cache, in a context of its own."""
    return statistics.median([_one_paint_ms(browser, daemon) for _ in range(_PAINTS)])


def _one_paint_ms(browser: Browser, daemon: TargetDaemon) -> float:
    tab = Tab.opened(browser.new_context(), daemon)
    tab.log_in()
    painted = tab.page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")
    tab.page.context.close()
    return float(painted)


def _gzipped_kb() -> float:
    files = [path for path in BUILT.rglob("*") if path.suffix in (".js", ".css", ".html")]
    first = [path for path in files if not path.name.startswith(_LATER)]
    return sum(len(gzip.compress(path.read_bytes())) for path in first) / 1000


def _p95(values: list[float]) -> float:
    return statistics.quantiles(values, n=20)[-1]
