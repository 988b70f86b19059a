"""Programs that are hard to trace, with what a trace of them must say. Plain Python 3.9 and the standard library, so
that every interpreter on the machine can run it: `python scenarios.py` prints one line per scenario.
"""

from __future__ import annotations

import array
import asyncio
import collections
import contextlib
import enum
import functools
import importlib
import json
import re
import signal
import sys
import tempfile
import threading
import time
import tracemalloc
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

CALLS = Path(__file__).parents[4] / "src" / "dragoman" / "debug" / "evidence" / "calls"
MONITORING = sys.version_info >= (3, 12)


def _load(name: str) -> Any:
    """As the daemon puts it into a program: a package without a file."""
    if "_scenario_calls" not in sys.modules:
        package = types.ModuleType("_scenario_calls")
        package.__path__ = [str(CALLS)]
        sys.modules["_scenario_calls"] = package
    return importlib.import_module(f"_scenario_calls.{name}")


def traced(act: Callable[[], object], function: str, **options: Any) -> tuple[dict[str, Any], str]:
    tracer, text = _load("call_tracer"), _load("call_text")
    tracer.start(function=function, **options)
    try:
        with contextlib.suppress(Exception):
            act()
    finally:
        record = json.loads(tracer.stop())
    shown = "\n".join(text.call_lines(record))
    assert len(shown) <= 4000, len(shown)
    return record, shown


class Item:
    def __init__(self, name: str, cost: int) -> None:
        self.name = name
        self.cost = cost


def price(item: Item) -> int:
    return item.cost


def checkout(items: list[Item], rate: int) -> int:
    seen = {}
    total = 0
    for item in items:
        total += price(item)
        seen[item.name] = item.cost
    return total * (1 - rate)


def scenario_lines_changes_and_calls() -> None:
    record, text = traced(lambda: checkout([Item("a", 20), Item("b", 30)], 3), "checkout")
    assert "arguments: items = [Item(name='a', cost=20), Item(name='b', cost=30)], rate = 3" in text, text
    assert ": price(item=Item(name='a', cost=20)) → total = 20; " in text, text
    assert ": price(item=Item(name='b', cost=30)) → 30; total = 50; " in text, text
    assert "seen['b'] = 30" in text, text
    assert text.endswith("returned -100"), text
    assert text.count("for item in items") == 1
    assert "def checkout" not in text  # its name and its arguments stand in the first lines
    assert record["call"] == 1


def fib(n: int) -> int:
    if n < 2:
        return n
    return fib(n - 1) + fib(n - 2)


def twice(values: list[int]) -> int:
    total = summed(values)
    return 2 * total


def summed(values: list[int]) -> int:
    total = 0
    for value in values:
        total += value
    return total


def scenario_several_functions_each_have_their_rows() -> None:
    tracer = _load("call_tracer")
    for functions in (("twice", "summed"), ("summed", "twice")):
        tracer.start(function=functions[0], call="last", also=({"function": functions[1], "call": "last"},))
        try:
            twice([3, 4])
        finally:
            found = {it["function"]: it["lines"] for it in (each.record() for each in tracer._running)}
            tracer.stop()
        assert found == {"twice": 2, "summed": 7}, found


def rebound(values: list[int]) -> list[int]:
    kept: list[int] = []
    kept = [it for it in values if it > 1]
    kept.append(9)
    return kept


def scenario_a_new_list_is_shown_whole() -> None:
    _, text = traced(lambda: rebound([1, 2]), "rebound")
    assert "kept = [2]" in text, text
    assert "kept += [9]" in text, text


def scenario_recursion() -> None:
    record, text = traced(lambda: fib(8), "fib")
    assert "fib(n=7) → 13" in text, text
    assert "calls in the order they ended (deepest: 8)" in text, text
    assert "(n=8) → 21" in text, text
    assert record["all"][0][2:4] == [[["n", "1"]], "1"], record["all"]
    assert record["all_cut"] == 67 - 24, record["all_cut"]


def ping(n: int) -> int:
    return pong(n + 1)


def pong(n: int) -> int:
    return ping(n)


def scenario_recursion_error() -> None:
    record, text = traced(lambda: ping(1), "ping")
    assert "RecursionError" in text, text
    assert "cycle: ping → pong → ping" in text, text
    assert record["deepest"] > 100
    assert "#1 (n=1)" in text, text
    assert "#4" in text, text


def numbers(count: int) -> Any:
    for i in range(count):
        double = i * 2
        yield double


def scenario_generator_is_one_call() -> None:
    record, text = traced(lambda: list(numbers(3)), "numbers")
    assert record["calls"] == 1
    assert "yielded 3 values" in text, text
    assert "double = 4" in text, text
    assert "yields 4" in text, text


