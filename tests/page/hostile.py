"""What an agent, a program or a terminal could write to get something run or loaded in the page; and the verdict."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Locator

from tests.page.tab import Tab

PAYLOADS = [
    "<img src=x onerror=window.pwned=1>",
    "<script>window.pwned=1</script>",
    "<svg onload=window.pwned=1><a href='javascript:window.pwned=1'>x</a></svg>",
    "[x](javascript:window.pwned=1) ![y](https://evil.example/y.png) <https://evil.example>",
    '"><iframe srcdoc="<script>parent.pwned=1</script>"></iframe>',
    "</style><style>@import 'https://evil.example/x.css';*{background:url(https://evil.example/z)}</style>",
    "${window.pwned=1}{{constructor.constructor('window.pwned=1')()}}",
    "\u202e\u0000 javascript:window.pwned=1",
    "' autofocus onfocus=window.pwned=1 x='",
    '<base href="https://evil.example/"><meta http-equiv=refresh content="0;url=https://evil.example">',
    "<math><mtext><table><mglyph><style><img src=x onerror=window.pwned=1>",
    "data:text/html;base64,PHNjcmlwdD53aW5kb3cucHduZWQ9MTwvc2NyaXB0Pg==",
]
SEQUENCES = "\x1b]52;c;d2luZG93\x07\x1b]8;;javascript:window.pwned=1\x07link\x1b]8;;\x07\x1b]0;title\x07\x1b[2J\x9b31m"
"""What a terminal would obey: the clipboard set, a link, a title, a cleared screen, a byte of C1."""

IMAGE = PAYLOADS[0]
"""Also the name of a file, of a function, of an agent."""

ALL = " ".join(PAYLOADS)
"""In one text, for fields that are filled by running something."""

FORBIDDEN = (
    "script, iframe, object, embed, base, meta[http-equiv], link[href*='evil'], a[href^='javascript' i], "
    "a[href^='data' i], form[action], [onerror], [onload], [onfocus], style:not(:empty), "
    "img:not([src='/icon.svg'], .cm-widgetBuffer:not([src]))"
)
"""The editor puts images of its own, without an address, around words at the ends of lines."""


def assert_inert(tab: Tab, view: Locator) -> None:
    """Nothing of it became markup, nothing ran, and nobody else was asked for anything."""
    found: list[Any] = view.locator(FORBIDDEN).evaluate_all("them => them.map(it => it.outerHTML.slice(0, 200))")
    assert found == [], found
    tab.assert_at_home()
