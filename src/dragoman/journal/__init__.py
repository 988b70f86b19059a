"""The record of everything that happened, and the durable state beside it: one narrow port, `Journal`."""

from dragoman.journal.journal import AppendBytes, Gap, Journal, ReadRecords
from dragoman.journal.readers import Rows
from dragoman.journal.retention import Removed, Retention
from dragoman.journal.scrub import Scrubbed
from dragoman.journal.segment_files import Place, Reading, Record
from dragoman.journal.segments import Span
from dragoman.journal.stores import (
    Before,
    Bulk,
    Everything,
    JsonStore,
    JsonText,
    OfSession,
    Records,
    Scope,
    Scrub,
    Statement,
    Store,
    json_column,
)

__all__ = [
    "AppendBytes",
    "Before",
    "Bulk",
    "Everything",
    "Gap",
    "Journal",
    "JsonStore",
    "JsonText",
    "OfSession",
    "Place",
    "ReadRecords",
    "Reading",
    "Record",
    "Records",
    "Removed",
    "Retention",
    "Rows",
    "Scope",
    "Scrub",
    "Scrubbed",
    "Span",
    "Statement",
    "Store",
    "json_column",
]