def scenario_generator_that_is_left() -> None:
    def act() -> None:
        held = numbers(5)
        next(held)
        next(held)
        held.close()

    record, text = traced(act, "numbers")
    assert record["yields"] == 2, text
    assert record["end"]["how"] in ("raised", "suspended")  # from Python 3.13 it may be closed without an event
    assert "GeneratorExit" in text or "suspended at line" in text, text


async def plus_one(value: int) -> int:
    await asyncio.sleep(0)
    return value + 1


async def worker(value: int) -> int:
    first = await plus_one(value)
    await asyncio.sleep(0.001)
    return first + await plus_one(first)


def scenario_coroutine_is_one_call() -> None:
    async def both() -> None:
        await asyncio.gather(worker(3), worker(10))

    record, text = traced(lambda: asyncio.run(both()), "worker")
    assert "plus_one(value=3) → first = 4" in text, text
    assert "returned 9" in text, text
    assert record["args"] == [["value", "3"]]
    assert "StopIteration" not in text, text


def broken(data: dict[str, int]) -> int:
    first = data["a"]
    return first + data["b"]


def scenario_exception() -> None:
    record, text = traced(lambda: broken({"a": 1}), "broken")
    assert record["end"]["how"] == "raised"
    assert "raised KeyError: 'b' at line" in text, text


def lenient() -> int:
    found = 0
    try:
        int("x")
    except ValueError:
        found = 3
    return found


def scenario_caught_exception() -> None:
    _, text = traced(lenient, "lenient")
    assert "! ValueError: invalid literal for int()" in text, text
    assert text.endswith("returned 3"), text


def summing(count: int) -> int:
    total = 0
    special = []
    for i in range(count):
        total += i
        if i == 47:
            special.append(i)
    return total


def scenario_long_loop_is_folded() -> None:
    record, text = traced(lambda: summing(4000), "summing")
    assert record["lines"] > 12_000
    assert len(json.dumps(record)) < 60_000
    assert "special += [47]" in text, text
    assert "more steps in lines" in text, text
    assert "i = 3999" in text, text
    assert f"returned {sum(range(4000))}" in text, text
    assert len(text) < 1200, text


def endless() -> None:
    count = 0
    until = time.monotonic() + 3
    while time.monotonic() < until:
        count += 1
        if count > 30_000:
            break


def scenario_limit_of_lines() -> None:
    record, text = traced(endless, "endless", max_lines=500)
    assert record["end"]["how"] == "limit"
    assert "still running at line" in text, text
    assert "count = " in text, text


def halved(value: int) -> int:
    return 10 // value


def several() -> None:
    for i in (5, 2, 1, 0):
        halved(i)


def scenario_choice_of_the_call() -> None:
    assert traced(several, "halved")[0]["args"] == [["value", "5"]]
    assert traced(several, "halved", call="2")[0]["args"] == [["value", "2"]]
    assert traced(several, "halved", call="last")[0]["args"] == [["value", "0"]]
    assert traced(several, "halved", where="value == 1")[0]["args"] == [["value", "1"]]
    failing = traced(several, "halved", call="failing")
    assert failing[0]["args"] == [["value", "0"]]
    assert "raised ZeroDivisionError" in failing[1]
    assert "No such call: the function was called 4 times." in traced(several, "halved", call="9")[1]
    record, text = traced(several, "halved", where="nothing > 1")
    assert "function" not in record
    assert "NameError" in text
    assert traced(several, "no_such_name")[1] == "The function was never called."


class Base:
    def area(self) -> int:
        return 1


class Square(Base):
    def __init__(self) -> None:
        self.side = 2

    @property
    def size(self) -> int:
        raise AssertionError("a property was read")

    def area(self) -> int:
        self.side += 1
        return self.side


class Plain(Base):
    pass


def scenario_methods_and_lines() -> None:
    def act() -> None:
        Base().area()
        Square().area()
        Plain().area()

    assert "self.side = 3" in traced(act, "Square.area")[1]
    assert "returned 1" in traced(act, "Plain.area")[1]
    line = Square.area.__code__.co_firstlineno + 1
    record, text = traced(act, "", file=__file__, line=line)
    assert "self = Square(side=2)" in text, (record, text)


class Shape:
    sides = 0

    def edges(self) -> int:
        return self.sides

    @functools.lru_cache(maxsize=None)  # noqa: B019, UP033  of whom it does not matter
    def corners(self) -> int:
        return self.sides

    @property
    def doubled(self) -> int:
        return 2 * self.sides


class Circle(Shape):
    sides = 1


class Triangle(Shape):
    sides = 3


class Slanted(Triangle):
    def edges(self) -> int:
        return 100 + super().edges()

    @property
    def doubled(self) -> int:
        return 100 + super().doubled


