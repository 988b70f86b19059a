"""A session's story as Markdown and as a page that needs nothing else. What a program said is escaped in both."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import starmap
from typing import Any

from dragoman.cli.output import shown
from dragoman.phrases import Phrase, joined, say
from dragoman.visible import visible
from dragoman.words import labelled, word_of

_VALUE = 300
_OUTPUT = 20_000
# Also read as it is, in a terminal: what marks only at the ends of a line is left alone within it.
_MARKS = re.compile(r"[\\`*_~&\[\]<>]|^[-+#=]|#+$")

_STEPS: Mapping[str, Phrase] = {
    "continue": say("continued"),
    "next": say("stepped over"),
    "stepIn": say("stepped into"),
    "stepOut": say("stepped out"),
}
_KINDS: Mapping[str, Phrase] = {
    "started": say("started"),
    "running": say("running"),
    "ended": say("ended"),
    "paused": say("paused"),
    "evaluated": say("asked"),
    "variable_set": say("set"),
    "failed": say("could not start"),
    "joined": say("joined"),
    "left": say("left"),
    "traced": say("traced"),
}
_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 60rem; padding: 0 1rem; color: #1c1c1c; }
h1 { font-size: 1.4rem; } h2 { font-size: 1.05rem; margin-top: 2rem; } table { border-collapse: collapse; }
td, th { border: 1px solid #ccc; padding: .2rem .6rem; text-align: left; vertical-align: top; }
code, pre { font: 13px/1.45 ui-monospace, monospace; } pre { background: #f4f4f4; padding: .8rem; overflow: auto; }
.changed { background: #fff4cc; } .quiet { color: #666; }
@media (prefers-color-scheme: dark) { body { background: #161616; color: #e6e6e6; } td, th { border-color: #444; }
pre { background: #222; } .changed { background: #4a4012; } .quiet { color: #999; } }
"""


@dataclass(frozen=True, slots=True)
class Story:
    about: Mapping[str, Any]
    entries: list[dict[str, Any]]

    @property
    def title(self) -> str:
        return _flat(str(self.about["title"] or self.about["session"]))

    @property
    def facts(self) -> list[tuple[str, str]]:
        began, ended = (stamp(self.entries[at]["at_ns"]) for at in (0, -1))
        asked = sorted({_flat(str(it["by"])) for it in self.entries if it["by"]})
        told = [
            (say("session"), str(self.about["session"])),
            (say("folder"), _flat(str(self.about["workspace"]))),
            (say("from"), began),
            (say("to"), ended),
            (say("asked by"), ", ".join(asked)),
            (say("stops"), str(sum(1 for it in self.entries if it["kind"] == "stopped"))),
            (say("conclusion"), self.conclusion),
        ]
        return [(shown(name), value) for name, value in told if value]

    @property
    def conclusion(self) -> str:
        """The exception it stopped at last, and its end."""
        raised = [it["stop"]["seen"][4] for it in self.entries if it.get("stop") and it["stop"]["seen"][4][0]]
        ends = [it["body"] for it in self.entries if it["kind"] == "ended"]
        told = [_flat(f"{raised[-1][0]}: {raised[-1][1]}")] if raised else []
        if ends and "exit_code" in ends[-1]:
            told.append(shown(say("exit code {code}", code=ends[-1]["exit_code"])))
        return "; ".join(told) or shown(say("ended") if ends else say("still running"))


@dataclass(frozen=True, slots=True)
class _Row:
    """Of one thing that happened: a line, and at a stop what was seen."""

    line: str
    variables: list[tuple[str, str, bool]]
    stack: list[str]
    is_stop: bool


def _rows(story: Story) -> Iterator[_Row]:
    for entry in story.entries:
        if entry["kind"] == "stopped":
            yield _stop(entry)
        else:
            table = visible(str(entry["body"].get("table", ""))).splitlines()
            yield _Row(_line(entry), [], table, is_stop=False)


def _line(entry: Mapping[str, Any]) -> str:
    kind, body = entry["kind"], entry["body"]
    what = _STEPS.get(body.get("command", "")) if kind == "resumed" else _KINDS.get(kind)
    about = next((body[it] for it in ("expression", "name", "code", "place") if body.get(it)), "")
    result = f" = {body['result']}" if body.get("result") else ""
    by = f" ({entry['by']})" if entry["by"] else ""
    return _flat(f"{_clock(entry)} {shown(what) if what else kind} {about}{result}".rstrip() + by)


