"""`up`, `down`, `restart`, `status`: what a person and a script get."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
from pathlib import Path

import pytest

from dragoman.io.net.tcp_listener import bind_tcp, listen_tcp, listen_tcp_or_any
from tests.daemons import Cli, code_of, daemons_of, eventually
from tests.e2e.life.process_watch import error_in, one_daemon, pid_in, require_success


@pytest.mark.requirement(
    "foundation:server:start",
    "foundation:windows:starts-when-none",
    "foundation:windows:joins-when-present",
    "foundation:windows:one-server",
)
def test_up_starts_one_and_a_second_up_says_where_it_is(cli: Cli) -> None:
    first = pid_in(cli("up", "--json"))
    again = cli("up")
    require_success(again)
    assert again.stdout.startswith("Already running: http://127.0.0.1:")
    assert f"pid {first}" in again.stdout
    assert "/#code=" in again.stdout, "a link that opens the page, as the first start gave one"
    assert one_daemon(cli) == first


@pytest.mark.requirement("foundation:server:status", "foundation:server:stop")
def test_status_says_whether_it_runs_before_during_and_after(cli: Cli) -> None:
    assert (cli("status").returncode, cli.status()["state"]) == (3, "stopped")
    pid = pid_in(cli("up", "--json"))
    status = cli.status()
    assert (status["state"], status["pid"], status["sessions"]) == ("running", pid, [])
    assert f"pid {pid}" in cli("status").stdout
    require_success(cli("down"))
    assert (cli("status").returncode, cli.status()["state"]) == (3, "stopped")
    assert daemons_of(cli.home) == []
    assert not cli.paths.socket.exists()
    assert not cli.paths.state_file.exists()


def test_words_that_other_tools_use_for_it_work_too(cli: Cli) -> None:
    pid = pid_in(cli("start", "--json"))
    assert one_daemon(cli) == pid
    require_success(cli("stop"))
    assert daemons_of(cli.home) == []


def test_down_without_a_daemon_says_so(cli: Cli) -> None:
    result = cli("down", "--json")
    assert (result.returncode, json.loads(result.stdout)["error"]["code"]) == (3, "not_running")


@pytest.mark.requirement("foundation:server:restart", "foundation:port:change")
def test_restart_keeps_the_workspace_and_takes_the_changed_port(cli: Cli, tmp_path: Path) -> None:
    del cli.environment["DRAGOMAN_PORT"]
    require_success(cli("config", "set", "port", "0"))
    first = pid_in(cli("up", "--json", "--workspace", str(tmp_path)))
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    require_success(cli("config", "set", "port", str(port)))
    second = pid_in(cli("restart", "--json"))
    status = cli.status()
    assert (status["port"], status["workspace"], status["pid"]) == (port, str(tmp_path), second)
    assert first != second == one_daemon(cli)


def test_restart_of_a_workspace_that_has_gone_leaves_the_daemon_running(cli: Cli, tmp_path: Path) -> None:
    workspace = tmp_path / "gone"
    workspace.mkdir()
    pid = pid_in(cli("up", "--json", "--workspace", str(workspace)))
    workspace.rmdir()
    assert error_in(cli("restart", "--json"))["code"] == "no_such_folder"
    assert one_daemon(cli) == pid


def test_a_port_that_was_named_and_is_taken_is_an_error_that_names_the_holder(cli: Cli) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        error = error_in(cli("up", "--json", "--port", str(port)))
    assert error["code"] == "port_taken"
    assert f"pid {os.getpid()})" in error["message"]
    assert str(port) in error["message"]
    assert daemons_of(cli.home) == []


def test_a_port_is_taken_before_anybody_is_served_on_it() -> None:
    """Of two daemons of different homes that start at once, the second must learn of it while it can still choose."""
    with bind_tcp("127.0.0.1", 0) as first:
        port = first.getsockname()[1]
        assert code_of(lambda: bind_tcp("127.0.0.1", port)) == "port_taken"
        with listen_tcp_or_any("127.0.0.1", port) as second:
            assert second.port != port


@pytest.mark.parametrize("address", ["127.0.0.1", "::1"])
def test_half_a_port_is_not_accepted(address: str) -> None:
    """Whoever has it at the other address of loopback would be taken for us by some browsers."""
    other = "::1" if address == "127.0.0.1" else "127.0.0.1"
    with bind_tcp(other, 0) as taken:
        port = taken.getsockname()[1]
        assert code_of(lambda: listen_tcp(address, port)) == "port_taken"
        with listen_tcp_or_any(address, port) as ours:
            assert ours.port != port
            assert sorted(it.getsockname()[:2] for it in ours.sockets) == [("127.0.0.1", ours.port), ("::1", ours.port)]
            for each in ("127.0.0.1", "::1"):
                assert code_of(lambda each=each: bind_tcp(each, ours.port)) == "port_taken"  # type: ignore[misc]


def test_a_plain_start_never_fails_for_a_port_and_says_which_it_took(cli: Cli) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        wanted = taken.getsockname()[1]
        cli.environment["DRAGOMAN_PORT"] = str(wanted)
        result = cli("up")
        require_success(result)
        status = cli.status()
        cli.kill()
        require_success(cli("up"))
        assert cli.status()["port"] == status["port"], "pages that are open wait at the port that was served last"
    note = f"Port {wanted} is in use; using port {status['port']} instead."
    assert note in result.stderr
    assert note in cli("status").stdout
    assert status["wanted_port"] == wanted != status["port"]


def test_the_default_port_is_8177_and_zero_picks_one(cli: Cli) -> None:
    del cli.environment["DRAGOMAN_PORT"]
    require_success(cli("up"))
    assert cli.status()["wanted_port"] == 8177
    require_success(cli("down"))
    require_success(cli("up", "--port", "0"))
    status = cli.status()
    assert status["wanted_port"] == 0
    assert status["port"] > 0


@pytest.mark.parametrize("port", ["65536", "-1", "x"])
def test_a_port_that_cannot_be_one_is_not_understood(cli: Cli, port: str) -> None:
    result = cli("up", "--port", port)
    assert result.returncode == 2
    assert "Traceback" not in result.stderr
    assert daemons_of(cli.home) == []


def test_a_workspace_that_is_not_there_is_named(cli: Cli, tmp_path: Path) -> None:
    error = error_in(cli("up", "--json", "--workspace", str(tmp_path / "none")))
    assert error["code"] == "no_such_folder"
    assert str(tmp_path / "none") in error["message"]


def test_an_interpreter_that_warns_first_does_not_hide_the_daemons_answer(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text("import sys; print('beware', file=sys.stderr)")
    cli.environment["PYTHONPATH"] = str(tmp_path)
    result = cli("up", "--json")
    assert json.loads(result.stdout)["pid"] == one_daemon(cli)


def test_an_interpreter_that_cannot_start_us_is_quoted(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(
        "import sys, os\nif 'dragoman.daemon' in sys.orig_argv: print('no such luck', flush=True); os._exit(9)"
    )
    cli.environment["PYTHONPATH"] = str(tmp_path)
    error = error_in(cli("up", "--json"))
    assert error["code"] == "start_failed"
    assert "no such luck" in error["message"]


def test_a_home_named_from_here_is_the_same_home_for_the_daemon(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    absolute = cli.home
    monkeypatch.chdir(absolute.parent)
    cli.environment["DRAGOMAN_HOME"] = absolute.name
    result = cli("up", "--json")
    pid = pid_in(result)
    assert cli.status()["pid"] == pid == one_daemon(cli)
    assert (absolute / "run" / "daemon.json").exists()


def test_bad_settings_are_named_by_file_key_and_line_and_status_still_works(cli: Cli) -> None:
    del cli.environment["DRAGOMAN_PORT"]
    cli.paths.settings_file.parent.mkdir(parents=True)
    cli.paths.settings_file.write_text("# ours\nport = 'many'\n")
    error = error_in(cli("up", "--json"))
    assert error["code"] == "bad_settings"
    assert f"{cli.paths.settings_file}, line 2: port" in error["message"]
    assert cli.status()["state"] == "stopped"
    foreground = cli("up", "--foreground")
    assert (foreground.returncode, foreground.stdout) == (1, "")
    assert "line 2: port" in foreground.stderr


def test_settings_that_became_bad_do_not_end_a_running_daemon(cli: Cli) -> None:
    pid = pid_in(cli("up", "--json"))
    cli.paths.settings_file.parent.mkdir(parents=True)
    cli.paths.settings_file.write_text("colour = 1")
    assert error_in(cli("restart", "--json"))["code"] == "bad_settings"
    assert error_in(cli("up", "--json", "--take-over"))["code"] == "bad_settings"
    assert one_daemon(cli) == cli.status()["pid"] == pid


def test_an_unreadable_settings_file_is_a_sentence(cli: Cli) -> None:
    cli.paths.settings_file.mkdir(parents=True)
    error = error_in(cli("up", "--json"))
    assert (error["code"], str(cli.paths.settings_file) in error["message"]) == ("bad_settings", True)


def test_a_start_that_is_interrupted_leaves_no_daemon(cli: Cli) -> None:
    starting = cli.begin("up", start_new_session=True)
    eventually(lambda: daemons_of(cli.home))
    starting.send_signal(signal.SIGINT)
    _, stderr = starting.communicate(timeout=20)
    if starting.returncode == 0:  # it had answered before the signal came
        return
    assert starting.returncode == 130
    assert "Traceback" not in stderr
    eventually(lambda: not daemons_of(cli.home))


def test_variables_that_nothing_reads_are_warned_of_in_the_log(cli: Cli) -> None:
    cli.environment["DRAGOMAN_PROT"] = "9"
    require_success(cli("up"))
    lines = [json.loads(line) for line in cli.paths.log_file.read_text().splitlines()]
    warnings = [line["message"] for line in lines if line["level"] == "warning"]
    assert [text for text in warnings if "DRAGOMAN_PROT" in text and "DRAGOMAN_PORT" in text]


def test_the_log_of_a_daemon_without_a_reader_of_its_first_line_continues(cli: Cli) -> None:
    """The launcher was killed between the start and the answer: others have found the daemon by then."""
    command = [cli.command()[0], "-P", "-m", "dragoman.daemon", "--workspace", "/"]
    reader, writer = os.pipe()
    os.close(reader)
    process = subprocess.Popen(command, env=cli.variables(), stdout=writer, stderr=writer)
    os.close(writer)
    try:
        eventually(lambda: cli.status()["state"] == "running")
        assert cli.status()["pid"] == process.pid
        require_success(cli("down"))
        assert process.wait(10) == 0
    finally:
        process.kill()
        process.wait()
