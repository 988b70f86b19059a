"""The command line, a client of the daemon: one module per command group.

`main` and `dispatch` serve the frequent commands before a library for parsing options is imported.
"""
