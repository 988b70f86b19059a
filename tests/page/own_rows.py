"""The components beyond the basic catalogue, one row each: with their default action, and with one of the agent's."""

from __future__ import annotations

from tests.page.rows import (
    Json,
    Row,
    act,
    attribute,
    bound,
    checked,
    click,
    contains,
    count,
    fill,
    has_class,
    press,
    select,
    text,
    value,
)

# The drawer's own name for an action; what was chosen is told besides what it wants to know.
_OWN = {"event": {"name": "chosen", "context": {"run": bound("/run")}, "userMessage": "I chose."}}
_RUN: Json = {"run": 7}
_MANY = [{"name": f"test {n}", "ms": n * 7 % 1000} for n in range(2500)]
_ORDER = {"name": "order", "value": "Order(…)", "type": "Order", "children": [{"name": "total", "value": "0"}]}

TEXTS = [
    Row(
        type="Markdown",
        drawn=[{"text": bound("/text")}],
        data={"text": "## Found\n\n- `total` is **wrong**\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n![x](https://e.example/x)"},
        sees=[text("h2", "Found"), text("strong", "wrong"), text("td", "1", "2"), contains(".prose", "[x]")],
        changes={"/text": "_changed_"},
        then_sees=[text("em", "changed")],
    ),
    Row(
        type="CodeBlock",
        drawn=[{"code": bound("/code"), "language": bound("/language"), "firstLine": 12, "marked": bound("/marked"),
                "title": bound("/title")}, {"code": "x\n" * 5000, "title": "long"}],
        data={"code": "total = 0\nfor price in prices:\n    total += price\n", "language": "python", "marked": [14],
              "title": "app.py"},
        sees=[text("[data-type=CodeBlock] >> nth=0 >> .no", "12", "13", "14"),
              contains(".line.marked", "total += price"), text(".title >> nth=0 >> span", "app.py", "python")],
        changes={"/marked": [12], "/title": "changed.py"},
        then_sees=[contains(".line.marked", "total = 0"), contains(".title", "changed.py")],
    ),
    Row(
        type="Diff",
        drawn=[
            {"path": bound("/path"), "original": bound("/before"), "modified": bound("/after"), "language": "python",
             "decides": True},
            {"path": "new.py", "modified": "x = 1\n", "decides": True, "action": _OWN},
        ],
        data={"path": "a.py", "before": "a\nb\nc\n", "after": "a\nB\nc\n", **_RUN},
        sees=[text(".line.removed span:last-child", "b"), text(".line.added span:last-child", "B", "x = 1"),
              contains("[data-type=Diff] >> nth=1 >> .title", "new.py (new)")],
        changes={"/after": "a\nb\nd\n"},
        then_sees=[text(".line.removed span:last-child", "c")],
        acts=[
            act("onDecide", {"path": "a.py", "accepted": True}, click("button:has-text('Accept')")),
            act("chosen", {"run": 7, "path": "new.py", "accepted": False}, click("button:has-text('Reject') >> nth=1")),
        ],
    ),
    Row(
        type="Terminal",
        drawn=[{"text": bound("/text"), "title": bound("/title"), "rows": 4}],
        data={"text": "$ make test\n\x1b[32mok\x1b[0m 1\x1b]0;evil\x07\x1b[2J\n\x1b[1;31mfailed\x1b[0m\n",
              "title": "make"},
        sees=[text(".ink-green", "ok"), has_class(".ink-red", "bold"), text(".line", "$ make test", "ok 1", "failed"),
              text(".title span", "make")],
        changes={"/text": "\n".join(f"line {n}" for n in range(300))},
        then_sees=[contains(".line >> text=line 299", "line 299")],
    ),
    Row(
        type="Progress",
        drawn=[{"label": bound("/label"), "value": bound("/done"), "state": bound("/state")}, {"label": "goes on"}],
        data={"label": "Tracing", "done": 0.4, "state": "running"},
        sees=[contains(".progress", "Tracing"), contains(".progress", "40 %"), count("progress", 2),
              count("progress:indeterminate", 1)],
        changes={"/state": "failed", "/done": 0.9},
        then_sees=[has_class(".progress", "failed"), contains(".progress", "90 %"), count("progress", 1)],
    ),
]  # fmt: skip

