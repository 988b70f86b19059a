"""Every link in every Markdown file leads to a file that exists, and every anchor to a heading in it."""

from __future__ import annotations

import re
import subprocess
from functools import cache
from pathlib import Path
from urllib.parse import unquote

import pytest

ROOT = Path(__file__).parents[2]
_CODE = re.compile(r"^(```|~~~).*?^\1\s*$|`[^`\n]*`", re.DOTALL | re.MULTILINE)
_LINK = re.compile(r"\]\((?P<target>[^()\s]+)(?:\s+\"[^\"]*\")?\)")


def documents() -> list[Path]:
    """As git knows them: what is installed or built here is not ours."""
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "*.md"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return sorted(path for name in listed.stdout.splitlines() if (path := ROOT / name).is_file())


@cache
def anchors(document: Path) -> frozenset[str]:
    """The anchors that GitHub gives to the headings of a file."""
    text = re.sub(r"^```.*?^```\s*$", "", document.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    found: dict[str, int] = {}
    names = []
    for heading in re.findall(r"^#{1,6}\s+(.+?)\s*#*$", text, re.MULTILINE):
        words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
        slug = re.sub(r"[^\w\- ]", "", words).replace(" ", "-")
        count = found.get(slug, 0)
        found[slug] = count + 1
        names.append(slug if not count else f"{slug}-{count}")
    return frozenset(names)


def broken_links(document: Path, text: str) -> list[str]:
    broken = []
    for link in _LINK.finditer(_CODE.sub("", text)):
        target, _, anchor = unquote(link["target"]).partition("#")
        if re.match(r"[a-z]+:", target):
            continue
        file = (document.parent / target).resolve() if target else document
        if not file.exists() or not file.is_relative_to(ROOT):
            broken.append(f"{link['target']}: no such file")
        elif anchor and anchor not in anchors(file):
            broken.append(f"{link['target']}: no such heading")
    return broken


@pytest.mark.parametrize("document", documents(), ids=lambda path: str(path.relative_to(ROOT)))
def test_its_links_lead_somewhere(document: Path) -> None:
    assert broken_links(document, document.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("link", ["docs/nowhere.md", "README.md#nowhere", "#nowhere", "../outside.md"])
def test_a_broken_link_is_found(link: str) -> None:
    assert len(broken_links(ROOT / "README.md", f"See [it]({link}) and [this](README.md).")) == 1


def test_every_page_under_docs_is_reached_from_the_index() -> None:
    reached, open_pages = set(), [ROOT / "docs/README.md"]
    while open_pages:
        page = open_pages.pop()
        if page in reached or page.suffix != ".md":
            continue
        reached.add(page)
        targets = (
            unquote(it["target"]).partition("#")[0]
            for it in _LINK.finditer(_CODE.sub("", page.read_text(encoding="utf-8")))
        )
        open_pages += [(page.parent / it).resolve() for it in targets if it and "://" not in it]
    pages = {path for path in documents() if path.is_relative_to(ROOT / "docs")}
    assert sorted(str(path.relative_to(ROOT)) for path in pages - reached) == []
