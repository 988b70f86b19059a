"""Marks: the dialects of FinalTerm, VS Code and kitty as types, and ours back to bytes."""

from __future__ import annotations

import subprocess
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.core.errors import LocalProtocolError
from dragoman.protocols.osc import (
    MAX_BODY,
    CommandFinished,
    CommandLineReported,
    InputStarted,
    Mark,
    OutputStarted,
    PromptStarted,
    PropertyReported,
    UnknownMark,
    encode_mark,
)
from dragoman.protocols.osc.marks import deserialize, percent_decode, percent_encode, serialize, shell_unquote
from tests.protocols.osc.streams import MARKS, scan


def parsed(body: str) -> Mark:
    (mark,) = scan([b"\x1b]" + body.encode() + b"\x07"])
    assert isinstance(mark, Mark)
    return mark


@pytest.mark.parametrize(
    ("body", "mark"),
    [
        ("133;A", PromptStarted()),
        ("133;A;aid=12;cl=m", PromptStarted(parameters={"aid": "12", "cl": "m"})),
        ("133;A;k=s;redraw=0", PromptStarted(parameters={"k": "s", "redraw": "0"})),
        ("133;A;flag;a=b=c", PromptStarted(parameters={"a": "b=c"})),
        ("133;A;a=1;a=2", PromptStarted(parameters={"a": "2"})),
        ("633;A", PromptStarted(dialect=633)),
        ("133;B", InputStarted()),
        ("133;B;nonce=n1", InputStarted(nonce="n1")),
        ("133;C", OutputStarted()),
        ("133;C;cmdline_url=ls%20-la%3b%20%e4%bd%a0", OutputStarted(command_line="ls -la; 你")),
        ("133;C;cmdline=ls\\ -la\\;pwd", OutputStarted(command_line="ls -la;pwd")),
        ("133;C;aid=1;cmdline=a;b", OutputStarted(command_line="a;b", parameters={"aid": "1"})),
        ("133;D", CommandFinished()),
        ("133;D;0", CommandFinished(exit_code=0)),
        ("133;D;130;aid=7", CommandFinished(exit_code=130, parameters={"aid": "7"})),
        ("133;D;aid=7", CommandFinished(parameters={"aid": "7"})),
        ("633;D;-1", CommandFinished(exit_code=-1, dialect=633)),
        ("133;D;3221225786", CommandFinished(exit_code=3221225786)),
        ("633;E;ls", CommandLineReported(command_line="ls")),
        ("633;E;a\\x3bb\\x0Ac\\\\d;secret", CommandLineReported(command_line="a;b\nc\\d", nonce="secret")),
        ("633;E", CommandLineReported(command_line="")),
        ("633;E;;n", CommandLineReported(command_line="", nonce="n")),
        ("633;P;Cwd=/home/用户", PropertyReported(key="Cwd", value="/home/用户")),
        ("633;P;Cwd=C:\\\\x\\x3b;nonce=n", PropertyReported(key="Cwd", value="C:\\x;", nonce="n")),
        ("633;P;IsWindows=True", PropertyReported(key="IsWindows", value="True")),
        ("633;P", PropertyReported(key="", value="")),
        ("133;E;ls", UnknownMark(body=b"E;ls")),
        ("133;P;k=i", UnknownMark(body=b"P;k=i")),
        ("633;F", UnknownMark(body=b"F", dialect=633)),
    ],
)
def test_a_mark_is_read_as(body: str, mark: Mark) -> None:
    assert parsed(body) == mark


@pytest.mark.parametrize("code", ["", "x", "1x", "0x10", "1.5", " 1", "--1", "١", "99999999999", "+1"])
def test_a_malformed_exit_code_is_ignored(code: str) -> None:
    mark = parsed(f"133;D;{code}")
    assert isinstance(mark, CommandFinished)
    assert mark.exit_code is None


