"""Streams to an adapter: bounded reads, honest ends, and ports that are not there yet."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import anyio
import pytest

from dragoman.core.errors import DragomanError
from dragoman.io.net.streams import (
    MAX_RECEIVE,
    PipeReader,
    PipeWriter,
    TcpStream,
    accept_from,
    connect_stdio,
    connect_tcp,
    connect_unix,
    free_port,
)
from dragoman.io.net.tcp_listener import bind_tcp
from dragoman.io.processes.command import ProcessCommand
from dragoman.io.processes.supervisor_pool import SupervisorPool
from tests.daemons import PATIENCE
from tests.io.processes.supervised_support import open_descriptors, shell, until

pytestmark = pytest.mark.anyio


@pytest.fixture
async def pipe() -> AsyncIterator[tuple[PipeReader, PipeWriter]]:
    out, into = os.pipe()
    reader, writer = PipeReader(out), PipeWriter(into)
    yield reader, writer
    reader.close()
    writer.close()


@pytest.fixture
async def link() -> AsyncIterator[tuple[TcpStream, TcpStream]]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        ours = socket.create_connection(listener.getsockname())
        theirs, _ = listener.accept()
    near, far = TcpStream(ours), TcpStream(theirs)
    yield near, far
    near.close()
    far.close()


async def test_a_pipe_carries_more_than_it_holds(pipe: tuple[PipeReader, PipeWriter]) -> None:
    reader, writer = pipe
    sent = os.urandom(1_000_000)
    received = bytearray()
    async with anyio.create_task_group() as group:
        group.start_soon(writer.send, sent)
        while len(received) < len(sent):
            received += await reader.receive()
    assert received == sent


async def test_a_read_is_bounded_whatever_is_asked_for(link: tuple[TcpStream, TcpStream]) -> None:
    near, far = link
    async with anyio.create_task_group() as group:
        group.start_soon(far.send, b"x" * 3 * MAX_RECEIVE)
        total = 0
        while total < 3 * MAX_RECEIVE:
            data = await near.receive(10**9)
            assert len(data) <= MAX_RECEIVE
            total += len(data)
        assert total == 3 * MAX_RECEIVE


async def test_small_packets_go_out_at_once(link: tuple[TcpStream, TcpStream]) -> None:
    near, far = link
    for stream in link:
        assert stream._sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
    await far.send(b"x")
    assert await near.receive() == b"x"
    assert near._sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK)


async def test_the_end_of_a_stream_is_reported_as_its_end(
    pipe: tuple[PipeReader, PipeWriter], link: tuple[TcpStream, TcpStream]
) -> None:
    reader, writer = pipe
    near, far = link
    await writer.aclose()
    await far.send_eof()
    for stream in (reader, near):
        with pytest.raises(anyio.EndOfStream):
            await stream.receive()
    await near.send(b"the other way still works")
    assert await far.receive() == b"the other way still works"


async def test_writing_to_nobody_is_reported(pipe: tuple[PipeReader, PipeWriter]) -> None:
    reader, writer = pipe
    await reader.aclose()
    with pytest.raises(anyio.BrokenResourceError):
        await writer.send(b"x")


async def test_a_closed_stream_refuses_and_may_be_closed_again(link: tuple[TcpStream, TcpStream]) -> None:
    near, _ = link
    await near.aclose()
    await near.aclose()
    with pytest.raises(anyio.ClosedResourceError):
        await near.receive()
    with pytest.raises(anyio.ClosedResourceError):
        await near.send(b"x")
    with pytest.raises(anyio.ClosedResourceError):
        await near.send_eof()


async def test_a_reader_that_is_always_served_leaves_others_a_turn(pipe: tuple[PipeReader, PipeWriter]) -> None:
    reader, writer = pipe
    await writer.send(b"x" * 1000)
    turns = 0

    async def count() -> None:
        nonlocal turns
        while True:
            turns += 1
            await anyio.lowlevel.checkpoint()

    async with anyio.create_task_group() as group:
        group.start_soon(count)
        for _ in range(1000):
            await reader.receive(1)
        group.cancel_scope.cancel()
    assert turns >= 500


async def test_the_standard_streams_of_a_program_are_one_stream() -> None:
    async with SupervisorPool() as supervisors, supervisors.tree() as tree:
        stream = connect_stdio(await tree.start(shell("cat")))
        await stream.send(b"ping")
        assert await stream.receive() == b"ping"
        await stream.send_eof()
        with pytest.raises(anyio.EndOfStream):
            await stream.receive()


async def test_a_port_that_opens_later_is_waited_for() -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        host, port = listener.getsockname()
        connected: list[TcpStream] = []

        async def connect() -> None:
            connected.append(await connect_tcp(host, port, deadline_s=20 * PATIENCE))

        async with anyio.create_task_group() as group:
            group.start_soon(connect)
            await anyio.wait_all_tasks_blocked()
            assert not connected
            listener.listen()
            listener.setblocking(False)
            await anyio.wait_readable(listener)
            accepted, _ = listener.accept()
            await until(lambda: connected)
        accepted.close()
        await connected[0].aclose()


async def test_a_port_that_stays_closed_is_reported_at_the_deadline_or_at_once() -> None:
    with socket.socket() as reserved:
        reserved.bind(("127.0.0.1", 0))
        host, port = reserved.getsockname()
        before = open_descriptors()
        for retry, code in ((True, "no_answer"), (False, "connection_refused")):
            with pytest.raises(DragomanError) as caught:
                await connect_tcp(host, port, deadline_s=0.1, retry=retry)
            assert caught.value.code == code
        assert open_descriptors() == before


async def test_a_listener_that_never_accepts_is_reported_at_the_deadline() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        before = open_descriptors()
        with pytest.raises(DragomanError) as caught:
            await connect_tcp(*listener.getsockname(), deadline_s=0.1)
        assert caught.value.code == "no_answer"
        assert open_descriptors() == before


async def test_a_host_that_does_not_exist_is_refused() -> None:
    with pytest.raises(DragomanError) as caught:
        await connect_tcp("no-such-host.invalid", 1, deadline_s=20 * PATIENCE)
    assert caught.value.code == "connection_refused"


async def test_a_socket_that_is_made_later_is_waited_for_and_one_that_is_never_made_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "a.sock"
    with pytest.raises(DragomanError) as caught:
        await connect_unix(path, deadline_s=0.1)
    assert caught.value.code == "adapter_silent"
    with socket.socket(socket.AF_UNIX) as listener:
        async with anyio.create_task_group() as group:
            group.start_soon(_listen_later, listener, path)
            stream = await connect_unix(path, deadline_s=20 * PATIENCE)
        await stream.aclose()


async def _listen_later(listener: socket.socket, path: Path) -> None:
    await anyio.wait_all_tasks_blocked()
    listener.bind(str(path))
    listener.listen()


async def test_who_answers_must_be_one_of_the_processes_that_were_named() -> None:
    """Another program of the same user may have taken the port before the adapter did."""
    async with SupervisorPool() as supervisors, supervisors.tree() as tree:
        port = free_port()
        serving = f"import socket; s = socket.create_server(('127.0.0.1', {port})); a = [s.accept() for _ in range(9)]"
        child = await tree.start(ProcessCommand([sys.executable, "-S", "-c", serving], {}, Path("/")))
        stream = await connect_tcp("127.0.0.1", port, deadline_s=20 * PATIENCE, of=tree.pids)
        await stream.aclose()
        with pytest.raises(DragomanError) as caught:
            await connect_tcp("127.0.0.1", port, deadline_s=20 * PATIENCE, of=lambda: [os.getpid()])
        assert (caught.value.code, child.exit) == ("foreign_peer", None)


async def test_a_call_is_taken_from_the_processes_that_were_named_alone() -> None:
    async with SupervisorPool() as supervisors, supervisors.tree() as tree:
        with bind_tcp("127.0.0.1", 0) as listener, socket.create_connection(listener.getsockname()) as stranger:
            port = listener.getsockname()[1]
            calling = f"import socket; s = socket.create_connection(('127.0.0.1', {port})); s.sendall(b'me'); s.recv(1)"
            await tree.start(ProcessCommand([sys.executable, "-S", "-c", calling], {}, Path("/")))
            stream = await accept_from(listener, tree.pids, deadline_s=20 * PATIENCE)
            assert await stream.receive() == b"me"
            assert stranger.recv(1) == b""
            await stream.aclose()


async def test_a_call_that_never_comes_is_reported_at_the_deadline() -> None:
    with bind_tcp("127.0.0.1", 0) as listener, pytest.raises(DragomanError) as caught:
        await accept_from(listener, list, deadline_s=0.1)
    assert caught.value.code == "adapter_silent"


async def test_a_refusal_is_reported_in_the_systems_words() -> None:
    with pytest.raises(DragomanError, match=r"Could not connect to .*: Connection refused\."):
        await connect_tcp("127.0.0.1", free_port(), deadline_s=20 * PATIENCE, retry=False)
