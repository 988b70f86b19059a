"""How a value is laid out in bytes, as data. `bincode` and `json_form` interpret these tables."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any, TypeAlias


class Scalar(Enum):
    U32 = "u32"
    U64 = "u64"
    I32 = "i32"
    F32 = "f32"
    BOOL = "bool"
    STR = "str"
    BYTES = "bytes"


@dataclass(slots=True)
class OptionLayout:
    """One byte, 0 or 1, then the value."""

    of: Layout


@dataclass(slots=True)
class SequenceLayout:
    """A count, then the items."""

    of: Layout


@dataclass(slots=True)
class MappingLayout:
    """A count, then keys and values in any order."""

    key: Layout
    value: Layout


@dataclass(slots=True)
class PairLayout:
    """Two values, one after the other."""

    first: Layout
    second: Layout


@dataclass(slots=True)
class EnumLayout:
    """A choice of names alone; a member's index is its place in the class, its value its name on the wire."""

    of: type[Enum]


@dataclass(slots=True)
class RecordLayout:
    """The fields of a class in order. `bare` marks a variant with one unnamed value."""

    of: type[Any]
    fields: dict[str, Layout]
    bare: bool = False

    @property
    def name(self) -> str:
        return self.of.__name__


@dataclass(slots=True)
class ChoiceLayout:
    """One of several records; the index of the variant comes first."""

    variants: list[RecordLayout]


Layout: TypeAlias = (
    Scalar | OptionLayout | SequenceLayout | MappingLayout | PairLayout | EnumLayout | RecordLayout | ChoiceLayout
)
