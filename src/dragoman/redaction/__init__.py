"""Secrets are neither shown nor recorded: one engine for every path that shows or records."""

from dragoman.redaction.redactor import ENGINE_VERSION, Redactor
from dragoman.redaction.shapes import LONGEST_BYTES
from dragoman.redaction.stream import SecretStream

__all__ = ["ENGINE_VERSION", "LONGEST_BYTES", "Redactor", "SecretStream"]
