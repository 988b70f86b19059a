"""Every component in the browser: each property set and bound, its action sent once, a picture in light and dark."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from playwright.sync_api import Browser, Locator, expect

from dragoman.canvas.catalogue import COMPONENT_NAMES
from dragoman.canvas.components import OWN_COMPONENTS
from dragoman.protocols.a2ui.catalogue import BASIC
from tests.page.agent import Agent
from tests.page.basic_rows import BASIC_ROWS
from tests.page.own_rows import OWN_ROWS
from tests.page.rows import Row
from tests.page.tab import Tab
from tests.servers.target_daemon import TargetDaemon

pytestmark = pytest.mark.needs("chromium", "page")

ROWS = [*BASIC_ROWS, *OWN_ROWS]


@pytest.fixture(scope="module")
def agent(daemon: TargetDaemon) -> Agent:
    return Agent.at(daemon)


@pytest.fixture(scope="module")
def canvas_tab(browser: Browser, daemon: TargetDaemon) -> Iterator[Tab]:
    context = browser.new_context(viewport={"width": 900, "height": 1500})
    tab = Tab.opened(context, daemon)
    tab.log_in()
    tab.show("Canvas")
    yield tab
    tab.assert_at_home()
    context.close()


@pytest.fixture(scope="module")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.getbasetemp() / "pictures"
    folder.mkdir(exist_ok=True)
    return folder


def shown(tab: Tab, name: str) -> Locator:
    tab.page.get_by_role("tab", name=name, exact=True).click()
    return tab.page.get_by_role("tabpanel", name=name, exact=True)


def properties_of(name: str) -> set[str]:
    if name in OWN_COMPONENTS:
        return {field.encode_name for field in msgspec.structs.fields(OWN_COMPONENTS[name].shape)}
    return {*BASIC[name], "weight", "accessibility"}


def test_the_table_has_every_component_with_every_property() -> None:
    assert sorted(row.type for row in ROWS) == sorted(COMPONENT_NAMES)
    for row in ROWS:
        drawn = [it for it in row.components() if it["id"].startswith("it") and it["component"] == row.type]
        assert set().union(*drawn) - {"id", "component"} == properties_of(row.type), row.type


UNBOUND = {"Divider"}
"""A line shows no data: neither of its properties can be bound."""

SILENT = {
    *("Text", "Markdown", "Image", "Icon", "Video", "AudioPlayer", "CodeBlock", "Terminal", "Progress", "Chart"),
    *("Card", "Tabs", "Divider"),
}
"""These have no action of their own."""


def test_the_table_binds_every_component_and_fires_every_action() -> None:
    for row in ROWS:
        is_bound = '"path"' in json.dumps([*row.drawn, *row.beside])
        assert is_bound == (row.type not in UNBOUND), row.type
        assert bool(row.changes and row.then_sees) == is_bound, row.type
        assert bool(row.acts) == (row.type not in SILENT), row.type
    for name, entry in OWN_COMPONENTS.items():
        (row,) = [row for row in ROWS if row.type == name]
        fired = {act.name for act in row.acts}
        assert fired == ({entry.event, "chosen"} if entry.event else set()), name  # its own, and the drawer's
        text = set().union(*(act.context for act in row.acts)) - {"run"}
        assert text == set(entry.action_fields), name


@pytest.mark.requirement(
    "canvas:catalogue:text",
    "canvas:catalogue:code-block",
    "canvas:catalogue:file-tree",
    "canvas:catalogue:file-tree-select",
    "canvas:catalogue:chart",
)
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.type)
def test_it_shows_its_properties_follows_its_data_and_reports_once(
    row: Row, agent: Agent, canvas_tab: Tab, pictures: Path
) -> None:
    agent.data_of("show_canvas", surface_id="it", title=row.type, components=row.components(), data=row.data)
    surface = shown(canvas_tab, row.type)
    for index in range(len(row.drawn)):
        group = surface.get_by_role("group", name=f"{row.type} {index}", exact=True)
        expect(group).to_have_css("flex-grow", "1")
    for step in row.sees:
        step(surface)
    if row.changes:
        agent.data_of("update_canvas", surface_id="it", changes=row.changes)
    for step in row.then_sees:
        step(surface)
    photograph(canvas_tab, surface, pictures / row.type)
    for act in row.acts:
        for step in act.steps:
            step(surface)
        assert agent.actions("it") == [(act.name, act.context)]
    assert agent.actions("it", within_s=0) == []


def photograph(tab: Tab, surface: Locator, path: Path) -> None:
    for scheme in ("light", "dark"):
        tab.page.emulate_media(color_scheme=scheme)
        surface.locator(".component").first.screenshot(path=f"{path}-{scheme}.png")


@pytest.mark.requirement("canvas:catalogue:unknown-placeholder")
def test_an_unknown_component_says_its_name_and_the_rest_is_there(
    agent: Agent, canvas_tab: Tab, pictures: Path
) -> None:
    components = [{"id": "g", "component": "Gauge", "value": 4}, {"id": "t", "component": "Text", "text": "the rest"}]
    answer = agent.data_of("show_canvas", surface_id="unknown", components=components)
    assert "Gauge" in answer["warnings"][0]
    surface = shown(canvas_tab, "unknown")
    expect(surface.locator("[data-type=Gauge]")).to_have_text("[Gauge: not yet implemented]")
    expect(surface).to_contain_text("the rest")
    photograph(canvas_tab, surface, pictures / "placeholder")


def _seed(name: str) -> list[dict[str, Any]]:
    button = {"id": "press", "type": "Button", "props": {"label": {"path": "/label"}}}
    return [
        {"type": "createSurface", "surface": {"id": name, "title": name}, "components": [button]},
        {"type": "updateDataModel", "surfaceId": name, "pointer": "/label", "value": "Press"},
    ]


def _v08(name: str) -> list[dict[str, Any]]:
    action = {"name": "onClick", "context": [{"key": "componentId", "value": {"literalString": "press"}}]}
    components = [
        {"id": "press", "component": {"Button": {"child": "label", "primary": True, "action": action}}},
        {"id": "label", "component": {"Text": {"text": {"path": "/label"}}}},
    ]
    contents = [{"key": "label", "valueString": "Press"}]
    return [
        {"surfaceUpdate": {"surfaceId": name, "components": components}},
        {"dataModelUpdate": {"surfaceId": name, "contents": contents}},
        {"beginRendering": {"surfaceId": name, "root": "press"}},
    ]


def _v09(name: str, version: str = "v0.9") -> list[dict[str, Any]]:
    action = {"event": {"name": "onClick", "context": {"componentId": "press"}}}
    components = [
        {"id": "root", "component": "Column", "children": ["press"]},
        {"id": "press", "component": "Button", "child": "label", "action": action},
        {"id": "label", "component": "Text", "text": {"path": "/label"}},
    ]
    return [
        {"version": version, "createSurface": {"surfaceId": name, "catalogId": "basic"}},
        {"version": version, "updateComponents": {"surfaceId": name, "components": components}},
        {"version": version, "updateDataModel": {"surfaceId": name, "value": {"label": "Press"}}},
    ]


DIALECTS: dict[str, Callable[[str], list[dict[str, Any]]]] = {
    "seed": _seed,
    "0.8": _v08,
    "0.9": _v09,
    "1.0": lambda name: _v09(name, "v1.0"),
}


@pytest.mark.requirement("canvas:catalogue:button", "canvas:catalogue:button-click")
@pytest.mark.parametrize("dialect", DIALECTS)
def test_each_dialect_is_drawn_and_its_button_says_which_it_was(dialect: str, agent: Agent, canvas_tab: Tab) -> None:
    name = f"in {dialect}"
    messages = DIALECTS[dialect](name)
    agent.data_of("show_canvas", surface_id=name, messages=messages)
    button = shown(canvas_tab, name).get_by_role("button", name="Press")
    button.click()
    assert agent.actions(name) == [("onClick", {"componentId": "press"})]
