"""The server of the daemon's own socket, for the command line and the stdio pump."""
