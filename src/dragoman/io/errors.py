"""Errors of sockets, processes and files: one row each, with a stable code, a message and a hint."""

from __future__ import annotations

from dragoman.core.errors import ErrorSpec, short_number

daemon_not_running = ErrorSpec("not_running", "No daemon is running.", "Start one with `dragoman up`.")
not_answering = ErrorSpec(
    "not_answering",
    "The daemon does not answer.",
    "It may be suspended or overloaded. See `dragoman logs`, or replace it with `dragoman up --take-over`.",
)
daemon_gone = ErrorSpec(
    "daemon_gone", "The daemon closed the connection before it answered.", "See `dragoman logs`, then try again."
)
foreign_socket = ErrorSpec(
    "foreign_socket",
    "The socket {path} belongs to another user.",
    "Nothing was sent. Remove the socket, or set DRAGOMAN_HOME to a folder of your own.",
)
adapter_silent = ErrorSpec(
    "adapter_silent",
    "The debug adapter did not respond to `{command}` within {seconds} seconds.",
    "The program or its adapter may be stuck: stop the session, then try again.",
    seconds=short_number,
)
adapter_not_reading = ErrorSpec(
    "adapter_silent",
    "The debug adapter no longer reads its input; `{command}` was not sent.",
    "The program or its adapter may be stuck: stop the session, then try again.",
)
runtime_silent = ErrorSpec(
    "adapter_silent",
    "The Lua program did not answer `{command}` within {seconds} seconds.",
    "It checks for messages only when a debug hook fires, so it cannot answer while it waits or runs C code.",
    seconds=short_number,
)
unsafe_file = ErrorSpec(
    "unsafe_file", "Refusing to use {path}: {reason}.", "Remove it, or set DRAGOMAN_HOME to a folder you own."
)
no_answer = ErrorSpec(
    "no_answer",
    "No answer from {host}:{port} within {seconds} seconds.",
    "Check that the program is running and listening on that port.",
)
not_reached = ErrorSpec(
    "adapter_silent",
    "The debug adapter started but could not be reached within {seconds} seconds.",
    "Run `dragoman doctor` to diagnose the problem.",
)
hung_up = ErrorSpec(
    "connection_refused",
    "{host}:{port} closed the connection immediately.",
    "Nothing was sent. Check that the program is running and listening on that port.",
)
foreign_peer = ErrorSpec(
    "foreign_peer",
    "The program at {host}:{port} belongs to another user.",
    "Nothing was sent. Choose another port, or find out which program uses this one.",
)
not_started_by_us = ErrorSpec(
    "foreign_peer",
    "The program at {host}:{port} is not the adapter that Dragoman started.",
    "Nothing was sent. Start the session again; it will use another port.",
)
bad_folder = ErrorSpec("bad_folder", "Cannot enter the folder {path}: {reason}.", "Check `cwd` in the configuration.")
command_not_found = ErrorSpec(
    "command_not_found",
    "Command not found: {program}.",
    "Check its spelling, that it is installed, and that it is on the client's PATH.",
)
no_supervisor = ErrorSpec(
    "cannot_start",
    "Could not start the supervisor of a new session: {reason}.",
    "Run `dragoman doctor` to diagnose the problem.",
)
tree_ended = ErrorSpec("tree_ended", "The session's processes have ended.", "Start a new session.")
