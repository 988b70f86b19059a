"""The page about A2UI names what the code has: every code of a refusal, every bound."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec

from dragoman.protocols import a2ui
from dragoman.protocols.a2ui import A2uiLimits

PAGE = (Path(__file__).parents[3] / "docs" / "protocols" / "a2ui.md").read_text()
SOURCE = "".join(path.read_text() for path in Path(a2ui.__file__).parent.glob("*.py"))


def test_every_code_of_a_refusal_is_on_the_page_and_no_other() -> None:
    raised = set(re.findall(r'(?:A2uiError|PointerError|GraphError)\(\s*"(\w+)"', SOURCE))
    result = PAGE.split("## Refusals")[1].split("Bounds")[0]
    assert raised == set(re.findall(r"`([a-z]+(?:_[a-z]+)+)`", result))


def test_the_numbers_of_the_bounds_are_on_the_page() -> None:
    result = PAGE.split("Bounds")[1].split("##")[0]
    for value in msgspec.structs.asdict(A2uiLimits()).values():
        assert f"{value:,}" in result or f"{value >> 20} MiB" in result
