"""Calls stepped through by a debugger, for languages without a tracer: functions by the text of their sources."""
