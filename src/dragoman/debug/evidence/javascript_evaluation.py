"""Evaluates several JavaScript expressions in one request: arrow functions see the frame, and each has its own try
block.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from urllib.parse import unquote

from dragoman.debug.evidence.tracepoints import CELL_CHARACTERS, Cell

_ITEMS = 40
_DEPTH = 5

_SHOW = f"""
const most = {CELL_CHARACTERS}, items = {_ITEMS};
const cut = text => text.length <= 2 * most ? text : text.slice(0, most) + '… (' + text.length + ' long)';
const list = (values, depth) => {{
  const shown = [];
  let count = 0;
  for (const value of values) {{ if (count++ < items) shown.push(show(value, depth + 1)); else break; }}
  return shown.join(', ');
}};
const more = count => count > items ? ', … (' + count + ' in all)' : '';
const pair = ([key, value], depth) => show(key, depth) + ' => ' + show(value, depth);
const show = (value, depth = 0) => {{
  if (typeof value === 'string' && value.length > most)
    return JSON.stringify(value.slice(0, most)) + '… (' + value.length + ' long)';
  if (typeof value === 'string') return JSON.stringify(value);
  if (typeof value === 'bigint') return cut(value + 'n');
  if (typeof value === 'function') return '[Function ' + (value.name || '') + ']';
  if (Object.is(value, -0)) return '-0';
  if (typeof value !== 'object' || value === null) return String(value);
  if (depth > {_DEPTH}) return '…';
  if (Array.isArray(value) || ArrayBuffer.isView(value) && !(value instanceof DataView))
    return '[' + list(value, depth) + more(value.length) + ']';
  if (value instanceof Error) return value.name + ': ' + value.message;
  if (value instanceof Date || value instanceof RegExp) return String(value);
  if (value instanceof Set) return 'Set {{' + list(value, depth) + more(value.size) + '}}';
  if (value instanceof Map)
    return 'Map {{' + [...value].slice(0, items).map(it => pair(it, depth + 1)).join(', ') + more(value.size) + '}}';
  const name = value.constructor && value.constructor !== Object ? value.constructor.name + ' ' : '';
  const keys = Object.keys(value), got = key => {{
    const own = Object.getOwnPropertyDescriptor(value, key);
    return own && own.get ? '[getter]' : show(value[key], depth + 1);
  }};
  return name + '{{' + keys.slice(0, items).map(key => key + ': ' + got(key)).join(', ') + more(keys.length) + '}}';
}};
const cell = asked => {{
  try {{ return [0, cut(show(asked()))]; }}
  catch (error) {{ return [1, cut(error instanceof Error ? error.name + ': ' + error.message : String(error))]; }}
}};
return encodeURIComponent(JSON.stringify(asked.map(cell)));
"""


def build_query(expressions: Sequence[str]) -> str:
    functions = ", ".join(f"() => ({expression}\n)" for expression in expressions)
    return f"(asked => {{{_SHOW}}})([{functions}])"


def parse_result(shown: str) -> list[Cell]:
    """Percent signs and letters alone: however the debugger quotes a string, these stay what they are."""
    cells = json.loads(unquote(shown.strip("'\"`")))
    return [Cell(text, failed=bool(failed)) for failed, text in cells]


def own_code_throw_condition(*, modules_alone: bool = False) -> str:
    """A condition for what is caught: runners and loaders of modules catch hundreds, and those are nobody's.

    An assertion counts also where it waited for a promise and its test has left the stack. Of modules, a loader catches
    what ends the program; node calls them by an address, and every other script by its path.
    """
    always = "false" if modules_alone else "error && (error.matcherResult || /Assert/.test(error.name))"
    own = r"^file:\/\/\/" if modules_alone else r"^(?:file:\/\/)?\/"
    return f"""((error) => {{
  if ({always}) return true;
  const {{ stackTraceLimit, prepareStackTrace }} = Error;
  const isOwn = (file) => /{own}/.test(file || "") && !/\\/node_modules\\//.test(file);
  try {{
    Error.stackTraceLimit = 200;
    Error.prepareStackTrace = (_, sites) => sites.some((site) => isOwn(site.getFileName()));
    return new Error().stack === true;
  }} finally {{ Object.assign(Error, {{ stackTraceLimit, prepareStackTrace }}); }}
}})(error)"""
