"""The basic catalogue of A2UI, a row each."""

from __future__ import annotations

import base64
import struct
import zlib

from tests.page.rows import (
    Json,
    Row,
    act,
    attribute,
    bound,
    caption,
    checked,
    click,
    contains,
    count,
    fill,
    has_class,
    press,
    style,
    text,
    value,
)

ELSEWHERE = "https://elsewhere.example/film"


def picture(width: int, height: int, *, claims: int = 0) -> str:
    """A PNG in one colour, as an agent would send a plot; it may claim to be larger than it is."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    size = struct.pack(">IIBBBBB", claims or width, claims or height, 8, 2, 0, 0, 0)
    lines = zlib.compress((b"\0" + b"\x0b\x6e\x69" * width) * height)
    png = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", size) + chunk(b"IDAT", lines) + chunk(b"IEND", b"")
    return f"data:image/png;base64,{base64.b64encode(png).decode()}"


def _act(name: str, **context: object) -> Json:
    return {"event": {"name": name, "context": context}}


_REQUIRED = {"condition": {"call": "required", "args": {"value": bound("/value")}}, "message": "Say something."}
_ITEMS = {"componentId": "item", "path": "/items"}
_ITEM = {"id": "item", "component": "Button", "child": "item-name", "action": _act("picked", who=bound("name"))}
_ITEM_NAME = {"id": "item-name", "component": "Text", "text": bound("name")}
_PAIR = {"items": [{"name": "Ada"}, {"name": "Grace"}]}
_TRIPLE = {"/items/2": {"name": "Barbara"}}
_NAMES = ".component [data-type=Button] .prose"

LAYOUT = [
    Row(
        type="Row",
        drawn=[
            {"children": _ITEMS, "justify": "spaceBetween", "align": "center"},
            {"children": ["x"], "justify": "end"},
        ],
        beside=[_ITEM, _ITEM_NAME, caption("x", "at the end")],
        data=_PAIR,
        sees=[
            text(_NAMES, "Ada", "Grace"),
            style(".row", "justify-content", "space-between"),
            style(".row", "align-items", "center"),
        ],
        changes=_TRIPLE,
        then_sees=[text(_NAMES, "Ada", "Grace", "Barbara")],
        acts=[act("picked", {"who": "Grace"}, click("button:has-text('Grace')"))],
    ),
    Row(
        type="Column",
        drawn=[{"children": _ITEMS, "justify": "center", "align": "end"}],
        beside=[_ITEM, _ITEM_NAME],
        data=_PAIR,
        sees=[
            text(_NAMES, "Ada", "Grace"),
            style(".column .column", "align-items", "flex-end"),
            style(".column .column", "justify-content", "center"),
        ],
        changes=_TRIPLE,
        then_sees=[text(_NAMES, "Ada", "Grace", "Barbara")],
        acts=[act("picked", {"who": "Barbara"}, click("button:has-text('Barbara')"))],
    ),
    Row(
        type="List",
        drawn=[{"children": _ITEMS, "direction": "horizontal", "align": "center"}, {"children": ["x"]}],
        beside=[_ITEM, _ITEM_NAME, caption("x", "one below the other")],
        data=_PAIR,
        sees=[
            text(_NAMES, "Ada", "Grace"),
            has_class("[role=list]", "row"),
            style("[role=list]", "align-items", "center"),
        ],
        changes=_TRIPLE,
        then_sees=[text(_NAMES, "Ada", "Grace", "Barbara")],
        acts=[act("picked", {"who": "Ada"}, click("button:has-text('Ada')"))],
    ),
    Row(
        type="Card",
        drawn=[{"child": "inside"}],
        beside=[caption("inside", bound("/words"))],
        data={"words": "in a card"},
        sees=[text(".card small", "in a card")],
        changes={"/words": "changed"},
        then_sees=[text(".card small", "changed")],
    ),
    Row(
        type="Tabs",
        drawn=[{"tabs": [{"title": bound("/first"), "child": "one"}, {"title": "Second", "child": "two"}]}],
        beside=[caption("one", "the first"), caption("two", "the second")],
        data={"first": "First"},
        sees=[text("[role=tab]", "First", "Second"), text("[role=tabpanel] small", "the first")],
        changes={"/first": "Renamed"},
        then_sees=[
            text("[role=tab]", "Renamed", "Second"),
            press("[role=tab]", "ArrowRight"),
            text("[role=tabpanel] small", "the second"),
        ],
    ),
    Row(
        type="Modal",
        drawn=[{"trigger": "open", "content": "inner"}],
        beside=[
            caption("open", "Open it"),
            {"id": "inner", "component": "Button", "child": "inner-text", "action": _act("agreed", what=bound("/w"))},
            caption("inner-text", bound("/w")),
        ],
        data={"w": "terms"},
        sees=[count("[role=dialog]", 0), click("text=Open it"), contains("[role=dialog]", "terms")],
        changes={"/w": "new terms"},
        then_sees=[contains("[role=dialog]", "new terms")],
        acts=[act("agreed", {"what": "new terms"}, click("[role=dialog] button"))],
    ),
    Row(
        type="Divider",
        drawn=[{"axis": "horizontal"}, {"axis": "vertical"}],
        sees=[count("hr", 2), count("hr.vertical", 1)],
    ),
]

READ = [
    Row(
        type="Text",
        drawn=[
            {"text": bound("/words"), "variant": "h2"},
            {"text": "*plain* words", "variant": "body"},
            {"text": {"call": "formatNumber", "args": {"value": 1234.5, "decimals": 1}}, "variant": "caption"},
        ],
        data={"words": "A heading"},
        sees=[
            text("[role=heading]", "A heading"),
            attribute("[role=heading]", "aria-level", "2"),
            text("em", "plain"),
            text("small", "1,234.5"),
        ],
        changes={"/words": "Another"},
        then_sees=[text("[role=heading]", "Another")],
    ),
    Row(
        type="Image",
        drawn=[
            {"url": bound("/url"), "description": bound("/about"), "fit": "cover", "variant": "smallFeature"},
            {"url": ELSEWHERE, "description": "from elsewhere"},
            {"url": picture(1, 1, claims=60_000)},
        ],
        data={"url": picture(60, 30), "about": "a plot"},
        sees=[
            attribute("canvas", "aria-label", "a plot"),
            attribute("canvas", "width", "60"),
            style("canvas", "object-fit", "cover"),
            text("figcaption", "picture: from elsewhere"),
            contains("[role=alert]:not(:empty)", "cannot be shown"),
        ],
        changes={"/url": picture(20, 40)},
        then_sees=[attribute("canvas", "width", "20"), attribute("canvas", "height", "40")],
    ),
    Row(
        type="Icon",
        drawn=[{"name": bound("/icon")}, {"name": "no such icon"}],
        data={"icon": "check"},
        sees=[text(".icon", "✓", "[no such icon]"), attribute("[role=img]", "aria-label", "check")],
        changes={"/icon": "warning"},
        then_sees=[text(".icon", "⚠", "[no such icon]")],
    ),
    Row(
        type="Video",
        drawn=[{"url": bound("/url"), "posterUrl": f"{ELSEWHERE}.png"}],
        data={"url": ELSEWHERE},
        sees=[text("figure a", ELSEWHERE, f"{ELSEWHERE}.png"), contains("figcaption", "video")],
        changes={"/url": "javascript:window.pwned=1"},
        then_sees=[count("figure a", 1), contains("figure", "javascript:window.pwned=1")],
    ),
    Row(
        type="AudioPlayer",
        drawn=[{"url": bound("/url"), "description": bound("/about")}],
        data={"url": ELSEWHERE, "about": "a bell"},
        sees=[text("figcaption", "sound: a bell"), attribute("figure a", "rel", "noopener noreferrer")],
        changes={"/about": "a horn"},
        then_sees=[text("figcaption", "sound: a horn")],
    ),
]

ENTERED = [
    Row(
        type="Button",
        drawn=[
            {"child": "a", "variant": "primary", "action": _act("greet", who=bound("/value")), "checks": [_REQUIRED]},
            {"child": "b", "variant": "borderless", "action": _act("other")},
            {"child": "c"},
        ],
        beside=[caption("a", "Greet"), caption("b", "Other"), caption("c", "Nothing to do")],
        data={"value": ""},
        sees=[
            attribute("button.primary", "disabled", ""),
            attribute("button.primary", "title", "Say something."),
            count("button.plain", 1),
            count("button:disabled", 2),
        ],
        changes={"/value": "Ada"},
        then_sees=[count("button:disabled", 1)],
        acts=[act("greet", {"who": "Ada"}, click("button.primary"))],
    ),
    Row(
        type="TextField",
        drawn=[
            {"label": bound("/label"), "value": bound("/value"), "placeholder": "a name", "checks": [_REQUIRED]},
            {"label": "Long", "value": "two\nlines", "variant": "longText"},
            {"label": "Number", "value": "7", "variant": "number", "validationRegexp": "^(a+)+$"},
            {"label": "Hidden", "value": "secret", "variant": "obscured"},
        ],
        data={"label": "Name", "value": "Ada"},
        sees=[
            text(".field > span", "Name", "Long", "Number", "Hidden"),
            value("input", "Ada", "7", "secret"),
            value("textarea", "two\nlines"),
            attribute("input[type=number]", "type", "number"),
            attribute("input >> nth=2", "type", "password"),
            attribute("input", "placeholder", "a name"),
            count(".bad", 0),
        ],
        changes={"/value": "", "/label": "Your name"},
        then_sees=[text("small.bad", "Say something."), contains(".field > span", "Your name")],
        acts=[act("pressed", {"entered": "Grace"}, fill("input", "Grace"), click("button"))],
        presses=True,
    ),
    Row(
        type="CheckBox",
        drawn=[{"label": bound("/label"), "value": bound("/value"), "checks": [_REQUIRED]}],
        data={"label": "Again", "value": True},
        sees=[checked("input"), text(".choice > span", "Again"), count(".bad", 0)],
        changes={"/value": False, "/label": "Once more"},
        then_sees=[checked("input", is_on=False), text(".choice > span", "Once more"), text(".bad", "Say something.")],
        acts=[act("pressed", {"entered": True}, click("input"), click("button"))],
        presses=True,
    ),
    Row(
        type="ChoicePicker",
        drawn=[
            {
                "label": "Which?",
                "variant": "multipleSelection",
                "options": [{"label": bound("/first"), "value": "1"}, {"label": "Two", "value": "2"}],
                "value": bound("/value"),
                "displayStyle": "chips",
                "filterable": True,
                "checks": [_REQUIRED],
            },
            {"options": [{"label": "Only", "value": "o"}], "value": ["o"], "variant": "mutuallyExclusive"},
        ],
        data={"first": "One", "value": ["1"]},
        sees=[
            text(".chips .choice > span", "One", "Two"),
            checked(".chips input[type=checkbox]"),
            checked("input[type=radio]"),
            text("legend", "Which?"),
        ],
        changes={"/first": "Eins", "/value": []},
        then_sees=[
            text(".chips .choice > span", "Eins", "Two"),
            text(".bad", "Say something."),
            fill("input.filter", "tw"),
            text(".chips .choice > span", "Two"),
        ],
        acts=[act("pressed", {"entered": ["2"]}, click(".chips input[type=checkbox]"), click("button"))],
        presses=True,
    ),
    Row(
        type="Slider",
        drawn=[{"label": bound("/label"), "min": 0, "max": 10, "steps": 5, "value": bound("/value"),
                "checks": [{"condition": {"call": "numeric", "args": {"value": bound("/value"), "max": 7}},
                            "message": "Too much."}]}],
        data={"label": "Level", "value": 4},
        sees=[value("input", "4"), attribute("input", "max", "10"), attribute("input", "step", "2"),
              text("output", "4"), count(".bad", 0)],
        changes={"/value": 8, "/label": "How much"},
        then_sees=[text("output", "8"), text(".bad", "Too much."), text(".field > span >> nth=0", "How much")],
        acts=[act("pressed", {"entered": 6}, press("input", "ArrowLeft"), click("button"))],
        presses=True,
    ),
    Row(
        type="DateTimeInput",
        drawn=[
            {"label": bound("/label"), "value": bound("/value"), "enableDate": True, "enableTime": False,
             "min": "2026-01-01", "max": bound("/last"), "checks": [_REQUIRED]},
            {"label": "When", "value": "2026-03-04T05:06:00Z", "enableDate": True, "enableTime": True},
            {"label": "At", "value": "05:06", "enableDate": False, "enableTime": True},
        ],
        data={"label": "Day", "value": "2026-03-04", "last": "2026-12-31"},
        sees=[value("input", "2026-03-04", "2026-03-04T05:06", "05:06"), attribute("input", "min", "2026-01-01"),
              attribute("input", "max", "2026-12-31"), text(".field > span", "Day", "When", "At")],
        changes={"/value": "", "/last": "2026-06-30"},
        then_sees=[value("input", ""), text(".bad", "Say something."), attribute("input", "max", "2026-06-30")],
        acts=[act("pressed", {"entered": "2026-05-06"}, fill("input", "2026-05-06"), click("button"))],
        presses=True,
    ),
]  # fmt: skip

BASIC_ROWS = [*LAYOUT, *READ, *ENTERED]
