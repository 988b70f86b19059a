"""What the page replays: bounded answers about one session, and nothing about one that nobody knows."""

from __future__ import annotations

from tests.servers.target_daemon import TargetDaemon


def test_a_session_that_nobody_knows_has_no_events_no_stops_and_no_output(victim: TargetDaemon) -> None:
    victim.append(2)
    assert victim.ask_page("/api/events?session=none").json()["events"] == []
    assert victim.ask_page("/api/replay/stops?session=none").json() == {"stops": [], "more": False}
    assert victim.ask_page("/api/replay/output?session=none").json() == {"text": "", "start": 0, "marks": []}


def test_a_stop_number_that_is_none_is_refused(victim: TargetDaemon) -> None:
    answer = victim.ask_page("/api/replay/stops?session=s&after=x")
    assert (answer.status, answer.json()["error"]["code"]) == (400, "bad_request")
