"""The tree keeps the promises of ARCHITECTURE.md: names that explain themselves, small folders, files where it says."""

from __future__ import annotations

import ast
import functools
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "dragoman"
TESTS = ROOT / "tests"
# Tests of the whole product; every other folder with tests is named after one of the package.
CROSS_CUTTING = {
    "bench",
    "conformance",
    "data",
    "e2e",
    "fuzz",
    "lua",
    "openclaw",
    "page",
    "programs",
    "reach",
    "support",
    "vectors",
    "vscode",
}
# Put together and tested as a whole in tests/e2e.
TESTED_WHOLE = {"daemon"}
MOST_MODULES = 18
MOST_LINES = 500
MOST_TERMS = 40
# Nouns of the field that end like a gerund.
NOUNS = {"framing", "recording", "wiring", "string", "setting", "nesting"}
# Names that need a legend.
DIALECT = re.compile(
    r"(?:^|_)(?:told|tells?|teller|hears?|heard|wish|wishes|visits?|visitors?|guests?|lives|latecomers?|chronicle|"
    r"convoy|patient|pulse|said|says|wished|let_go)(?:_|$)|Wish|Visit|Guest|Lives|Found|Told|Chronicle|Convoy|Patient|Teller|Hearing"
)
# What others rely on: columns on disk, and fields of results.
KEPT = {
    f"src/dragoman/{place}"
    for place in (
        "terminal/model.py: line_told",
        "terminal/record/command_store.py: line_told",
        "tools/canvas/components.py: tells",
        "tools/debug/results.py: debugger_says",
    )
}
# Programs under test, and samples of other people's code.
EXAMPLES = {"data", "programs", "bugs"}
# Each protocol package has its own; the protocols give these names.
PROTOCOL_NAMES = {
    "ClientConnection",
    "Closed",
    "Connection",
    "Event",
    "Request",
    "RequestReceived",
    "Response",
    "ServerConnection",
}


@functools.cache
def modules() -> dict[Path, ast.Module]:
    return {path.relative_to(PACKAGE): ast.parse(path.read_bytes()) for path in sorted(PACKAGE.rglob("*.py"))}


def document() -> str:
    return (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")


def glossary() -> list[list[str]]:
    table = document().split("## Glossary", 1)[1].split("\n## ", 1)[0]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines() if line[:1] == "|"]
    return rows[2:]


def named_paths() -> set[str]:
    return set(re.findall(r"`((?:[a-z_0-9*]+/)+[a-z_0-9.]*)`", document()))


def names(tree: ast.Module) -> Iterator[str]:
    """Every class, function, argument, variable and attribute that a file names."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.attr


@pytest.mark.parametrize("path", sorted(named_paths()))
def test_every_file_that_the_document_names_exists(path: str) -> None:
    assert any(any(root.glob(path)) for root in (PACKAGE, ROOT))


def test_the_glossary_is_short_and_sorted() -> None:
    terms = [row[0] for row in glossary()]
    assert 20 < len(terms) <= MOST_TERMS
    assert terms == sorted(terms)


def test_a_folder_reads_like_a_table_of_contents() -> None:
    count = Counter(path.parent for path in modules() if path.name != "__init__.py")
    assert {str(folder): number for folder, number in count.items() if number > MOST_MODULES} == {}


def test_every_folder_of_modules_is_a_package() -> None:
    """import-linter does not look into a folder without `__init__.py`: its modules would be bound by no contract."""
    folders = {path.parent for path in modules()}
    assert sorted(str(folder) for folder in folders if folder / "__init__.py" not in modules()) == []


def test_the_tests_are_laid_out_like_the_package() -> None:
    packages = {path.parent for path in modules()}
    folders = {path.parent.relative_to(TESTS) for path in TESTS.rglob("test_*.py")} - {Path()}
    mirrored = {folder for folder in folders if folder.parts[0] not in CROSS_CUTTING}
    assert sorted(map(str, mirrored - packages)) == []
    tested = {folder.parts[0] for folder in mirrored} | TESTED_WHOLE
    assert sorted({package.parts[0] for package in packages if package.parts} - tested) == []


def test_no_module_is_too_long_to_read() -> None:
    lines = {str(path): (PACKAGE / path).read_text(encoding="utf-8").count("\n") for path in modules()}
    assert {path: number for path, number in lines.items() if number > MOST_LINES} == {}


def test_a_class_name_means_one_thing() -> None:
    found = defaultdict(list)
    for path, tree in modules().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef) and node.name not in PROTOCOL_NAMES:
                found[node.name].append(str(path))
    assert {name: paths for name, paths in found.items() if len(paths) > 1} == {}


def test_modules_are_nouns() -> None:
    gerunds = [path for path in modules() if re.search(r"ing$", path.stem.split("_")[-1])]
    assert [str(path) for path in gerunds if path.stem.split("_")[-1] not in NOUNS] == []


def test_no_name_of_a_module_or_class_needs_a_legend() -> None:
    classes = {node.name for tree in modules().values() for node in ast.walk(tree) if isinstance(node, ast.ClassDef)}
    assert sorted(name for name in {path.stem for path in modules()} | classes if DIALECT.search(name)) == []


@pytest.mark.parametrize("folder", ["src/dragoman", "tests", "bench", "tools"])
def test_no_name_needs_a_legend(folder: str) -> None:
    """A test's own name is a sentence: there, a sentence may say that a message says something."""
    faults = set()
    for path in sorted((ROOT / folder).rglob("*.py")):
        if not EXAMPLES & set(path.relative_to(ROOT / folder).parts):
            found = {name for name in names(ast.parse(path.read_bytes())) if not name.startswith("test_")}
            faults |= {f"{path.relative_to(ROOT)}: {name}" for name in found if DIALECT.search(name)}
    assert sorted(faults - KEPT) == []
