"""One debug session, from the handshake with its adapter to its shutdown."""
