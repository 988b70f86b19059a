"""Breakpoints at an adapter: how they are sent, what became of them, and which ones were hit."""
