"""Each component of ours can be drawn as its example shows, and its schema says what it takes."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from dragoman.canvas.catalogue import COMPONENT_NAMES, schema_of
from dragoman.canvas.components import OWN_COMPONENTS
from dragoman.protocols.a2ui.catalogue import BASIC
from tests.canvas.canvas_fixture import studio
from tests.canvas.test_service import WORK, surface

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("name", OWN_COMPONENTS)
async def test_the_example_is_drawn(tmp_path: Path, name: str) -> None:
    async with studio(tmp_path) as (canvas, _):
        (shown,) = await canvas.draw(
            "a", WORK, surface("s", {"id": "root", "component": name, **OWN_COMPONENTS[name].example})
        )
        assert shown.surface.components["root"].type == name


@pytest.mark.parametrize("name", OWN_COMPONENTS)
def test_the_schema_names_every_property_of_the_example_and_says_what_it_is_for(name: str) -> None:
    schema = schema_of(name)
    properties = schema["$defs"][name]["properties"]
    assert set(OWN_COMPONENTS[name].example) <= set(properties)
    assert len(OWN_COMPONENTS[name].about) > 20
    assert len(msgspec.json.encode(schema)) < 8_000


def test_what_the_documents_name_is_there() -> None:
    assert set(BASIC) <= set(COMPONENT_NAMES)
    assert len(BASIC) == 18
    assert {"CodeBlock", "FileTree", "Chart", "Confirm", "Markdown", "Diff", "Table", "Terminal", "Progress"} <= set(
        OWN_COMPONENTS
    )
    assert {"VariableTree", "StackTrace", "Timeline", "Form"} <= set(OWN_COMPONENTS)
