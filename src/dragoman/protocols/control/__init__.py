"""The daemon's own socket: one JSON object per line.

The command line and the stdio pump speak it. Standard library alone, because both must start within milliseconds.
"""

from dragoman.protocols.control.connection import (
    FAR_KEPT_CAP,
    LINE_CAP,
    ClientConnection,
    ControlLines,
    ServerConnection,
    encode_line,
)
from dragoman.protocols.control.messages import (
    ControlAnswer,
    ControlCall,
    ControlFailure,
    ControlItem,
    DaemonState,
    Hello,
    Welcome,
)

__all__ = [
    "FAR_KEPT_CAP",
    "LINE_CAP",
    "ClientConnection",
    "ControlAnswer",
    "ControlCall",
    "ControlFailure",
    "ControlItem",
    "ControlLines",
    "DaemonState",
    "Hello",
    "ServerConnection",
    "Welcome",
    "encode_line",
]
