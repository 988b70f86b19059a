"""TCP, Unix sockets, HTTP and WebSocket, and the identity of the peer at the other end."""