CHOSEN = [
    Row(
        type="FileTree",
        drawn=[{"items": bound("/files")}, {"items": ["own.py"], "action": _OWN}],
        data={"files": ["src/app.py", "src/lib/a.py", "README.md"], **_RUN},
        sees=[text("[data-type=FileTree] >> nth=0 >> .name", "src/", "app.py", "lib/", "a.py", "README.md")],
        changes={"/files": ["src/app.py", "new.py"]},
        then_sees=[text("[data-type=FileTree] >> nth=0 >> .name", "src/", "app.py", "new.py")],
        acts=[
            act("onSelect", {"path": "src/app.py"}, click("button:has-text('app.py')")),
            act("chosen", {"run": 7, "path": "own.py"}, click("button:has-text('own.py')")),
        ],
    ),
    Row(
        type="Table",
        drawn=[
            {"columns": [{"key": "name"}, {"key": "ms", "title": "Time", "align": "end"}], "rows": bound("/rows"),
             "caption": bound("/caption"), "filterable": True},
            {"columns": [{"key": "a"}], "rows": [{"a": "one"}], "filterable": False, "action": _OWN},
        ],
        data={"rows": _MANY, "caption": "Slow tests", **_RUN},
        sees=[contains(".title", "Slow tests"), count("input[type=search]", 1),
              attribute("[role=table]", "aria-rowcount", "2500"), text("[role=columnheader]", "name", "Time", "a"),
              has_class("[role=cell] >> nth=1", "end"),
              click("[role=columnheader]:has-text('Time')"), click("[role=columnheader]:has-text('Time')"),
              attribute("[role=columnheader] >> nth=1", "aria-sort", "descending"),
              contains(".cells[tabindex] .end", "999")],
        changes={"/caption": "Changed"},
        then_sees=[contains(".title", "Changed"), fill("input[type=search]", "test 2499"),
                   count("[data-type=Table] >> nth=0 >> .cells[tabindex]", 1)],
        acts=[
            act("onSelect", {"index": 2499, "row": _MANY[2499]}, click(".cells[tabindex]")),
            act("chosen", {"run": 7, "index": 0, "row": {"a": "one"}}, press(".cells[tabindex] >> nth=1", "Enter")),
        ],
    ),
    Row(
        type="VariableTree",
        drawn=[{"variables": bound("/variables"), "title": bound("/title")},
               {"variables": [{"name": "n", "value": "1"}], "action": _OWN}],
        data={"variables": [_ORDER], "title": "At the stop", **_RUN},
        sees=[contains(".title", "At the stop"), contains(".name", "order Order Order(…)"), count(".leaf", 2),
              click("button.turn"), contains(".leaf >> nth=1", "total 0")],
        changes={"/variables/0/children/0/value": "12"},
        then_sees=[contains(".leaf >> nth=1", "total 12")],
        acts=[
            act("onSelect", {"path": "order.total"}, click(".leaf >> nth=1 >> .name")),
            act("chosen", {"run": 7, "path": "n"}, click(".leaf >> nth=2 >> .name")),
        ],
    ),
    Row(
        type="StackTrace",
        drawn=[{"frames": bound("/frames"), "title": bound("/title")},
               {"frames": [{"function": "other", "file": "b.py", "line": 3}], "action": _OWN}],
        data={"frames": [{"function": "total", "file": "app.py", "line": 12, "isOwn": True},
                         {"function": "run", "file": "lib/loop.py", "line": 400, "isOwn": False}],
              "title": "ValueError", **_RUN},
        sees=[contains(".title", "ValueError"), contains(".frames li >> nth=0", "total"),
              contains(".frames li >> nth=1", "loop.py:400"), has_class(".frames button >> nth=1", "quiet")],
        changes={"/frames/0/line": 14},
        then_sees=[contains(".frames li >> nth=0", "app.py:14")],
        acts=[
            act("onSelect", {"index": 0, "file": "app.py", "line": 14}, click(".frames button")),
            act("chosen", {"run": 7, "index": 0, "file": "b.py", "line": 3}, click("button:has-text('other')")),
        ],
    ),
    Row(
        type="Timeline",
        drawn=[{"items": bound("/items")}, {"items": [{"at": "12:01", "title": "mine"}], "action": _OWN}],
        data={"items": [{"at": "12:00:01", "title": "stop 1", "text": "app.py:12"},
                        {"at": "12:00:02", "title": "stop 2", "state": "failed"}], **_RUN},
        sees=[text("time", "12:00:01", "12:00:02", "12:01"), contains(".timeline li", "app.py:12"),
              has_class(".timeline li >> nth=1", "failed")],
        changes={"/items/2": {"at": "12:00:03", "title": "the end"}},
        then_sees=[contains(".timeline li >> nth=2", "the end")],
        acts=[
            act("onSelect", {"index": 2}, click(".timeline button >> nth=2")),
            act("chosen", {"run": 7, "index": 0}, click("button:has-text('mine')")),
        ],
    ),
]  # fmt: skip

