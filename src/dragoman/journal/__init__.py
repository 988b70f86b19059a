"""The record of everything that happened, and the durable state beside it, behind one narrow port: `Journal`."""

from dragoman.journal.journal import AppendBytes, Journal, JournalGap, ReadRecords
from dragoman.journal.readers import StoreRows
from dragoman.journal.retention import RemovedCounts, Retention
from dragoman.journal.row_scrub import ScrubStatus
from dragoman.journal.segment_files import RecordPage, RecordPlace, SegmentRecord
from dragoman.journal.segments import Span
from dragoman.journal.stores import (
    BeforeScope,
    BulkScrub,
    ColumnScrub,
    EverythingScope,
    JsonStore,
    JsonText,
    Scope,
    SegmentRecords,
    SessionScope,
    Statement,
    Store,
    json_column,
)

__all__ = [
    "AppendBytes",
    "BeforeScope",
    "BulkScrub",
    "ColumnScrub",
    "EverythingScope",
    "Journal",
    "JournalGap",
    "JsonStore",
    "JsonText",
    "ReadRecords",
    "RecordPage",
    "RecordPlace",
    "RemovedCounts",
    "Retention",
    "Scope",
    "ScrubStatus",
    "SegmentRecord",
    "SegmentRecords",
    "SessionScope",
    "Span",
    "Statement",
    "Store",
    "StoreRows",
    "json_column",
]
