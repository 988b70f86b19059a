"""Every form of the corpus is hidden on every path, however it is cut, and ordinary output stays as it is."""

from __future__ import annotations

import json
import logging

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.core.events import Event
from dragoman.core.redaction import Redactor
from dragoman.daemon.logs import JsonLineFormatter, TerminalLogFormatter
from dragoman.debug.session.output import SessionOutput
from tests.secret_corpus import SecretForm, ordinary_output, secret_forms

REDACTOR = Redactor()
FORMS = secret_forms()
# So much of a secret may be seen where a stream was cut in the middle of it.
SEEN = 8

by_name = pytest.mark.parametrize("form", FORMS, ids=[form.name for form in FORMS])


def seen(form: SecretForm, shown: str) -> list[str]:
    return [
        secret
        for secret in form.secrets
        if any(secret[at : at + SEEN] in shown for at in range(len(secret) - SEEN + 1))
    ]


def fed(*chunks: bytes) -> str:
    stream = REDACTOR.stream()
    return (b"".join(map(stream.feed, chunks)) + stream.flush()).decode()


def test_the_corpus_is_large_enough_to_mean_something() -> None:
    assert len(FORMS) >= 60
    assert len(ordinary_output()) >= 2000
    assert all(seen(form, form.text) for form in FORMS)


@by_name
def test_a_text_of_any_form_is_hidden_and_hiding_it_twice_changes_nothing(form: SecretForm) -> None:
    shown = REDACTOR.text(form.text)
    assert not seen(form, shown)
    assert REDACTOR.text(shown) == shown
    assert REDACTOR.line(shown) == shown
    assert Redactor(enabled=False).text(form.text) == form.text


@by_name
def test_a_stream_is_hidden_wherever_it_is_cut(form: SecretForm) -> None:
    data = f"{form.text}\r\n".encode()
    for at in range(len(data) + 1):
        assert not seen(form, fed(b"$ ", data[:at], data[at:])), at
    assert not seen(form, fed(*(data[at : at + 1] for at in range(len(data)))))


@by_name
def test_an_event_hides_it_in_its_text_and_anywhere_in_its_body(form: SecretForm) -> None:
    body = {"line": form.text, "nested": [{"deep": [form.text]}], "words": ["a", form.text], form.text: 1}
    event = REDACTOR.event(Event(kind="x.y", text=form.text, body=body))
    assert not seen(form, f"{event.text} {event.body}")


@by_name
def test_a_programs_output_is_hidden_wherever_its_pieces_end_and_whenever_it_is_read(form: SecretForm) -> None:
    """An editor that a person joined with shows what was printed: it is the control."""
    for at in range(0, len(form.text) + 1, 3):
        output, cursor, read = SessionOutput(secrets=REDACTOR.stream), 0, ""
        for piece in ("$ ", form.text[:at], form.text[at:], "\nnext\n"):
            output.append("stdout", piece)
            if piece == "$ ":
                read += output.since(cursor, most=1000)[0]
                cursor = output.end
        read += output.since(cursor, most=10_000)[0]
        assert not seen(form, read), at
        assert read.endswith("next\n")
        assert form.text in output.raw.since(0, most=10_000)[0]


def test_a_secret_that_is_read_in_two_parts_is_hidden_in_both() -> None:
    output = SessionOutput(secrets=REDACTOR.stream)
    output.append("stdout", "password=")
    first, cursor = output.since(0, most=100)[0], output.end
    output.append("stdout", "hunter22hunter\n")
    assert first + output.since(cursor, most=100)[0] == "password=<redacted 14 chars>\n"


def test_ordinary_output_of_a_program_stays_as_it_is() -> None:
    output, text = SessionOutput(secrets=REDACTOR.stream), "".join(ordinary_output())
    for at in range(0, len(text), 777):
        output.append("stdout", text[at : at + 777])
    assert output.since(0, most=len(text))[0] == text


@by_name
def test_words_of_a_command_line_hide_it_together(form: SecretForm) -> None:
    if "\n" not in form.text and "'" not in form.text and '"' not in form.text:
        assert not seen(form, " ".join(REDACTOR.document(form.text.split(" "))))


def test_ordinary_output_stays_as_it_is_on_every_path() -> None:
    lines = ordinary_output()
    assert [line for line in lines if REDACTOR.text(line) != line] == []
    assert [line for line in lines if REDACTOR.value("x", line) != line] == []
    whole = "".join(lines)
    assert REDACTOR.text(whole) == whole
    event = Event(kind="x.y", text=whole[:1000], body={"lines": lines[:900], "line": lines[3]})
    assert REDACTOR.event(event) == event


@pytest.mark.parametrize("size", [1, 7, 80, 4096, 65_536])
def test_ordinary_output_stays_as_it_is_in_a_stream(size: int) -> None:
    data = "".join(ordinary_output()).encode()[: 30_000 if size < 80 else None]
    assert fed(*(data[at : at + size] for at in range(0, len(data), size))) == data.decode()


_PIECES = st.sampled_from(
    [
        *(form.text for form in FORMS),
        *("<redacted 9 chars>", "<redacted ", " 35 chars>", "password=", "token: ", "Bearer "),
        *("'", '"', " ", "\n", "://", "@", "="),
    ]
)  # fmt: skip


