"""What waits for the daemon: in order, within its bound, with gaps where something went."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from dragoman.shell.recording.outbox import SMALL_LIMIT, RecordingOutbox


class Peer:
    """Takes from an outbox as a link does."""

    def __init__(self, outbox: RecordingOutbox) -> None:
        self.outbox = outbox
        self.got: list[object] = []
        self._next = 1

    def take(self, most: int = 1 << 30, *, acknowledges: bool = True) -> None:
        while most > 0 and (taken := self.outbox.pop()):
            message, entry = taken
            self.got.append(message)
            most -= 1
            if entry is not None:
                self.outbox.sent(self._next, entry)
                if acknowledges:
                    self.outbox.acknowledge(self._next)
                self._next += 1


def outbox(limit: int = 100) -> RecordingOutbox:
    return RecordingOutbox(gap=lambda lost: ("gap", lost), resume=lambda at: ("resume", at), limit=limit)


def test_a_connection_begins_with_where_it_resumes() -> None:
    box = outbox()
    box.add_output("one", 30)
    peer = Peer(box)
    peer.take()
    assert peer.got == [("resume", 0), "one"]
    assert box.empty


def test_what_was_not_acknowledged_comes_again_in_its_place() -> None:
    box = outbox()
    peer = Peer(box)
    box.add_output("one", 30)
    peer.take()
    box.add_output("two", 30)
    box.add("command")
    peer.take(acknowledges=False)
    box.add_output("three", 30)
    box.handle_disconnect()
    again = Peer(box)
    again.take()
    assert again.got == [("resume", 30), "two", "command", "three"]


def test_output_goes_oldest_first_and_commands_stay_among_the_gaps() -> None:
    box = outbox(limit=100)
    for number in range(3):
        box.add_output(f"a{number}", 40)
    box.add("command")
    for number in range(3):
        box.add_output(f"b{number}", 40)
    peer = Peer(box)
    peer.take()
    assert peer.got == [("resume", 0), ("gap", 120), "command", ("gap", 40), "b1", "b2"]


def test_lost_bytes_are_not_counted_as_sent() -> None:
    box = outbox(limit=100)
    for _ in range(4):
        box.add_output("x", 50)
    Peer(box).take()
    box.handle_disconnect()
    again = Peer(box)
    again.take()
    assert again.got == [("resume", 100)]


def test_small_messages_have_a_bound_too_and_take_no_output_with_them() -> None:
    box = outbox(limit=1000)
    box.add_output("kept", 10)
    for number in range(3000):
        box.add(number, 1000)
    peer = Peer(box)
    peer.take()
    assert peer.got[1] == "kept"
    assert peer.got[-1] == 2999
    assert len(peer.got) < SMALL_LIMIT // 1000


@given(st.lists(st.tuples(st.sampled_from(["output", "small", "take", "lose"]), st.integers(1, 60)), max_size=60))
def test_nothing_is_lost_unmarked_and_nothing_comes_twice_or_out_of_order(steps: list[tuple[str, int]]) -> None:
    """The bytes of gaps and of what came are all that were added; numbers grow."""
    box, added = outbox(limit=150), 0
    peer = Peer(box)
    for count, (step, size) in enumerate(steps, 1):
        if step == "output":
            box.add_output((count, size), size)
            added += size
        elif step == "small":
            box.add((count, 0))
        elif step == "take":
            peer.take(size % 4)
        else:
            box.handle_disconnect()
    peer.take()
    came = [it for it in peer.got if isinstance(it, tuple) and isinstance(it[0], int)]
    assert [number for number, _ in came] == sorted({number for number, _ in came})
    gaps = sum(int(it[1]) for it in peer.got if isinstance(it, tuple) and it[0] == "gap")
    assert sum(size for _, size in came) + gaps == added
