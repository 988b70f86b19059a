"""Dragoman's own gateway: the server side of the OpenClaw Gateway protocol, versions 3 and 4."""
