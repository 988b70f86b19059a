"""The real peers that tests run: how to tell whether one is here."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable

# peer -> the programs that must be on PATH
PEERS: dict[str, tuple[str, ...]] = {
    "bash": ("bash",),
    "tmux": ("tmux",),
    "zsh": ("zsh",),
    "fish": ("fish",),
    "chromium": ("chromium",),
    "runuser": ("runuser",),
}


def on_ci() -> bool:
    return os.environ.get("CI") == "true"


def missing_peers(wanted: Iterable[str]) -> list[str]:
    return [peer for peer in wanted if not all(shutil.which(program) for program in PEERS[peer])]