@given(st.lists(_PIECES | st.text(max_size=8), max_size=8).map("".join))
def test_what_was_hidden_once_stays_as_it_is(text: str) -> None:
    once = REDACTOR.text(text)
    assert REDACTOR.text(once) == once


def test_a_mark_beside_a_name_of_a_secret_is_not_a_secret() -> None:
    for text in (
        "Authorization: Bearer <redacted 35 chars>",
        "password='<redacted 8 chars>'",
        "token=<redacted 9 chars>",
    ):
        assert REDACTOR.text(text) == text
        assert fed(text.encode()) == text
    assert REDACTOR.value("password", "'<redacted 8 chars>'") == "'<redacted 8 chars>'"


@pytest.mark.parametrize(
    ("name", "value", "hidden"),
    [
        ('os.environ["DB_PASSWORD"]', "'hunter22'", True),
        ('os.environ.get("DB_PASSWORD", "")', "'hunter22'", True),
        ("str(config.password).upper()", "'HUNTER22'", True),
        ("[user, password]", "['hunter', 'hunter22']", True),
        ("GITHUB_TOKEN", "'abcdefgh'", True),
        ("password", "b'it\\'s hunter22'", True),
        ("len(password)", "8", False),
        ("next_token", "'identifier'", False),
        ("password_hint_shown", "'hunter22'", False),
        ("compass", "'hunter22'", False),
    ],
)
def test_a_value_is_recognised_by_every_name_in_its_expression(name: str, value: str, hidden: bool) -> None:
    assert (
        "hunter" not in REDACTOR.value(name, value).lower() and "abcdefgh" not in REDACTOR.value(name, value)
    ) or not hidden
    assert (REDACTOR.value(name, value) == value) is not hidden


@pytest.mark.parametrize(
    "document",
    [
        {"expression": 'os.environ["DB_PASSWORD"]', "result": "'hunter22'"},
        {"name": "DB_PASSWORD", "value": "hunter22"},
        {"name": "password", "before": "'hunter22'", "after": "'hunter22x'"},
        {"env": {"DB_PASSWORD": "hunter22"}},
        {"passwords": {"password": ["hunter22"]}},
        {"args": ["--password", "hunter22"]},
        {"args": ["mysql", "-phunter22"]},
        {"env": ["A=1", "DB_PASSWORD=hunter22"]},
        {"condition": "password == 'hunter22'"},
        {"message": "ValueError: password='hunter22'"},
    ],
)
def test_an_event_hides_what_is_under_or_beside_a_name_of_a_secret(document: dict[str, object]) -> None:
    assert "hunter22" not in str(REDACTOR.event(Event(kind="x.y", body=document)).body)


@by_name
def test_a_line_of_the_log_hides_it(form: SecretForm) -> None:
    record = logging.LogRecord("dragoman", logging.WARNING, "", 0, "it said %s", (form.text,), None)
    assert not seen(form, str(json.loads(JsonLineFormatter().format(record))["message"]))
    assert not seen(form, TerminalLogFormatter().format(record))


@pytest.mark.parametrize(
    "text",
    [
        *("password: {}\n", "  db_password: {}\r\n", "- passphrase: {}", '"passwd": {}\n'),
        *("[client]\npassword = {}\n", "client_secret = {}", "api_key  =  {}\r\n", "svn.passwd = {}\n"),
        *("sshpass -p {} ssh ann@host", "mysql -u root -p{}", "docker login -u ann -p {} ghcr.io", "PASSWORD={}"),
    ],
)
def test_a_password_of_letters_alone_is_hidden_where_nothing_else_can_be(text: str) -> None:
    line = text.format("correcthorse")
    assert "correct" not in REDACTOR.text(line)
    assert all("correct" not in fed(line[:at].encode(), line[at:].encode()) for at in range(len(line)))


@pytest.mark.parametrize(
    "text",
    [
        *("    password = getter\n", "password = getpass\n", "api_key = settings.key\n", "Secret = Callable\n"),
        *("    password: str\n", "  password: String!\n", "password: SecretStr\n", "  password: string;\n"),
        *("Password: incorrect\n", "Enter password: please wait\n", "  password: Passwort\n", "password: required\n"),
        *("data:\n  mode: fast\n  level: info\nkind: ConfigMap\n", "data:\n  image: nginx/1.27\n"),
        *("wrong password: try again\n", "mkdir -p secret\n", "Private-Lines: none\n"),
        "key: LS0tLS1CRUdJTiBDRVJUSUZJ\n",
    ],
)
def test_types_messages_and_plain_settings_stay_as_they_are(text: str) -> None:
    assert (REDACTOR.text(text), fed(text.encode())) == (text, text)


@by_name
def test_colours_in_the_middle_hide_nothing_from_the_judge_of_a_text(form: SecretForm) -> None:
    (secret, *_) = form.secrets
    at = form.text.index(secret)
    for cut in (at, at + 3, at + len(secret) // 2):
        coloured = f"{form.text[:cut]}\x1b[1;31m{form.text[cut:]}\x1b[0m"
        shown = REDACTOR.text(coloured)
        assert not seen(form, shown.replace("\x1b[1;31m", "")), cut
        assert REDACTOR.text(shown) == shown
