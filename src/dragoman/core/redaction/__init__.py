"""Redaction: secrets are neither shown nor recorded. One engine serves everything that shows or records text."""

from dragoman.core.redaction.redactor import ENGINE_VERSION, Redactor
from dragoman.core.redaction.scanner import LONGEST_BYTES
from dragoman.core.redaction.stream import NOISE as TERMINAL_NOISE
from dragoman.core.redaction.stream import SecretStream

__all__ = ["ENGINE_VERSION", "LONGEST_BYTES", "TERMINAL_NOISE", "Redactor", "SecretStream"]
