"""Lua programs by the LuaPanda protocol: a backend like any other."""
