"""What will change, as a small unified diff that shows nobody's secrets.

Client files are full of other servers' keys. So every string is hidden, in changed lines and around them, unless it is
a name, or a value that we are about to write and that is no secret.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Iterator

HIDDEN = "…"
_CONTEXT = 2
_TOKEN = re.compile(
    r'(?P<string>"""(?:\\.|[^\\])*?"{3,5}|\'\'\'.*?\'{3,5}|"(?:\\.|[^"\\])*"|\'[^\'\n]*\')(?P<colon>\s*[:=])?'
    r"|(?P<comment>//[^\n]*|/\*.*?\*/|\#[^\n]*)",
    re.DOTALL,
)
_VISIBLE = re.compile(r"[^\r\n]+")


def diff(old: str, new: str, *, public: Collection[str]) -> list[str]:
    """Lines are compared as they are and shown masked, so that a changed secret is still seen to change."""
    before, after = _lines(old), _lines(new)
    shown_before, shown_after = _lines(masked(old, public)), _lines(masked(new, public))
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
    lines: list[str] = []
    for group in matcher.get_grouped_opcodes(_CONTEXT):
        lines += ["@@", *_hunk(group, shown_before, shown_after)]
    return lines


def _lines(text: str) -> list[str]:
    # Not `splitlines`: it also divides at characters that may stand inside a string, which masking then hides.
    return text.replace("\r\n", "\n").removesuffix("\n").split("\n") if text else []


def masked(text: str, public: Collection[str]) -> str:
    def shown(match: re.Match[str]) -> str:
        string, colon = match["string"], match["colon"] or ""
        if string is None:
            return _VISIBLE.sub(_hide_comment, match[0])
        return match[0] if colon or string[1:-1] in public else _VISIBLE.sub(f"{string[0]}{HIDDEN}{string[0]}", string)

    return _TOKEN.sub(shown, text)


def _hide_comment(match: re.Match[str]) -> str:
    mark = re.match(r"//|/\*|#", match[0])
    return f"{mark[0] if mark else ''} {HIDDEN}"


def _hunk(group: list[tuple[str, int, int, int, int]], before: list[str], after: list[str]) -> Iterator[str]:
    for kind, old_start, old_end, new_start, new_end in group:
        if kind == "equal":
            yield from (f" {line}" for line in before[old_start:old_end])
            continue
        yield from (f"-{line}" for line in before[old_start:old_end])
        yield from (f"+{line}" for line in after[new_start:new_end])