def scenario_a_method_is_that_of_the_class_that_was_named() -> None:
    def act() -> None:
        for it in (Triangle(), Circle(), Triangle(), Slanted()):
            it.edges()
            it.corners()
            it.doubled  # noqa: B018

    for call in ("outermost", "last"):
        for method, ended in (("edges", "returned 1"), ("doubled", "returned 2"), ("corners", "returned 1")):
            record, text = traced(act, "Circle." + method, call=call)
            assert record["args"] == [["self", "Circle()"]], record["args"]
            assert record["calls"] == 1, record["calls"]
            assert text.endswith(ended), text
    record, text = traced(act, "Triangle.edges", call="last")
    assert record["calls"] == 3, record["calls"]
    assert text.endswith("returned 3"), text
    assert traced(act, "Slanted.edges")[1].endswith("returned 103")
    assert traced(lambda: Slanted().edges(), "Shape.edges")[1].endswith("returned 3")
    assert traced(lambda: Slanted().doubled, "Triangle.doubled")[1].endswith("returned 6")


def scenario_what_another_class_does_with_an_inherited_method_is_a_call_below() -> None:
    def twice_over(count: int) -> int:
        total = 0
        for _ in range(count):
            total += Circle().edges()
            total += Triangle().edges()
        return total

    tracer = _load("call_tracer")
    tracer.start(function="twice_over", call="last", also=({"function": "Circle.edges", "call": "last"},))
    try:
        twice_over(3)
    finally:
        outer, inner = (it.record() for it in tracer._running)
        tracer.stop()
    assert [it[2] for row in outer["rows"] for it in row.get("calls", ())] == ["1", "3"] * 3, outer["rows"]
    assert (inner["calls"], inner["end"].get("value")) == (3, "1"), inner


def dive(n: int, bottom: int) -> int:
    if n == bottom:
        raise ValueError(n)
    return dive(n + 1, bottom)


def scenario_deep_recursion_shows_the_call_that_raised() -> None:
    record, text = traced(lambda: dive(1, 60), "dive", call="failing")
    assert record["args"] == [["n", "60"], ["bottom", "60"]], record["args"]
    assert "raise ValueError(n)" in text, text
    assert "not_failing" not in record
    assert traced(lambda: dive(1, 60), "dive", call="last")[0]["args"][0] == ["n", "1"]


def scenario_closure_decorator_and_comprehension() -> None:
    count = 1

    def counted(inner: Any) -> Any:
        @functools.wraps(inner)
        def wrapper(*args: Any) -> Any:
            return inner(*args)

        return wrapper

    @counted
    def body(step: int) -> list[int]:
        nonlocal count
        count += step
        return [price(Item(str(i), i)) for i in range(step)]

    _, text = traced(lambda: body(2), "body")
    assert "closure: count = 1" in text, text
    assert "count = 3" in text, text
    assert "price(item=Item(name='1', cost=1)) → 1" in text, text
    assert text.endswith("returned [0, 1]"), text
    assert "args = (2,)" in traced(lambda: body(2), "wrapper")[1]


def scenario_exec() -> None:
    scope: dict[str, Any] = {}
    exec("def made(a):\n    b = a + 1\n    return b\n", scope)
    _, text = traced(lambda: scope["made"](4), "made")
    assert "b = 5" in text, text
    assert text.endswith("returned 5"), text


def counted_sum(name: str, barrier: threading.Barrier) -> int:
    total = 0
    barrier.wait(5)
    for i in range(3):
        total += i
    barrier.wait(5)
    return total


def scenario_threads_are_counted() -> None:
    barrier = threading.Barrier(3)

    def act() -> None:
        threads = [threading.Thread(target=counted_sum, args=(str(it), barrier)) for it in range(2)]
        for it in threads:
            it.start()
        counted_sum("main", barrier)
        for it in threads:
            it.join(5)

    record, text = traced(act, "counted_sum")
    assert "returned 3" in text, text
    assert record["lines"] == 1 + 1 + 4 + 3 + 1 + 1, text
    assert record["other_threads"] == 2, record


def in_a_thread(act: Callable[[], object]) -> None:
    thread = threading.Thread(target=act)
    thread.start()
    thread.join(5)


def scenario_threads_are_traced_beside_a_debugger() -> None:
    seen: list[str] = []

    def debugger(frame: Any, event: str, arg: Any) -> None:
        seen.append(frame.f_code.co_name)

    def puts_itself_in_place(frame: Any, event: str, arg: Any) -> None:  # as pydevd and coverage do
        sys.settrace(debugger)
        debugger(frame, event, arg)

    sys.settrace(debugger)
    threading.settrace(puts_itself_in_place)
    try:
        text = traced(lambda: in_a_thread(lambda: fib(3)), "fib")[1]
        in_a_thread(lambda: price(Item("a", 1)))
        assert sys.gettrace() is debugger
    finally:
        sys.settrace(None)
        threading.settrace(None)
    assert "returned 2" in text, text
    assert seen.count("fib") == 5, seen
    assert "price" in seen, seen


