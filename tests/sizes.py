"""How much some tests do: enough to prove it in `make test`, more in `make soak`, which sets `TEST_SIZE=soak`."""

from __future__ import annotations

import os
from typing import TypeVar

_Size = TypeVar("_Size")
VARIABLE = "TEST_SIZE"
SOAK = "soak"


def sized(brief: _Size, soak: _Size) -> _Size:
    return soak if os.environ.get(VARIABLE) == SOAK else brief
