"""What the page's debugger asks for besides tools: output by category, threads, stacks and completions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest

from tests.daemons import eventually
from tests.page.page_fixture import DebugWorkspace, debug_workspace
from tests.servers.target_daemon import TargetDaemon

PRINTING = """\
import sys, threading, time

class Cart:
    total = 42

def work():
    time.sleep(60)

cart = Cart()
print("\\x1b[31mred\\x1b[0m", flush=True)
print("a warning", file=sys.stderr, flush=True)
worker = threading.Thread(target=work, name="worker", daemon=True)
worker.start()
print("x" * 150_000)
print("last")
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DebugWorkspace]:
    with debug_workspace(tmp_path_factory.mktemp("debug-api")) as place:
        (place.folder / "printing.py").write_text(PRINTING)
        yield place


@pytest.fixture(scope="module")
def session(place: DebugWorkspace) -> str:
    place.tool("set_breakpoint", file_path="printing.py", line_number=15)
    started = place.tool("start_debugging", configuration_name="printing", timeout_s=30)
    assert started["status"] == "stopped", started
    return str(started["session_id"])


def ask(place: DebugWorkspace, path: str) -> Any:
    return place.daemon.ask_page(path).json()


def test_output_is_read_to_its_end_by_category_with_its_colours(place: DebugWorkspace, session: str) -> None:
    def read() -> list[tuple[str, str]]:
        pieces, cursor, left = list[tuple[str, str]](), 0, 1
        while left:
            page = ask(place, f"/api/debug/output?session={quote(session)}&cursor={cursor}")
            pieces += [(it["category"], it["text"]) for it in page["pieces"]]
            cursor, left = page["cursor"], page["left"]
        return pieces

    def printed(category: str) -> str:
        return "".join(text for name, text in read() if name == category)

    eventually(lambda: printed("stdout").count("x") >= 150_000)
    assert printed("stdout").startswith("\x1b[31mred\x1b[0m\n")
    assert printed("stderr") == "a warning\n"


def test_the_output_of_a_session_that_nobody_knows_is_refused(place: DebugWorkspace, session: str) -> None:
    assert session
    answer = place.daemon.ask_page("/api/debug/output?session=none")
    assert answer.json()["error"]["code"] == "unknown_session"


def test_every_thread_has_its_state_and_its_stack(place: DebugWorkspace, session: str) -> None:
    threads = ask(place, f"/api/debug/threads?session={quote(session)}")["threads"]
    worker = next(it for it in threads if it["name"].startswith("worker"))
    assert worker["state"] == "stopped"
    stack = ask(place, f"/api/debug/stack?session={quote(session)}&thread={worker['id']}")
    assert stack["total"] == len(stack["frames"]) > 0


def test_the_console_is_given_completions_of_the_frame(place: DebugWorkspace, session: str) -> None:
    threads = ask(place, f"/api/debug/threads?session={quote(session)}")["threads"]
    stack = ask(place, f"/api/debug/stack?session={quote(session)}&thread={threads[0]['id']}")
    wanted = {"session": session, "frame": stack["frames"][0]["id"], "text": "cart.to", "column": 7}
    found = place.daemon.ask_page("/api/debug/completions", "POST", wanted).json()["completions"]
    assert {"label": "total", "text": "total", "replaces": 2} in found


def test_sizes_folded_panes_and_the_console_of_each_folder_are_kept(victim: TargetDaemon) -> None:
    def change(**wanted: object) -> dict[str, Any]:
        kept: dict[str, Any] = victim.ask_page("/api/preferences/change", "POST", wanted).json()
        return kept

    assert change(pane_sizes={"left": 200})["pane_sizes"] == {"left": 200}
    assert change(pane_sizes={"right": 300})["pane_sizes"] == {"left": 200, "right": 300}
    assert change(fold="watches")["folded_panes"] == ["watches"]
    assert change(unfold="watches")["folded_panes"] == []
    assert change(follows_agent=False)["follows_agent"] is False
    assert change(watch="total")["follows_agent"] is False
    typed = [change(evaluated={"workspace": "/w", "expression": it})["evaluated"] for it in ("total", "rate", "total")]
    assert typed[-1] == {"/w": ["rate", "total"]}
    typed = [change(evaluated={"workspace": f"/{number}", "expression": "x"})["evaluated"] for number in range(30)]
    assert len(typed[-1]) == 20
    assert change(pane_sizes={"left": -1}).get("error")