def scenario_threads_that_are_not_traced_are_no_proof_that_nothing_was_called() -> None:
    go_on = threading.Event()
    thread = threading.Thread(target=lambda: go_on.wait(5) and fib(3))
    thread.start()

    def act() -> None:
        go_on.set()
        thread.join(5)

    text = traced(act, "fib")[1]
    assert (
        "returned 2" if MONITORING else "Not traced, because they ran before or began without `threading`: 1 threads"
    ) in text, text
    assert "never called" not in text, text


class AlarmError(Exception):
    pass


class HostileType(type):
    def __instancecheck__(cls, it: object) -> bool:
        raise AlarmError

    def __subclasscheck__(cls, it: type) -> bool:
        raise AlarmError

    def __hash__(cls) -> int:
        raise AlarmError

    def __eq__(cls, other: object) -> bool:
        raise AlarmError

    def __getattribute__(cls, name: str) -> Any:
        raise AlarmError


def _alarm(*_: Any) -> Any:
    touched.append(1)
    raise AlarmError


touched: list[int] = []
NAMES = ("repr", "str", "len", "iter", "eq", "hash", "getattribute", "getitem", "bool", "contains", "getattr", "dir")
HOSTILE = {f"__{name}__": _alarm for name in NAMES}
HostileObject: Any = HostileType(
    "HostileObject", (), {**HOSTILE, "__class__": property(_alarm), "__slots__": ("a", "b")}
)
HostileDict: Any = type(
    "HostileDict", (dict,), {**HOSTILE, "items": _alarm, "keys": _alarm, "__class__": property(_alarm)}
)
HostileList = type("HostileList", (list,), {**HOSTILE, "copy": _alarm})
HostileText = type("HostileText", (str,), HOSTILE)
HostileNumber = type("HostileNumber", (int,), HOSTILE)
HostileFields = type("HostileFields", (), {**HOSTILE, "__dict__": property(_alarm)})


class Lie:
    __class__ = property(_alarm)


class LoudError(Exception):
    def __str__(self) -> str:
        touched.append(1)
        return "loud"


def receives(it: Any, other: Any) -> Any:
    held = [it]
    by_name = {"it": it}
    return (held, by_name, other)


def scenario_hostile_objects_are_not_called() -> None:
    made: Any = object.__new__(HostileObject)
    object.__setattr__(made, "a", 41)
    mapping: Any = dict.__new__(HostileDict)
    dict.__setitem__(mapping, "k", 7)
    values = [made, mapping, list.__new__(HostileList), str.__new__(HostileText, "x"), int.__new__(HostileNumber, 5)]
    values += [object.__new__(HostileFields), Lie(), LoudError("quiet"), HostileObject]
    touched.clear()
    for value in values:
        record, text = traced(functools.partial(receives, value, values), "receives")
        assert record["end"]["how"] == "returned", (type(value), record)
        assert touched == [], text
    text = traced(lambda: receives(made, mapping), "receives")[1]
    assert "it = HostileObject(a=41)" in text, text
    assert "other = HostileDict{'k': 7}" in text, text
    assert touched == []


class Colour(enum.Enum):
    RED = 1


Point = collections.namedtuple("Point", "x y")


def shows(*values: Any) -> None:
    pass


def scenario_values_are_short_and_finite() -> None:
    cycle: list[Any] = [1]
    cycle.append(cycle)
    huge = dict.fromkeys(range(100_000), 0)
    began = time.monotonic()
    many = [cycle, huge, list(range(1_000_000)), "x" * 5_000_000, 10**5000, Colour.RED, Point(1, 2), b"y" * 1000]
    texts = [traced(functools.partial(shows, it), "shows")[1] for it in many]
    assert time.monotonic() - began < 5
    assert "[1, <itself>]" in texts[0], texts[0]
    assert "(100000 in all)" in texts[1], texts[1]
    assert "(1000000 in all)" in texts[2], texts[2]
    assert "(5000000 long)" in texts[3], texts[3]
    assert "Colour.RED" in texts[5], texts[5]
    assert "Point(x=1, y=2)" in texts[6], texts[6]
    assert all(len(it) < 700 for it in texts)


def scenario_no_part_of_a_token_is_shown() -> None:
    token = "ghp_" + "Ab3dE6gH9j" * 6

    def act() -> None:
        shows(token, {"key": token}, ["a long text with words " * 4 + token], Item(token, 1))

    def outer() -> None:
        act()

    for function in ("shows", "act"):
        text = traced(outer, function)[1]
        assert "Ab3dE6" not in text.replace(token, ""), text


