"""What programs show when they wait for a line: the end of their output, on a line that has not ended.

Ordinary output can look like this as well. So a prompt is believed only where the program has been quiet behind it.
"""

from __future__ import annotations

import re

_LONGEST = 120
_PROMPT = re.compile(
    r"""(?: >>> | > | In\ \[\d+\]: | \((?:Pdb|gdb|lldb|dlv|rdbg)\)
    | [\w.-]{1,40} (?:\([^()]{0,80}\))? (?::\d+){0,2} [=-]? [>#]        # mysql>  psql=#  irb(main):001:0>
    | [A-Za-z]{1,20}\ >                                                 # php >
    | [$\#%❯»]
    | [\w.-]{1,40} \ ? (?: [$❯»] | (?<!\d)(?<!\d\ )% )                  # bash-5.2$  host%  project ❯
    # me@host:~/src$  / #  me@host ~>
    | (?=[^<]*[~/@\]]) [^<]{0,100} (?: [$❯»] | (?<![=>-])> | (?<!\#)\# | (?<!\d)(?<!\d\ )% )
    | (?:\[sudo\]\ )? [Pp]assword (?:\ for\ [^:]{1,80})? :
    | .{0,200} (?:\[[Yy]/[Nn]\]|\([Yy]/[Nn]\)) [:?]?
    )\ ?""",
    re.VERBOSE,
)
# `Name: `, `Continue? ` and the like: for who has just typed, and expects to be asked again.
_SIGN = re.compile(r"(?:[>$#%:?❯»]|\([\w.-]+\)) ?\Z")


def is_prompt(unfinished: str) -> bool:
    return _PROMPT.fullmatch(unfinished) is not None


def may_be_prompt(unfinished: str) -> bool:
    return is_prompt(unfinished) or (len(unfinished) <= _LONGEST and _SIGN.search(unfinished) is not None)
