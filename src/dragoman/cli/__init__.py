"""The command line: a client of the daemon. One module a command; `main` serves the fast ones first."""
