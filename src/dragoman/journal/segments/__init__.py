"""Segment files: append-only bulk bytes, of which the journal keeps spans."""
