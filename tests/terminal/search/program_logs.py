"""What builds, test runs and servers print, made anew line by line: the same for a seed, and no line like the last."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_LINES_A_RUN = 400
_VOCABULARY = 20_000


class Logs:
    """A stretch of one kind of output after another, as a day in a terminal goes."""

    def __init__(self, seed: int = 3) -> None:
        self._dice = dice = random.Random(seed)
        words = ["".join(dice.choices(_LETTERS, k=dice.randint(3, 10))) for _ in range(_VOCABULARY)]
        # Few words come often and many hardly ever, as in every text.
        self._words = dice.choices(words, [1 / rank for rank in range(1, _VOCABULARY + 1)], k=1 << 16)
        self._kinds: list[Callable[[int], str]] = [self._server, self._tests, self._compiler, self._packages]

    def lines(self) -> Iterator[str]:
        while True:
            kind = self._dice.choice(self._kinds)
            for _ in range(self._dice.randint(_LINES_A_RUN // 4, _LINES_A_RUN)):
                yield kind(self._dice.getrandbits(64))

    def chunks(self, size: int) -> Iterator[bytes]:
        """The same as a terminal shows it, in pieces of one size."""
        held, length = list[str](), 0
        for line in self.lines():
            held.append(line)
            length += len(line) + 2
            if length >= size:
                whole = ("\r\n".join(held) + "\r\n").encode()
                yield whole[:size]
                held, length = [whole[size:].decode().removesuffix("\r\n")], len(whole) - size

    def _message(self, bits: int) -> str:
        words = self._words
        return f"{words[bits & 0xFFFF]} {words[bits >> 16 & 0xFFFF]} {words[bits >> 32 & 0xFFFF]}"

    def _server(self, bits: int) -> str:
        """One line in twenty warns, one in a thousand times out; both at once one in twenty thousand."""
        level = "warning" if bits % 20 == 0 else "debug" if bits % 7 == 0 else "info"
        end = "timeout" if (bits >> 8) % 1000 == 0 else f"{bits >> 40 & 0x3FF} ms"
        clock = f"12:{bits >> 50 & 31:02}:{bits >> 55 & 31:02}"
        return f"{clock} [{level}] request {bits >> 28:09x} {self._message(bits)} {end}"

    def _tests(self, bits: int) -> str:
        word = self._words[bits >> 20 & 0xFFFF]
        result = "FAILED" if bits % 50 == 0 else "PASSED"
        return f"tests/{word}/test_{self._words[bits & 0xFFFF]}.py::test_{bits >> 36 & 0xFFF} {result} [{bits % 101}%]"

    def _compiler(self, bits: int) -> str:
        words = self._words
        source = f"src/{words[bits & 0xFFFF]}/{words[bits >> 16 & 0xFFFF]}.c"
        if bits % 40 == 0:
            return f"{source}:{bits >> 40 & 0x7FF}:{bits & 63}: warning: unused variable '{words[bits >> 44 & 0xFFFF]}'"
        return f"[{bits % 101}%] Building C object {source}.o"

    def _packages(self, bits: int) -> str:
        version = f"{bits & 15}.{bits >> 4 & 31}.{bits >> 9 & 31}"
        name = f"{self._words[bits >> 16 & 0xFFFF]}-{self._words[bits >> 32 & 0xFFFF]}"
        verb = "Downloaded" if bits % 3 else "Compiling"
        return f"   {verb} {name} v{version} ({bits >> 45 & 0x3FFF} kB, sha256 {bits:016x})"
