"""Lua programs over the LuaPanda protocol, as a backend like any other."""
