"""Everything that can be debugged, behind one port: DAP adapters, LuaPanda runtimes and sessions of an editor."""
