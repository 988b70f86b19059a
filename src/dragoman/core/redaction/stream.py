"""Redact a stream of bytes that arrives in any chunks, possibly with colour codes in the middle.

The bytes are searched as a reader would see them: without escape sequences. Text that may still become a secret is held
back until more arrives, the line continues differently, or the caller flushes. The text that indicates a secret
(`ghp_`, `password="`) is not secret itself: it passes through and is remembered, so little is ever held back.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from itertools import accumulate

from dragoman.core.redaction.scanner import BEFORE_BYTES, LONGEST_BYTES, PartialSecret, SecretScanner, Span, disjoint

# After the last column, a shell's line editor continues with a space and a carriage return.
NOISE = re.compile(
    rb"""\x1b(?:
      \[ [0-?]{0,64} [ -/]{0,8} [@-~]
    | \] [^\x07\x1b]{0,4096} (?: \x07 | \x1b\\ )
    | [ -/]{1,4} [0-~]
    | [0-Z\\^-~]
    ) | [ ]\r(?![\r\n])""",
    re.VERBOSE,
)
_CUT_ESCAPE = re.compile(rb"\x1b(?:\[[0-?]{0,64}[ -/]{0,8})?\Z")
# Texts for the terminal itself: titles, folders, links, marks.
_WORDS = re.compile(rb"(\x1b\][0-9]{0,4};?)([^\x07\x1b]{0,4096})(\x07|\x1b\\)")
_CUT_WORDS = re.compile(rb"\x1b\][^\x07\x1b]{0,4096}\x1b?\Z")
_STANDING_WORDS = re.compile(rb"(\x1b\][0-9]{0,4};?)([^\x07\x1b]{0,4096})(\x07|\x1b\\|\x1b?\Z)")
# Shells put the command there, cut to some length: the rest of a secret would not be recognised.
_TITLES = frozenset({b"\x1b]0;", b"\x1b]1;", b"\x1b]2;"})
# The echo of a shell arrives in small pieces.
_ECHO_BYTES = 8_192
_WORDS_BYTES = 4_200
_LINE_BYTES = 1_200
_MARK = b"<redacted "
# Line ends are kept.
_MASKED = re.compile(rb"[^\r\n]")
# Indicates a secret of several lines, or one in an unusually long line.
_OF_SEVERAL_LINES = (b"-----BEGIN", b"---- BEGIN SSH2", b"Private-Lines:", b"data:\n", b"data:\r\n")
_LONG = (b"eyJ", b"LS0tLS1CRUdJTi")
# An incomplete secret of this length counts as one.
_LIKELY_BYTES = 8


class SecretStream:
    def __init__(self, scanner: SecretScanner | None, *, in_place: bool = False, keeps_titles: bool = False) -> None:
        """Without patterns nothing is searched, and every byte passes unchanged.

        `in_place`: as many bytes come out as went in, with stars for secrets, for data that others point into by
        offset. `keeps_titles`: for a program's output, where a title is not a command that a shell has put there.
        """
        self._scanner = scanner
        self._in_place = in_place
        self._keeps_titles = keeps_titles
        self._held = b""
        self._context = b""

    @property
    def holds(self) -> bool:
        return bool(self._held)

    @property
    def held_bytes(self) -> int:
        return len(self._held)

    def resume_after(self, shown: bytes) -> None:
        """Resume a stream: text that an earlier process let through may indicate a secret that comes now."""
        if self._scanner is not None:
            view = _View(b"", shown)
            self._remember(view, _partial(self._scanner, view.text), len(view.text))

    def feed(self, data: bytes) -> bytes:
        """The bytes that can be released now, with secrets replaced."""
        if self._scanner is None:
            return data
        return self._passed(self._scanner, _View(self._context, self._held + data if self._held else data), last=False)

    def flush(self) -> bytes:
        """Release everything that was held back: nothing more comes for now."""
        if self._scanner is None or not self._held:
            return b""
        return self._passed(self._scanner, _View(self._context, self._held), last=True)

    def settle(self) -> bytes:
        """Release everything visible now, and redact what may be a secret. Only a cut escape sequence still waits:
        without its end, the next bytes would be misread.
        """
        if self._scanner is None or not self._held:
            return b""
        return self._passed(self._scanner, _View(self._context, self._held), last=True, redacts_partial=True)

    def _passed(self, scanner: SecretScanner, view: _View, *, last: bool, redacts_partial: bool = False) -> bytes:
        secrets = [(max(start, view.old), end) for start, end in scanner.secrets(view.text) if end > view.old]
        partial = _partial(scanner, view.text)
        end = len(view.text)
        if last:
            rest = (
                (max(partial.secret, view.old), end) if partial and (partial.likely or redacts_partial) else (end, end)
            )
            if rest[1] - rest[0] >= (1 if redacts_partial else _LIKELY_BYTES):
                secrets = disjoint([*secrets, rest])
            hold, cut = end, view.cut(end) if redacts_partial else len(view.raw)
        else:
            hold = _held_from(secrets, max(partial.secret, view.old) if partial else end)
            cut = view.cut(hold)
        self._remember(view, partial, hold)
        self._held = view.raw[cut:]
        found = [span for span in secrets if span[1] <= hold]
        if self._in_place:
            return _mask_titles(scanner, view.masked(found, cut))
        return _without_titles(scanner, view.redacted(found, cut), keeps_titles=self._keeps_titles)

    def _remember(self, view: _View, partial: PartialSecret | None, upto: int) -> None:
        """Remember the released part of the line, from where a secret may have begun."""
        if partial:
            self._context = view.text[max(partial.start - 32, upto - LONGEST_BYTES, 0) : upto]
        else:
            self._context = view.text[max(0, upto - BEFORE_BYTES) : upto]


class _View:
    """Bytes without escape sequences, and the position of each in the raw bytes."""

    def __init__(self, context: bytes, raw: bytes) -> None:
        self.raw = raw
        self.old = len(context)
        self._gaps: list[Span] = []
        self._end = len(raw)
        if b"\x1b" in raw or (len(raw) < _ECHO_BYTES and b" \r" in raw):
            found = _cut_title(raw) or _CUT_ESCAPE.search(raw, max(0, len(raw) - 80))
            self._end = found.start() if found else len(raw)
            self._gaps = [match.span() for match in NOISE.finditer(raw, 0, self._end)]
        # Skipped bytes before each gap, and the position of each gap in the text.
        self._unread = [0, *accumulate(high - low for low, high in self._gaps)]
        self._read = [low - unread for (low, _), unread in zip(self._gaps, self._unread, strict=False)]
        self.text = context + self._without_gaps() if context or self._gaps or self._end < len(raw) else raw

    def cut(self, at: int) -> int:
        """Where the raw bytes before `at` end. An incomplete escape sequence waits for its rest."""
        return self._end if at >= len(self.text) else self._raw_at(at)

    def redacted(self, secrets: list[Span], cut: int) -> bytes:
        if not secrets:
            return self.raw if cut == len(self.raw) else self.raw[:cut]
        pieces: list[bytes] = []
        done = 0
        for start, end in secrets:
            first, after = self._raw_at(start), self._raw_at(end - 1) + 1
            inside = b"".join(self.raw[low:high] for low, high in self._inside(first, after))
            pieces += [self.raw[done:first], redaction_mark(self.text[start:end]), inside]
            done = after
        return b"".join([*pieces, self.raw[done:cut]])

    def masked(self, secrets: list[Span], cut: int) -> bytes:
        """Replace secrets with stars; escape sequences inside them stay."""
        shown = bytearray(self.raw[:cut])
        for start, end in secrets:
            if _is_mark(self.text[start:end]):
                continue
            first, after = self._raw_at(start), self._raw_at(end - 1) + 1
            inside = [edge for gap in self._inside(first, after) for edge in gap]
            edges = [first, *inside, after]
            for low, high in zip(edges[::2], edges[1::2], strict=True):
                shown[low:high] = _stars(bytes(shown[low:high]))
        return bytes(shown)

    def _without_gaps(self) -> bytes:
        edges = [0, *(edge for gap in self._gaps for edge in gap), self._end]
        return b"".join(self.raw[low:high] for low, high in zip(edges[::2], edges[1::2], strict=True))

    def _raw_at(self, position: int) -> int:
        at = position - self.old
        return at + self._unread[bisect_right(self._read, at)]

    def _inside(self, first: int, after: int) -> list[Span]:
        return self._gaps[bisect_left(self._gaps, (first, first)) : bisect_right(self._gaps, (after, 0))]


def _cut_title(raw: bytes) -> re.Match[bytes] | None:
    at = raw.rfind(b"\x1b]", max(0, len(raw) - _WORDS_BYTES))
    return _CUT_WORDS.match(raw, at) if at >= 0 else None


def _without_titles(scanner: SecretScanner, data: bytes, *, keeps_titles: bool) -> bytes:
    """Remove titles, and redact secrets in other texts for the terminal."""
    if b"\x1b]" not in data:
        return data
    return _WORDS.sub(lambda found: _title_kept(scanner, found, keeps_titles=keeps_titles), data)


def _title_kept(scanner: SecretScanner, found: re.Match[bytes], *, keeps_titles: bool) -> bytes:
    head, words, end = found.groups()
    if head in _TITLES and not keeps_titles:
        return bytes(head + end)
    for start, after in reversed(scanner.secrets(words)):
        words = words[:start] + redaction_mark(words[start:after]) + words[after:]
    return bytes(head + words + end)


def _mask_titles(scanner: SecretScanner, data: bytes) -> bytes:
    """Mask a whole title if it contains a secret or the beginning of one."""
    return _STANDING_WORDS.sub(lambda found: _title_masked(scanner, found), data) if b"\x1b]" in data else data


def _title_masked(scanner: SecretScanner, found: re.Match[bytes]) -> bytes:
    head, words, end = found.groups()
    secrets = scanner.secrets(words)
    if head in _TITLES or not end.strip(b"\x1b"):
        partial = scanner.partial(words)
        secrets = [(0, len(words))] if secrets or (partial and partial.likely) else []
    for start, after in secrets:
        words = words[:start] + _stars(words[start:after]) + words[after:]
    return bytes(head + words + end)


def _stars(secret: bytes) -> bytes:
    return _MASKED.sub(b"*", secret)


def _is_mark(secret: bytes) -> bool:
    return secret.startswith(_MARK) or _MARK.startswith(secret)


def redaction_mark(secret: bytes) -> bytes:
    """The replacement for a secret. A redaction mark that was cut in two stays."""
    if _is_mark(secret):
        return secret
    return _MARK + b"%d chars>" % len(secret.decode("utf-8", "replace"))


def _partial(scanner: SecretScanner, text: bytes) -> PartialSecret | None:
    """The secret that may be cut off at the end: in the last line, or one of the few kinds that are longer."""
    tail = text[-LONGEST_BYTES:]
    is_in_lines = any(it in tail for it in _OF_SEVERAL_LINES)
    if text.endswith(b"\n") and not is_in_lines:
        return None
    if not is_in_lines and not any(it in tail for it in _LONG):
        tail = tail[-_LINE_BYTES:]
        tail = tail[max(0, tail.rfind(b"\n") - BEFORE_BYTES) :]
    found = scanner.partial(tail)
    skipped = len(text) - len(tail)
    return PartialSecret(found.start + skipped, found.secret + skipped, found.likely) if found else None


def _held_from(secrets: list[Span], hold: int) -> int:
    """Hold back a complete secret that may continue, together with the text that indicates it."""
    return min([hold, *(start for start, end in secrets if end > hold)])