def _stop(entry: Mapping[str, Any]) -> _Row:
    body, stop = entry["body"], entry.get("stop")
    place = f"{body.get('path', '')}:{body.get('line', '')} {body.get('function', '')}" if body.get("path") else ""
    told = labelled(say("stopped"), joined(" ", (word_of(str(body.get("reason", ""))), place)))
    line = _flat(f"{_clock(entry)} {shown(told)}")
    if stop is None:
        return _Row(line, [], [], is_stop=True)
    frames, variables, changed, _, (type, message), *_ = stop["seen"]
    raised = [_flat(f"{type}: {message}")] if type else []
    values = [(_flat(name), _flat(value)[:_VALUE], name in changed) for name, value, *_ in variables]
    stack = [_flat(f"{path}:{number} {name}") for name, path, number, is_library in frames if not is_library]
    return _Row(line, values, raised + stack, is_stop=True)


def _flat(text: str) -> str:
    """On one line: a line break of a program's must not begin a line of ours."""
    return visible(text).replace("\n", "\\n").replace("\r", "\\r")


def _clock(entry: Mapping[str, Any]) -> str:
    return stamp(entry["at_ns"])[11:23]


def stamp(at_ns: int) -> str:
    at = datetime.fromtimestamp(at_ns / 1e9, UTC)
    return f"{at:%Y-%m-%d %H:%M:%S}.{at.microsecond // 1000:03} UTC"


def as_markdown(story: Story) -> str:
    lines = [f"# {_md(story.title)}", ""]
    lines += [f"- {shown(labelled(_md(name), _md(value)))}" for name, value in story.facts]
    for row in _rows(story):
        lines += ["", f"## {_md(row.line)}"] if row.is_stop else ["", _md(row.line)]
        lines += ["", *starmap(_md_value, row.variables)] if row.variables else []
        lines += ["", *(f"    {it}" for it in row.stack)] if row.stack else []
    output = visible(str(story.about["output"]))[-_OUTPUT:]
    if output:
        lines += ["", f"## {shown(say('Output'))}", "", *(f"    {it}" for it in output.splitlines())]
    return "\n".join(lines) + "\n"


def _md_value(name: str, value: str, is_new: bool) -> str:
    mark = "**" if is_new else ""
    return f"- {mark}{_md(name)}{mark} = {_code(value)}"


def _md(text: str) -> str:
    return _MARKS.sub(r"\\\g<0>", text)


def _code(text: str) -> str:
    """In a fence that is longer than any that stands in it."""
    longest = max((len(it) for it in re.findall("`+", text)), default=0)
    fence, space = "`" * (longest + 1), " " if longest else ""
    return f"{fence}{space}{text}{space}{fence}"


def as_html(story: Story) -> str:
    facts = "".join(f"<tr><th>{_h(name)}</th><td>{_h(value)}</td></tr>" for name, value in story.facts)
    rows = "".join(_html_row(row) for row in _rows(story))
    output = visible(str(story.about["output"]))[-_OUTPUT:]
    printed = f"<h2>{_h(shown(say('Output')))}</h2><pre>{_h(output)}</pre>" if output else ""
    return (
        '<!doctype html><html><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" '
        "content=\"default-src 'none'; style-src 'unsafe-inline'\">"
        f"<title>{_h(story.title)}</title><style>{_STYLE}</style></head><body><h1>{_h(story.title)}</h1>"
        f"<table>{facts}</table>{rows}{printed}</body></html>\n"
    )


def _html_row(row: _Row) -> str:
    stack = f"<pre>{_h(chr(10).join(row.stack))}</pre>" if row.stack else ""
    if not row.is_stop:
        return f'<p class="quiet">{_h(row.line)}</p>{stack}'
    cells = "".join(
        f"<tr{' class=changed' if new else ''}><th>{_h(name)}</th><td><code>{_h(value)}</code></td></tr>"
        for name, value, new in row.variables
    )
    return f"<h2>{_h(row.line)}</h2>{f'<table>{cells}</table>' if cells else ''}{stack}"


def _h(text: str) -> str:
    return html.escape(text)
