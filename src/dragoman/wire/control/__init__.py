"""The daemon's own socket: one JSON object a line. The command line and the stdio pump speak it.

Standard library alone, because both must be up within milliseconds.
"""

from dragoman.wire.control.connection import ClientConnection, ServerConnection
from dragoman.wire.control.framing import LINE_CAP, Lines, encode_line
from dragoman.wire.control.messages import Answer, Call, Failure, Hello, Item, Welcome
from dragoman.wire.control.state import DaemonState

__all__ = [
    "LINE_CAP",
    "Answer",
    "Call",
    "ClientConnection",
    "DaemonState",
    "Failure",
    "Hello",
    "Item",
    "Lines",
    "ServerConnection",
    "Welcome",
    "encode_line",
]
