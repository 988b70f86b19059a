"""The record of terminals: streams, commands, live state and maintenance."""