def grows() -> int:
    rows = [[0, 0], [0, 0]]
    rows[1][0] = 3 + len("abc")
    rows.append([9])
    rows[0], rows[1] = rows[1], rows[0]
    by = {"a": {"deep": [1]}, "keep": 1}
    by["a"]["deep"].append(2)  # type: ignore[index]
    del by["keep"]
    return len(rows)


def scenario_only_changed_entries() -> None:
    _, text = traced(grows, "grows")
    assert ": rows[1][0] = 6" in text, text
    assert ": rows += [[9]]" in text, text
    assert ": by['a']['deep'] += [2]" in text, text
    assert ": by['keep'] = (removed)" in text, text


def scenario_ten_thousand_lines() -> None:
    began = time.process_time()
    record, _ = traced(lambda: summing(3400), "summing")
    assert time.process_time() - began < 3
    assert record["lines"] > 10_000


def scenario_very_long_function() -> None:
    """Not longer: `sys.monitoring` of Python 3.12 searches the whole function at each line."""
    body = "\n".join(f"    v{it % 7} = {it}" for it in range(1500))
    scope: dict[str, Any] = {}
    exec(f"def wide():\n{body}\n    return v1\n", scope)
    record, text = traced(scope["wide"], "wide")
    assert record["lines"] == 1501
    assert "v1 = 1499" in text, text


def scenario_nothing_stays_on() -> None:
    traced(lambda: fib(3), "fib")
    assert sys.gettrace() is None
    if MONITORING:
        tools = [sys.monitoring.get_tool(it) for it in range(6)]  # type: ignore[attr-defined]
        assert "dragoman trace_call" not in tools


def waits(limit: float) -> list[float]:
    began = time.monotonic()
    spent = time.monotonic() - began
    return [began, spent, limit]


def scenario_mocked_functions_are_not_used() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "record"
        path.touch()
        names = ("getpid", "open", "write", "close")
        tracer = _load("call_tracer")
        with contextlib.ExitStack() as stack:
            stack.enter_context(mock.patch("time.monotonic", side_effect=[1.0, 3.5]))
            for name in names:
                stack.enter_context(mock.patch(f"os.{name}", side_effect=AssertionError))
            stack.enter_context(mock.patch("json.dumps", side_effect=AssertionError))
            stack.enter_context(mock.patch("threading.get_ident", side_effect=AssertionError))
            tracer.start(function="waits", path=str(path))
            try:
                assert waits(1) == [1.0, 2.5, 1]
            finally:
                result = tracer.stop()
        assert json.loads(result)["end"]["value"] == "[1.0, 2.5, 1]", result
        assert json.loads(path.read_text())["done"] is True


def scenario_tools_of_profilers_and_coverage_stay_free() -> None:
    if not MONITORING:
        return
    tracer = _load("call_tracer")
    tracer.start(function="fib", also=tuple({"function": f"other{it}"} for it in range(6)))
    try:
        held = [sys.monitoring.get_tool(it) for it in range(6)]  # type: ignore[attr-defined]
        assert held[:3] == [None] * 3
        assert held.count("dragoman trace_call") == 1, held
        fib(3)
    finally:
        data = json.loads(tracer.stop())
    assert data["records"][0]["end"]["value"] == "2", data


def first_step(n: int) -> int:
    return second_step(n) + 1


def second_step(n: int) -> int:
    return third_step(n) * 2


def third_step(n: int) -> int:
    return fourth_step(n) - 3


def fourth_step(n: int) -> int:
    return fifth_step(n) ** 2


def fifth_step(n: int) -> int:
    return n + 5


STEPS = ("first_step", "second_step", "third_step", "fourth_step", "fifth_step")


def traced_steps() -> list[Any]:
    tracer = _load("call_tracer")
    tracer.start(function=STEPS[0], also=tuple({"function": it, "call": "last"} for it in STEPS[1:]))
    try:
        first_step(1)
        first_step(2)
    finally:
        data = json.loads(tracer.stop())["records"]
    return [[it["end"]["value"], it["call"], len(it["rows"][0].get("calls", ()))] for it in data]


def scenario_five_functions_are_traced_in_one_run() -> None:
    expected = [["67", 1, 1], ["92", 2, 1], ["46", 2, 1], ["49", 2, 1], ["7", 2, 0]]
    assert traced_steps() == expected
    if not MONITORING:
        return
    for it in range(6):  # a debugger, coverage, profilers and whatever else holds all that there is
        sys.monitoring.use_tool_id(it, f"tool {it}")  # type: ignore[attr-defined]
    try:
        assert traced_steps() == expected
    finally:
        for it in range(6):
            sys.monitoring.free_tool_id(it)  # type: ignore[attr-defined]


