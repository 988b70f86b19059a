"""The quick search that says whether a text is looked at closely never says no to a secret."""

from __future__ import annotations

import re

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from dragoman.core.redaction import Redactor
from dragoman.core.redaction.scanner import as_ascii, literal_pattern, pattern_check
from dragoman.core.redaction.service_tokens import SERVICE_TOKENS, TokenForm

# Hypothesis cannot draw what looks behind itself, and hardly draws one of the few heads that `gl[a-z]{2,5}-` means.
DRAWN = [token for token in SERVICE_TOKENS if "(?<" not in token.head and "{2,5}" not in token.head]


@pytest.mark.parametrize("token", DRAWN, ids=[token.literals for token in DRAWN])
@settings(max_examples=5)
@given(data=st.data())
def test_every_token_that_its_pattern_allows_is_hidden(token: TokenForm, data: st.DataObject) -> None:
    text = data.draw(st.from_regex(re.compile(token.whole, re.ASCII), fullmatch=True))
    assume(any(literal in text for literal in token.literals.split()))
    assume(re.match(r"[\w.-]{20}", text, re.ASCII))
    assert text not in Redactor().text(f"it was {text} before")


@pytest.mark.parametrize("name", ["Kennwort", "X-Vault Key", "пароль", "пин (код)", "a|b", "$pin"])
def test_a_users_own_secret_name_counts_in_any_script_and_with_any_sign(name: str) -> None:
    text = f"{name}='hunter22'"
    assert "hunter22" not in Redactor(names=(name,)).text(text)
    assert "hunter22" not in Redactor(names=("other", name)).text(f"日本語 {text}")
    assert "hunter22" in Redactor().text(text)


def test_more_names_than_one_search_takes_are_all_known() -> None:
    names = tuple(f"own{number}name" for number in range(150))
    redactor = Redactor(names=names)
    assert [name for name in names if "hunter22" in redactor.text(f"{name}='hunter22'")] == []


def test_what_is_searched_has_one_character_for_each_byte() -> None:
    data = "密码 é ok".encode() + b"\xff"
    assert len(as_ascii(data)) == len(data)
    assert as_ascii(data).isascii()
    has = pattern_check([literal_pattern("密".encode()), literal_pattern(b"a.b")])
    assert has(as_ascii(data))
    assert has("xa.bx")
    assert not has("axb")
