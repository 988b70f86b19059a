"""Hit conditions with one meaning in every language."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from dataclasses import dataclass

from dragoman.debug.errors import bad_hit_condition

_FORM = re.compile(r"\s*(?:(>=|<=|==|=|>|<)?\s*(\d+)|%\s*(\d+)(?:\s*==\s*(\d+))?)\s*")
_COMPARE: dict[str, Callable[[int, int], bool]] = {
    ">": operator.gt,
    ">=": operator.ge,
    "<": operator.lt,
    "<=": operator.le,
    "==": operator.eq,
}
_LARGEST = 2**53


@dataclass(frozen=True, slots=True)
class HitCondition:
    """`compare` the count with `number`, or, for `%`, the count's remainder by `number` with `remainder`."""

    compare: str
    number: int
    remainder: int = 0

    def holds(self, count: int) -> bool:
        if self.compare == "%":
            return count % self.number == self.remainder
        return _COMPARE[self.compare](count, self.number)

    def is_spent(self, count: int) -> bool:
        """Whether it will never hold again."""
        last = {"==": self.number, "<=": self.number, "<": self.number - 1}.get(self.compare)
        return last is not None and count >= last

    def __str__(self) -> str:
        return f"% {self.number} == {self.remainder}" if self.compare == "%" else f"{self.compare} {self.number}"


def parse_hit_condition(text: str) -> HitCondition:
    """`3`, `== 3`, `= 3`: only the third hit. `% 3`: every third hit. `> 5`: from the sixth hit on."""
    match = _FORM.fullmatch(text)
    if match is None:
        raise bad_hit_condition(text=text)
    compare, number, modulus, remainder = match.groups()
    if modulus is not None:
        return _modulo(text, int(modulus), int(remainder or 0))
    if int(number) > _LARGEST:
        raise bad_hit_condition(text=text)
    return HitCondition("==" if compare in {None, "="} else compare, int(number))


def _modulo(text: str, modulus: int, remainder: int) -> HitCondition:
    if not 0 < modulus <= _LARGEST or remainder >= modulus:
        raise bad_hit_condition(text=text)
    return HitCondition("%", modulus, remainder)