def scenario_a_file_is_resolved_once() -> None:
    resolved: list[str] = []
    originals = _load("call_target").UnpatchedFunctions
    real = originals.realpath

    def realpath(path: str) -> str:
        resolved.append(path)
        return str(real(path))

    originals.realpath = realpath
    try:
        record, _ = traced(lambda: [fib(5), checkout([], 1)], "", file="/no/such/file.py", line=3)
    finally:
        originals.realpath = real
    assert record["calls"] == 0
    assert resolved.count(__file__) <= 1, resolved


class TimeIsUpError(Exception):
    pass


def time_is_up(*_: Any) -> None:
    raise TimeIsUpError


def no_debugger(frame: Any, event: str, arg: Any) -> None:
    """Holds the place of one."""


def spins(big: list[Any], act: Callable[[], object]) -> None:
    count = 0
    act()
    while True:
        count += 1


def scenario_exception_of_a_signal_handler_goes_on() -> None:
    """Nearly all of the time is spent in the copies of the values, so the signals arrive there."""
    big = [[it + 0.5 for it in range(100)] for _ in range(20)]
    before = signal.signal(signal.SIGALRM, time_is_up)
    tracer = _load("call_tracer")
    try:
        for delay_s in (0.05, 0.06, 0.07, 0.08, 0.09, 0.11):
            tracer.start(function="spins", max_seconds=2)
            began = time.monotonic()
            # The second signal is for a program that does not notice the first.
            with contextlib.suppress(TimeIsUpError):
                spins(big, functools.partial(signal.setitimer, signal.ITIMER_REAL, delay_s, 3))
            signal.setitimer(signal.ITIMER_REAL, 0)
            tracer.stop()
            assert time.monotonic() - began < 1.5
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def scenario_debugger_goes_on_after_a_signal() -> None:
    before = signal.signal(signal.SIGALRM, time_is_up)
    tracer, originals = _load("call_tracer"), _load("call_target").UnpatchedFunctions
    real = originals.monotonic
    if not MONITORING:
        sys.settrace(no_debugger)
    try:
        tracer.start(function="spins")
        with contextlib.suppress(TimeIsUpError):
            spins([], lambda: setattr(originals, "monotonic", lambda: signal.raise_signal(signal.SIGALRM)))
        debugger = sys.gettrace()
    finally:
        originals.monotonic = real
        data = json.loads(tracer.stop())
        signal.signal(signal.SIGALRM, before)
        if not MONITORING:
            sys.settrace(None)
    assert MONITORING or debugger is no_debugger
    assert sys.getprofile() is None
    assert data["end"]["how"] == "raised", data["end"]
    assert "TimeIsUpError" in data["end"]["error"], data["end"]


def steps_over(grid: list[list[float]], names: dict[str, list[float]], count: int) -> int:
    total = 0
    for it in range(count):
        grid[0][it % 10] += 1.0
        total += it
    return total


def scenario_copies_of_large_values_are_bounded() -> None:
    grid = [[row + it / 7 for it in range(1000)] for row in range(200)]
    copier = _load("call_values").ValueCopier()
    tracemalloc.start()
    try:
        for large in (
            grid,
            {str(it): row for it, row in enumerate(grid)},
            [[True] * 1000] * 200,
            [[range(9)] * 900] * 9,
        ):
            before = tracemalloc.get_traced_memory()[0]
            copied = copier.copy(large)
            assert tracemalloc.get_traced_memory()[0] - before < 1_000_000
            del copied
    finally:
        tracemalloc.stop()
    record, text = traced(lambda: steps_over(grid, {}, 4000), "steps_over", max_seconds=0.5)
    assert "grid[0][0] = 1.0" in text, text
    assert record["end"]["how"] == "limit", record["end"]


def scenario_deadline_holds_for_expensive_values() -> None:
    many = {f"v{it}": [[row / 7] * 1000 for row in range(9)] for it in range(100)}
    scope: dict[str, Any] = {"many": many}
    names = "".join(f"    {it} = many['{it}']\n" for it in many)
    exec(f"def heavy():\n{names}    for it in range(60):\n        pass\n", scope)
    began = time.monotonic()
    record, _ = traced(scope["heavy"], "heavy", max_seconds=0.3)
    assert record["end"]["how"] == "limit", record["end"]
    assert time.monotonic() - began < 2


def scenario_long_keys_are_whole() -> None:
    key = "the_name_of_a_key_that_goes_on_for_more_than_forty_characters_password"

    def stores(value: str) -> dict[str, Any]:
        held: dict[str, Any] = {"a": 1}
        held[key] = value
        held[key] = value + "2"
        return held

    record, _ = traced(lambda: stores("hunter"), "stores")
    shown = [it for row in record["rows"] for it in row.get("changes", ())]
    assert [f"held['{key}']", "'hunter2'"] in shown, shown
    assert key in record["end"]["value"], record["end"]


