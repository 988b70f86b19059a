"""One folder under two names: what is translated, and what never is."""

from __future__ import annotations

import copy
import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.workspace.path_map import PathMap, PathPair

HERE, THERE = "/home/me/shop", "/srv/shop"
SHOP = PathMap([PathPair(HERE, THERE)])


def paths(*pairs: tuple[str, str]) -> PathMap:
    return PathMap(PathPair(local, far) for local, far in pairs)


def call(**arguments: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "t", "arguments": arguments}}


_NAMES = st.text(st.characters(exclude_categories=["Cc", "Cs"], exclude_characters="/"), min_size=1).filter(
    lambda name: name not in {".", ".."}
)
_RESTS = st.lists(_NAMES, max_size=4).map(lambda names: "".join(f"/{name}" for name in names))
_FOLDERS = st.lists(st.sampled_from(["a", "b", "shop", "shop2", "with blank", "ü"]), min_size=1, max_size=3).map(
    lambda names: "/" + "/".join(names)
)
_MAPS = st.lists(st.builds(PathPair, _FOLDERS, _FOLDERS), min_size=1, max_size=4).map(PathMap)


@given(_MAPS, _RESTS, st.data())
def test_a_path_that_is_translated_comes_back_to_the_same_file(map_: PathMap, rest: str, data: st.DataObject) -> None:
    pair = data.draw(st.sampled_from(map_.pairs))
    if (there := map_.path_to_far(pair.local + rest)) is not None:
        back = map_.path_to_near(there)
        assert back is None or map_.path_to_far(back) == there
    if (here := map_.path_to_near(pair.far + rest)) is not None:
        again = map_.path_to_far(here)
        assert again is None or map_.path_to_near(again) == here


@given(_RESTS)
def test_with_one_folder_every_path_below_it_is_translated_and_comes_back(rest: str) -> None:
    assert SHOP.path_to_far(HERE + rest) == THERE + rest
    assert SHOP.path_to_near(THERE + rest) == HERE + rest


@given(
    _MAPS, st.recursive(st.text() | st.integers() | st.none(), lambda it: st.lists(it) | st.dictionaries(st.text(), it))
)
def test_any_message_keeps_its_form_and_the_argument_is_not_changed(map_: PathMap, message: Any) -> None:
    before = copy.deepcopy(message)
    for it in (map_.to_near(message), map_.to_far(message), map_.arguments_to_far(message)):
        assert type(it) is type(message)
    assert message == before


@given(st.text(alphabet="/.srvhopme \"'\n%2e", max_size=60))
def test_a_text_is_changed_only_by_folders_in_it(text: str) -> None:
    assert THERE in text or SHOP.text_to_near(text) == text


@pytest.mark.parametrize(
    "path",
    [
        "/srv/shop/../../etc/passwd",
        "/srv/shop/..",
        "/srv/shop/a/../b.py",
        "/srv/shop2/a.py",
        "/srv/shop-old/a.py",
        "/srv/shop.bak/a.py",
        "/srv/shop 2/a.py",
        "/srv/shopping",
        "/srv",
        "/home/srv/shop/a.py",
        "./srv/shop/a.py",
        "../srv/shop/a.py",
        "~/srv/shop/a.py",
        "$HOME/srv/shop/a.py",
        "${HOME}/srv/shop/a.py",
        "/x/../srv/shop/a.py",
        "/srv/shop/..//srv/shop/a.py",
        "//srv/shop/a.py",
        "http://example.org/srv/shop/a.py",
        "/srv/shop/\x1b[2Ja.py",
        "/srv/shop/a\n.py",
        "file:///srv/shop/%2e%2e/%2E%2E/etc/passwd",
        "file:///srv/shop/../../etc/passwd",
        "file:///srv/shop/a%2f..%2fb",
        "file:///srv/shop/%00a",
    ],
)
def test_a_path_of_the_far_side_that_does_not_visibly_stay_below_the_folder_is_left_as_it_is(path: str) -> None:
    assert SHOP.path_to_near(path) is None
    answer = {"jsonrpc": "2.0", "id": 1, "result": {"structuredContent": {"path": path}}}
    assert SHOP.to_near(answer) == answer


