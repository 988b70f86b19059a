"""One `wait_for_stop` for all targets: the first stop wins, and no stop is lost."""

from __future__ import annotations

from tests.cli.router.routed import Routed, sessions, stopped

RUNNING_A, RUNNING_B = ("s-a", "Running", 0), ("s-b", "Running", 0)


def both_running() -> Routed:
    routed = Routed(("ssh:a", "ssh:b"))
    routed.start(0, "s-a")
    routed.start(1, "s-b")
    return routed


def wait(routed: Routed, *rows: tuple[str, str, int]) -> None:
    routed.call("wait_for_stop", timeout_s=30)
    for target, row in enumerate(rows):
        request = routed.sent_to(target)
        assert request["params"]["name"] == "list_sessions"
        routed.answer(target, request, sessions(row))


def test_the_first_stop_ends_the_wait_and_the_others_are_cancelled() -> None:
    routed = both_running()
    wait(routed, RUNNING_A, RUNNING_B)
    at_a, at_b = routed.sent_to(0), routed.sent_to(1)
    assert at_a["params"]["arguments"] == {"timeout_s": 30, "session_id": "s-a"}
    routed.answer(1, at_b, stopped("s-b"), "stopped")
    result = routed.result()
    assert result["structuredContent"]["session_id"] == "s-b"
    assert [it["text"] for it in result["content"]] == ["stopped", "target: ssh:b"]
    cancel = routed.sent_to(0)
    assert (cancel["method"], cancel["params"]["requestId"]) == ("notifications/cancelled", at_a["id"])


def test_a_stop_at_the_cancelled_target_is_the_next_answer() -> None:
    routed = both_running()
    wait(routed, RUNNING_A, RUNNING_B)
    routed.answer(1, routed.sent_to(1), stopped("s-b"))
    routed.result()
    routed.targets[0].taken()
    wait(routed, ("s-a", "Stopped", 4), ("s-b", "Stopped", 1))
    request = routed.sent_to(0)
    assert not routed.targets[1].taken()
    routed.answer(0, request, stopped("s-a", 4))
    assert routed.result()["structuredContent"]["session_id"] == "s-a"


def test_a_stop_whose_answer_crossed_the_cancellation_is_the_next_answer() -> None:
    """The daemon takes it for sent, and would only say what changed since."""
    routed = both_running()
    wait(routed, RUNNING_A, RUNNING_B)
    at_a = routed.sent_to(0)
    routed.answer(1, routed.sent_to(1), stopped("s-b"))
    routed.answer(0, at_a, stopped("s-a", 4), "the whole stop")
    assert routed.result()["structuredContent"]["session_id"] == "s-b"
    routed.targets[0].taken()
    wait(routed, ("s-a", "Stopped", 4), ("s-b", "Stopped", 1))
    assert routed.result()["content"][0]["text"] == "the whole stop"


def test_an_answer_that_crossed_the_cancellation_is_dropped_when_the_program_has_moved_on() -> None:
    routed = both_running()
    wait(routed, RUNNING_A, RUNNING_B)
    at_a = routed.sent_to(0)
    routed.answer(1, routed.sent_to(1), stopped("s-b"))
    routed.answer(0, at_a, stopped("s-a", 4), "the whole stop")
    routed.received()
    routed.targets[0].taken()
    wait(routed, ("s-a", "Stopped", 5), ("s-b", "Stopped", 1))
    routed.answer(0, routed.sent_to(0), stopped("s-a", 5), "another stop")
    assert routed.result()["content"][0]["text"] == "another stop"


def test_an_end_that_the_client_was_not_sent_is_the_next_answer() -> None:
    routed = both_running()
    wait(routed, ("s-a", "Terminated", 0), RUNNING_B)
    completed = {"status": "completed", "session_id": "s-a", "state": "Terminated"}
    routed.answer(0, routed.sent_to(0), completed)
    assert routed.result()["structuredContent"]["status"] == "completed"
    wait(routed, ("s-a", "Terminated", 0), RUNNING_B)
    assert not routed.targets[0].taken()
    assert routed.sent_to(1)["params"]["arguments"]["session_id"] == "s-b"


def test_a_session_that_the_client_ended_is_no_news() -> None:
    routed = both_running()
    routed.call("stop_debugging", session_id="s-a")
    routed.answer(0, routed.sent_to(0), {"session_id": "s-a", "state": "Terminating"})
    routed.received()
    wait(routed, ("s-a", "Terminated", 0), RUNNING_B)
    assert not routed.targets[0].taken()


def test_a_stop_that_the_client_knows_does_not_end_the_wait_for_another() -> None:
    routed = both_running()
    routed.call("pause_debugging", session_id="s-a")
    routed.answer(0, routed.sent_to(0), stopped("s-a", 2))
    routed.received()
    wait(routed, ("s-a", "Stopped", 2), RUNNING_B)
    assert not routed.targets[0].taken()
    assert routed.sent_to(1)["params"]["arguments"]["session_id"] == "s-b"


def test_when_all_have_stopped_the_current_stop_is_the_answer_as_with_one_target() -> None:
    routed = both_running()
    for target, session_id in enumerate(("s-a", "s-b")):
        routed.call("pause_debugging", session_id=session_id)
        routed.answer(target, routed.sent_to(target), stopped(session_id, 2))
    routed.received()
    wait(routed, ("s-a", "Stopped", 2), ("s-b", "Stopped", 2))
    assert routed.sent_to(1)["params"]["arguments"] == {"timeout_s": 30}


def test_a_timeout_on_one_target_does_not_end_the_wait() -> None:
    routed = both_running()
    wait(routed, RUNNING_A, RUNNING_B)
    routed.answer(0, routed.sent_to(0), {"status": "timeout", "session_id": "s-a", "state": "Running"})
    assert not routed.received()
    routed.fail(1, routed.sent_to(1), "link_lost")
    assert routed.result()["structuredContent"]["status"] == "timeout"


def test_a_link_that_dies_does_not_end_the_wait_for_the_other() -> None:
    routed = both_running()
    wait(routed, RUNNING_A, RUNNING_B)
    routed.fail(0, routed.sent_to(0), "link_lost")
    assert not routed.received()
    routed.answer(1, routed.sent_to(1), stopped("s-b"))
    assert routed.result()["structuredContent"]["session_id"] == "s-b"


def test_sessions_of_other_clients_are_not_waited_for_unless_they_are_the_default() -> None:
    routed = both_running()
    routed.call("wait_for_stop")
    rows = sessions(("s-a", "Running", 0), ("s-x", "Stopped", 9))
    routed.answer(0, routed.sent_to(0), rows)
    rows = sessions(("s-y", "Running", 0))
    rows["sessions"][0]["active"] = True
    routed.answer(1, routed.sent_to(1), rows)
    assert routed.sent_to(0)["params"]["arguments"]["session_id"] == "s-a"
    assert routed.sent_to(1)["params"]["arguments"]["session_id"] == "s-y"


def test_a_client_that_cancels_the_wait_cancels_all_of_it() -> None:
    routed = both_running()
    wait(routed, RUNNING_A, RUNNING_B)
    ids = [routed.sent_to(target)["id"] for target in (0, 1)]
    routed.send({"method": "notifications/cancelled", "params": {"requestId": routed._last}})
    assert [routed.sent_to(target)["params"]["requestId"] for target in (0, 1)] == ids
    routed.emit(0, {"id": ids[0], "result": {}})
    assert not routed.received()
    assert not routed.router.needs_daemon
