"""The plainest pump there is: 64 KiB reads, one poll, a file. `plain_pump.py FILE COMMAND…`"""

from __future__ import annotations

import os
import pty
import select
import sys
import tty


def main(record: str, command: list[str]) -> None:
    tty.setraw(0)
    pid, master = pty.fork()
    if pid == 0:
        os.execvp(command[0], command)
    poll = select.poll()
    poll.register(0, select.POLLIN)
    poll.register(master, select.POLLIN)
    with open(record, "wb", buffering=0) as file:  # noqa: PTH123
        while True:
            for fd, _ in poll.poll():
                try:
                    data = os.read(fd, 65536)
                except OSError:
                    data = b""
                if not data:
                    os.waitpid(pid, 0)
                    return
                if fd == 0:
                    os.write(master, data)
                else:
                    while data:
                        file.write(data)
                        data = data[os.write(1, data) :]


main(sys.argv[1], sys.argv[2:])