@pytest.mark.parametrize(
    ("there", "here"),
    [
        ('  File "/srv/shop/orders.py", line 7, in total', '  File "/home/me/shop/orders.py", line 7, in total'),
        ("at /srv/shop/orders.py:7.", "at /home/me/shop/orders.py:7."),
        ("cd /srv/shop.", "cd /home/me/shop."),
        ("/srv/shop", "/home/me/shop"),
        ("/srv/shop/", "/home/me/shop/"),
        ("('/srv/shop', '/srv/shop/lib')", "('/home/me/shop', '/home/me/shop/lib')"),
        ("PYTHONPATH=/srv/shop:/srv/shop/lib:/opt", "PYTHONPATH=/home/me/shop:/home/me/shop/lib:/opt"),
        ("@/srv/shop/a.lua", "@/home/me/shop/a.lua"),
        ("\x1b[35m/srv/shop/a.py\x1b[0m:3", "\x1b[35m/home/me/shop/a.py\x1b[0m:3"),
        ("文件：/srv/shop/a.py。", "文件：/home/me/shop/a.py。"),
        ("file:///srv/shop/a%20b.py", "file:///home/me/shop/a%20b.py"),
        ("/srv/shop/... and /srv/shop/..hidden", "/home/me/shop/... and /home/me/shop/..hidden"),
        ("/srv/shop/../x\n/srv/shop/a.py", "/srv/shop/../x\n/home/me/shop/a.py"),
        ('"/srv/shop/../x" "/srv/shop/a.py"', '"/srv/shop/../x" "/home/me/shop/a.py"'),
        ("/srv/shop/it's here/../../etc/passwd", "/srv/shop/it's here/../../etc/passwd"),
        ('{"path": "/srv/shop/a.py"}', '{"path": "/home/me/shop/a.py"}'),
    ],
)
def test_texts_of_the_far_side_show_local_paths(there: str, here: str) -> None:
    assert SHOP.text_to_near(there) == here


def test_answers_are_translated_everywhere_except_in_ids() -> None:
    there = {
        "jsonrpc": "2.0",
        "id": "/srv/shop",
        "result": {
            "content": [{"type": "text", "text": "at /srv/shop/a.py:3"}],
            "structuredContent": {"stack": [{"file": "/srv/shop/a.py"}], "hits": {"/srv/shop/a.py": 2}},
        },
    }
    assert SHOP.to_near(there) == {
        "jsonrpc": "2.0",
        "id": "/srv/shop",
        "result": {
            "content": [{"type": "text", "text": "at /home/me/shop/a.py:3"}],
            "structuredContent": {"stack": [{"file": "/home/me/shop/a.py"}], "hits": {"/home/me/shop/a.py": 2}},
        },
    }


def test_only_parameters_that_hold_paths_are_translated_on_the_way_there() -> None:
    name = f"{HERE}/a.py"
    asked = call(
        file_path=name,
        filePath=name,
        program=name,
        args=["-c", name],
        command=f"python {name}",
        test=f"{name}::test_total",
        env={"PYTHONPATH": f"{HERE}:/opt"},
        configuration={"type": "python", "program": name, "cwd": HERE, "pathMappings": [{"localRoot": HERE}]},
        points=[{"file_path": name, "expressions": [f"open('{name}')"]}],
        until={"file_path": name},
        location={"file_path": name},
        where=f"{name}:3",
        condition=f"path == '{name}'",
        expression=f"'{name}'",
        log_message=name,
        stdin=name,
    )
    there = f"{THERE}/a.py"
    assert SHOP.to_far(asked) == call(
        file_path=there,
        filePath=there,
        program=there,
        args=["-c", there],
        command=f"python {there}",
        test=f"{there}::test_total",
        env={"PYTHONPATH": f"{THERE}:/opt"},
        configuration={"type": "python", "program": there, "cwd": THERE, "pathMappings": [{"localRoot": THERE}]},
        points=[{"file_path": there, "expressions": [f"open('{name}')"]}],
        until={"file_path": there},
        location={"file_path": there},
        where=f"{there}:3",
        condition=f"path == '{name}'",
        expression=f"'{name}'",
        log_message=name,
        stdin=name,
    )


@pytest.mark.parametrize(
    "path",
    ["a.py", "../a.py", f"{HERE}/../b.py", f"{HERE}2/a.py", "/etc/passwd", "", "/home/me", f"{HERE}/a/../../../b"],
)
def test_a_parameter_outside_the_folder_crosses_as_it_is(path: str) -> None:
    assert SHOP.path_to_far(path) is None
    assert SHOP.to_far(call(file_path=path)) == call(file_path=path)


