"""Update and compile the message catalogues in `locale/`.

    python tools/catalogue.py update     extract the messages from the source and merge them into the .po files
    python tools/catalogue.py compile    write the .mo files that the package reads

Needs Babel, which the development and build requirements bring; `is_compiled` needs the standard library alone.
A translator edits the .po files with any gettext tool.
"""

from __future__ import annotations

import ast
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from babel.messages.catalog import Catalog

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" / "dragoman"
CATALOGUES = ROOT / "locale"
COMPILED = SOURCE / "locale"
# The calls that take templates, and where among their arguments these stand.
_SPECS = ("ErrorSpec", "LaunchErrorSpec", "ModelErrorSpec", "ShareErrorSpec", "UsageErrorSpec")
KEYWORDS = {"localize": (0,)} | dict.fromkeys(_SPECS, (1, 2))


def main() -> None:
    command = sys.argv[1] if len(sys.argv) > 1 else ""
    if command not in COMMANDS:
        sys.exit(__doc__)
    COMMANDS[command]()


def update() -> None:
    from babel.messages.pofile import write_po

    template = extracted()
    for path in catalogue_files():
        catalogue = read(path)
        template.creation_date = catalogue.creation_date  # else every update would change every file
        # No guesses: a similar sentence is not the same sentence, and a fuzzy entry is refused by the tests anyway.
        catalogue.update(template, no_fuzzy_matching=True)
        catalogue.obsolete.clear()
        with path.open("wb") as file:
            write_po(file, catalogue, sort_output=True, width=0, include_lineno=False)


def compile_all() -> None:
    from babel.messages.mofile import write_mo

    for path in catalogue_files():
        compiled(path).parent.mkdir(parents=True, exist_ok=True)
        with compiled(path).open("wb") as file:
            write_mo(file, read(path))


def is_compiled() -> bool:
    return all(
        compiled(path).exists() and compiled(path).stat().st_mtime >= path.stat().st_mtime for path in catalogue_files()
    )


def compiled(path: Path) -> Path:
    return COMPILED / path.relative_to(CATALOGUES).with_suffix(".mo")


def extracted() -> Catalog:
    """Every message of the source, with the files that it stands in.

    Babel's own extractor reads tokens, so it misses a call inside an f-string.
    """
    from babel.messages.catalog import Catalog

    found = Catalog(project="Dragoman", charset="utf-8")
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_bytes())):
            for template in templates_of(node):
                found.add(str(template.value), locations=[(path.relative_to(ROOT).as_posix(), 0)])
    return found


def templates_of(node: ast.AST) -> Iterator[ast.Constant]:
    """The literal templates of a call that takes some."""
    if not isinstance(node, ast.Call):
        return
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    for place in KEYWORDS.get(name, ()):
        given = node.args[place] if place < len(node.args) else None
        if isinstance(given, ast.Constant) and isinstance(given.value, str) and given.value:
            yield given


def read(path: Path) -> Catalog:
    from babel.messages.pofile import read_po

    with path.open("rb") as file:
        return read_po(file, locale=path.relative_to(CATALOGUES).parts[0])


def catalogue_files() -> Iterator[Path]:
    return iter(sorted(CATALOGUES.glob("*/LC_MESSAGES/dragoman.po")))


COMMANDS = {"update": update, "compile": compile_all}

if __name__ == "__main__":
    main()
