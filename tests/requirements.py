"""The requirements manifest: reading it, the rules it keeps, and which test names which requirement.

`python -m tests.requirements report` prints what is proved, what is pending, and which lines ask for nothing.
"""

from __future__ import annotations

import ast
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import msgspec

ROOT = Path(__file__).parent
MANIFEST = ROOT / "requirements.toml"
AREAS = ("wire", "foundation", "debug", "lua", "terminal", "chat", "canvas", "page", "vscode", "evidence")

_WORD = r"[a-z0-9]+(?:-[a-z0-9]+)*"
_ID = re.compile(rf"{_WORD}:{_WORD}:{_WORD}")
_SPAN = re.compile(r"([1-9]\d*)(?:-([1-9]\d*))?")


class Document(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One of the documents that asked for the product; its text is not part of the repository."""

    number: str
    title: str
    line_count: int


class Requirement(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One testable demand, and the lines it comes from (`"000:35-37"`)."""

    id: str
    cites: list[str]
    text: str
    area: str
    pending: bool = False
    sentence: str = ""
    note: str = ""


class Uncited(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Lines of a document that ask for nothing (`"1, 3-5"`), and why."""

    document: str
    lines: str
    why: str


class Manifest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    documents: list[Document] = msgspec.field(name="document")
    requirements: list[Requirement] = msgspec.field(name="requirement", default_factory=list)
    uncited: list[Uncited] = msgspec.field(default_factory=list)


class Naming(NamedTuple):
    """A place in the tests that names requirements, or that tried to and may not."""

    place: str
    ids: tuple[str, ...]
    fault: str = ""


def read(text: str) -> Manifest:
    return msgspec.toml.decode(text, type=Manifest)


def load() -> Manifest:
    return read(MANIFEST.read_text(encoding="utf-8"))


def sentence(name: str) -> str:
    """The exact words that the document of a requirement gives, for a test to compare with."""
    words = next(requirement.sentence for requirement in load().requirements if requirement.id == name)
    assert words, f"{name} has no exact words"
    return words


# The manifest's own rules


def manifest_faults(manifest: Manifest) -> list[str]:
    """Every way in which the manifest is not what it claims to be; empty when all is well."""
    return [
        *_repeated("document", (document.number for document in manifest.documents)),
        *_repeated("requirement", (requirement.id for requirement in manifest.requirements)),
        *(fault for requirement in manifest.requirements for fault in _requirement_faults(requirement)),
        *(f"uncited {entry.document}:{entry.lines}: no reason" for entry in manifest.uncited if not entry.why),
        *(fault for where, cite in _all_cites(manifest) for fault in _cite_faults(manifest, where, cite)),
        *_line_faults(manifest),
    ]


def _repeated(what: str, names: Iterable[str]) -> list[str]:
    return [f"{what} {name}: given {count} times" for name, count in Counter(names).items() if count > 1]


def _requirement_faults(requirement: Requirement) -> Iterator[str]:
    if not _ID.fullmatch(requirement.id):
        yield f"requirement {requirement.id}: an id is area:topic:name in lower case, digits and hyphens"
    if requirement.area not in AREAS:
        yield f"requirement {requirement.id}: unknown area {requirement.area!r}"
    if not requirement.text:
        yield f"requirement {requirement.id}: no text"
    if not requirement.cites:
        yield f"requirement {requirement.id}: cites no line"


def _all_cites(manifest: Manifest) -> Iterator[tuple[str, str]]:
    for requirement in manifest.requirements:
        yield from ((f"requirement {requirement.id}", cite) for cite in requirement.cites)
    for entry in manifest.uncited:
        yield from ((f"uncited {entry.document}", cite) for cite in _uncited_cites(entry))


def _uncited_cites(entry: Uncited) -> list[str]:
    return [f"{entry.document}:{span.strip()}" for span in entry.lines.split(",")]


def _cite_faults(manifest: Manifest, where: str, cite: str) -> Iterator[str]:
    number, _, span = cite.partition(":")
    line_counts = {document.number: document.line_count for document in manifest.documents}
    match = _SPAN.fullmatch(span)
    if match is None:
        yield f"{where}: {cite!r} is not document:line or document:first-last"
    elif number not in line_counts:
        yield f"{where}: {cite!r} names no known document"
    elif not int(match[1]) <= int(match[2] or match[1]) <= line_counts[number]:
        yield f"{where}: {cite!r} lies outside of the {line_counts[number]} lines of the document"


def _line_faults(manifest: Manifest) -> Iterator[str]:
    cited = lines_of(cite for requirement in manifest.requirements for cite in requirement.cites)
    explained = lines_of(cite for entry in manifest.uncited for cite in _uncited_cites(entry))
    for document in manifest.documents:
        every = {(document.number, line) for line in range(1, document.line_count + 1)}
        yield from (f"line {n}:{line}: neither cited nor explained" for n, line in sorted(every - cited - explained))
        yield from (f"line {n}:{line}: cited, and called uncited" for n, line in sorted(every & cited & explained))


def lines_of(cites: Iterable[str]) -> set[tuple[str, int]]:
    """The (document, line) pairs of some cites; malformed ones are another rule's business."""
    lines: set[tuple[str, int]] = set()
    for cite in cites:
        number, _, span = cite.partition(":")
        if match := _SPAN.fullmatch(span):
            lines.update((number, line) for line in range(int(match[1]), int(match[2] or match[1]) + 1))
    return lines


# What the tests name


def namings(root: Path = ROOT) -> list[Naming]:
    """Every `pytest.mark.requirement(...)` of the tests below `root`, found without running them."""
    return [
        naming
        for path in sorted(root.rglob("test_*.py"))
        for naming in namings_in(path.read_text(encoding="utf-8"), path.relative_to(root).as_posix())
    ]


def namings_in(source: str, name: str) -> list[Naming]:
    if "requirement" not in source:
        return []
    tree = ast.parse(source, filename=name)
    calls = {node.func: node for node in ast.walk(tree) if isinstance(node, ast.Call)}
    idle = _idle_nodes(tree)
    return [
        _naming(calls.get(node), f"{name}:{node.lineno}", idle.get(node, ""))
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and _is_mark(node, "requirement")
    ]


def _naming(call: ast.Call | None, place: str, fault: str) -> Naming:
    if call is None:
        return Naming(place, (), "the mark is called where it stands, so that its names can be read")
    literals = [arg.value for arg in call.args if isinstance(arg, ast.Constant) and isinstance(arg.value, str)]
    if call.keywords or not literals or len(literals) != len(call.args):
        return Naming(place, (), "requirements are named by literal strings, at least one")
    return Naming(place, tuple(literals) if not fault else (), fault)


def _idle_nodes(tree: ast.Module) -> dict[ast.AST, str]:
    """Where a mark proves nothing, and why: on what is no test, and on or within what is not run or may fail."""
    idle: dict[ast.AST, str] = {}
    for node in ast.walk(tree):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        marked = [part for mark in node.decorator_list for part in ast.walk(mark)]
        if not _is_test(node):
            idle |= dict.fromkeys(marked, f"{node.name} is not a test")
        elif any(_is_mark(part, "skip", "xfail") for part in marked):
            idle |= dict.fromkeys(ast.walk(node), f"{node.name} is skipped or expected to fail, which proves nothing")
    return idle


def _is_test(node: ast.stmt) -> bool:
    if isinstance(node, ast.ClassDef):
        return node.name.startswith("Test") and any(_is_test(part) for part in node.body)
    return isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test")


def _is_mark(node: ast.AST, *names: str) -> bool:
    return isinstance(node, ast.Attribute) and node.attr in names and ast.unparse(node.value).endswith("mark")


# Both together


def proof_faults(manifest: Manifest, found: Iterable[Naming]) -> list[str]:
    """Where manifest and tests disagree: an unknown id, a demand without a test, a proved one called pending."""
    found = list(found)
    proofs = proofs_of(found)
    known = {requirement.id for requirement in manifest.requirements}
    return [
        *(f"{naming.place}: {naming.fault}" for naming in found if naming.fault),
        *(f"{places[0]}: unknown requirement {name}" for name, places in proofs.items() if name not in known),
        *(fault for requirement in manifest.requirements for fault in _proof_faults(requirement, proofs)),
    ]


def proofs_of(found: Iterable[Naming]) -> dict[str, list[str]]:
    proofs: dict[str, list[str]] = {}
    for naming in found:
        for name in naming.ids:
            proofs.setdefault(name, []).append(naming.place)
    return proofs


def _proof_faults(requirement: Requirement, proofs: Mapping[str, list[str]]) -> Iterator[str]:
    places = proofs.get(requirement.id)
    if places is None and not requirement.pending:
        yield f"requirement {requirement.id}: no test names it, and it is not pending"
    if places is not None and requirement.pending:
        yield f"requirement {requirement.id}: {places[0]} proves it, so it is no longer pending"


# The report


def report(manifest: Manifest) -> str:
    return "\n".join([*_area_table(manifest), "", *_document_table(manifest), "", *_uncited_list(manifest)])


def _area_table(manifest: Manifest) -> Iterator[str]:
    proved = Counter(requirement.area for requirement in manifest.requirements if not requirement.pending)
    pending = Counter(requirement.area for requirement in manifest.requirements if requirement.pending)
    yield f"{'area':<12}{'proved':>8}{'pending':>9}{'all':>6}"
    for area in AREAS:
        yield f"{area:<12}{proved[area]:>8}{pending[area]:>9}{proved[area] + pending[area]:>6}"
    yield f"{'all':<12}{proved.total():>8}{pending.total():>9}{len(manifest.requirements):>6}"


def _document_table(manifest: Manifest) -> Iterator[str]:
    cited = lines_of(cite for requirement in manifest.requirements for cite in requirement.cites)
    for document in manifest.documents:
        count = sum(number == document.number for number, _ in cited)
        yield f"{document.number}  {count} of {document.line_count} lines cited  {document.title}"


def _uncited_list(manifest: Manifest) -> Iterator[str]:
    yield "lines that ask for nothing"
    for entry in manifest.uncited:
        yield f"{entry.document}:{entry.lines}  {entry.why}"


def main(arguments: list[str]) -> int:
    if arguments != ["report"]:
        print("usage: python -m tests.requirements report", file=sys.stderr)
        return 2
    manifest = load()
    print(report(manifest))
    faults = [*manifest_faults(manifest), *proof_faults(manifest, namings())]
    for fault in faults:
        print(f"fault: {fault}", file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
