"""Debugging: sessions, stops, breakpoints, and the backends that talk to debug adapters."""
