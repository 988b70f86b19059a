"""Errors of tokens: one row each, with a stable code, a message and a hint."""

from __future__ import annotations

from dragoman.core.errors import ErrorSpec

unreadable_tokens = ErrorSpec(
    "bad_tokens",
    "Cannot read the tokens in {path}.",
    "Delete the file to create new tokens. HTTP clients then need the new token.",
)
token_exists = ErrorSpec(
    "token_exists",
    "A {purpose} token named {name} already exists.",
    "Run `dragoman token show {purpose} {name}` to see it, or revoke it first.",
)
