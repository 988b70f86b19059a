"""Another user of the machine at the editors' socket: kept out by the folder, by the mode, and by the kernel's word."""

from __future__ import annotations

import socket
from pathlib import Path

from tests.servers.control.test_other_users import as_nobody, guarded, only_root, victim
from tests.servers.target_daemon import TargetDaemon

__all__ = ["guarded", "victim"]

HELLO = b'{"seq": 1, "type": "request", "command": "initialize", "arguments": {"adapterID": "x"}}'


def initialize(path: Path) -> str:
    """The first words to a perfect request, or nothing."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(10)
        connection.connect(str(path))
        try:
            connection.sendall(b"Content-Length: %d\r\n\r\n%b" % (len(HELLO), HELLO))
            return connection.recv(1000).decode()
        except ConnectionError:
            return ""


@only_root
def test_another_user_is_refused_even_where_folder_and_socket_are_open(victim: TargetDaemon) -> None:
    path = victim.paths.dap_socket
    assert as_nobody(lambda: initialize(path)) == "PermissionError"
    path.parent.chmod(0o777)
    path.chmod(0o777)
    assert as_nobody(lambda: initialize(path)) == ""
    assert '"success":true' in initialize(path)
    assert "another user was refused at the editors' socket" in victim.paths.log_file.read_text()
