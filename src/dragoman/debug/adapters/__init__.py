"""Debug adapters: one file a language, quirks as data."""

from dragoman.debug.adapters.codelldb import CODELLDB
from dragoman.debug.adapters.go import GO
from dragoman.debug.adapters.javascript import JAVASCRIPT
from dragoman.debug.adapters.lldb import LLDB
from dragoman.debug.adapters.lua import LUA
from dragoman.debug.adapters.python import PYTHON
from dragoman.debug.adapters.ruby import RUBY
from dragoman.debug.adapters.spec import AdapterSpec, Situation

BUILT_IN: tuple[AdapterSpec, ...] = (PYTHON, JAVASCRIPT, GO, LLDB, CODELLDB, RUBY, LUA)

__all__ = ["BUILT_IN", "CODELLDB", "GO", "JAVASCRIPT", "LLDB", "LUA", "PYTHON", "RUBY", "AdapterSpec", "Situation"]
