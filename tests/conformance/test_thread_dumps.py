"""Thread dumps in languages with a debugger that can halt a program anywhere: by a halt that is not reported."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.daemons import PATIENCE
from tests.peers import give_adapters
from tests.tools.debug.test_with_debugpy import Agent, agent_in

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(60)]

GO = """\
package main

import (
	"fmt"
	"sync"
	"time"
)

var first, second sync.Mutex

func one(met *sync.WaitGroup) {
	first.Lock()
	met.Done()
	met.Wait()
	second.Lock()
}

func two(met *sync.WaitGroup) {
	second.Lock()
	met.Done()
	met.Wait()
	first.Lock()
}

func receive(values chan int) {
	<-values
}

func nap() {
	time.Sleep(time.Hour)
}

func main() {
	met := &sync.WaitGroup{}
	met.Add(2)
	go one(met)
	go two(met)
	go receive(make(chan int))
	go nap()
	fmt.Println("ready")
	var none sync.WaitGroup
	none.Add(1)
	none.Wait()
}
"""

C = """\
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *taker(void *unused) {
    pthread_mutex_lock(&lock);
    return unused;
}

static void *reader(void *ends) {
    char byte;
    read(((int *)ends)[0], &byte, 1);
    return NULL;
}

int main(void) {
    pthread_t first, second;
    int ends[2];
    pipe(ends);
    pthread_mutex_lock(&lock);
    pthread_create(&first, NULL, taker, NULL);
    pthread_create(&second, NULL, reader, ends);
    puts("ready");
    fflush(stdout);
    sleep(1000);
    return 0;
}
"""


RUBY = """\
$stdout.sync = true
items = Queue.new
Thread.new { items.pop }
puts "ready"
sleep 1000
"""


async def hanging(agent: Agent, **launch_request: Any) -> None:
    await agent.call("start_debugging", wait=False, **launch_request)
    with anyio.fail_after(40 * PATIENCE):
        while "ready" not in (await agent.call("get_output"))["output"]:  # noqa: ASYNC110  of another process
            await anyio.sleep(0.05)


def by_function(answer: dict[str, Any]) -> dict[str, tuple[int | None, str | None]]:
    """Without the debugger's and the runtime's own threads, which have no place in the user's code."""
    own = [it for it in answer["threads"] if Path(it.get("file_path", "")).name in {"main.go", "main.c"}]
    return {it["function_name"]: (it["line_number"], it.get("waits_for")) for it in own}


def name_of(function: str, answer: dict[str, Any]) -> str:
    return next(str(it["name"]) for it in answer["threads"] if it.get("function_name") == function)


async def dumps(agent: Agent) -> list[dict[str, Any]]:
    """Of a timeout, in which nothing happens to the program, and of a pause."""
    late = await agent.call("wait_for_stop", timeout_s=0.3)
    assert (late["status"], late["state"]) == ("timeout", "Running")
    again = await agent.call("wait_for_stop", timeout_s=0.3)
    assert (again["status"], again["state"]) == ("timeout", "Running")
    paused = await agent.call("pause_debugging", timeout_s=20)
    assert (paused["status"], paused["stop_event_data"]["stop_number"]) == ("stopped", 1)
    return [late, again, paused]


@pytest.mark.skipif(not (shutil.which("dlv") and shutil.which("go")), reason="Go and Delve are not here")
async def test_goroutines_are_reported_with_their_first_own_frame_and_what_they_wait_for(tmp_path: Path) -> None:
    (tmp_path / "main.go").write_text(GO)
    await anyio.run_process(["go", "build", "-gcflags", "-N -l", "-o", "main", "main.go"], cwd=tmp_path)
    async with agent_in(tmp_path) as agent:
        await hanging(agent, configuration={"type": "go", "request": "launch", "mode": "exec", "program": "main"})
        answers = await dumps(agent)
    for answer in answers:
        assert by_function(answer) == {
            "main.main": (43, "a wait group"),
            "main.one": (15, "a lock"),
            "main.two": (22, "a lock"),
            "main.receive": (26, "a value from a channel"),
            "main.nap": (30, "the end of a sleep"),
        }


@pytest.mark.skipif(not shutil.which("gcc"), reason="no C compiler is here")
async def test_native_threads_are_reported_with_their_place_and_what_they_wait_for(tmp_path: Path) -> None:
    (tmp_path / "main.c").write_text(C)
    await anyio.run_process(["gcc", "-g", "-pthread", "-w", "-o", "main", "main.c"], cwd=tmp_path)
    async with agent_in(tmp_path) as agent:
        await hanging(agent, program="main")
        answers = await dumps(agent)
    for answer in answers:
        assert by_function(answer) == {
            "main": (27, "the end of a sleep"),
            "taker": (8, f"a lock held by {name_of('main', answer)}"),
            "reader": (14, "data to read"),
        }


