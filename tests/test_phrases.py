"""Every sentence to a person is made by `say` with a literal template, and has its Chinese in exactly one table."""

from __future__ import annotations

import ast
import functools
import re
import string
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

import dragoman
from dragoman.chinese import CHINESE, TABLES

PACKAGE = Path(dragoman.__file__).parent
SPEAKING_ROOMS = ("cli", "daemon")
PRINTERS = {"print", "tell", "warn", "sys.stdout.write", "sys.stderr.write", "stdout.write", "stderr.write"}
# Where text is made of phrases, and the only place in which a sentence may have English around it.
MAY_WRITE_TEXT = {"cli/output.py"}


@dataclass(frozen=True)
class Use:
    """One call of `say`: where it stands, its template (None if it is not a literal) and the values it gives."""

    where: str
    template: str | None
    values: frozenset[str]
    has_unnamed_values: bool


@dataclass(frozen=True)
class Module:
    name: str
    tree: ast.Module

    def calls(self) -> Iterator[tuple[str, ast.Call]]:
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Call):
                yield f"{self.name}:{node.lineno}", node


@functools.cache
def modules() -> list[Module]:
    return [
        Module(path.relative_to(PACKAGE).as_posix(), ast.parse(path.read_bytes()))
        for path in sorted(PACKAGE.rglob("*.py"))
    ]


def uses_in(module: Module) -> Iterator[Use]:
    for where, call in module.calls():
        if _name(call.func) in {"say", "phrases.say"}:
            template = call.args[0].value if call.args and isinstance(call.args[0], ast.Constant) else None
            yield Use(
                where,
                template if isinstance(template, str) else None,
                frozenset(keyword.arg for keyword in call.keywords if keyword.arg),
                len(call.args) != 1 or any(keyword.arg is None for keyword in call.keywords),
            )


def aliases_of_say(module: Module) -> Iterator[str]:
    """A second name for `say`, or a phrase made without it, would hide a sentence from these tests."""
    if module.name == "phrases.py":
        return
    for where, call in module.calls():
        if _name(call.func) in {"Phrase", "phrases.Phrase"}:
            yield f"{where}: Phrase(...) made without say"
    for node in ast.walk(module.tree):
        if isinstance(node, ast.ImportFrom) and node.module == "dragoman.phrases":
            yield from (f"{module.name}:{node.lineno}: say imported as {a.asname}" for a in node.names if a.asname)


