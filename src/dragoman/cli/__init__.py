"""The command line, a client of the daemon: one module per command group.

`main` and `dispatch` run the frequent commands before they import the option parser.
"""
