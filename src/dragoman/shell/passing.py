"""Which marks the outer terminal gets: every mark once.

A shell that marks itself (VS Code's, kitty's, a newer fish) has marks that say more to its own terminal than ours do,
so ours stay behind. The nonce never goes further than here: inside another wrapper a word stands in its place, by which
that one knows that the command is recorded already. A daemon that holds the terminal gave a word of its own: it gets
every mark of ours with that word, and with the number under which a command is recorded.
"""

from __future__ import annotations

from dataclasses import replace

from dragoman.wire.osc import (
    MAX_BODY,
    CommandFinished,
    InputStarted,
    Mark,
    OutputStarted,
    PromptStarted,
    encode_mark,
)

RECORDED = "recorded"
_PHASES = (PromptStarted, InputStarted, OutputStarted, CommandFinished)


class Passing:
    def __init__(self, nonce: str, *, strip: bool, nested: bool = False, holder: str = "") -> None:
        self._nonce = nonce.encode()
        self._instead = RECORDED.encode() if nested else b""
        self._strip = strip
        self._holder = holder
        self._others = self._others_before = False

    def shown(self, mark: Mark, *, verified: bool, busy: bool, number: int | None = None) -> bytes:
        """What of it goes to the screen; `number` is that of the command that it begins, where it is recorded."""
        if self._holder and verified:
            return self._for_holder(mark, number)
        if self._strip:
            return b""
        if not verified:
            self._others = self._others or (not busy and isinstance(mark, _PHASES))
            return mark.raw
        if isinstance(mark, PromptStarted):
            self._others, self._others_before = False, self._others
        if self._others or self._others_before or mark.parameters.get("doubled") == "1" or len(mark.raw) > MAX_BODY:
            return b""
        if self._instead:
            return mark.raw.replace(self._nonce, self._instead)
        return mark.raw.replace(b";nonce=" + self._nonce, b"").replace(b";" + self._nonce, b"")

    def _for_holder(self, mark: Mark, number: int | None) -> bytes:
        if not isinstance(mark, _PHASES):
            return b""
        named = {"id": str(number)} if number is not None and isinstance(mark, OutputStarted) else {}
        return encode_mark(replace(mark, nonce=self._holder, parameters=named))
