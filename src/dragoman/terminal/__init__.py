"""Terminals: what people and agents typed and saw, stored as commands with their output, and answers and completions
from that record."""
