"""`dragoman report`: a debug session as one Markdown or HTML file.

Text that comes from the program is escaped in both formats.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import starmap
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from dragoman.cli import completion
from dragoman.cli.caller import record_scope
from dragoman.cli.journal import AllWorkspaces
from dragoman.cli.output import ExitCode, render, show_text, warn
from dragoman.cli.remote.connection import open_daemon
from dragoman.core.errors import DragomanError
from dragoman.core.labels import label_of, with_label
from dragoman.core.localization import LocalizedText, join_texts, localize
from dragoman.core.safe_text import printable
from dragoman.protocols.control import ControlAnswer, ControlItem

_MAX_VALUE_LENGTH = 300
_MAX_OUTPUT_LENGTH = 20_000
_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 60rem; padding: 0 1rem; color: #1c1c1c; }
h1 { font-size: 1.4rem; } h2 { font-size: 1.05rem; margin-top: 2rem; } table { border-collapse: collapse; }
td, th { border: 1px solid #ccc; padding: .2rem .6rem; text-align: left; vertical-align: top; }
code, pre { font: 13px/1.45 ui-monospace, monospace; } pre { background: #f4f4f4; padding: .8rem; overflow: auto; }
.changed { background: #fff4cc; } .quiet { color: #666; }
@media (prefers-color-scheme: dark) { body { background: #161616; color: #e6e6e6; } td, th { border-color: #444; }
pre { background: #222; } .changed { background: #4a4012; } .quiet { color: #999; } }
"""
_IDLE_TIMEOUT_S = 30.0

# The report is also read in a terminal, so marks that only count at the ends of a line are not escaped within it.
_MARKDOWN_SYNTAX = re.compile(r"[\\`*_~&\[\]<>]|^[-+#=]|#+$")


_STEPS: Mapping[str, LocalizedText] = {
    "continue": localize("continued"),
    "next": localize("stepped over"),
    "stepIn": localize("stepped into"),
    "stepOut": localize("stepped out"),
}
_KINDS: Mapping[str, LocalizedText] = {
    "started": localize("started"),
    "running": localize("running"),
    "ended": localize("ended"),
    "paused": localize("paused"),
    "evaluated": localize("evaluated"),
    "variable_set": localize("set"),
    "failed": localize("failed to start"),
    "joined": localize("joined"),
    "left": localize("left"),
    "traced": localize("traced"),
}


@dataclass(frozen=True, slots=True)
class ReportContent:
    """The content of a report: facts about the session, and its events in order."""

    about: Mapping[str, Any]
    entries: list[dict[str, Any]]

    @property
    def title(self) -> str:
        return _one_line(str(self.about["title"] or self.about["session"]))

    @property
    def facts(self) -> list[tuple[str, str]]:
        began, ended = (timestamp(self.entries[at]["at_ns"]) for at in (0, -1))
        asked = sorted({_one_line(str(it["by"])) for it in self.entries if it["by"]})
        facts = [
            (localize("session"), str(self.about["session"])),
            (localize("folder"), _one_line(str(self.about["workspace"]))),
            (localize("start"), began),
            (localize("finish"), ended),
            (localize("requested by"), ", ".join(asked)),
            (localize("stops"), str(sum(1 for it in self.entries if it["kind"] == "stopped"))),
            (localize("conclusion"), self.conclusion),
        ]
        return [(render(name), value) for name, value in facts if value]

    @property
    def conclusion(self) -> str:
        """The last exception and how the program ended."""
        raised = [it["stop"]["seen"][4] for it in self.entries if it.get("stop") and it["stop"]["seen"][4][0]]
        ends = [it["body"] for it in self.entries if it["kind"] == "ended"]
        parts = [_one_line(f"{raised[-1][0]}: {raised[-1][1]}")] if raised else []
        if ends and "exit_code" in ends[-1]:
            parts.append(render(localize("exit code {code}", code=ends[-1]["exit_code"])))
        return "; ".join(parts) or render(localize("ended") if ends else localize("still running"))


@dataclass(frozen=True, slots=True)
class _ReportRow:
    """One event: a line and, for a stop, its details."""

    line: str
    variables: list[tuple[str, str, bool]]
    stack: list[str]
    is_stop: bool


def event_lines(content: ReportContent) -> list[str]:
    """One line per event, as in the report."""
    return [row.line for row in _rows(content)]


def _rows(content: ReportContent) -> Iterator[_ReportRow]:
    for entry in content.entries:
        if entry["kind"] == "stopped":
            yield _stop_row(entry)
        else:
            table = printable(str(entry["body"].get("table", ""))).splitlines()
            yield _ReportRow(_event_line(entry), [], table, is_stop=False)


def _event_line(entry: Mapping[str, Any]) -> str:
    kind, body = entry["kind"], entry["body"]
    what = _STEPS.get(str(body.get("command", ""))) if kind == "resumed" else _KINDS.get(kind)
    about = next((body[it] for it in ("expression", "name", "code", "place") if body.get(it)), "")
    result = f" = {body['result']}" if body.get("result") else ""
    by = f" ({entry['by']})" if entry["by"] else ""
    return _one_line(f"{_time_of_day(entry)} {render(what) if what else kind} {about}{result}".rstrip() + by)