@pytest.mark.skipif(not shutil.which("ruby"), reason="Ruby is not here")
async def test_ruby_threads_are_reported_with_their_place(tmp_path: Path) -> None:
    (tmp_path / "main.rb").write_text(RUBY)
    async with agent_in(tmp_path) as agent:
        await hanging(agent, program="main.rb")
        answers = await dumps(agent)
    for answer in answers:
        places = {(it["line_number"], it.get("waits_for")) for it in answer["threads"]}
        assert places == {(5, "the end of a sleep"), (3, None)}


CIRCLE = """\
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER, two = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t met;

static void *other(void *unused) {
    pthread_mutex_lock(&two);
    pthread_barrier_wait(&met);
    pthread_mutex_lock(&one);
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_barrier_init(&met, NULL, 2);
    pthread_mutex_lock(&one);
    pthread_create(&thread, NULL, other, NULL);
    pthread_barrier_wait(&met);
    puts("ready");
    fflush(stdout);
    pthread_mutex_lock(&two);
    return 0;
}
"""


@pytest.mark.skipif(not shutil.which("gcc"), reason="no C compiler is here")
async def test_a_deadlock_of_mutexes_is_named(tmp_path: Path) -> None:
    (tmp_path / "main.c").write_text(CIRCLE)
    await anyio.run_process(["gcc", "-g", "-pthread", "-w", "-o", "main", "main.c"], cwd=tmp_path)
    async with agent_in(tmp_path) as agent:
        await hanging(agent, program="main")
        late = await agent.call("wait_for_stop", timeout_s=0.3)
    assert late["deadlock"].startswith("Deadlock: ")
    assert {it["line_number"] for it in late["threads"]} >= {11, 23}


WORDS = "a notification (Atomics.wait) or a native lock"
NODE_WAITS: dict[str, tuple[str, set[int | None], str | None]] = {
    "events": ("setInterval(() => {}, 1000_000);", {None}, "an event (Timeout)"),
    "busy": ("for (;;) {\n  Math.random();\n}", {2, 3}, None),
    "notified": ("Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);", {2}, WORDS),
    "blocked": ("require('child_process').execSync('sleep 1000');", {None}, "a file or socket to be ready"),
}


@pytest.mark.needs("javascript")
@pytest.mark.parametrize("what", NODE_WAITS)
async def test_node_programs_are_reported_with_what_they_do_and_are_not_halted_for_it(
    home: Path, tmp_path: Path, what: str
) -> None:
    give_adapters(home)
    program, lines, waits = NODE_WAITS[what]
    (tmp_path / "main.js").write_text(f"console.log('ready');\n{program}\n")
    async with agent_in(tmp_path) as agent:
        await hanging(agent, program="main.js")
        late = [await agent.call("wait_for_stop", timeout_s=0.3) for _ in range(2)]
        began = anyio.current_time()
        paused = await agent.call("pause_debugging", timeout_s=20)
        took_s = anyio.current_time() - began
        after = await agent.call("wait_for_stop", timeout_s=0.3)
    for answer in late:
        assert (answer["status"], answer["state"]) == ("timeout", "Running")
        assert answer["threads"][0].get("line_number") in lines
        assert answer["threads"][0].get("waits_for") == waits
    assert took_s < 2.5 * PATIENCE
    if None not in lines:
        assert (paused["status"], paused["stop_event_data"]["stop_number"]) == ("stopped", 1)
        assert paused["threads"][0]["line_number"] in lines
    else:
        assert (paused["status"], paused["threads"][0].get("waits_for")) == ("timeout", waits)
        assert after["status"] == "timeout"


LUA_WAITS: dict[str, tuple[str, set[int | None], str | None]] = {
    "busy": ('print("ready")\nwhile true do\n  local n = 1\nend\n', {2, 3}, None),
    "blocked": ('print("ready")\nio.popen("sleep 1000"):read()\n', {None}, "data to read"),
}


@pytest.mark.skipif(not shutil.which("lua5.4"), reason="Lua is not here")
@pytest.mark.parametrize("what", LUA_WAITS)
async def test_lua_programs_are_reported_with_what_they_do(tmp_path: Path, what: str) -> None:
    program, lines, waits = LUA_WAITS[what]
    (tmp_path / "main.lua").write_text(program)
    async with agent_in(tmp_path) as agent:
        await hanging(agent, program="main.lua")
        late = [await agent.call("wait_for_stop", timeout_s=0.3) for _ in range(2)]
        began = anyio.current_time()
        paused = await agent.call("pause_debugging", timeout_s=20)
        took_s = anyio.current_time() - began
    for answer in late:
        assert (answer["status"], answer["state"]) == ("timeout", "Running")
        assert answer["threads"][0].get("line_number") in lines
        assert answer["threads"][0].get("waits_for") == waits
    assert paused["status"] == ("stopped" if what == "busy" else "timeout")
    assert took_s < 2.5 * PATIENCE
    assert paused["threads"][0].get("waits_for") == waits
