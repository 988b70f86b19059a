"""The page draws every component that the catalogue offers to agents."""

from __future__ import annotations

import re
from pathlib import Path

from dragoman.canvas.catalogue import COMPONENT_NAMES

COMPONENTS = Path(__file__).parents[2] / "web" / "src" / "canvas" / "components"


def test_every_component_of_the_catalogue_has_its_file_in_the_page() -> None:
    sources = "".join(path.read_text() for path in COMPONENTS.glob("*.ts"))
    assert set(re.findall(r'\bdefine\(\s*"(\w+)"', sources)) == set(COMPONENT_NAMES)
