"""What a caller on another machine says about itself. It never gets more rights than a caller on this machine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dragoman.core.safe_text import printable

_MAX_TARGET = 300


@dataclass(frozen=True, slots=True)
class RemoteCaller:
    """Every value comes from the other machine: one of the wrong type is left out."""

    target: str = ""
    """The name by which the caller's machine knows this one, such as `ssh:build1`: for texts that the caller reads."""
    allows_stop: bool = False
    """Whether the person there gave `--allow-stop`: it may halt programs that were running before it came."""

    @classmethod
    def of(cls, about: Mapping[str, Any]) -> RemoteCaller | None:
        """None for a caller on this machine. `dragoman pipe` alone sets `remote`; a caller cannot take it away."""
        if about.get("remote") is not True:
            return None
        target = about.get("target")
        name = printable(target)[:_MAX_TARGET] if isinstance(target, str) else ""
        return cls(name, allows_stop=about.get("allow_stop") is True)
