"""The client of an OpenClaw gateway: connection, identity, status, and the runs behind it."""
