"""Terminals: what people and agents typed and saw, as commands with their output; answers and completions from it."""
