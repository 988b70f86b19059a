"""Logs: followed over rotations, harmless on a terminal, and without a secret; and what the daemon costs at rest."""

from __future__ import annotations

import contextlib
import json
import logging
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from dragoman.access.tokens import PURPOSES
from dragoman.daemon.logs import (
    LINES_PER_SECOND,
    JsonLineFormatter,
    PrivateRotatingFileHandler,
    RateLimitedHandler,
    SecretFilter,
    start_logging,
)
from dragoman.io.files.private_files import ensure_private_folder
from tests.daemons import Cli, daemons_of, eventually
from tests.e2e.life.process_watch import require_success
from tests.proving import ForeignServerError, from_link
from tests.raw_http import Ask, ask

HEAVY = ("cyclopts", "msgspec", "anyio", "pydantic", "psutil", "rich", "starlette", "uvicorn")


@contextmanager
def writer(file: Path, *, bytes_a_file: int = 2000) -> Iterator[logging.Logger]:
    """The daemon's own handler, with files small enough to rotate."""
    ensure_private_folder(file.parent)
    handler = PrivateRotatingFileHandler(file, maxBytes=bytes_a_file, backupCount=3)
    handler.setFormatter(JsonLineFormatter())
    handler.addFilter(SecretFilter(lambda: ["t0ken"]))
    logger = logging.Logger("test")  # noqa: LOG001  apart from the tree of loggers
    logger.addHandler(handler)
    try:
        yield logger
    finally:
        handler.close()


def test_following_continues_over_rotations_line_by_line(cli: Cli, tmp_path: Path) -> None:
    with writer(cli.paths.log_file) as log:
        log.warning("before")
        shown = tmp_path / "shown"
        cli.environment["PYTHONUNBUFFERED"] = ""  # as for a person, whose pipe is buffered
        with shown.open("w") as stdout:
            following = cli.begin("logs", "-f", "-n", "1", "--json", stdout=stdout)
        try:
            eventually(lambda: "before" in shown.read_text())
            for number in range(120):
                log.warning("line %d %s", number, "x" * 40)
                if number % 10 == 9:
                    eventually(lambda: shown.read_text().count("\n") == 2 + number)  # noqa: B023  asked at once
        finally:
            following.kill()
            following.communicate()
    assert len(list(cli.paths.log_file.parent.iterdir())) == 4, "it did rotate"
    data = [json.loads(line)["message"].split(" x")[0] for line in shown.read_text().splitlines()]
    assert data == ["before", *(f"line {number}" for number in range(120))]


def test_escape_sequences_are_shown_and_never_sent(cli: Cli) -> None:
    evil = "\x1b]0;owned\x07 \x9b31m \u202e \x7f"
    with writer(cli.paths.log_file) as log:
        log.warning("%s", evil)
        try:
            raise RuntimeError(evil)
        except RuntimeError:
            log.exception("failed")
    with cli.paths.log_file.open("a") as file:
        file.write(f"not json {evil}\n")
    for arguments in ((), ("--json",)):
        text = cli("logs", *arguments).stdout
        assert [c for c in text if not c.isprintable() and c != "\n"] == []
        assert "owned" in text
        assert "not json" in text
    stored = [json.loads(line)["message"] for line in cli("logs", "--json").stdout.splitlines()[:2]]
    assert stored == [evil, "failed"]