async def many_at_once(value: int) -> int:
    await asyncio.sleep(0.001)
    return value


def scenario_suspended_coroutines_are_not_depth() -> None:
    async def act() -> None:
        await asyncio.gather(*(many_at_once(it) for it in range(60)))

    for call in ("outermost", "last"):
        record, text = traced(lambda: asyncio.run(act()), "many_at_once", call=call)
        assert record["deepest"] == 1, record["deepest"]
        assert "cycle" not in text, text
        assert record["calls"] == 60 or record.get("uncounted")
        assert record["args"] == [["value", "0" if call == "outermost" else "59"]], text


async def descends(depth: int) -> int:
    await asyncio.sleep(0)
    return depth if not depth else await descends(depth - 1)


def scenario_coroutines_on_the_stack_are_depth() -> None:
    record, _ = traced(lambda: asyncio.run(descends(5)), "descends")
    assert record["deepest"] == 6, record["deepest"]


def scenario_last_of_generators_that_are_left() -> None:
    def act() -> None:
        list(numbers(1))
        for it in range(100):
            next(numbers(it + 2))

    record, text = traced(act, "numbers", call="last")
    assert record["call"] == 101, text
    assert record["args"] == [["count", "101"]], text
    assert record["deepest"] == 1, record["deepest"]


def looks_at_itself(step: int) -> dict[str, Any]:
    seen = locals()
    step += 1
    return seen


def scenario_changed_locals_are_shown() -> None:
    record, text = traced(lambda: looks_at_itself(1), "looks_at_itself")
    assert record.get("locals_changed", False) is (sys.version_info < (3, 13))
    assert ("refreshes the dictionary that `locals()` returned" in text) is (sys.version_info < (3, 13)), text
    assert "locals_changed" not in traced(lambda: fib(1), "fib")[0]


def row(names: list[str], fields: list[int]) -> dict[str, int]:
    return {name: fields[at] for at, name in enumerate(names)}