def literal_texts(node: ast.expr) -> Iterator[str]:
    """The words that an expression puts into a text by itself: not what the calls inside it return."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.JoinedStr):
        for part in node.values:
            yield from literal_texts(part)
    elif isinstance(node, ast.BinOp):
        yield from literal_texts(node.left)
        yield from literal_texts(node.right)
    elif isinstance(node, ast.IfExp):
        yield from literal_texts(node.body)
        yield from literal_texts(node.orelse)
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        yield from literal_texts(node.func.value)


def words_past_say(module: Module) -> Iterator[str]:
    """Sentences that a command or the daemon would print in English to everybody."""
    if module.name.split("/")[0] not in SPEAKING_ROOMS or module.name in MAY_WRITE_TEXT:
        return
    for where, call in module.calls():
        if _name(call.func) in PRINTERS:
            yield from (f"{where}: {text!r}" for arg in call.args for text in literal_texts(arg) if _has_words(text))


def errors_past_say(module: Module) -> Iterator[str]:
    for where, call in module.calls():
        if _name(call.func) in {"DragomanError", "errors.DragomanError"}:
            spoken = call.args[1:] + [keyword.value for keyword in call.keywords if keyword.arg != "code"]
            yield from (f"{where}: {text!r}" for arg in spoken for text in literal_texts(arg))


def words_in_values(module: Module) -> Iterator[str]:
    """English that is put into a phrase as data: a label or a state that no table can translate."""
    for where, call in module.calls():
        if _name(call.func) in _TAKES_DATA:
            template = str(call.args[0].value) if call.args and isinstance(call.args[0], ast.Constant) else ""
            named = [keyword.value for keyword in call.keywords if f"`{{{keyword.arg}}}`" not in template]
            given = [*call.args[_TAKES_DATA[_name(call.func)] :], *named]
            texts = [text for value in given for text in _texts_within(value)]
            yield from (f"{where}: {text!r}" for text in texts if re.search(r"[A-Za-z]{2}", _CODE.sub("", text)))


# Which of their arguments are templates or separators, and come first.
_TAKES_DATA = {"say": 1, "phrases.say": 1, "joined": 1, "labelled": 0}
# What is copied letter by letter: commands, keys and values of files, names in braces.
_CODE = re.compile(r"`[^`]*`|\{\w+\}|\$\{[^}]*|[\"'\[].*|--[\w-]+|:NAME\}|\bdragoman\b|\S+\(")


def _texts_within(node: ast.expr) -> Iterator[str]:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):  # a path
        return
    yield from literal_texts(node)
    if isinstance(node, ast.Tuple | ast.List):
        for part in node.elts:
            yield from _texts_within(part)
    elif isinstance(node, ast.ListComp | ast.GeneratorExp):
        yield from _texts_within(node.elt)
    elif isinstance(node, ast.Call) and node.args and _name(node.func) in {"one_line", "ascii", "filter"}:
        yield from _texts_within(node.args[-1])


def placeholders(template: str) -> frozenset[str]:
    return frozenset(name for _, name, _, _ in string.Formatter().parse(template) if name is not None)


def faults_of(use: Use) -> Iterator[str]:
    if use.template is None:
        yield "the template is not a literal"
    elif use.has_unnamed_values:
        yield f"values must be given by name at the call: {use.template!r}"
    elif use.values != placeholders(use.template):
        yield f"given {sorted(use.values)}, wanted {sorted(placeholders(use.template))}: {use.template!r}"


def faults_of_translation(english: str, chinese: str) -> Iterator[str]:
    if not chinese.strip():
        yield f"no Chinese: {english!r}"
    elif placeholders(english) != placeholders(chinese):
        yield f"other placeholders than {sorted(placeholders(english))}: {chinese!r}"
    elif _has_words(english) and not re.search(r"[\u4e00-\u9fff]", chinese):
        yield f"not Chinese: {chinese!r}"


def _has_words(text: str) -> bool:
    """Whether anything is left to translate without placeholders, `code` and the product's own name."""
    return re.search(r"[^\W\d_]", re.sub(r"\{[^}]*\}|`[^`]*`|\bdragoman\b", "", text)) is not None


