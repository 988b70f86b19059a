"""explain_crash over the real debugger of each language: frames, locals, the values in the line, what led to it."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

from dragoman.debug.evidence.printed_crash import read_printed_chain, read_printed_crash
from dragoman.debug.model import RaisedException
from tests.debug.evidence.evidence_tools import agent_in
from tests.peers import give_adapters
from tests.tools.tool_fixture import Answer

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(120)]


async def explained(tmp_path: Path, name: str, text: str, **more: Any) -> Answer:
    async with agent_in(tmp_path) as agent:
        agent.write(name, text)
        return await agent.call("explain_crash", **{"program": name, **more})


def places(answer: Answer) -> list[tuple[str, int]]:
    return [(it["function"].rpartition(".")[2], it["line"]) for it in answer["frames"]]


ORDERS_JS = """\
const rates = { book: 0.07 };
function rate(order) {
  if (!(order.kind in rates)) throw new RangeError("no rate for " + order.kind);
}
function total(order) {
  try { return rate(order); }
  catch (error) { throw new Error("cannot total", { cause: error }); }
}
function main() {
  const order = { kind: "film" };
  console.log("begins");
  { const twice = 2; total(order); }
}
main();
"""


@pytest.mark.needs("javascript")
async def test_javascript_with_the_causes_of_its_error_and_every_scope_of_a_function(
    tmp_path: Path, home: Path
) -> None:
    give_adapters(home)
    answer = await explained(tmp_path, "orders.js", ORDERS_JS)
    assert answer["ended"]["exception"] == {"type": "Error", "message": "cannot total"}
    assert answer["caused_by"] == [{"type": "RangeError", "message": "no rate for film"}]
    assert places(answer) == [("total", 7), ("main", 12), ("<anonymous>", 14)]
    total, main, module = answer["frames"]
    assert total["locals"] == {"error": "RangeError: no rate for film", "order": "{kind: 'film'}"}
    assert main["locals"] == {"twice": "2", "order": "{kind: 'film'}"}
    assert module["locals"] == {"rates": "{book: 0.07}"}
    assert (answer["ended"]["exit_code"], answer["ended"]["output"]) == (1, "begins\n")


@pytest.mark.needs("javascript")
async def test_javascript_with_the_first_link_of_a_chain_that_fails(tmp_path: Path, home: Path) -> None:
    give_adapters(home)
    text = "const list = [{ name: 'a' }];\nlet at = list.length;\nconsole.log(list[at].name.length);\n"
    values = (await explained(tmp_path, "last.js", text))["frames"][0]["values"]
    assert values["list[at]"] == "undefined"
    assert values["list[at].name"].startswith("!TypeError: Cannot read properties of undefined")
    assert "list[at].name.length" not in values


@pytest.mark.needs("javascript")
async def test_a_module_of_javascript_with_a_loader_that_catches_what_ends_it(tmp_path: Path, home: Path) -> None:
    give_adapters(home)
    (tmp_path / "rates.mjs").write_text(
        "export async function rate(order) {\n"
        "  await null;\n"
        '  try { JSON.parse("{"); } catch (error) { /* as it should */ }\n'
        '  try { return order.rate.net; } catch (error) { throw new Error("no rate", { cause: error }); }\n}\n'
    )
    text = 'import { rate } from "./rates.mjs";\n'
    text += 'const order = { kind: "film", of: [{ a: { b: 1 } }] };\nconsole.log(await rate(order));\n'
    answer = await explained(tmp_path, "orders.mjs", text)
    assert (answer["crashed"], answer["ended"]["exit_code"]) == (True, 1)
    assert answer["ended"]["exception"] == {"type": "Error", "message": "no rate"}
    (cause,) = answer["caused_by"]
    assert (cause["type"], "reading 'net'" in cause["message"]) == ("TypeError", True)
    assert places(answer)[0] == ("rate", 4)
    assert answer["frames"][0]["locals"]["order"] == '{kind: "film", of: [{a: {b: 1}}]}'


@pytest.mark.needs("javascript")
async def test_a_module_of_javascript_that_catches_what_it_throws_has_not_crashed(tmp_path: Path, home: Path) -> None:
    give_adapters(home)
    text = 'try { throw new Error("a"); } catch {}\nexport {};\nconsole.log("well");\n'
    answer = await explained(tmp_path, "well.mjs", text)
    assert (answer["crashed"], answer["frames"], answer["ended"]["output"]) == (False, [], "well\n")


@pytest.mark.needs("c", "lldb")
async def test_a_sanitizer_report_names_the_line_that_freed_the_memory(tmp_path: Path, home: Path) -> None:
    give_adapters(home)
    source = "#include <stdlib.h>\nint main(void) {\n  int *p = malloc(4);\n  free(p);\n  return *p;\n}\n"
    program = built(tmp_path / "freed.c", source, "-fsanitize=address")
    answer = await explained(tmp_path, "freed.c", source, program=program)
    assert "heap-use-after-free" in str(answer["ended"]["exception"])
    assert answer["frames"][0]["line"] == 5
    entries = [(it["type"].partition(" by ")[0], it["at"]) for it in answer["caused_by"]]
    assert entries == [("freed", "freed.c:4 main"), ("previously allocated", "freed.c:3 main")]


LIST_C = """\
#include <stdio.h>
struct node { int value; struct node *next; };
static int sum(struct node *p, int n) {
    int found = 0;
    for (int i = 0; i < n; i++) {
        found += p->value + p->next->value;
        p = p->next;
    }
    return found;
}
int main(void) {
    struct node b = {2, NULL}, a = {1, &b};
    printf("%d\\n", sum(&a, 3));
    return 0;
}
"""


def built(source: Path, text: str, *flags: str) -> str:
    source.write_text(text)
    subprocess.run(["gcc", "-g", "-O0", *flags, "-o", source.with_suffix(""), source], check=True)
    return str(source.with_suffix(""))


@pytest.mark.needs("c")
@pytest.mark.parametrize(
    "type",
    [pytest.param(it, marks=pytest.mark.needs(peer)) for it, peer in (("lldb-dap", "lldb"), ("lldb", "codelldb"))],
)
async def test_c_at_a_signal_with_what_the_pointer_was(tmp_path: Path, home: Path, type: str) -> None:
    give_adapters(home)
    configuration = {"type": type, "request": "launch", "name": "list", "program": built(tmp_path / "list.c", LIST_C)}
    answer = await explained(tmp_path, "list.c", LIST_C, program="", configuration=configuration)
    assert (answer["crashed"], answer["ended"]["signal"], answer["ended"]["exit_code"]) == (True, "SIGSEGV", -11)
    assert "SIGSEGV" in answer["ended"]["exception"]["message"]
    assert places(answer) == [("sum", 6), ("main", 13)]
    top = answer["frames"][0]
    assert {name: top["locals"][name] for name in ("n", "found", "i")} == {"n": "3", "found": "3", "i": "1"}
    assert "value=2" in top["locals"]["p"]
    assert (top["values"]["p->value"], top["values"]["p->next->value"][0]) == ("2", "!")
    assert top["values"]["p->next"] in {"0x0000000000000000", "<null>", "NULL"}


PICK_GO = """\
package main

