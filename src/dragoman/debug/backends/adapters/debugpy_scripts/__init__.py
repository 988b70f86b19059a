"""Scripts that run in other processes than the daemon: in debugpy's adapter, and in the Python program it debugs."""