ASKED = [
    Row(
        type="Confirm",
        drawn=[{"message": bound("/message"), "confirmLabel": bound("/yes"), "cancelLabel": "No"},
               {"message": "Sure?", "action": _OWN}],
        data={"message": "Apply the change?", "yes": "Yes", **_RUN},
        sees=[contains(".card", "Apply the change?"), text(".card >> nth=0 >> button", "Yes", "No"),
              text(".card >> nth=1 >> button", "Confirm", "Cancel")],
        changes={"/message": "Really?"},
        then_sees=[contains(".card", "Really?")],
        acts=[
            act("onConfirm", {"componentId": "it0", "confirmed": True}, click("button:has-text('Yes')")),
            act("onConfirm", {"componentId": "it0", "confirmed": False}, click("button:has-text('No')")),
            act("chosen", {"run": 7, "componentId": "it1", "confirmed": True}, click("button:has-text('Confirm')")),
        ],
    ),
    Row(
        type="Form",
        drawn=[
            {"title": bound("/title"), "submitLabel": "Send it", "cancelLabel": "Leave", "fields": [
                {"name": "who", "label": "Who?", "required": True, "help": "a name", "value": "Ada"},
                {"name": "why", "label": "Why?", "kind": "long_text"},
                {"name": "n", "label": "How many?", "kind": "number", "value": 2},
                {"name": "sure", "label": "Sure?", "kind": "yes_no"},
                {"name": "branch", "label": "Branch", "kind": "choice", "options": ["main", "dev"]},
                {"name": "parts", "label": "Parts", "kind": "choices", "options": ["a", "b"], "value": ["b"]},
                {"name": "pin", "label": "Pin", "kind": "secret"}]},
            {"fields": [{"name": "x"}], "action": _OWN},
        ],
        data={"title": "Release", **_RUN},
        sees=[contains("[role=heading]", "Release"), contains(".field small", "a name"),
              value(".field input", "Ada", "2", ""),
              checked("fieldset input >> nth=1"), count("abbr", 1), count("input[type=password]", 1),
              text(".form >> nth=0 >> button", "Send it", "Leave")],
        changes={"/title": "Changed"},
        then_sees=[contains("[role=heading]", "Changed")],
        acts=[
            act("onSubmit", {"values": {"who": "Grace", "why": "so", "n": 3, "sure": True, "branch": "dev",
                                        "parts": ["b", "a"], "pin": "1234"}},
                fill(".field input", "Grace"), fill("textarea", "so"), fill("input[type=number]", "3"),
                click(".choice:has-text('Sure?') input"), select("select", "dev"), click("fieldset input >> nth=0"),
                fill("input[type=password]", "1234"), click("button:has-text('Send it')")),
            act("onSubmit", {}, click("button:has-text('Answer again')"), click("button:has-text('Leave')")),
            act("chosen", {"run": 7, "values": {"x": "y"}}, fill(".form >> nth=1 >> input", "y"),
                click(".form >> nth=1 >> button.primary")),
        ],
    ),
]  # fmt: skip

_SERIES = [{"name": "memory", "values": bound("/memory")}, {"name": "other", "values": [4, None, 6]}]
DRAWN = [
    Row(
        type="Chart",
        drawn=[{"kind": kind, "series": _SERIES, "x": bound("/x"), "title": bound("/title"), "xLabel": "day",
                "yLabel": bound("/unit")} for kind in ("line", "bar", "scatter")],
        data={"memory": [10, 14, 90], "x": [1, 2, 4], "title": "Memory", "unit": "MB"},
        sees=[text("figcaption", "Memory", "Memory", "Memory"), count("svg path", 2), count("svg rect", 5),
              count("svg circle", 10), contains(".chart", "MB"), contains(".chart", "day"),
              text(".legend >> nth=0 >> span > span", "memory", "other"), click("summary"),
              text("tbody >> nth=0 >> tr", "1104", "214", "4906"), attribute("svg", "aria-label", "Memory")],
        changes={"/memory": [1, 2, 3], "/title": "Less"},
        then_sees=[text("tbody >> nth=0 >> tr", "114", "22", "436"), attribute("svg", "aria-label", "Less")],
    ),
]  # fmt: skip

OWN_ROWS = [*TEXTS, *CHOSEN, *ASKED, *DRAWN]