import "errors"

type Shelf struct{ books []string }

func pick(shelf *Shelf, at int) string { return shelf.books[at] }

func main() {
	defer func() {
		if found := recover(); found != nil {
			panic(errors.New("no such book"))
		}
	}()
	pick(&Shelf{[]string{"a"}}, 5)
}
"""


@pytest.mark.needs("go")
async def test_go_with_the_panic_that_led_to_the_last(tmp_path: Path, home: Path) -> None:
    give_adapters(home)
    answer = await explained(tmp_path, "pick.go", PICK_GO)
    assert (answer["ended"]["exception"]["type"], answer["ended"]["exit_code"]) == ("panic", 2)
    assert "no such book" in answer["ended"]["exception"]["message"]
    assert answer["caused_by"] == [{"type": "panic", "message": "runtime error: index out of range [5] with length 1"}]
    assert places(answer) == [("func1", 12), ("pick", 7), ("main", 15)]
    assert set(answer["frames"][1]["locals"]) == {"shelf", "at"}
    assert answer["frames"][1]["locals"]["at"] == "5"


@pytest.mark.needs("lua")
async def test_lua_with_the_key_and_what_was_not_there(tmp_path: Path) -> None:
    text = "local function rate(order, rates)\n  return rates[order.kind].value * 2\nend\nrate({ kind = 'film' }, {})\n"
    answer = await explained(tmp_path, "rate.lua", text)
    assert "attempt to index" in answer["ended"]["exception"]["message"]
    assert (places(answer)[0], answer["frames"][0]["locals"]["order"]) == (("rate", 2), '{kind = "film"}')
    values = answer["frames"][0]["values"]
    assert (values["rates[order.kind]"], values["order.kind"]) == ("nil", '"film"')


ORDERS_RB = """\
def charge(order, rates)
  order[:price] * rates.fetch(order[:kind])
