"""What tests draw on the canvas: every component there is, with what they say taken from one place."""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]


def every_component(said: str, address: str = "https://elsewhere.example/x.png") -> list[Json]:
    """Each one once, `said` in every field that shows a text."""
    prose = f"# Findings\n\n- {said}\n\n[link]({address}) ![picture]({address})\n\n```\n{said}\n```"
    output = f"$ make test\n\x1b[32mok\x1b[0m {said}\n\x1b[31mfailed\x1b[0m\n"
    texts = {"path": said, "original": f"a\n{said}\nb\n", "modified": f"a\nc {said}\nb\n"}
    frame = {"function": said, "file": said, "line": 3, "isOwn": True}
    variable = {"name": said, "value": said, "type": said, "children": [{"name": said, "value": said}]}
    inside: list[Json] = [
        {"component": "Text", "text": said},
        {"component": "Text", "text": said, "variant": "h2"},
        {"component": "Markdown", "text": prose},
        {"component": "Image", "url": address, "description": said},
        {"component": "Video", "url": address},
        {"component": "AudioPlayer", "url": address, "description": said},
        {"component": "Icon", "name": said},
        {"component": "Divider"},
        {"component": "TextField", "label": said, "value": said, "placeholder": said},
        {"component": "TextField", "label": said, "value": said, "variant": "longText"},
        {"component": "CheckBox", "label": said, "value": True},
        {"component": "ChoicePicker", "label": said, "options": [{"label": said, "value": said}], "value": [said]},
        {"component": "Slider", "label": said, "min": 0, "max": 10, "value": 4},
        {"component": "DateTimeInput", "label": said, "value": "2026-03-04", "enableDate": True},
        {"component": "CodeBlock", "code": f"{said}\n{said}\n", "title": said, "marked": [2]},
        {"component": "FileTree", "items": [f"src/{said.replace('/', '_')}", "README.md"]},
        {"component": "Confirm", "message": said, "confirmLabel": said},
        {"component": "Diff", **texts, "decides": True},
        {"component": "Table", "columns": [{"key": "name", "title": said}, {"key": "ms", "align": "end"}],
         "rows": [{"name": said, "ms": 12}, {"name": "second", "ms": 3}], "caption": said},
        {"component": "Chart", "kind": "line", "x": ["Mon", "Tue", said], "title": said,
         "series": [{"name": said, "values": [1, 14, 9]}, {"name": "other", "values": [4, None, 6]}]},
        {"component": "Chart", "kind": "bar", "series": [{"name": said, "values": [3, 5, -2]}]},
        {"component": "Chart", "kind": "scatter", "x": [1, 2, 5], "series": [{"name": said, "values": [3, 5, 2]}]},
        {"component": "Terminal", "text": output, "title": said},
        {"component": "Progress", "label": said, "value": 0.4},
        {"component": "VariableTree", "variables": [variable], "title": said},
        {"component": "StackTrace", "frames": [frame], "title": said},
        {"component": "Timeline", "items": [{"at": said, "title": said, "text": said, "state": "failed"}]},
        {"component": "Form", "title": said, "fields": [
            {"name": "a", "label": said, "help": said, "required": True},
            {"name": "b", "label": said, "kind": "choice", "options": [said]},
            {"name": "c", "label": said, "kind": "choices", "options": [said]},
            {"name": "d", "label": said, "kind": "yes_no"}, {"name": "e", "kind": "secret"}]},
    ]  # fmt: skip
    numbered = [{"id": f"c{index}", **component} for index, component in enumerate(inside)]
    return [*numbered, *_holders([component["id"] for component in numbered], said)]


def _holders(ids: list[str], said: str) -> list[Json]:
    return [
        {"id": "root", "component": "Column", "children": ["row", "tabs", "list", "modal", "card"]},
        {"id": "row", "component": "Row", "children": ["press"]},
        {"id": "press", "component": "Button", "child": "press-text", "action": {"event": {"name": "pressed"}}},
        {"id": "press-text", "component": "Text", "text": said},
        {"id": "tabs", "component": "Tabs", "tabs": [{"title": said, "child": "in-tab"}]},
        {"id": "in-tab", "component": "Text", "text": said},
        {"id": "list", "component": "List", "children": ids},
        {"id": "modal", "component": "Modal", "trigger": "modal-trigger", "content": "modal-content"},
        {"id": "modal-trigger", "component": "Text", "text": said},
        {"id": "modal-content", "component": "Text", "text": said},
        {"id": "card", "component": "Card", "child": "in-card"},
        {"id": "in-card", "component": "Text", "text": said},
    ]
