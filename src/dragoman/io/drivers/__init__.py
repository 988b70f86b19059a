"""Drivers pump one protocol over one byte stream: they read, write, match replies and enforce deadlines."""