rescue KeyError => missing
  raise ArgumentError, "no rate"
end

def main
  order = { kind: "film", price: 20 }
  charge(order, { "book" => 7 })
end

main
"""


@pytest.mark.needs("ruby")
async def test_ruby_where_the_debugger_stops_at_the_first_cause(tmp_path: Path) -> None:
    answer = await explained(tmp_path, "orders.rb", ORDERS_RB)
    assert answer["ended"]["exception"] == {"type": "ArgumentError", "message": "no rate"}
    assert answer["caused_by"] == [{"type": "KeyError", "message": 'key not found: "film"'}]
    assert [it["line"] for it in answer["frames"]] == [2, 9, 12]
    assert answer["frames"][0]["locals"]["rates"] == '{"book"=>7}'
    assert answer["frames"][2]["locals"] == {}


def test_what_a_program_printed_before_it_broke_down_and_other_languages_print_is_not_a_cause() -> None:
    raised = RaisedException(type="Error", message="a")
    forged = "[cause]: Error: printed at the margin\n  [cause]: RangeError [ERR]: real {\n"
    assert read_printed_chain("pwa-node", raised, forged) == (
        raised,
        RaisedException(type="RangeError", message="real"),
    )
    assert read_printed_chain("debugpy", raised, forged) == (raised,)
    assert read_printed_chain("rdbg", raised, "") == (raised,)


def test_printed_breakdowns_are_read_with_their_places_and_what_led_to_them() -> None:
    python = (
        "well\nTraceback (most recent call last):\n"
        '  File "/w/a.py", line 1, in <module>\n    f()\n'
        "ValueError: an old one, caught and printed\n\nTraceback (most recent call last):\n"
        '  File "/w/a.py", line 2, in inner\n    g()\n'
        "KeyError: 'b'\n\nDuring handling of the above exception, another exception occurred:\n\n"
        "Traceback (most recent call last):\n"
        '  File "/w/a.py", line 9, in <module>\n    main()\n'
        '  File "/w/a.py", line 5, in main\n    h()\n  [Previous line repeated 9 more times]\n'
        '  File "/usr/lib/python3.11/json/decoder.py", line 3, in decode\n    x\n'
        "json.decoder.JSONDecodeError: no: value\n"
    )
    found = read_printed_crash("debugpy", python)
    assert found is not None
    assert (found.raised.type, found.raised.message) == ("JSONDecodeError", "no: value")
    assert [(it.name, it.line) for it in found.frames] == [("main", 5), ("<module>", 9)]
    (cause,) = found.causes
    assert (cause.type, cause.frame and cause.frame.line) == ("KeyError", 2)
    undefined = read_printed_crash("lldb-dap", "/w/a.c:2:48: runtime error: signed integer overflow: 1 + 1\n")
    assert undefined is not None
    assert (undefined.raised.message, undefined.frames[0].line) == ("signed integer overflow: 1 + 1", 2)
    node = (
        "x\n\nError [ERR_X]: bad: y\n    at f (file:///w/a.mjs:3:7)\n    at node:internal/x:1:2\n    at /w/b.js:4:1\n"
    )
    thrown = read_printed_crash("pwa-node", node)
    assert thrown is not None
    assert [(it.name, it.path, it.line) for it in thrown.frames] == [
        ("f", "/w/a.mjs", 3),
        ("<anonymous>", "/w/b.js", 4),
    ]
    assert (read_printed_crash("debugpy", "all is well\n"), read_printed_crash("lua", python)) == (None, None)
