"""Edits of TOML: our section comes and goes, and no other byte moves."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.clients import toml_text
from dragoman.clients.catalog import BY_ID
from dragoman.clients.config_file import UneditableConfigError
from dragoman.clients.edits import add_entry, remove_entry

BOX = "mcp_servers"
US = "dragoman"
ENTRY = {"command": "dragoman", "args": ["mcp"]}
CODEX = BY_ID["codex"]
OURS = '[mcp_servers.dragoman]\ncommand = "dragoman"\nargs = ["mcp"]\n'


def put(text: str, entry: dict[str, Any] = ENTRY) -> str:
    return toml_text.put(text, BOX, US, entry)


def drop(text: str) -> str:
    return toml_text.drop(text, BOX, US)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("", OURS),
        ("a = 1\n", f"a = 1\n\n{OURS}"),
        ("a = 1", f"a = 1\n\n{OURS}"),
        ("# only words", f"# only words\n\n{OURS}"),
        ("[mcp_servers]\n", f"[mcp_servers]\n\n{OURS}"),
        ("a = 1\r\n", f"a = 1\n\n{OURS}".replace("\n", "\r\n")),
    ],
)
def test_a_new_section_goes_to_the_end_in_the_line_ends_of_the_file(old: str, new: str) -> None:
    assert put(old) == new


def test_an_update_keeps_order_comments_and_sections_of_the_user() -> None:
    old = (
        '[mcp_servers.dragoman] # ours\ncommand = "old" # was here\n# why\nenabled = false\n'
        '[mcp_servers.dragoman.env]\nA = "b"\n\n# about z\n[z]\ny = 1\n'
    )
    wanted = {**ENTRY, "enabled": False, "env": {"A": "b"}}
    assert put(old, wanted) == old.replace('"old"', '"dragoman"').replace("false\n", 'false\nargs = ["mcp"]\n')


def test_an_update_in_a_file_with_crlf_stays_in_crlf() -> None:
    new = put('[mcp_servers.dragoman]\r\ncommand = "old"\r\n')
    assert "\n" not in new.replace("\r\n", "")
    assert tomllib.loads(new) == {BOX: {US: ENTRY}}


def test_a_change_of_transport_takes_the_sections_of_the_other_one_along() -> None:
    old = '[mcp_servers.dragoman]\nurl = "u"\n[mcp_servers.dragoman.http_headers]\nA = "b"\n[z]\n'
    assert put(old) == f"{OURS}[z]\n"


def test_a_removal_leaves_the_comments_that_introduce_what_follows() -> None:
    old = f'# head\n{OURS}[mcp_servers.dragoman.env]\nA = "b" # inner\n\n# about z\n[z]\n'
    assert drop(old) == "# head\n\n# about z\n[z]\n"


def test_a_removal_undoes_a_write_to_the_byte() -> None:
    for old in ("", "a = 1\n", "a = 1\r\n", "[mcp_servers.a]\nb = 1\n\n# end\n"):
        assert drop(put(old)) == old


def test_headers_are_found_whatever_form_their_names_have() -> None:
    for header in ('[ mcp_servers . "dragoman" ]', "['mcp_servers'.dragoman]", "\t[mcp_servers.dragoman]#x"):
        assert tomllib.loads(drop(f"{header}\nc = 1\n[z]\n")) == {"z": {}}


def test_what_only_looks_like_a_header_is_not_one() -> None:
    old = "a = \"\"\"\n[mcp_servers.dragoman]\n\"\"\"\nb = [\n[1],\n# [mcp_servers.dragoman]\n]\nc = '''\n[x'''\n"
    assert drop(put(old)) == old
    assert put(old) == f"{old}\n{OURS}"


def test_a_value_with_a_last_line_like_a_comment_belongs_to_its_section() -> None:
    assert drop('[mcp_servers.dragoman]\nx = """\n# no comment"""\n# comment\n') == "# comment\n"


@pytest.mark.parametrize(
    "text",
    [
        "mcp_servers = {}\n",
        'mcp_servers = {a = {command = "x"}}\n',
        '[mcp_servers]\ndragoman = {command = "x"}\n',
        'mcp_servers.dragoman.command = "x"\n',
        "[[mcp_servers.dragoman]]\na = 1\n",
    ],
)
def test_forms_that_cannot_be_edited_safely_are_refused(text: str) -> None:
    with pytest.raises(UneditableConfigError, match="cannot be edited safely"):
        add_entry(CODEX, text, ENTRY, "stdio")


def test_an_entry_inside_another_value_is_not_removed_but_named() -> None:
    with pytest.raises(UneditableConfigError, match="cannot be edited safely"):
        remove_entry(CODEX, '[mcp_servers]\ndragoman = {command = "x"}\n')


@pytest.mark.parametrize(
    ("text", "place"),
    [("a = 1\n[b\n", "line 2, column 3"), ("a = ", "line 1, column 5"), ('a = 1\nb = "no end', "line 2, column 12")],
)
def test_what_is_not_understood_is_named_by_its_place(text: str, place: str) -> None:
    with pytest.raises(UneditableConfigError) as caught:
        put(text)
    assert place in str(caught.value.reason)


VALUES = st.sampled_from(
    ['"x"', "1", "[1, [2]]", '["[mcp_servers.dragoman]"]', '"""\n[a]\n# x"""', "{ a = 1 }", "[\n# [z]\n]"]
)
COMMENTS = st.sampled_from(["", "\n", "# words\n", "# [mcp_servers.dragoman]\n", "  \n\t# tab\n"])
HEADERS = st.lists(
    st.sampled_from(
        ["[mcp_servers.a]", "[mcp_servers.dragoman]", "[mcp_servers.dragoman.env]", "[z]", "[z.y]", "[[l]]"]
    ),
    unique_by=lambda header: header if header != "[[l]]" else object(),
    max_size=5,
)


@st.composite
def documents(draw: st.DrawFn) -> str:
    parts = [draw(COMMENTS)]
    for header in ["", *draw(HEADERS)]:
        parts += [f"{header}\n" if header else "", draw(COMMENTS)]
        parts += [
            f"{key} = {draw(VALUES)}\n{draw(COMMENTS)}" for key in draw(st.lists(st.sampled_from("kqw"), unique=True))
        ]
    text = "".join(parts)
    return text.replace("\n", "\r\n") if draw(st.booleans()) else text


@given(documents())
def test_a_write_and_a_removal_change_our_entry_alone(text: str) -> None:
    try:
        written = add_entry(CODEX, text, ENTRY, "stdio")
    except UneditableConfigError:
        assert US in tomllib.loads(text).get(BOX, {})
        return
    removed = remove_entry(CODEX, written.text)
    before, after = tomllib.loads(text), tomllib.loads(removed.text)
    others = {name: server for name, server in before.get(BOX, {}).items() if name != US}
    assert {BOX: {}, **after} == {**before, BOX: others}
    if written.change == "added":
        assert written.text.startswith(text)
