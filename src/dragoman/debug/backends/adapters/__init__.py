"""Debug adapters: one module per language, with the differences between adapters as data."""

from dragoman.debug.backends.adapters.go import GO
from dragoman.debug.backends.adapters.javascript import JAVASCRIPT
from dragoman.debug.backends.adapters.lua import LUA
from dragoman.debug.backends.adapters.native import CODELLDB, LLDB
from dragoman.debug.backends.adapters.python import PYTHON
from dragoman.debug.backends.adapters.ruby import RUBY
from dragoman.debug.backends.adapters.spec import AdapterSpec, LaunchContext

BUILT_IN: tuple[AdapterSpec, ...] = (PYTHON, JAVASCRIPT, GO, LLDB, CODELLDB, RUBY, LUA)

__all__ = ["BUILT_IN", "CODELLDB", "GO", "JAVASCRIPT", "LLDB", "LUA", "PYTHON", "RUBY", "AdapterSpec", "LaunchContext"]
