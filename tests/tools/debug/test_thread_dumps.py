"""Where does it hang? A pause, and every timeout, say where each thread is and what it waits for."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.daemons import PATIENCE
from tests.tools.debug.test_with_debugpy import Agent, agent_in

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(60)]

DEADLOCK = """\
import threading

first, second = threading.Lock(), threading.Lock()
met = threading.Barrier(2)


def one():
    with first:
        met.wait()
        with second:
            pass


def two():
    second.acquire()
    met.wait()
    first.acquire()


workers = [threading.Thread(target=one, name="one"), threading.Thread(target=two, name="two")]
for worker in workers:
    worker.start()
print("ready", flush=True)
workers[0].join()
"""

WAITS = """\
import asyncio, concurrent.futures, fcntl, os, queue, select, socket, subprocess, threading, time

class Account:
    def __init__(self):
        self._lock = threading.RLock()

account = Account()
held = threading.Event()

def holder():
    with account._lock:
        held.set()
        time.sleep(1000)

def rlock():
    held.wait()
    account._lock.acquire()

def itself():
    lock = threading.Lock()
    with lock:
        lock.acquire()

def event():
    threading.Event().wait()

def condition():
    changed = threading.Condition()
    with changed:
        changed.wait()

def item():
    queue.Queue().get()

def simple_item():
    queue.SimpleQueue().get()

def room():
    full = queue.Queue(1)
    full.put(1)
    full.put(2)

def future():
    concurrent.futures.Future().result()

def receive():
    mine, other = socket.socketpair()
    mine.recv(10)

def accept():
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.accept()

def child():
    subprocess.run(["sleep", "1000"])

def ready():
    reading, writing = os.pipe()
    select.select([reading], [], [])

def file_lock():
    one, two = open(__file__), open(__file__)
    fcntl.flock(one, fcntl.LOCK_EX)
    fcntl.flock(two, fcntl.LOCK_EX)

async def nap():
    await asyncio.sleep(1000)

async def loop_main():
    await asyncio.create_task(nap(), name="napper")

def event_loop():
    asyncio.run(loop_main())

def semaphore():
    threading.Semaphore(0).acquire()

for target in (holder, rlock, itself, event, condition, item, simple_item, room, future, receive, accept, ready,
               file_lock, event_loop, semaphore):
    threading.Thread(target=target, name=target.__name__, daemon=True).start()
