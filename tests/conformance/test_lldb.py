"""Debugging real C, C++ and Rust programs through the engine, by lldb-dap and by CodeLLDB."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from dragoman.core.errors import DragomanError
from dragoman.debug.backends.adapters import CODELLDB, LLDB, AdapterSpec, discovery
from dragoman.debug.model import LaunchRequest
from dragoman.workspace.breakpoints import Breakpoint
from tests.conformance.scenario import PROGRAMS, Language, Stage, n_of, running_program
from tests.conformance.test_python import client_of, end_of, service_in, stop_of, values
from tests.peers import give_adapters

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(180)]

C = Language("c", LLDB, "c/main.c", computes=4, calls=15, prints=16)

BUILD = {".c": ("gcc", "-g", "-O0"), ".cpp": ("g++", "-g", "-O0"), ".rs": ("rustc", "-g")}


def built(source: Path, *flags: str) -> Path:
    binary = source.with_suffix("")
    subprocess.run([*BUILD[source.suffix], *flags, str(source), "-o", str(binary)], check=True, capture_output=True)
    return binary


def staged(language: Language, folder: Path) -> Stage:
    source = Path(shutil.copy(PROGRAMS / language.source, folder))
    return Stage(language, folder, built(source))


def compiled(folder: Path, name: str, text: str) -> Path:
    (folder / name).write_text(text)
    return built(folder / name)


PANICS = """fn risky(n: i32) -> i32 {
    if n > 2 { panic!("too large: {}", n); }
    n
}

