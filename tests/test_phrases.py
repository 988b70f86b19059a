"""Every sentence to a person is made by `localize` or a table of errors, has a literal template, and is translated."""

from __future__ import annotations

import ast
import functools
import re
import string
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

import dragoman
from tests.catalogues import CHINESE, catalogue, catalogue_files, extracted

PACKAGE = Path(dragoman.__file__).parent
SPEAKING_ROOMS = ("cli/", "daemon/", "servers/control/")
PRINTERS = {"print", "show_message", "warn", "sys.stdout.write", "sys.stderr.write", "stdout.write", "stderr.write"}
# Where text is made of phrases, and the only place in which a sentence may have English around it.
MAY_WRITE_TEXT = {"cli/output.py"}


@dataclass(frozen=True)
class Use:
    """One call of `localize`: where it stands, its template (None if it is not a literal) and the values it gives."""

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
        if _name(call.func) in {"localize", "localization.localize"}:
            template = call.args[0].value if call.args and isinstance(call.args[0], ast.Constant) else None
            yield Use(
                where,
                template if isinstance(template, str) else None,
                frozenset(keyword.arg for keyword in call.keywords if keyword.arg),
                len(call.args) != 1 or any(keyword.arg is None for keyword in call.keywords),
            )


def spec_templates(call: ast.Call) -> list[ast.expr]:
    """The message and the hint of a row in a table of errors."""
    return call.args[1:3]


def specs_in(module: Module) -> Iterator[Use]:
    """Templates of a table of errors: their values are given where the error is made."""
    for where, call in module.calls():
        if _name(call.func).endswith("ErrorSpec"):
            for given in spec_templates(call):
                template = given.value if isinstance(given, ast.Constant) and isinstance(given.value, str) else None
                shown = frozenset(keyword.arg for keyword in call.keywords if keyword.arg)
                yield Use(where, template, shown, has_unnamed_values=False)


def faults_of_spec(call: ast.Call) -> Iterator[str]:
    templates = [it.value for it in spec_templates(call) if isinstance(it, ast.Constant) and isinstance(it.value, str)]
    if len(templates) != len(call.args) - 1 or not templates:
        yield "the templates are not literals"
    named = frozenset[str]().union(*map(placeholders, templates))
    yield from (f"{it.arg} is in no template" for it in call.keywords if it.arg not in named)


