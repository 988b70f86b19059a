"""The protocol of `dragoman pipe`: a byte stream to a daemon on another machine, over the stdio of ssh or docker.

Each side sends one line with its versions first. Frames follow, each with a number and a checksum, so that a link that
loses bytes is noticed and never changes a message. Keep-alive frames show that the other side still runs. Standard
library alone, because commands must start within milliseconds.
"""

from dragoman.protocols.pipe.connection import PipeConnection
from dragoman.protocols.pipe.framing import MAX_PAYLOAD, MAX_QUERY, PipeFrame, PipeFrameKind, PipeFrames, encode_frame
from dragoman.protocols.pipe.messages import MAX_NOISE, OLDEST_PEER, PROTOCOL, Greeting, PipeFailure

__all__ = [
    "MAX_NOISE",
    "MAX_PAYLOAD",
    "MAX_QUERY",
    "OLDEST_PEER",
    "PROTOCOL",
    "Greeting",
    "PipeConnection",
    "PipeFailure",
    "PipeFrame",
    "PipeFrameKind",
    "PipeFrames",
    "encode_frame",
]
