"""The daemon is killed or halted while wrappers tell it things: every byte is in the record once, whatever the moment.

A few rounds in every test run, many in `tests.soak`. What is chosen follows from the seed; the moments themselves are
the machine's.
"""

from __future__ import annotations

import random
import threading
from collections.abc import Iterator
from dataclasses import dataclass

from tests.e2e.terminal_kills.quick_daemon import QuickDaemon
from tests.e2e.terminal_kills.reading import Kept, read_back
from tests.e2e.terminal_kills.resuming import ResumingClient, output_at

_WRAPPERS = 3
_FRAMES = (5, 40)
_SIZES = (1, 80, 4096, 65_536)
_WITHIN_S = 0.15


@dataclass
class DaemonKills:
    daemon: QuickDaemon
    seed: int

    def rounds(self, count: int) -> Iterator[str]:
        """What was done, round by round; at the end the whole record is compared with what was told."""
        dice = random.Random(self.seed)
        entries = [ResumingClient(self.daemon.paths.omnish_socket, f"kills-{number}") for number in range(_WRAPPERS)]
        for number in range(count):
            yield self._round(number, dice, entries)
        for client in entries:
            client.settle()
            client.close()
        self.daemon.end()
        assert sum(client.reconnects for client in entries) > 0, "nobody noticed anything"
        for client in entries:
            _require_whole(client, read_back(self.daemon.paths, client.session_id), count, f"seed {self.seed}")

    def _round(self, number: int, dice: random.Random, reported: list[ResumingClient]) -> str:
        halts = dice.random() < 0.3
        strike = self.daemon.halt if halts else self.daemon.kill
        striking = threading.Timer(dice.random() * _WITHIN_S, strike)
        striking.start()
        for _ in range(dice.randint(*_FRAMES)):
            dice.choice(reported).report(dice.choice(_SIZES))
        for client in reported:
            client.report_command(number)
        striking.join()
        if not halts:
            self.daemon.start()
        return "halted" if halts else "killed"


def _require_whole(client: ResumingClient, kept: Kept, commands: int, story: str) -> None:
    expected = output_at(0, client.reported)
    if kept.output != expected:
        at = next((n for n, pair in enumerate(zip(kept.output, expected, strict=False)) if pair[0] != pair[1]), -1)
        sizes = f"{len(kept.output)} of {len(expected)} bytes, first differing at {at}, gaps {kept.gaps}"
        raise AssertionError(f"{story}: {client.session_id} has {sizes}, after {client.reconnects} reconnects")
    ids = [f"{client.session_id}:{number}" for number in range(commands)]
    assert sorted(kept.commands) == sorted(ids), f"{story}: {client.session_id} has {len(kept.commands)} commands"
    assert kept.gaps == 0, story
