"""The echo of a line that was edited while it was typed: backspaces and insertions lie between the letters of whatever
stands in it, so that nobody who reads the record for secrets would see one. Where there may be one, the record has the
line as it was run, or nothing where it was not.
"""

from __future__ import annotations

import re

_EDITED = re.compile(rb"\x08|\r(?!\n)|\x1b\[[0-9;]*[CDGHP@X]")
_UNSEEN = re.compile(rb"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[ -/]*[0-~]|[\x00-\x1f]")
# What secrets begin with, stand behind, or are called by: too much is no harm here.
_TELLING = re.compile(
    rb"pass|secret|key|token|credential|authori[sz]ation|bearer|basic|://|-----begin|eyj|akia|asia|gh[pousr]|github_pat"
    rb"|glpat|xox|sk-|[rs]k_|aiza|npm_|pypi-|pwd|auth",
    re.IGNORECASE,
)


def as_told(echo: bytes, line: str | None) -> bytes:
    """What of it is kept; `line` is what was run of it, None where nothing was."""
    run = (line or "").encode(errors="replace")
    if not _EDITED.search(echo) or not (_TELLING.search(run) or _TELLING.search(_UNSEEN.sub(b"", echo))):
        return echo
    return run.replace(b"\n", b"\r\n") + b"\r\n"
