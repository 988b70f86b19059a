"""What tests draw on the canvas: every component there is, with what they say taken from one place."""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]


def every_component(text: str, address: str = "https://elsewhere.example/x.png") -> list[Json]:
    """Each one once, `text` in every field that shows a text."""
    prose = f"# Findings\n\n- {text}\n\n[link]({address}) ![picture]({address})\n\n```\n{text}\n```"
    output = f"$ make test\n\x1b[32mok\x1b[0m {text}\n\x1b[31mfailed\x1b[0m\n"
    texts = {"path": text, "original": f"a\n{text}\nb\n", "modified": f"a\nc {text}\nb\n"}
    frame = {"function": text, "file": text, "line": 3, "isOwn": True}
    variable = {"name": text, "value": text, "type": text, "children": [{"name": text, "value": text}]}
    inside: list[Json] = [
        {"component": "Text", "text": text},
        {"component": "Text", "text": text, "variant": "h2"},
        {"component": "Markdown", "text": prose},
        {"component": "Image", "url": address, "description": text},
        {"component": "Video", "url": address},
        {"component": "AudioPlayer", "url": address, "description": text},
        {"component": "Icon", "name": text},
        {"component": "Divider"},
        {"component": "TextField", "label": text, "value": text, "placeholder": text},
        {"component": "TextField", "label": text, "value": text, "variant": "longText"},
        {"component": "CheckBox", "label": text, "value": True},
        {"component": "ChoicePicker", "label": text, "options": [{"label": text, "value": text}], "value": [text]},
        {"component": "Slider", "label": text, "min": 0, "max": 10, "value": 4},
        {"component": "DateTimeInput", "label": text, "value": "2026-03-04", "enableDate": True},
        {"component": "CodeBlock", "code": f"{text}\n{text}\n", "title": text, "marked": [2]},
        {"component": "FileTree", "items": [f"src/{text.replace('/', '_')}", "README.md"]},
        {"component": "Confirm", "message": text, "confirmLabel": text},
        {"component": "Diff", **texts, "decides": True},
        {"component": "Table", "columns": [{"key": "name", "title": text}, {"key": "ms", "align": "end"}],
         "rows": [{"name": text, "ms": 12}, {"name": "second", "ms": 3}], "caption": text},
        {"component": "Chart", "kind": "line", "x": ["Mon", "Tue", text], "title": text,
         "series": [{"name": text, "values": [1, 14, 9]}, {"name": "other", "values": [4, None, 6]}]},
        {"component": "Chart", "kind": "bar", "series": [{"name": text, "values": [3, 5, -2]}]},
        {"component": "Chart", "kind": "scatter", "x": [1, 2, 5], "series": [{"name": text, "values": [3, 5, 2]}]},
        {"component": "Terminal", "text": output, "title": text},
        {"component": "Progress", "label": text, "value": 0.4},
        {"component": "VariableTree", "variables": [variable], "title": text},
        {"component": "StackTrace", "frames": [frame], "title": text},
        {"component": "Timeline", "items": [{"at": text, "title": text, "text": text, "state": "failed"}]},
        {"component": "Form", "title": text, "fields": [
            {"name": "a", "label": text, "help": text, "required": True},
            {"name": "b", "label": text, "kind": "choice", "options": [text]},
            {"name": "c", "label": text, "kind": "choices", "options": [text]},
            {"name": "d", "label": text, "kind": "yes_no"}, {"name": "e", "kind": "secret"}]},
    ]  # fmt: skip
    numbered = [{"id": f"c{index}", **component} for index, component in enumerate(inside)]
    return [*numbered, *_holders([component["id"] for component in numbered], text)]


def _holders(ids: list[str], text: str) -> list[Json]:
    return [
        {"id": "root", "component": "Column", "children": ["row", "tabs", "list", "modal", "card"]},
        {"id": "row", "component": "Row", "children": ["press"]},
        {"id": "press", "component": "Button", "child": "press-text", "action": {"event": {"name": "pressed"}}},
        {"id": "press-text", "component": "Text", "text": text},
        {"id": "tabs", "component": "Tabs", "tabs": [{"title": text, "child": "in-tab"}]},
        {"id": "in-tab", "component": "Text", "text": text},
        {"id": "list", "component": "List", "children": ids},
        {"id": "modal", "component": "Modal", "trigger": "modal-trigger", "content": "modal-content"},
        {"id": "modal-trigger", "component": "Text", "text": text},
        {"id": "modal-content", "component": "Text", "text": text},
        {"id": "card", "component": "Card", "child": "in-card"},
        {"id": "in-card", "component": "Text", "text": text},
    ]