def first(fields: list[int]) -> int:
    return next(it // 0 for it in fields)


def scenario_a_line_of_a_comprehension_is_its_functions() -> None:
    """As a traceback names the place: by the line of the comprehension."""
    for function, act in ((row, lambda: row(["a", "b"], [1])), (first, lambda: first([1]))):
        line = function.__code__.co_firstlineno + 1
        record, text = traced(act, "", file=__file__, line=line, call="failing")
        assert record.get("function") == function.__name__, text


def scenario_the_end_of_a_long_function_is_kept() -> None:
    names: dict[str, Any] = {}
    exec("def long_one(n):\n" + "".join(f"    v{it} = n + {it}\n" for it in range(1000)) + "    return n", names)
    record = traced(lambda: names["long_one"](1), "long_one", max_seconds=300)[0]  # each line copies all variables
    lines = _load("call_text").call_lines(record, limit=600)
    assert sum(len(it) + 1 for it in lines) <= 600
    assert any("v0 = 1" in it for it in lines), lines
    assert any("v999 = 1000" in it for it in lines), lines


def opens(url: str, note: object) -> int:
    return len(url) + (note is None)


def scenario_no_part_of_a_password_is_shown() -> None:
    """An address that is cut has no `@`, by which redaction knows that a password stands before it."""
    url = "postgres://admin:hun-ter2-s3cret@db.internal:5432/" + "x" * 400
    for text in (url, url[:45], "see " + url[:70]):
        shown = [_load("call_values").render(held, room) for room in range(12, 90) for held in (text, [text] * 3)]
        whole = [it for it in shown if "hun" in it and "hun-ter2-s3cret@" not in it and "\u2026" in it]
        assert not whole, whole[:5]


def scenario_nothing_that_a_terminal_obeys_is_shown() -> None:
    def act() -> None:
        opens("a", type("Evil\x1b[2J\nreturned 9\u202e", (), {})())
        raise ValueError("\x1b[31mboom\u202e\nreturned 1")

    text = traced(act, "opens")[1] + traced(act, "act")[1]
    assert "boom" in text, text
    assert "Evil" in text, text
    assert all(line.isprintable() for line in text.split("\n")), ascii(text)
    assert "\nreturned 9" not in text, text


def keeps(found: object) -> None:
    pass


def scenario_a_match_is_shown_by_what_matched() -> None:
    text = traced(lambda: keeps(re.search("<(.+)>", "see <a> and <b> here")), "keeps")[1]
    assert "found = Match(match='<a> and <b>')" in text, text
    text = traced(lambda: keeps(re.search("b+", "a" + "b" * 20_000)), "keeps")[1]
    assert "found = Match(span=(1, 20001))" in text, text


class Unloaded(types.ModuleType):
    """A module that is imported when it is first asked for anything."""

    def __getattribute__(self, name: str) -> Any:
        asked.append(name)
        raise ImportError(name)


asked: list[str] = []


def scenario_modules_that_load_late_are_not_loaded() -> None:
    with mock.patch.dict(sys.modules, {"numpy": Unloaded("numpy"), "uuid": Unloaded("uuid")}):
        text = traced(lambda: opens("a", Item("b", 1)), "opens")[1]
    assert "Item(name='b', cost=1)" in text, text
    assert asked == [], asked


def shown_changes(act: Callable[..., object], *args: Any) -> list[list[str]]:
    record, _ = traced(lambda: act(*args), act.__name__)
    return [it for row in record["rows"] for it in row.get("changes", ())]


def touches_first(d: dict[int, Any]) -> None:
    d[0].append([99])


def counts_on(d: dict[int, Any], pairs: Any, count: int) -> int:
    n = 0
    for _ in range(count):
        n += 1
    return n


def scenario_where_a_copy_ends_nothing_is_removed_or_new() -> None:
    for size in (150, 199, 400):
        found = shown_changes(touches_first, {it: [[it], [it]] for it in range(size)})
        assert found == [["d[0] +", "[[99]]"]], found
    deep = {it: [[it, None], [it, None]] for it in range(60)}
    record, text = traced(lambda: counts_on(deep, collections.deque(deep.items()), 1700), "counts_on")
    rows = [it for it in record["rows"] if not it.get("new") or it["line"] != record["first"] + 1]
    names = {path for it in rows for path, _ in it.get("changes", ())}
    assert names <= {"n", "_"}, text


def scenario_copies_of_one_value_that_end_at_different_places_are_the_same() -> None:
    values, differences = _load("call_values"), _load("call_changes")
    rows = [[[it], {(it, 0): [it], (it, 1): (it, [])}] for it in range(90)]
    objects = [Held(Held({(at, 1): Held(at), (at, 2): [at]})) for at in range(90)]
    many = Held(0)
    many.__dict__.update({f"field{it}": [it] for it in range(60)})
    for value in (rows, tuple(rows), collections.deque(rows), dict(enumerate(rows)), {"a": {"b": rows}}, objects, many):
        copies = [values.ValueCopier().copy(value, budget) for budget in (1, 7, 30, 31, 60, 200)]
        for old in copies:
            assert [differences.changes("it", old, new) for new in copies if new != old and "?" not in old] == [
                [] for new in copies if new != old and "?" not in old
            ], value


def replaces(act: Callable[[Any], None], value: Any) -> None:
    act(value)


class Held:
    def __init__(self, value: Any) -> None:
        self.value = value


class NeverAsked:
    def __eq__(self, other: object) -> bool:
        touched.append(1)
        return True

    def __hash__(self) -> int:
        touched.append(1)
        return 1


def longer(value: Any) -> None:
    value.value = value.value[:-1] + "z"


def scenario_a_change_behind_the_end_of_a_copy_is_one() -> None:
    many = dict.fromkeys(range(1500), 0)
    cases: list[tuple[Any, Any, str]] = [
        (dict(many), lambda it: it.update(new=1), "value['new'] = 1"),
        (dict(many), lambda it: it.update({1200: 5}), "value = {"),
        (dict(many), lambda it: it.pop(1200), "value = {"),
        (dict.fromkeys(range(20_000), 0), lambda it: it.update(new=1), "value['new'] = 1"),
        ({it: [it] for it in range(400)}, lambda it: it.update(new=1), "value['new'] = 1"),
        (list(range(2000)), lambda it: it.__setitem__(1000, 5), "value[1000] = 5"),
        (list(range(2000)), lambda it: it.__setitem__(1000, None), "value = ["),
        ([it / 7 for it in range(2000)], lambda it: it.__setitem__(1000, 5.5), "value = ["),
        (bytearray(100), lambda it: it.__setitem__(30, 1), "value = "),
        (array.array("i", range(100)), lambda it: it.__setitem__(50, 1), "value = array('i', [0, 1, "),
        (Held("x" * 2001), longer, "value.value = "),
    ]
    for value, act, expected in cases:
        found = [" = ".join(it) for it in shown_changes(replaces, act, value)]
        assert len(found) == 1, (expected, found)
        assert found[0].startswith(expected), found
    touched.clear()
    strange: list[Any] = [NeverAsked() for _ in range(1500)]
    assert shown_changes(replaces, lambda it: None, strange) == []
    assert shown_changes(replaces, lambda it: None, dict.fromkeys(range(1500), strange)) == []
    assert touched == []


SCENARIOS = [value for name, value in sorted(globals().items()) if name.startswith("scenario_")]

if __name__ == "__main__":
    for scenario in SCENARIOS:
        scenario()
        print(scenario.__name__)
