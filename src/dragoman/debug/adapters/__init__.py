"""Debug adapters: one file a language, quirks as data."""

from dragoman.debug.adapters.python import PYTHON
from dragoman.debug.adapters.spec import AdapterSpec, Situation

BUILT_IN: tuple[AdapterSpec, ...] = (PYTHON,)

__all__ = ["BUILT_IN", "PYTHON", "AdapterSpec", "Situation"]
