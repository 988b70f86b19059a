"""In the daemon's place: acknowledges every frame, and tells at a session's end what it was given. `ADDRESS`"""

from __future__ import annotations

import contextlib
import hashlib
import json
import socket
import sys

from dragoman.protocols.omnish import DaemonConnection, RequestReceived
from dragoman.protocols.omnish.messages import Ack, IoData, IoDirection, SessionEnd, SessionStart


def serve(client: socket.socket) -> None:
    connection, digest, gaps, size = DaemonConnection(), hashlib.sha256(), 0, 0
    while data := client.recv(1 << 20):
        connection.receive_data(data)
        replies = []
        for event in connection.events():
            assert isinstance(event, RequestReceived)
            replies.append(connection.send(Ack(), event.request_id))
            message = event.message
            if isinstance(message, IoData) and message.direction is IoDirection.OUTPUT:
                digest.update(message.data)
                size += len(message.data)
            elif isinstance(message, SessionStart):
                gaps += "dragoman.gap" in message.attrs
            elif isinstance(message, SessionEnd):
                print(json.dumps({"sha256": digest.hexdigest(), "gaps": gaps, "bytes": size}), flush=True)
        client.sendall(b"".join(replies))


def main(address: str) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as server:
        server.bind(address)
        server.listen()
        print("ready", flush=True)
        while True:
            client, _ = server.accept()
            with client, contextlib.suppress(OSError):
                serve(client)


main(sys.argv[1])
