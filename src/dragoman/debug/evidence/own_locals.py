"""Which of a frame's variables say something about what went wrong: those that the user made, and that hold values."""

from __future__ import annotations

from dragoman.debug.model import Variable

# Made by the language or by a runner of tests.
_BEGINNINGS = ("__", "special variables", "function variables", "class variables", "~r", "@py_")
_EXACTLY = {("this", "global"), ("this", "Object"), ("this", "undefined"), ("exports", "{}"), ("%self", "main")}
_MODULE_OF_NODE = "Module {id: "
_TYPES = {"function", "type", "module", "builtin_function_or_method", "Function", "*testing.T", "*testing.B"}


def is_own(variable: Variable) -> bool:
    is_module = variable.name == "module" and variable.value.startswith(_MODULE_OF_NODE)
    is_made = is_module or variable.name.startswith(_BEGINNINGS) or (variable.name, variable.value) in _EXACTLY
    return not is_made and (variable.type or "") not in _TYPES