fn main() {
    let _ = std::panic::catch_unwind(|| 1);
    println!("{}", (0..5).map(risky).sum::<i32>());
}
"""
PANICS_WHEN_TOLD = """fn main() {
    let go = std::env::args().nth(1).unwrap();
    while !std::path::Path::new(&go).exists() {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    panic!("told to");
}
"""


BOTH = [
    pytest.param(LLDB, marks=pytest.mark.needs("lldb", "rust"), id="lldb"),
    pytest.param(CODELLDB, marks=pytest.mark.needs("codelldb", "rust"), id="codelldb"),
]


@pytest.mark.parametrize("spec", BOTH)
async def test_a_rust_panic_is_reported_as_an_exception_with_its_message(
    tmp_path: Path, home: Path, spec: AdapterSpec
) -> None:
    give_adapters(home)
    compiled(tmp_path, "main.rs", PANICS)
    async with service_in(tmp_path, spec) as service:
        launch_request = LaunchRequest(
            configuration={"type": spec.name, "request": "launch", "name": "x", "program": "main"}
        )
        stop = stop_of(await service.start(client_of(tmp_path), launch_request, within_s=60))
        assert stop.raised is not None
        assert (stop.reason, stop.raised.type, stop.raised.message) == ("exception", "panic", "too large: 3")
        assert "too large: 3" in stop.output
        assert any("risky" in frame.name and frame.line == 2 for frame in stop.frames)
        ended = end_of(await service.resume(client_of(tmp_path), "", thread_id=None, within_s=20))
        assert ended.exit_code == 101


HOLDS = """\
fn main() {
    let name = String::from("ada");
    let codes = vec![10, 20, 30];
    let maybe: Option<String> = Some(String::from("grace"));
    println!("{} {:?} {:?}", name, codes, maybe);
}
"""


@pytest.mark.needs("lldb", "rust")
async def test_strings_and_vectors_of_rust_are_shown_by_what_they_hold(tmp_path: Path, home: Path) -> None:
    compiled(tmp_path, "main.rs", HOLDS)
    client = client_of(tmp_path)
    async with service_in(tmp_path, LLDB) as service:
        await service.set_breakpoint(client, Breakpoint(id=0, path=str(tmp_path / "main.rs"), line=5))
        stop = stop_of(await service.start(client, LaunchRequest(program="main"), within_s=60))
        shown = values(stop)
        assert (shown["name"], shown["codes"], stop.output) == ('"ada"', "size=3", "")
        third = await service.evaluate(client, "", "codes[2]", frame=None, context="watch", within_s=20)
        assert third.result == "30"


@pytest.mark.parametrize("spec", BOTH)
async def test_a_rust_panic_stops_a_program_that_was_attached_to(tmp_path: Path, home: Path, spec: AdapterSpec) -> None:
    give_adapters(home)
    binary = compiled(tmp_path, "main.rs", PANICS_WHEN_TOLD)
    client, go = client_of(tmp_path), tmp_path / "go"
    with running_program(str(binary), str(go)) as running:
        async with service_in(tmp_path, spec) as service:
            wanted = {"type": spec.name, "request": "attach", "name": "x", "pid": running.pid}
            started = await service.start(client, LaunchRequest(configuration=wanted), within_s=0)
            go.touch()
            stop = stop_of(await service.wait(client, started.session.id, within_s=30))
            assert stop.raised is not None
            assert (stop.reason, stop.raised.type) == ("exception", "panic")


@pytest.mark.needs("lldb", "c")
async def test_source_is_debugged_by_what_was_built_from_it(tmp_path: Path, home: Path) -> None:
    stage = staged(C, tmp_path)
    async with service_in(tmp_path, LLDB) as service:
        await service.set_breakpoint(stage.client, stage.at(C.computes, condition="n == 4"))
        assert n_of(stop_of(await service.start(stage.client, LaunchRequest(program="main.c"), within_s=60))) == 4
        await service.stop(stage.client, "")
        stage.program.unlink()
        with pytest.raises(DragomanError, match="cc -g") as caught:
            await service.start(stage.client, LaunchRequest(program="main.c"), within_s=60)
        assert caught.value.code == "needs_build"


@pytest.mark.needs("lldb", "c")
async def test_a_configuration_of_the_c_extension_is_run(tmp_path: Path, home: Path) -> None:
    stage = staged(C, tmp_path)
    wanted = {
        "name": "(gdb) Launch",
        "type": "cppdbg",
        "request": "launch",
        "program": "${workspaceFolder}/main",
        "args": [],
        "stopAtEntry": False,
        "cwd": "${workspaceFolder}",
        "environment": [{"name": "A", "value": "b"}],
        "externalConsole": False,
        "MIMode": "gdb",
        "setupCommands": [{"text": "-enable-pretty-printing", "ignoreFailures": True}],
    }
    async with service_in(tmp_path, LLDB) as service:
        ended = end_of(await service.start(stage.client, LaunchRequest(configuration=wanted), within_s=60))
        assert (ended.exit_code, ended.output.splitlines()[-1]) == (3, "total 90")


@pytest.mark.needs("lldb", "rust")
async def test_cargo_run_is_built_and_debugged(tmp_path: Path, home: Path) -> None:
    (tmp_path / "Cargo.toml").write_text('[package]\nname = "my-app"\nversion = "0.1.0"\nedition = "2021"\n')
    (tmp_path / "src").mkdir()
    source = tmp_path / "src" / "main.rs"
    source.write_text('fn main() {\n    let n = std::env::args().count();\n    println!("{}", n);\n}\n')
    client = client_of(tmp_path)
    async with service_in(tmp_path, LLDB) as service:
        await service.set_breakpoint(client, Breakpoint(id=0, path=str(source), line=3))
        stop = stop_of(
            await service.start(client, LaunchRequest(program="cargo", args=("run", "--", "a")), within_s=90)
        )
        assert (stop.frames[0].path, values(stop)["n"]) == (str(source), "2")


SANITIZED = """\
#include <limits.h>
#include <stdlib.h>
static int peek(int *a, int i) {
    return a[i];
}
int main(int argc, char **argv) {
    int *a = malloc(4 * sizeof(int)), big = INT_MAX;
    if (argc > 1)
        big += argc;
    return big < 0 ? 3 : peek(a, 6);
}
"""


BOTH_OF_C = [
    pytest.param(LLDB, marks=pytest.mark.needs("lldb", "c"), id="lldb"),
    pytest.param(CODELLDB, marks=pytest.mark.needs("codelldb", "c"), id="codelldb"),
]


@pytest.mark.parametrize("spec", BOTH_OF_C)
@pytest.mark.parametrize(
    ("sanitizer", "args", "type", "headline", "line"),
    [
        ("address", (), "AddressSanitizer", "heap-buffer-overflow|Heap buffer overflow", 4),
        ("undefined", ("x",), "UndefinedBehaviorSanitizer", "[Ss]igned integer overflow", 9),
    ],
)
async def test_a_sanitizer_report_is_shown_at_the_own_line_with_its_headline(
    tmp_path: Path,
    home: Path,
    spec: AdapterSpec,
    sanitizer: str,
    args: tuple[str, ...],
    type: str,
    headline: str,
    line: int,
) -> None:
    give_adapters(home)
    source = tmp_path / "main.c"
    source.write_text(SANITIZED)
    built(source, f"-fsanitize={sanitizer}")
    wanted = {"type": spec.name, "request": "launch", "name": "x", "program": "main", "args": list(args)}
    async with service_in(tmp_path, spec) as service:
        stop = stop_of(await service.start(client_of(tmp_path), LaunchRequest(configuration=wanted), within_s=60))
        assert stop.raised is not None
        assert (stop.reason, stop.raised.type) == ("exception", type)
        assert re.match(headline, stop.raised.message)
        assert stop.frame is not None
        assert (stop.frame.path, stop.frame.line) == (str(source), line)


THREADS = """\
#include <pthread.h>
#include <stdio.h>
static volatile long done[4];
static pthread_barrier_t together;
static void *work(void *given) {
    long id = (long)given;
    for (long n = 0; n < 40; n++) {
        pthread_barrier_wait(&together);
        done[id] += n;
    }
    return 0;
}
int main(void) {
    pthread_t threads[4];
    pthread_barrier_init(&together, 0, 4);
    for (long id = 0; id < 4; id++)
        pthread_create(&threads[id], 0, work, (void *)id);
    for (int id = 0; id < 4; id++)
        pthread_join(threads[id], 0);
    printf("%ld\\n", done[0] + done[1] + done[2] + done[3]);
    return 0;
}
"""


@pytest.mark.parametrize("spec", BOTH_OF_C)
async def test_a_condition_is_true_wherever_a_threaded_program_stops(
    tmp_path: Path, home: Path, spec: AdapterSpec
) -> None:
    """LLDB halts all threads for the one whose condition is true, and names another that came by."""
    give_adapters(home)
    (tmp_path / "main.c").write_text(THREADS)
    built(tmp_path / "main.c", "-pthread")
    client, stops = client_of(tmp_path), []
    async with service_in(tmp_path, spec) as service:
        at = Breakpoint(id=0, path=str(tmp_path / "main.c"), line=9, condition="id == 2 && n % 15 == 4")
        await service.set_breakpoint(client, at)
        wanted = {"type": spec.name, "request": "launch", "name": "x", "program": "main"}
        happened = await service.start(client, LaunchRequest(configuration=wanted), within_s=60)
        while happened.session.ended is None:
            held = values(stop_of(happened))
            stops.append((held["id"], held["n"]))
            happened = await service.resume(client, "", thread_id=None, within_s=60)
        assert (end_of(happened).exit_code, end_of(happened).output) == (0, "3120\n")
    assert stops == [("2", "4"), ("2", "19"), ("2", "34")]


CRASHES = """\
#include <stdio.h>
int deep(int *p, int n) {
    FILE *ran = fopen("ran.txt", "w");
    fclose(ran);
    return *p + n;
}
int main(void) { return deep(0, 41); }
"""


def core_of(program: Path) -> Path:
    """What the system would have left of it, written by LLDB: where the kernel puts one is the machine's affair."""
    lldb = discovery.require_adapter("lldb", dict(os.environ)).resolve().with_name("lldb")
    save = ("-k", "process save-core --plugin-name=minidump core.dmp", "-k", "quit 1", "-o", "run")
    subprocess.run([str(lldb), "-b", *save, str(program)], cwd=program.parent, capture_output=True, check=False)
    return program.parent / "core.dmp"


@pytest.mark.needs("lldb", "c")
@pytest.mark.parametrize(("type", "key"), [("cppdbg", "coreDumpPath"), ("lldb", "coreFile")])
async def test_a_launch_with_a_core_opens_it_and_does_not_run_the_program(
    tmp_path: Path, home: Path, type: str, key: str
) -> None:
    core = core_of(compiled(tmp_path, "crash.c", CRASHES))
    (tmp_path / "ran.txt").unlink()
    client = client_of(tmp_path)
    wanted = {"type": type, "request": "launch", "name": "x", "program": "${workspaceFolder}/crash", key: str(core)}
    async with service_in(tmp_path, LLDB) as service:
        stop = stop_of(await service.start(client, LaunchRequest(configuration=wanted), within_s=60))
        assert (stop.reason, stop.frames[0].name, values(stop)["n"]) == ("exception", "deep", "41")
        for command in (service.resume(client, "", thread_id=None, within_s=5),
                        service.step(client, "", "over", thread_id=None, within_s=5)):  # fmt: skip
            with pytest.raises(DragomanError) as refused:
                await command
            assert refused.value.code == "core_dump"
        n = await service.evaluate(client, "", "n + 1", frame=None, context="watch", within_s=20)
        assert n.result == "42"
        wanted["coreFile"] = wanted.pop(key) + ".gone"
        with pytest.raises(DragomanError, match="core dump does not exist"):
            await service.start(client, LaunchRequest(configuration=wanted), within_s=60)
    assert not (tmp_path / "ran.txt").exists()


@pytest.mark.needs("codelldb", "c")
async def test_codelldb_replaces_a_missing_lldb_dap(
    tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage = staged(C, tmp_path)
    give_adapters(home)
    monkeypatch.setitem(discovery.ADAPTER_SEARCHES, "lldb", discovery.AdapterSearch("lldb", "C"))
    async with service_in(tmp_path, LLDB) as service:
        started = await service.start(stage.client, LaunchRequest(program="main"), within_s=60)
        assert end_of(started).exit_code == 3
        assert "codelldb" in started.session.facts["adapter"]
