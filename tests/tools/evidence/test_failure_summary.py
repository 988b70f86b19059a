"""What an explanation leaves out of the failure, because the calls below it or its message tell it."""

from __future__ import annotations

from typing import Any

from dragoman.tools.evidence.failure_results import CrashFrame, DebugTestResult, ExplainCrashResult, FailedTest
from dragoman.tools.evidence.failure_summary import summarize_crash, summarize_test
from dragoman.tools.evidence.schema import ExceptionSummary, RunEnd

RECORD: dict[str, Any] = {"function": "Cart.total", "file": "shop.py", "first": 3}


def failed(message: str, *frames: CrashFrame) -> DebugTestResult:
    raised = ExceptionSummary(type="AssertionError", message=message)
    return DebugTestResult(
        status="success",
        verdict="failed",
        seconds=1.0,
        failed=["test_shop.py::test_total"],
        failures=[FailedTest(exception=raised, frames=list(frames))],
        ended=RunEnd(how="exited", exit_code=1, output="collected 1 item\n"),
    )


def frame(function: str, line: int, **more: Any) -> CrashFrame:
    return CrashFrame(function=function, file_path="shop.py", line=line, **{"locals": {}, **more})


def test_a_frame_whose_call_is_shown_has_no_values_of_its_own() -> None:
    test = failed(
        "no", frame("total", 4, locals={"rate": "3"}, values={"a.b": "1"}), frame("run", 9, locals={"n": "1"})
    )
    [failure] = summarize_test(test, [RECORD]).failures or []
    assert [it.locals for it in failure.frames] == [{}, {"n": "1"}]
    assert failure.frames[0].values is None
    [whole] = summarize_test(test, []).failures or []
    assert whole.frames[0].locals == {"rate": "3"}


def test_what_the_message_says_is_not_said_again() -> None:
    message = "assert 'entry 19' == 'entry 22'\n \n  - entry 22\n  + entry 19"
    values = {"titles[-1] == 'entry 22'": "False", "titles[-1]": "'entry 19'", "titles": "!NameError", "n": "7"}
    test = failed(message, frame("test_total", 4, values=values, locals={"wanted": "'entry 22'", "n": "7"}))
    [failure] = summarize_test(test, [RECORD]).failures or []
    assert failure.exception is not None
    assert failure.exception.message == "assert 'entry 19' == 'entry 22'"
    assert (failure.frames[0].values, failure.frames[0].locals) == ({"n": "7"}, {"n": "7"})


def test_what_only_names_an_object_and_what_a_shown_call_returned_is_left_out() -> None:
    pages = "{'/archive/1': ['entry 0', 'entry 1', 'entry 2']}"
    held = {"self": "<shop.TestCart object at 0x7fad5f771010>", "this": "TestContext", "pages": pages, "n": "1"}
    record = {**RECORD, "end": {"how": "returned", "line": 4, "value": pages}}
    [failure] = summarize_test(failed("no", frame("test_pages", 9, locals=held)), [record]).failures or []
    assert failure.frames[0].locals == {"n": "1"}


def test_a_message_does_not_repeat_the_line_that_failed() -> None:
    message = "The expression evaluated to a falsy value:\n\n  assert.ok(sent)\n"
    test = failed(message, frame("test", 4, source="assert.ok(sent);"))
    [failure] = summarize_test(test, [RECORD]).failures or []
    assert failure.exception is not None
    assert failure.exception.message.strip() == "The expression evaluated to a falsy value"


def test_an_assertion_of_c_and_its_signal_are_said_once() -> None:
    crash = ExplainCrashResult(
        status="success",
        crashed=True,
        frames=[frame("main", 8, source="assert(is_tight(&full));")],
        ended=RunEnd(
            how="exception",
            exception=ExceptionSummary(type="signal", message="signal SIGABRT"),
            exit_code=-6,
            signal="SIGABRT",
            output="begin\nusage: usage.c:8: main: Assertion `is_tight(&full)' failed.",
        ),
    )
    ended = summarize_crash(crash, [RECORD]).ended
    assert (ended.exit_code, ended.signal, ended.output) == (None, None, "begin")
    assert summarize_crash(crash, []).ended == crash.ended


def test_a_function_that_calls_itself_is_one_frame() -> None:
    test = failed("no", *[frame("walk", 4)] * 5, frame("walk", 9))
    [failure] = summarize_test(test, [RECORD]).failures or []
    assert [it.line for it in failure.frames] == [4, 9]


def test_who_named_the_test_is_not_told_its_name() -> None:
    test = failed("no", frame("test_total", 4))
    assert summarize_test(test, [RECORD], "./test_shop.py::test_total").failed is None
    assert summarize_test(test, [RECORD], "test_shop.py").failed == ["test_shop.py::test_total"]
    assert summarize_test(test, [RECORD]).ended.output is None
