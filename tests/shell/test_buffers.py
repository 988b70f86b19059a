"""What was shown or typed and not yet recorded: in order, nothing lost, in frames."""

from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st

from dragoman.shell.buffers import FRAME, PumpBacklog

TYPED = st.tuples(st.binary(max_size=2), st.just(0), st.just(1.0))
ITEMS = st.lists(st.one_of(st.binary(min_size=1, max_size=9), TYPED))


@given(ITEMS)
def test_keys_and_output_come_out_in_their_order(items: list[bytes | tuple[bytes, int, float]]) -> None:
    backlog = PumpBacklog()
    for item in items:
        if isinstance(item, bytes):
            backlog.add_shown(item)
        else:
            backlog.add_typed(item)
    assert bool(backlog) == bool(items)
    assert backlog.size == sum(len(item) for item in items if isinstance(item, bytes))
    taken = backlog.pop()
    assert _spread(taken) == _spread(items)
    assert all(not (isinstance(one, bytes) and isinstance(other, bytes)) for one, other in itertools.pairwise(taken))
    assert not backlog
    assert backlog.pop() == []


def test_a_flood_comes_out_in_frames_and_not_in_one() -> None:
    backlog = PumpBacklog()
    for _ in range(20):
        backlog.add_shown(bytes(8192))
    assert [len(item) for item in backlog.pop()] == [FRAME, FRAME, 4 * 8192]
    assert backlog.size == 0


def _spread(items: list[bytes | tuple[bytes, int, float]]) -> list[object]:
    """Bytes one by one: how they were cut is nobody's concern."""
    return [each for item in items for each in (item if isinstance(item, bytes) else [item])]