def _stop_row(entry: Mapping[str, Any]) -> _ReportRow:
    body, stop = entry["body"], entry.get("stop")
    place = f"{body.get('path', '')}:{body.get('line', '')} {body.get('function', '')}" if body.get("path") else ""
    label = with_label(localize("stopped"), join_texts(" ", (label_of(str(body.get("reason", ""))), place)))
    line = _one_line(f"{_time_of_day(entry)} {render(label)}")
    if stop is None:
        return _ReportRow(line, [], [], is_stop=True)
    frames, variables, changed, _, (type, message), *_ = stop["seen"]
    raised = [_one_line(f"{type}: {message}")] if type else []
    values = [(_one_line(name), _one_line(value)[:_MAX_VALUE_LENGTH], name in changed) for name, value, *_ in variables]
    stack = [_one_line(f"{path}:{number} {name}") for name, path, number, is_library in frames if not is_library]
    return _ReportRow(line, values, raised + stack, is_stop=True)


def _one_line(text: str) -> str:
    """Join lines, so that a line break in the program's text cannot start a line of the report."""
    return printable(text).replace("\n", "\\n").replace("\r", "\\r")


def _time_of_day(entry: Mapping[str, Any]) -> str:
    return timestamp(entry["at_ns"])[11:23]


def timestamp(at_ns: int) -> str:
    at = datetime.fromtimestamp(at_ns / 1e9, UTC)
    return f"{at:%Y-%m-%d %H:%M:%S}.{at.microsecond // 1000:03} UTC"


def as_markdown(content: ReportContent) -> str:
    lines = [f"# {_escape_markdown(content.title)}", ""]
    lines += [
        f"- {render(with_label(_escape_markdown(name), _escape_markdown(value)))}" for name, value in content.facts
    ]
    for row in _rows(content):
        lines += ["", f"## {_escape_markdown(row.line)}"] if row.is_stop else ["", _escape_markdown(row.line)]
        lines += ["", *starmap(_markdown_value, row.variables)] if row.variables else []
        lines += ["", *(f"    {it}" for it in row.stack)] if row.stack else []
    output = printable(str(content.about["output"]))[-_MAX_OUTPUT_LENGTH:]
    if output:
        lines += ["", f"## {render(localize('Output'))}", "", *(f"    {it}" for it in output.splitlines())]
    return "\n".join(lines) + "\n"


def _markdown_value(name: str, value: str, is_new: bool) -> str:
    mark = "**" if is_new else ""
    return f"- {mark}{_escape_markdown(name)}{mark} = {_code(value)}"


def _escape_markdown(text: str) -> str:
    return _MARKDOWN_SYNTAX.sub(r"\\\g<0>", text)


def _code(text: str) -> str:
    """A code block with a fence longer than any fence in the text."""
    longest = max((len(it) for it in re.findall("`+", text)), default=0)
    fence, space = "`" * (longest + 1), " " if longest else ""
    return f"{fence}{space}{text}{space}{fence}"


def as_html(content: ReportContent) -> str:
    facts = "".join(f"<tr><th>{_escaped(name)}</th><td>{_escaped(value)}</td></tr>" for name, value in content.facts)
    rows = "".join(_html_row(row) for row in _rows(content))
    output = printable(str(content.about["output"]))[-_MAX_OUTPUT_LENGTH:]
    printed = f"<h2>{_escaped(render(localize('Output')))}</h2><pre>{_escaped(output)}</pre>" if output else ""
    return (
        '<!doctype html><html><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" '
        "content=\"default-src 'none'; style-src 'unsafe-inline'\">"
        f"<title>{_escaped(content.title)}</title><style>{_STYLE}</style></head><body><h1>{_escaped(content.title)}</h1>"
        f"<table>{facts}</table>{rows}{printed}</body></html>\n"
    )


def _html_row(row: _ReportRow) -> str:
    stack = f"<pre>{_escaped(chr(10).join(row.stack))}</pre>" if row.stack else ""
    if not row.is_stop:
        return f'<p class="quiet">{_escaped(row.line)}</p>{stack}'
    cells = "".join(
        f"<tr{' class=changed' if new else ''}><th>{_escaped(name)}</th><td><code>{_escaped(value)}</code></td></tr>"
        for name, value, new in row.variables
    )
    return f"<h2>{_escaped(row.line)}</h2>{f'<table>{cells}</table>' if cells else ''}{stack}"


def _escaped(text: str) -> str:
    return html.escape(text)


_WRITERS: Mapping[str, Callable[[ReportContent], str]] = {
    ".md": as_markdown,
    ".markdown": as_markdown,
    ".html": as_html,
    ".htm": as_html,
}


def report(
    session: Annotated[
        str,
        Parameter(
            help=render(
                localize("Debug session id from `dragoman debug sessions` or the page; the newest session if omitted.")
            ),
            completer=completion.debug_sessions,
        ),
    ] = "",
    /,
    *,
    output: Annotated[
        Path | None, Parameter(name=["-o", "--output"], help=render(localize("File to write: .md or .html.")))
    ] = None,
    all_workspaces: AllWorkspaces = False,
) -> int:
    page = _WRITERS.get(output.suffix.lower()) if output else as_markdown
    if page is None:
        raise DragomanError(
            "unknown_format",
            localize("The report format must be .md or .html."),
            hint=localize("Use one of these file extensions."),
        )
    written = page(fetch_content(session, record_scope(all_workspaces=all_workspaces)))
    if output is None:
        show_text(printable(written))
        return ExitCode.OK
    output.write_text(written, encoding="utf-8")
    warn(localize("Wrote {file}", file=str(output)))
    return ExitCode.OK


def fetch_content(session: str, scope: dict[str, str]) -> ReportContent:
    entries: list[dict[str, Any]] = []
    with open_daemon() as link:
        for item in link.stream("debug_report", {"session": session, **scope}, idle_s=_IDLE_TIMEOUT_S, keeps=True):
            if isinstance(item, ControlItem):
                entries.append(item.value)
            elif isinstance(item, ControlAnswer):
                return ReportContent(item.result, entries)
    raise AssertionError("a stream without an answer")