def test_text_that_is_not_utf_8_is_shown_with_replacements_and_kept_raw() -> None:
    (mark,) = scan([b"\x1b]633;E;caf\xe9\x07"])
    assert mark == CommandLineReported(command_line="caf\N{REPLACEMENT CHARACTER}")
    assert isinstance(mark, Mark)
    assert mark.raw == b"\x1b]633;E;caf\xe9\x07"


@given(MARKS)
def test_what_our_hooks_print_is_read_back_equal(mark: Mark) -> None:
    encoded = encode_mark(mark)
    (read,) = scan([encoded])
    assert read == mark
    assert isinstance(read, Mark)
    assert read.raw == encoded


def test_a_forged_mark_is_a_mark_without_the_nonce() -> None:
    ours = encode_mark(CommandFinished(exit_code=1, nonce="k7"))
    pieces = scan([b"\x1b]133;D;0\x07" + b"\x1b]133;D;0;nonce=guess\x07" + ours])
    assert [piece.nonce for piece in pieces if isinstance(piece, Mark)] == [None, "guess", "k7"]


@pytest.mark.parametrize("nonce", ["a;b", "a\x07b", "\x1b\\", "a\nb"])
@pytest.mark.parametrize("mark", [PromptStarted(), CommandLineReported(command_line="ls")])
def test_a_nonce_that_would_break_out_is_refused(mark: Mark, nonce: str) -> None:
    with pytest.raises(LocalProtocolError, match="break out"):
        encode_mark(replace(mark, nonce=nonce))


def test_a_command_line_cannot_break_out_of_its_mark() -> None:
    evil = "\x07\x1b]133;D;0\x07\x1b\\;forged"
    for mark in (CommandLineReported(command_line=evil), OutputStarted(command_line=evil)):
        assert scan([encode_mark(mark)]) == [mark]


def test_a_mark_that_no_scanner_would_take_is_not_printed() -> None:
    with pytest.raises(LocalProtocolError, match="cap"):
        encode_mark(CommandLineReported(command_line="x" * MAX_BODY))


def test_an_unknown_mark_is_not_ours_to_print() -> None:
    with pytest.raises(LocalProtocolError) as caught:
        encode_mark(UnknownMark(body=b"Z"))
    assert caught.value.code == "not_ours"


def test_a_lone_surrogate_does_not_stop_a_mark() -> None:
    assert scan([encode_mark(CommandLineReported(command_line="a\udce9"))]) == [CommandLineReported(command_line="a?")]


@given(st.text())
def test_the_serialized_form_has_nothing_that_ends_a_field(text: str) -> None:
    serialized = serialize(text)
    assert not set(serialized) & {";", *map(chr, range(0x21))}
    assert deserialize(serialized) == text


@given(st.text())
def test_percent_encoding_is_ascii_and_goes_both_ways(text: str) -> None:
    assert percent_encode(text).isascii()
    assert percent_decode(percent_encode(text)) == text


@pytest.mark.parametrize(
    ("quoted", "text"),
    [
        (r"echo\ hi", "echo hi"),
        (r"$'a\nb\t\x41\101\u4f60\E'", "a\nb\tAA你\x1b"),
        ("'single $x \\'", "single $x \\"),
        ('"double \\"x\\" \\n"', 'double "x" \\n'),
        (r"a$'\n'b'c d'\;", "a\nbc d;"),
        (r"$'\ud800'", "\N{REPLACEMENT CHARACTER}"),
        ("''", ""),
        ("trailing\\", "trailing\\"),
    ],
)
def test_shell_quoting_is_undone(quoted: str, text: str) -> None:
    assert shell_unquote(quoted) == text


@pytest.mark.needs("bash")
@pytest.mark.parametrize("text", ["ls -la; echo 'x' \"y\"", "a\nb\x1b[0m\t", "你好 \\ $HOME `id`", "!#&*()|<>?~^{}"])
def test_what_bash_quotes_is_undone(text: str) -> None:
    quoted = subprocess.run(
        ["bash", "-c", 'printf %q "$1"', "-", text], capture_output=True, check=True, env={"LC_ALL": "C.UTF-8"}
    ).stdout
    assert shell_unquote(quoted.decode()) == text