def _name(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return f"{_name(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else "?"


@functools.cache
def all_uses() -> list[Use]:
    return [use for module in modules() if module.name != "phrases.py" for use in uses_in(module)]


def none_in_all_modules(rule: Callable[[Module], Iterator[str]]) -> None:
    require_none(fault for module in modules() for fault in rule(module))


def require_none(faults: Iterable[str]) -> None:
    """One line a fault, all of them: a cut list would be mended in as many runs as it has cuts."""
    found = list(faults)
    if found:
        pytest.fail("\n".join([f"{len(found)} found:", *found]), pytrace=False)


def test_every_template_is_a_literal_and_is_given_exactly_its_values() -> None:
    require_none(f"{use.where}: {fault}" for use in all_uses() for fault in faults_of(use))


def test_every_template_has_its_chinese() -> None:
    missing = [use for use in all_uses() if use.template is not None and use.template not in CHINESE]
    require_none(f"{use.where}: {use.template!r}" for use in missing)


def test_every_template_stands_in_exactly_one_table() -> None:
    count = Counter(template for table in TABLES for template in table)
    require_none(repr(template) for template, tables in count.items() if tables > 1)


def test_no_table_keeps_what_nobody_says() -> None:
    said = {use.template for use in all_uses()}
    require_none(repr(template) for template in CHINESE if template not in said)


def test_every_translation_is_chinese_with_the_same_placeholders() -> None:
    require_none(fault for pair in CHINESE.items() for fault in faults_of_translation(*pair))


def test_every_table_of_the_folder_is_in_use() -> None:
    files = {path.stem for path in (PACKAGE / "chinese").glob("*.py")} - {"__init__"}
    assert len(files) == len(TABLES)


def test_nothing_is_said_under_another_name() -> None:
    none_in_all_modules(aliases_of_say)


def test_commands_and_the_daemon_print_no_words_past_say() -> None:
    none_in_all_modules(words_past_say)


def test_no_english_is_put_into_a_phrase_as_data() -> None:
    none_in_all_modules(words_in_values)


@pytest.mark.parametrize(
    "source",
    [
        "say('{text}', text='locals:')",
        "say('{text}', text=f'at: {place}')",
        "joined('  ', (name, 'unverified'))",
        "say('{text}', text=one_line(f'problem: {it}'))",
        "labelled('stack', frames)",
    ],
)
def test_the_scan_sees_a_label_among_the_data(source: str) -> None:
    assert len(list(words_in_values(sample(source)))) == 1


@pytest.mark.parametrize("source", ["labelled(say('stack'), frames)", "say('{text}', text=f'  | {line}')"])
def test_the_scan_lets_data_and_labels_of_phrases_pass(source: str) -> None:
    assert list(words_in_values(sample(source))) == []


def test_errors_speak_through_say() -> None:
    none_in_all_modules(errors_past_say)


def sample(source: str, name: str = "cli/sample.py") -> Module:
    return Module(name, ast.parse(source))


@pytest.mark.parametrize(
    ("source", "fault"),
    [
        ("say(f'hello {name}')", "not a literal"),
        ("say(TEMPLATE)", "not a literal"),
        ("say()", "not a literal"),
        ("phrases.say('a ' + b)", "not a literal"),
        ("say('hello {name}')", "given [], wanted ['name']"),
        ("say('hello', name=1)", "given ['name'], wanted []"),
        ("say('hello {name}', **values)", "by name"),
        ("say('hello {name}', 'x')", "by name"),
        ("say('hello {}', name=1)", "wanted ['']"),
    ],
)
def test_the_scan_sees_a_phrase_that_cannot_be_translated(source: str, fault: str) -> None:
    (found,) = [fault for use in uses_in(sample(source)) for fault in faults_of(use)]
    assert fault in found


@pytest.mark.parametrize("source", ["say('hello {name}', name=say('you'))", "say('a '\n 'b')", "self.say(x)"])
def test_the_scan_lets_a_good_phrase_pass(source: str) -> None:
    assert [fault for use in uses_in(sample(source)) for fault in faults_of(use)] == []


@pytest.mark.parametrize(
    "source",
    [
        "print('hello')",
        "tell('hello ' + name)",
        "warn(f'hello {name}')",
        "sys.stderr.write('usage: {}'.format(name))",
        "sys.stdout.write(', hello '.join(names))",
        "tell('yes' if ok else say('no'))",
    ],
)
def test_the_scan_sees_words_printed_past_say(source: str) -> None:
    assert len(list(words_past_say(sample(source)))) == 1
    assert list(words_past_say(sample(source, "wire/sample.py"))) == []


@pytest.mark.parametrize(
    "source",
    ["tell(say('hello'))", "print(json.dumps(x, separators='abc') + '\\n')", "sys.stdout.write(f'{key}: {value}\\n')"],
)
def test_the_scan_lets_data_and_phrases_be_printed(source: str) -> None:
    assert list(words_past_say(sample(source))) == []


def test_the_scan_sees_an_error_that_speaks_past_say() -> None:
    assert list(errors_past_say(sample("DragomanError('code', 'text')"))) == ["cli/sample.py:1: 'text'"]
    assert list(errors_past_say(sample("DragomanError('code', m, hint=f'do {x}')"))) == ["cli/sample.py:1: 'do '"]
    assert list(errors_past_say(sample("DragomanError('code', say('text'), hint=hint)"))) == []


def test_the_scan_sees_a_second_name_for_say() -> None:
    assert len(list(aliases_of_say(sample("from dragoman.phrases import say as tr")))) == 1
    assert len(list(aliases_of_say(sample("Phrase('hello')")))) == 1


@pytest.mark.parametrize(
    ("english", "chinese"),
    [("hello", ""), ("hello", "hello"), ("hello {a}", "你好"), ("hello", "你好 {a}"), ("{a}", "{b}")],
)
def test_the_scan_sees_a_wrong_translation(english: str, chinese: str) -> None:
    assert len(list(faults_of_translation(english, chinese))) == 1


@pytest.mark.parametrize(("english", "chinese"), [("{a}: {b}", "{a}：{b}"), ("`x {a}`", "`x {a}`"), ("no", "不")])
def test_the_scan_lets_symbols_and_code_stay(english: str, chinese: str) -> None:
    assert list(faults_of_translation(english, chinese)) == []