print("ready", flush=True)
child()
"""


async def hanging(agent: Agent, program: str) -> None:
    """Started, and as far as it comes."""
    (agent.caller.workspace / "app.py").write_text(program)
    await agent.call("start_debugging", program="app.py", wait=False)
    with anyio.fail_after(20 * PATIENCE):
        while "ready" not in (await agent.call("get_output"))["output"]:  # noqa: ASYNC110  of another process
            await anyio.sleep(0.05)


def by_name(answer: dict[str, Any]) -> dict[str, Any]:
    return {it["name"]: it for it in answer["threads"]}


async def test_a_pause_of_a_deadlocked_program_names_the_deadlock_within_two_seconds(tmp_path: Path) -> None:
    async with agent_in(tmp_path) as agent:
        await hanging(agent, DEADLOCK)
        late = await agent.call("wait_for_stop", timeout_s=0.2)
        began = time.monotonic()
        paused = await agent.call("pause_debugging", timeout_s=30)
        took = time.monotonic() - began
    for answer in (late, paused):
        assert answer["status"] == "timeout"
        assert answer["deadlock"] in {
            "Deadlock: one waits for a lock held by two, two waits for a lock held by one.",
            "Deadlock: two waits for a lock held by one, one waits for a lock held by two.",
        }
        threads = by_name(answer)
        assert threads.keys() == {"MainThread", "one", "two"}
        one, two, main = (threads[it] for it in ("one", "two", "MainThread"))
        assert (one["function_name"], one["line_number"], one["waits_for"]) == ("one", 10, "a lock held by two")
        assert (two["function_name"], two["line_number"], two["call"]) == ("two", 17, "first.acquire")
        assert two["held_at"] == f"{tmp_path / 'app.py'}:10"
        assert (main["line_number"], main["waits_for"], main["state"]) == (24, "thread one to end", "waiting")
        assert len({it["thread_id"] for it in threads.values()}) == 3
    assert took < 2 * PATIENCE


async def test_every_way_to_wait_is_named_with_its_place(tmp_path: Path) -> None:
    async with agent_in(tmp_path) as agent:
        await hanging(agent, WAITS)
        paused = await agent.call("pause_debugging", timeout_s=30)
        listed = await agent.call("list_sessions")
    waits = {thread: it.get("waits_for") for thread, it in by_name(paused).items()}
    pid = waits.pop("MainThread")
    assert pid.startswith("process ")
    assert pid.endswith(" to end")
    assert waits == {
        "holder": "the end of a sleep",
        "rlock": "a lock held by holder",
        "itself": "a lock that it holds itself",
        "event": "an event to be set",
        "condition": "a condition variable",
        "item": "an item in a queue",
        "simple_item": "an item in a queue",
        "room": "room in a queue",
        "future": "a result",
        "receive": "data to read",
        "accept": "a connection",
        "ready": "a file or socket to be ready",
        "file_lock": "a file lock",
        "event_loop": "the tasks of its event loop",
        "semaphore": "a semaphore",
    }
    assert {it["function_name"] for it in paused["threads"]} == {*waits, "child"}
    assert {it["name"]: it["waits_for"] for it in paused["tasks"]} == {
        "napper": "the end of a sleep",
        next(it["name"] for it in paused["tasks"] if it["name"] != "napper"): "task napper",
    }
    assert {it["function_name"] for it in paused["tasks"]} == {"nap", "loop_main"}
    ids = {it["thread_id"] for it in listed["sessions"][0]["threads"]}
    assert {it["thread_id"] for it in paused["threads"]} == ids
    assert paused["deadlock"] == "Deadlock: itself waits for a lock that it holds itself."


NATIVE_LOOP = """\
import re, threading

begun = threading.Event()

def other():
    begun.set()
    threading.Event().wait()

def search():
    re.match("(a+)+b", "a" * 200)

threading.Thread(target=other, daemon=True).start()
begun.wait()
print("ready", flush=True)
search()
"""


async def test_native_code_that_never_returns_is_found_from_outside(tmp_path: Path) -> None:
    """It keeps the interpreter's lock, so that nothing inside the program can answer."""
    async with agent_in(tmp_path) as agent:
        await hanging(agent, NATIVE_LOOP)
        paused = await agent.call("pause_debugging", timeout_s=30)
        still = await agent.call("list_sessions")
    main = by_name(paused)["MainThread"]
    assert (main["function_name"], main["line_number"], main["state"]) == ("search", 10, "waiting")
    assert main["waits_for"] == "native code to return"
    assert {it["function_name"] for it in paused["threads"]} == {"search", "other"}
    assert still["sessions"][0]["state"] == "Running"


TELLS = """\
for n in range(60_000):
    print("line", n)
"""


async def test_what_a_program_prints_meanwhile_is_reported_once(tmp_path: Path) -> None:
    (tmp_path / "tells.py").write_text(TELLS)
    async with agent_in(tmp_path) as agent:
        answer = await agent.call("start_debugging", program="tells.py", timeout_s=0.1)
        dumps = 0
        while answer["status"] == "timeout":
            dumps += "threads" in answer
            answer = await agent.call("wait_for_stop", timeout_s=0.1)
        assert dumps
        printed = ""
        read: dict[str, Any] = {"cursor": 0, "left": 1}
        while read["left"]:
            read = await agent.call("get_output", cursor=read["cursor"], max_chars=50_000)
            printed += read["output"]
    assert printed.splitlines() == [f"line {n}" for n in range(60_000)]
