"""Hides the values of names that look like secrets, and texts that look like keys: the blocks end up in the logs of CI,
which many can read.
"""

from __future__ import annotations

import re
from typing import Any

from .call_values import ValueCopier

HIDDEN = "<hidden>"
_HIDDEN_COPY = ("t", HIDDEN)
# A tokenizer has no secrets, and its results are what its tests are about.
_SECRET = re.compile(
    r"passw(or)?d|secret|token(?!i[sz])|api[_-]?key|authorization|credential|private[_-]?key", re.IGNORECASE
)
_ADDRESS = re.compile(r"(://[^/\s:@'\"]{0,80}:)[^/\s@'\"]{1,400}(?=@)")
_FORM = re.compile(
    r"\b(?:gh[opsur]_|github_pat_|glpat-|sk-|xox[abeprs]-|AKIA|eyJ)[\w.-]{12,}"
    r"|(?<=Bearer )[\w.~+/=-]{8,}|-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----.*",
    re.DOTALL,
)


def is_secret(path: object) -> bool:
    """Whether any part of a path such as `user.password` or `env['API_KEY']` looks like a secret."""
    return _SECRET.search(str(path)) is not None


class HidingCopier(ValueCopier):
    """Copies values without the fields and entries that look like secrets."""

    def copy(self, value: Any, budget: int = 200) -> Any:
        return _without_secrets(super().copy(value, budget))


def _without_secrets(node: Any) -> Any:
    if type(node) is not tuple or node[0] in ("t", "s"):
        return node
    if node[0] == "o":
        return (*node[:2], _pairs_without_secrets(node[2]), node[3])
    if node[0] == "d":
        return (*node[:3], _pairs_without_secrets(node[3]))
    return (*node[:3], tuple(map(_without_secrets, node[3])))


def _pairs_without_secrets(pairs: Any) -> tuple[Any, ...]:
    return tuple((key, _HIDDEN_COPY if is_secret(key) else _without_secrets(it)) for key, it in pairs)


def hide_secrets(record: dict[str, Any]) -> dict[str, Any]:
    """A record without the values of variables that look like secrets, the results of functions that do, and texts that
    look like keys wherever they stand.
    """
    record = _without_keys(record)
    function = record["function"]
    end = dict(record["end"])
    if "value" in end:
        end["value"] = _shown(function, end["value"])
    if "values" in end:
        end["values"] = _pairs(end["values"])
    hidden = {**record, "end": end, "rows": [_row(it, function) for it in record["rows"]]}
    hidden.update((key, _pairs(record[key])) for key in ("args", "outer") if key in record)
    for key in ("all", "all_last", "open"):
        if key in record:
            hidden[key] = [
                [number, depth, _pairs(args), _shown(function, result), error]
                for number, depth, args, result, error in record[key]
            ]
    return hidden


def _without_keys(data: Any) -> Any:
    if isinstance(data, str):
        return _FORM.sub(HIDDEN, _ADDRESS.sub(rf"\1{HIDDEN}", data))
    if isinstance(data, dict):
        return {key: _without_keys(it) for key, it in data.items()}
    return [_without_keys(it) for it in data] if isinstance(data, list) else data


def _shown(path: object, text: Any) -> Any:
    return HIDDEN if text is not None and is_secret(path) else text


def _pairs(pairs: Any) -> list[list[Any]]:
    return [[path, _shown(path, text)] for path, text in pairs]


def _row(row: dict[str, Any], function: str) -> dict[str, Any]:
    hidden = dict(row)
    if "yielded" in row:
        hidden["yielded"] = [_shown(function, it) for it in row["yielded"]]
    if "changes" in row:
        hidden["changes"] = _pairs(row["changes"])
    if isinstance(row.get("calls"), list):  # a gap has only their number
        hidden["calls"] = [
            [name, _pairs(args), _shown(name, result), *more] for name, args, result, *more in row["calls"]
        ]
    return hidden
