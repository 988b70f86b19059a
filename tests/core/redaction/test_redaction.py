"""Secrets are recognised by their shape or by their name, and everything else stays readable."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.core.redaction import Redactor
from tests.leaks import leaks
from tests.tools.tool_fixture import opened

REDACTOR = Redactor()
# Put together here, so that no scanner takes this file for a leak.
SECRETS = {
    "github": "ghp" + "_" + "a1B2" * 9,
    "aws": "AKIA" + "ABCDEFGH12345678",
    "jwt": "eyJ" + "hbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dBjftJeZ4CVPmB92K27uhbUJU1p1r",
    "key": "-----BEGIN RSA " + "PRIVATE KEY-----\nMIIEpAIB\nAAKC\n-----END RSA PRIVATE KEY-----",
    "model": "sk-" + "ant-api03-" + "x" * 40,
    "slack": "xoxb" + "-123456789012-abcdefghijkl",
    "stripe": "sk_" + "live_" + "4" * 24,
}


@pytest.mark.parametrize("kind", SECRETS)
def test_a_secret_is_recognised_by_its_shape_wherever_it_is(kind: str) -> None:
    secret = SECRETS[kind]
    for text in (secret, f"'{secret}'", f"token={secret} and more", f"{{'a': '{secret}'}}", f"line\n{secret}\n"):
        shown = REDACTOR.text(text)
        assert secret not in shown
        assert f"<redacted {len(secret)} chars>" in shown


@pytest.mark.parametrize("seed", range(200))
def test_every_known_shape_is_found_with_nothing_else_in_the_text_to_hint_at_it(seed: int) -> None:
    found = {kind: REDACTOR.text(secret) for kind, secret in leaks(seed).items()}
    assert {kind for kind, shown in found.items() if not shown.startswith("<redacted ")} == set()


@pytest.mark.parametrize(
    ("name", "value", "shown"),
    [
        ("password", "'hunter22'", "'<redacted 8 chars>'"),
        ("db_password", '"hunter22"', '"<redacted 8 chars>"'),
        ("apiKey", "'0123456789'", "'<redacted 10 chars>'"),
        ("'client_secret'", "b'abcdef'", "b'<redacted 6 chars>'"),
        ("settings.SECRET_KEY", "'" + "k" * 40 + "'", "'<redacted 40 chars>'"),
        ("passwd", '0x00007ffe "hunter22"', '0x00007ffe "<redacted 8 chars>"'),
        ("access_token", "'cut by the debugg", "'<redacted 17 chars>"),
        ("password", "correcthorse", "<redacted 12 chars>"),
        ("os.environ['DB_PASSWORD']", "correcthorse", "<redacted 12 chars>"),
        ("password", "0x7ffe21b3", "0x7ffe21b3"),
        ("password", "SecretStr", "SecretStr"),
        ("password", "auth.models.Password", "auth.models.Password"),
        ("password", "None", "None"),
        ("password", "''", "''"),
        ("password", "Field(required=True)", "Field(required=True)"),
        ("token", "Token(NAME, 'x')", "Token(NAME, 'x')"),
        ("tokens", "['a', 'b']", "['a', 'b']"),
        ("count", "12", "12"),
        ("compass", "'north-east'", "'north-east'"),
    ],
)
def test_a_text_is_recognised_by_the_name_it_goes_by_and_other_values_are_not(
    name: str, value: str, shown: str
) -> None:
    assert REDACTOR.value(name, value) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("{'user': 'ann', 'password': 'hunter22'}", "{'user': 'ann', 'password': '<redacted 8 chars>'}"),
        ("Config(api_key='0123456789')", "Config(api_key='<redacted 10 chars>')"),
        ("postgres://ann:hunter22@db/x", "postgres://ann:<redacted 8 chars>@db/x"),
        ("Authorization: Bearer abcdef123456", "Authorization: Bearer <redacted 12 chars>"),
        ("http://localhost:8080/path", "http://localhost:8080/path"),
        ("at http://localhost:8080), or", "at http://localhost:8080), or"),
        ("在 http://127.0.0.1:8177，自昨天", "在 http://127.0.0.1:8177，自昨天"),
        ("redis://ann:8177,me@db", "redis://ann:<redacted 7 chars>@db"),
        ("password: 'x'", "password: 'x'"),
        ("see secrets.py", "see secrets.py"),
    ],
)
def test_what_is_beside_a_name_of_a_secret_is_hidden_in_any_text(text: str, shown: str) -> None:
    assert REDACTOR.text(text) == shown


def test_a_short_name_and_password_in_a_header_are_hidden_and_words_are_not() -> None:
    assert REDACTOR.text("Authorization: Basic dXNlcjpwYXNz") == "Authorization: Basic <redacted 12 chars>"
    assert REDACTOR.text("Authorization: Basic auth") == "Authorization: Basic auth"


def test_what_was_looked_at_and_what_was_recorded_of_it_are_judged_alike() -> None:
    looked_at = {"expression": "os.environ['DB_PASSWORD']", "result": "correcthorse"}
    assert REDACTOR.document(looked_at)["result"] == REDACTOR.value(looked_at["expression"], looked_at["result"])


def test_it_can_be_switched_off() -> None:
    off = Redactor(enabled=False)
    assert off.value("password", "'hunter22'") == "'hunter22'"
    assert off.text(SECRETS["aws"]) == SECRETS["aws"]


def test_a_users_own_secret_names_count_too_and_are_taken_literally() -> None:
    redactor = Redactor(names=("iban", "a.c"))
    assert redactor.value("customer_IBAN", "'DE0012345'") == "'<redacted 9 chars>'"
    assert redactor.text("{'iban': 'DE0012345'}") == "{'iban': '<redacted 9 chars>'}"
    assert redactor.value("abc", "'DE0012345'") == "'DE0012345'"
    assert REDACTOR.value("iban", "'DE0012345'") == "'DE0012345'"


@pytest.mark.parametrize(
    ("name", "text", "shown"),
    [
        ("API_KEY", "0123456789", "<redacted 10 chars>"),
        ("API_KEY", "${env:API_KEY}", "${env:API_KEY}"),
        ("password", "x", "x"),
        ("program", "${workspaceFolder}/password.py", "${workspaceFolder}/password.py"),
        ("url", "postgres://ann:hunter22@db/x", "postgres://ann:<redacted 8 chars>@db/x"),
    ],
)
def test_a_text_of_a_file_is_recognised_by_its_key_unless_it_means_something_else(
    name: str, text: str, shown: str
) -> None:
    assert REDACTOR.setting(name, text) == shown
    assert Redactor(enabled=False).setting(name, text) == text


@pytest.mark.anyio
async def test_secrets_that_are_in_a_launch_file_are_not_shown_and_the_rest_is_as_written(tmp_path: Path) -> None:
    written = {"name": "a", "type": "python", "request": "launch", "justMyCode": False, "args": ["--n", 3]}
    async with opened(tmp_path) as bench:
        bench.listing.configurations = [{**written, "env": {"DB_PASSWORD": "hunter22", "HOME": "${userHome}"}}]
        answer = await bench.call("get_debugger_configurations")
    env = {"DB_PASSWORD": "<redacted 8 chars>", "HOME": "${userHome}"}
    assert answer["configurations"] == [{**written, "env": env}]
    assert "hunter22" not in answer.text


@given(st.text(max_size=200))
def test_redacting_twice_changes_nothing_more(text: str) -> None:
    once = REDACTOR.text(text)
    assert REDACTOR.text(once) == once


@pytest.mark.parametrize(
    "text", ["eyJ" * 20_000, "password='" * 5000, "://" * 20_000, "-----BEGIN PRIVATE KEY-----" * 2000, "a:" * 30_000]
)
def test_hostile_text_does_not_make_it_slow(text: str) -> None:
    began = time.process_time()
    REDACTOR.text(text[:60_000])
    assert time.process_time() - began < 2


@pytest.mark.anyio
async def test_no_tool_shows_a_secret_and_the_program_gets_what_was_sent(tmp_path: Path) -> None:
    secret = SECRETS["github"]
    leaking: dict[str, Any] = {"name": "x", "value": f"'{secret}'", "variablesReference": 0}
    async with opened(tmp_path) as bench:
        bench.file.write_text(f"\n\n\n\nkey = '{secret}'\n")
        bench.adapter.answers["variables"] = lambda _: {"variables": [leaking]}
        bench.adapter.emit("output", output=f"{secret}\n", category="stdout")
        texts = [await bench.started(), await bench.call("get_output")]
        reference = (await bench.call("get_scopes"))["scopes"][0]["variables_reference"]
        texts.append(await bench.call("get_variables", variables_reference=reference))
        texts.append(await bench.call("evaluate_expression", expression=f"send('{secret}')"))
        bench.adapter.refuse("evaluate", f"ValueError: {secret}")
        texts.append(await bench.call("evaluate_expression", expression="send()"))
    assert bench.adapter.sent("evaluate")[0]["expression"] == f"send('{secret}')"
    for answer in texts:
        assert secret not in answer.text + str(answer.data)
        assert "<redacted 40 chars>" in answer.text
