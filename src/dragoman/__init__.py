"""Dragoman: the interpreter between AI agents and a developer's machine."""

__version__ = "0.1.0"