def test_in_the_foreground_too(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    start_logging(tmp_path / "logs" / "x.log", level="info", terminal=True, secrets=list)
    logging.getLogger("test").warning("\x1b[2J gone")
    assert "\\x1b[2J gone" in capfd.readouterr().err


def test_a_token_in_a_message_or_a_traceback_is_blotted_out(cli: Cli) -> None:
    with writer(cli.paths.log_file) as log:
        log.warning("got %s", "t0ken")
        try:
            raise RuntimeError("t0ken")
        except RuntimeError:
            log.exception("failed")
    text = cli.paths.log_file.read_text()
    assert "t0ken" not in text
    assert text.count("<token>") >= 2


def test_a_log_that_cannot_be_written_says_nothing_to_the_terminal(cli: Cli, capfd: pytest.CaptureFixture[str]) -> None:
    with writer(cli.paths.log_file) as log:
        (handler,) = log.handlers
        assert isinstance(handler, PrivateRotatingFileHandler)
        handler.close()
        with contextlib.suppress(OSError), Path("/dev/full").open("w") as full:
            handler.stream = full
            log.warning("lost")
            handler.stream = None
    assert capfd.readouterr() == ("", "")


def everything(cli: Cli, canary: str) -> tuple[set[str], set[str]]:
    """Use whatever handles a secret; returns the tokens and the other secrets that were seen."""
    require_success(cli("up", "--verbose"))
    port = cli.status()["port"]
    host = ("Host", f"127.0.0.1:{port}")
    tokens, others = {cli.token(purpose) for purpose in PURPOSES}, {canary}
    for _ in range(2):
        link = from_link(cli("page").stdout.strip())
        proof = link.log_in()
        with pytest.raises(ForeignServerError):
            link.log_in()
        with proof.open("/link/feed") as feed:
            assert feed.receive_json()["type"] == "snapshot"
            require_success(cli("token", "rotate"))
        session = proof.key.secret
        others |= {link.key.secret, session}
        tokens |= {cli.token(purpose) for purpose in PURPOSES}
        ask(port, Ask(f"/api/status?token={session}", headers=[host, ("Authorization", f"Bearer {session}")]))
    for command in (("token", "show", "mcp"), ("journal", "tail"), ("journal", "search", "daemon"), ("doctor",)):
        require_success(cli(*command))
    require_success(cli("restart"))
    require_success(cli("journal", "export"))
    return tokens, others


def test_tokens_are_in_their_files_alone_and_no_other_secret_is_anywhere(cli: Cli) -> None:
    canary = "c4nary-7f1e0d"
    cli.environment["SECRET_OF_MINE"] = canary
    tokens, others = everything(cli, canary)
    assert len(tokens) == 3 * len(PURPOSES)
    files = {path: path.read_bytes() for path in cli.home.rglob("*") if path.is_file()}
    assert cli.paths.log_file in files
    for path, data in files.items():
        allowed = {cli.token(path.name)} if path.parent == cli.paths.tokens_folder else set()
        found = {secret for secret in tokens | others if secret.encode() in data}
        assert found == allowed, path


def test_at_rest_it_is_small(cli: Cli) -> None:
    require_success(cli("up"))
    assert cli.status()["resident_mb"] < 100
    (daemon,) = daemons_of(cli.home)
    assert daemon.memory_info().rss < 100e6


@pytest.mark.parametrize("command", [("--version",), ("status",), ("status", "--json")])
def test_the_instant_commands_import_nothing_heavy(cli: Cli, command: tuple[str, ...]) -> None:
    arguments = [sys.executable, "-X", "importtime", "-P", "-m", "dragoman.cli.main", *command]
    result = subprocess.run(arguments, env=cli.variables(), capture_output=True, text=True, check=False)
    imported = {line.rpartition("|")[2].strip().partition(".")[0] for line in result.stderr.splitlines()}
    assert "dragoman" in imported
    assert imported & set(HEAVY) == set()


class _Written(logging.Handler):
    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(record.getMessage())


def _record(message: str, *arguments: object) -> logging.LogRecord:
    return logging.LogRecord("test", logging.WARNING, "", 0, message, arguments, None)


def test_a_message_is_logged_so_often_a_second_and_then_how_many_were_left_out() -> None:
    written, now_s = _Written(), [0.0]
    limited = RateLimitedHandler([written], now_s=lambda: now_s[0])
    for number in range(1_000_000 // 100):
        limited.handle(_record("peer %d", number))
    limited.handle(_record("another"))
    assert written.lines == [*(f"peer {number}" for number in range(LINES_PER_SECOND)), "another"]
    now_s[0] = 1.0
    limited.summarize()
    assert written.lines[-1] == f"{10_000 - LINES_PER_SECOND} more like this were left out: peer %d"
    limited.handle(_record("peer %d", 7))
    assert written.lines[-1] == "peer 7"


def test_messages_made_up_on_the_way_are_limited_together() -> None:
    written = _Written()
    limited = RateLimitedHandler([written], now_s=lambda: 0.0)
    for number in range(5_000):
        limited.handle(_record(f"made up {number}"))
    assert len(written.lines) < 600
    limited.close()
    assert "left out" in written.lines[-1]


def test_what_the_daemon_logs_is_limited(tmp_path: Path) -> None:
    file = tmp_path / "logs" / "x.log"
    start_logging(file, level="info", terminal=False, secrets=list)
    for _ in range(10_000):
        logging.getLogger("a.b.c").warning("again")
    assert file.read_text().count("again") <= 2 * LINES_PER_SECOND