def faults_of_made_errors(module: Module, tables: Mapping[str, Mapping[str, frozenset[str]]]) -> Iterator[str]:
    """An error made from a row is given exactly the values that its templates name."""
    own = f"dragoman.{module.name.removesuffix('.py').replace('/', '.')}"
    rows = dict(tables.get(own, {}))
    for node in ast.walk(module.tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            for it in node.names:
                if it.name in tables.get(node.module, {}):
                    rows[it.asname or it.name] = tables[node.module][it.name]
                for name, values in tables.get(f"{node.module}.{it.name}", {}).items():
                    rows[f"{it.asname or it.name}.{name}"] = values
    for where, call in module.calls():
        if (wanted := rows.get(_name(call.func))) is not None:
            given = frozenset(keyword.arg for keyword in call.keywords if keyword.arg) - {"details"}
            if call.args or any(keyword.arg is None for keyword in call.keywords):
                yield f"{where}: values must be given by name"
            elif given != wanted:
                yield f"{where}: given {sorted(given)}, wanted {sorted(wanted)}"


def rows_of(module: Module) -> dict[str, frozenset[str]]:
    """The rows of a table of errors: name, and the values that it takes."""
    return {
        _name(node.targets[0]): frozenset[str]().union(
            *(placeholders(str(it.value)) for it in spec_templates(node.value) if isinstance(it, ast.Constant))
        )
        for node in module.tree.body
        if isinstance(node, ast.Assign)
        and isinstance(node.value, ast.Call)
        and _name(node.value.func).endswith("ErrorSpec")
    }


@functools.cache
def error_tables() -> dict[str, dict[str, frozenset[str]]]:
    found = {f"dragoman.{it.name.removesuffix('.py').replace('/', '.')}": rows_of(it) for it in modules()}
    return {name: rows for name, rows in found.items() if rows}


def aliases_of_say(module: Module) -> Iterator[str]:
    """A second name for `localize`, or a phrase made without it, would hide a sentence from these tests."""
    if module.name in {"core/localization.py", "core/errors.py"}:
        return
    for where, call in module.calls():
        if _name(call.func) in {"LocalizedText", "localization.LocalizedText"}:
            yield f"{where}: LocalizedText(...) made without say"
    for node in ast.walk(module.tree):
        if isinstance(node, ast.ImportFrom) and node.module == "dragoman.core.localization":
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
    if not module.name.startswith(SPEAKING_ROOMS) or module.name in MAY_WRITE_TEXT:
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
_TAKES_DATA = {"localize": 1, "localization.localize": 1, "join_texts": 1, "with_label": 0}
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
    return [use for module in modules() if module.name != "core/localization.py" for use in uses_in(module)]


def all_templates() -> list[Use]:
    return [*all_uses(), *(use for module in modules() for use in specs_in(module))]


def none_in_all_modules(rule: Callable[[Module], Iterator[str]]) -> None:
    require_none(fault for module in modules() for fault in rule(module))


def require_none(faults: Iterable[str]) -> None:
    """One line a fault, all of them: a cut list would be mended in as many runs as it has cuts."""
    found = list(faults)
    if found:
        pytest.fail("\n".join([f"{len(found)} found:", *found]), pytrace=False)


def test_every_template_is_a_literal_and_is_given_exactly_its_values() -> None:
    require_none(f"{use.where}: {fault}" for use in all_uses() for fault in faults_of(use))


def test_every_row_of_a_table_of_errors_has_literal_templates_and_shows_only_their_values() -> None:
    require_none(
        f"{where}: {fault}"
        for module in modules()
        for where, call in module.calls()
        if _name(call.func).endswith("ErrorSpec")
        for fault in faults_of_spec(call)
    )


def test_every_error_of_a_table_is_given_exactly_its_values() -> None:
    assert sum(map(len, error_tables().values())) > 100
    none_in_all_modules(lambda module: faults_of_made_errors(module, error_tables()))


def test_every_template_has_its_chinese() -> None:
    missing = [use for use in all_templates() if use.template is not None and use.template not in CHINESE]
    require_none(f"{use.where}: {use.template!r}" for use in missing)


@pytest.mark.parametrize("path", catalogue_files(), ids=lambda path: path.parts[-3])
def test_no_entry_of_a_catalogue_is_fuzzy_or_fails_its_checks(path: Path) -> None:
    entries = [entry for entry in catalogue(path) if entry.id]
    assert len(entries) > 1000
    require_none(f"fuzzy: {entry.id!r}" for entry in entries if entry.fuzzy)
    require_none(f"{fault}: {entry.id!r}" for entry in entries for fault in entry.check(catalogue(path)))


@pytest.mark.parametrize("path", catalogue_files(), ids=lambda path: path.parts[-3])
def test_each_catalogue_is_as_the_extraction_leaves_it(path: Path) -> None:
    """Otherwise: `python tools/catalogue.py update`."""
    written = {(entry.id, *sorted({name for name, _ in entry.locations})) for entry in catalogue(path) if entry.id}
    wanted = {(entry.id, *sorted({name for name, _ in entry.locations})) for entry in extracted() if entry.id}
    require_none(map(repr, sorted(written ^ wanted)))


def test_no_catalogue_keeps_an_unused_message() -> None:
    found = {use.template for use in all_templates()}
    require_none(repr(template) for template in CHINESE if template not in found)


def test_every_translation_is_chinese_with_the_same_placeholders() -> None:
    require_none(fault for pair in CHINESE.items() for fault in faults_of_translation(*pair))


def test_nothing_is_sent_under_another_name() -> None:
    none_in_all_modules(aliases_of_say)


def test_commands_and_the_daemon_print_no_words_past_say() -> None:
    none_in_all_modules(words_past_say)


def test_no_english_is_put_into_a_phrase_as_data() -> None:
    none_in_all_modules(words_in_values)


@pytest.mark.parametrize(
    "source",
    [
        "localize('{text}', text='locals:')",
        "localize('{text}', text=f'at: {place}')",
        "join_texts('  ', (name, 'unverified'))",
        "localize('{text}', text=one_line(f'problem: {it}'))",
        "with_label('stack', frames)",
    ],
)
def test_the_scan_sees_a_label_among_the_data(source: str) -> None:
    assert len(list(words_in_values(sample(source)))) == 1


@pytest.mark.parametrize("source", ["with_label(localize('stack'), frames)", "localize('{text}', text=f'  | {line}')"])
def test_the_scan_lets_data_and_labels_of_phrases_pass(source: str) -> None:
    assert list(words_in_values(sample(source))) == []


def test_errors_speak_through_say() -> None:
    none_in_all_modules(errors_past_say)


def sample(source: str, name: str = "cli/sample.py") -> Module:
    return Module(name, ast.parse(source))


@pytest.mark.parametrize(
    ("source", "fault"),
    [
        ("localize(f'hello {name}')", "not a literal"),
        ("localize(TEMPLATE)", "not a literal"),
        ("localize()", "not a literal"),
        ("localization.localize('a ' + b)", "not a literal"),
        ("localize('hello {name}')", "given [], wanted ['name']"),
        ("localize('hello', name=1)", "given ['name'], wanted []"),
        ("localize('hello {name}', **values)", "by name"),
        ("localize('hello {name}', 'x')", "by name"),
        ("localize('hello {}', name=1)", "wanted ['']"),
    ],
)
def test_the_scan_sees_a_phrase_that_cannot_be_translated(source: str, fault: str) -> None:
    (found,) = [fault for use in uses_in(sample(source)) for fault in faults_of(use)]
    assert fault in found


@pytest.mark.parametrize(
    ("source", "fault"),
    [
        ("ErrorSpec('code', TEXT)", "not literals"),
        ("ErrorSpec('code', 'hello', f'{x}')", "not literals"),
        ("ErrorSpec('code')", "not literals"),
        ("ErrorSpec('code', 'hello {name}', nam=str)", "nam is in no template"),
    ],
)
def test_the_scan_sees_a_row_that_cannot_be_translated(source: str, fault: str) -> None:
    (call,) = [call for _, call in sample(source).calls()]
    assert fault in next(faults_of_spec(call))


@pytest.mark.parametrize(
    ("source", "fault"),
    [
        ("gone()", "given [], wanted ['name']"),
        ("gone('x')", "by name"),
        ("gone(**values)", "by name"),
        ("gone(name=1, more=2)", "given ['more', 'name']"),
    ],
)
def test_the_scan_sees_an_error_with_other_values_than_its_row_names(source: str, fault: str) -> None:
    tables = {"dragoman.chat.errors": {"gone": frozenset({"name"})}}
    for text in (
        f"from dragoman.chat.errors import gone\n{source}",
        f"from dragoman.chat import errors\nerrors.{source}",
    ):
        (found,) = faults_of_made_errors(sample(text), tables)
        assert fault in found
    good = sample("from dragoman.chat.errors import gone\ngone(name=1)")
    assert list(faults_of_made_errors(good, tables)) == []


@pytest.mark.parametrize(
    "source", ["localize('hello {name}', name=localize('you'))", "localize('a '\n 'b')", "self.localize(x)"]
)
def test_the_scan_lets_a_good_phrase_pass(source: str) -> None:
    assert [fault for use in uses_in(sample(source)) for fault in faults_of(use)] == []


@pytest.mark.parametrize(
    "source",
    [
        "print('hello')",
        "show_message('hello ' + name)",
        "warn(f'hello {name}')",
        "sys.stderr.write('usage: {}'.format(name))",
        "sys.stdout.write(', hello '.join(names))",
        "show_message('yes' if ok else localize('no'))",
    ],
)
def test_the_scan_sees_words_printed_past_say(source: str) -> None:
    assert len(list(words_past_say(sample(source)))) == 1
    assert list(words_past_say(sample(source, "wire/sample.py"))) == []


@pytest.mark.parametrize(
    "source",
    [
        "show_message(localize('hello'))",
        "print(json.dumps(x, separators='abc') + '\\n')",
        "sys.stdout.write(f'{key}: {value}\\n')",
    ],
)
def test_the_scan_lets_data_and_phrases_be_printed(source: str) -> None:
    assert list(words_past_say(sample(source))) == []


def test_the_scan_sees_an_error_that_speaks_past_say() -> None:
    assert list(errors_past_say(sample("DragomanError('code', 'text')"))) == ["cli/sample.py:1: 'text'"]
    assert list(errors_past_say(sample("DragomanError('code', m, hint=f'do {x}')"))) == ["cli/sample.py:1: 'do '"]
    assert list(errors_past_say(sample("DragomanError('code', localize('text'), hint=hint)"))) == []


def test_the_scan_sees_a_second_name_for_say() -> None:
    assert len(list(aliases_of_say(sample("from dragoman.core.localization import localize as tr")))) == 1
    assert len(list(aliases_of_say(sample("LocalizedText('hello')")))) == 1


@pytest.mark.parametrize(
    ("english", "chinese"),
    [("hello", ""), ("hello", "hello"), ("hello {a}", "你好"), ("hello", "你好 {a}"), ("{a}", "{b}")],
)
def test_the_scan_sees_a_wrong_translation(english: str, chinese: str) -> None:
    assert len(list(faults_of_translation(english, chinese))) == 1


@pytest.mark.parametrize(("english", "chinese"), [("{a}: {b}", "{a}：{b}"), ("`x {a}`", "`x {a}`"), ("no", "不")])
def test_the_scan_lets_symbols_and_code_stay(english: str, chinese: str) -> None:
    assert list(faults_of_translation(english, chinese)) == []