def test_other_messages_of_a_client_cross_as_they_are() -> None:
    for message in (
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"clientInfo": {"name": HERE}}},
        {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": HERE}},
        {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": [HERE]},
        {"jsonrpc": "2.0", "id": 1, "result": {"action": "accept", "content": {"path": HERE}}},
        [1, "x", None],
        HERE,
    ):
        assert SHOP.to_far(message) == message


def test_a_batch_is_translated_message_by_message() -> None:
    assert SHOP.to_far([call(file_path=f"{HERE}/a.py"), 1]) == [call(file_path=f"{THERE}/a.py"), 1]
    assert SHOP.to_near([{"id": 1, "result": THERE}]) == [{"id": 1, "result": HERE}]


def test_the_deepest_folder_decides_and_no_path_is_translated_into_another_pair() -> None:
    both = paths((HERE, THERE), (f"{HERE}/lib", "/opt/lib"))
    assert both.text_to_far(f"{HERE}/lib/a.py {HERE}/library/a.py") == f"/opt/lib/a.py {THERE}/library/a.py"
    assert both.text_to_near("/opt/lib/a.py") == f"{HERE}/lib/a.py"
    hidden = f"{THERE}/lib/a.py"  # not reachable from here: what is here under this name is another file
    assert both.text_to_near(hidden) == hidden
    assert both.path_to_near(hidden) is None


def test_a_folder_may_have_a_second_name_on_either_side() -> None:
    linked = paths((HERE, THERE), ("/data/me/shop", THERE), (HERE, "/data/shop"))
    assert linked.path_to_far("/data/me/shop/a.py") == f"{THERE}/a.py"
    assert linked.path_to_near("/data/shop/a.py") == f"{HERE}/a.py"
    assert linked.path_to_near(f"{THERE}/a.py") == f"{HERE}/a.py"


def test_names_with_blanks_are_encoded_in_uris_only() -> None:
    blank = paths(("/home/me/my shop", "/srv/the shop"))
    assert blank.text_to_near("/srv/the shop/a.py") == "/home/me/my shop/a.py"
    assert blank.text_to_near("file:///srv/the%20shop/a.py") == "file:///home/me/my%20shop/a.py"
    assert blank.text_to_far("file:///home/me/my%20shop/a.py") == "file:///srv/the%20shop/a.py"


@pytest.mark.parametrize(
    "folder", ["/", "", "shop", "/srv/../etc", "/srv/shop/", "//srv/shop", "/srv//shop", "/a\x1bb", "."]
)
def test_only_a_plain_absolute_folder_can_be_mapped(folder: str) -> None:
    with pytest.raises(ValueError, match="not a folder"):
        PathPair(folder, THERE)
    with pytest.raises(ValueError, match="not a folder"):
        PathPair(HERE, folder)


def test_a_line_without_a_mapped_folder_is_passed_on_unread() -> None:
    for line in (b"no json", b'{"jsonrpc": "2.0",  "id": 1, "result": "/srv/other"}'):
        assert SHOP.line_to_near(line) is line
    assert SHOP.line_to_near(b'{"a": "/srv/shop/') == b'{"a": "/srv/shop/'
    assert SHOP.line_to_near(b'["/srv/shop"]' * 2) == b'["/srv/shop"]' * 2


def test_a_line_keeps_its_order_and_is_one_line_of_json() -> None:
    line = '{"jsonrpc":"2.0","id":"ü","result":{"b":1,"text":"/srv/shop/a.py\\nüx"}}'.encode()
    translated = SHOP.line_to_near(line)
    assert translated.startswith(b'{"jsonrpc":"2.0","id":')
    assert b"\n" not in translated
    assert json.loads(translated)["result"] == {"b": 1, "text": "/home/me/shop/a.py\nüx"}
    escaped = b'{"jsonrpc":"2.0","method":"tools/call","params":{"arguments":{"path":"\\/home\\/me\\/shop\\/a.py"}}}'
    assert json.loads(SHOP.line_to_far(escaped))["params"]["arguments"]["path"] == "/srv/shop/a.py"


def test_a_hostile_answer_costs_about_its_size() -> None:
    for text in ("/srv/shop " * 100_000, "/srv/shop/.." * 100_000, "/srv/shop/../x " * 100_000):
        assert len(SHOP.text_to_near(text)) <= 2 * len(text)
    deep: Any = THERE
    for _ in range(500):
        deep = [deep]
    assert SHOP.to_near(deep) == deep
    line = b"[" * 100_000 + b'"/srv/shop"' + b"]" * 100_000
    assert SHOP.line_to_near(line) == line


@pytest.mark.parametrize("unit", ["file:///srv/shop,", "file:///srv/shop/", "file:///srv/shop%", "/srv/shop/..,"])
def test_the_time_for_a_text_grows_as_the_text_does(unit: str) -> None:
    """16 times the text: with a look ahead over the rest of it at every folder, it would take 256 times as long."""

    def seconds(count: int) -> float:
        began = time.process_time()
        SHOP.text_to_near(unit * count)
        return time.process_time() - began

    short = min(seconds(500) for _ in range(3))
    assert min(seconds(8_000) for _ in range(2)) < 100 * max(short, 0.001)


@pytest.mark.parametrize(
    ("there", "here"),
    [
        ("file:///srv/shop/%2e, file:///srv/shop/a", "file:///srv/shop/%2e, file:///home/me/shop/a"),
        ("file:///srv/shop/a,file:///srv/shop/%2E", "file:///srv/shop/a,file:///srv/shop/%2E"),
        ("file:///srv/shop/a file:///srv/shop/%5c<file:///srv/shop", None),
    ],
)
def test_what_is_encoded_in_a_uri_counts_for_that_uri(there: str, here: str | None) -> None:
    expected = here or "file:///home/me/shop/a file:///srv/shop/%5c<file:///home/me/shop"
    assert SHOP.text_to_near(there) == expected


def test_without_pairs_nothing_changes() -> None:
    nothing = PathMap([])
    assert not nothing
    assert nothing.line_to_near(b'"/srv/shop"') == b'"/srv/shop"'
    assert nothing.text_to_far(HERE) == HERE
