"""How functions look in each language that has no tracer, and what its debugger says of what they return.

A small lexical reader is enough: what it does not find is not traced.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Literal

from dragoman.debug import source_files
from dragoman.debug.evidence.expressions import impure_expressions

_PARAMETERS = r"\((?P<parameters>[^()]*(?:\([^()]*\)[^()]*)*)\)"
_QUOTED = r"\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'"
_C_COMMENTS = r"//[^\n]*|/\*[\s\S]*?\*/"
# A slash after one of these characters begins a regular expression, not a division.
_JS_PATTERN = r"(?<=[(=,:!&|?;{}\[])\s*/(?![/*])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n\[])+/[a-z]*"

_WORDS = """
if else for while switch case catch try do return function class new typeof instanceof delete void await async yield
throw const let var func go defer select range struct interface map chan make append len cap copy panic recover print
println sizeof goto static unsigned signed int char float double long short bool auto template using namespace fn match
loop impl pub mut ref local then end elseif repeat until and or not nil true false null undefined None self this def
module unless begin rescue ensure super require import export default extends from of in is puts unsafe where move
string byte rune error int8 int16 int32 int64 uint uint8 uint16 uint32 uint64 float32 float64 any
"""
_KEYWORDS = frozenset(_WORDS.split())
# Words before parentheses and a block that do not name a function.
_STATEMENTS = frozenset(
    {"if", "else", "for", "while", "switch", "catch", "do", "try", "return", "function", "match", "loop"}
)
_ASSERTIONS = re.compile(
    r"(?:assert|expect|t|b|chai|should|self|cy)[.:].*|_*assert\w*|static_assert|expect\w*|refute\w*|test|it|describe"
    r"|(?:ASSERT|EXPECT|TEST|CHECK|REQUIRE)\w*|abort|exit|f?printf|main|pcall|fail"
)
_STRING = re.compile(r"\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'")
_CALLED = r"(?<![\w$])(?!(?:and|or|not)\b)[A-Za-z_$][\w$]*\s*(?:::<[^>]*>)?\(|[)\]]\s*\("
_NUMBER_TYPES = r"(?:(?:unsigned|signed|int|long|short|char|float|double|bool|size_t|u?int\d+_t)\s*)+"


@dataclass(frozen=True, slots=True)
class SourceLanguage:
    suffixes: frozenset[str]
    headers: tuple[re.Pattern[str], ...]
    """Of a function, up to where its body begins; `name` and `parameters`."""
    masked: re.Pattern[str]
    """Strings and comments."""
    owner: re.Pattern[str] | None = None
    """What a method belongs to; `name`."""
    has_braces: bool = True
    """Otherwise a body ends with `end`, as far in as its function begins."""
    enters_at: Literal["body", "header"] = "body"
    """The line at which a breakpoint stops each call before its first statement."""
    parameter: Literal["first", "last"] = "first"
    """Which of the words of a parameter is its name."""
    constructor: str = ""
    constructed: re.Pattern[str] | None = None
    """A call that runs the constructor of the class `name`."""
    test: re.Pattern[str] = re.compile(r"(?:.*[._-])?(?:test|spec)s?[._-].*", re.IGNORECASE)
    """The name of a file of tests."""
    returns: re.Pattern[str] = re.compile(r"\breturn\b[ \t]*(?P<value>[^;\n]*)")
    returned_names: frozenset[str] = frozenset()
    """Variables by which a debugger says what the function returns, at its last line or after a step out of it."""
    has_last_value: bool = False
    """The value of the last expression is returned without a word for it."""
    register: str = ""
    """Where what is returned stands after a step out, cast to the function's type: `{type}`."""
    register_types: Mapping[str, str] = field(default_factory=dict)
    """What its types are called there, if not the same."""
    conjunction: str = "&&"
    nothing: str = ""
    """The value of a call that returns none."""
    statements: frozenset[str] = _STATEMENTS
    keywords: frozenset[str] = _KEYWORDS
    assertions: re.Pattern[str] = _ASSERTIONS
    pure: re.Pattern[str] = re.compile(r"(?!)")
    """Calls of what belongs to the language, which change nothing."""
    called: re.Pattern[str] = re.compile(_CALLED)

    def may_repeat(self, expression: str) -> bool:
        """Whether evaluating it once more changes nothing: functions of the program may count their calls."""
        bare = self.pure.sub("(", _STRING.sub("''", expression))
        return not self.called.search(bare) and not impure_expressions([bare])


def _patterns(*patterns: str) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(it, re.MULTILINE) for it in patterns)


_MODIFIERS = r"(?:(?:export|default|static|async|get|set|public|private|protected|override|readonly)\s+|\*\s*)*"
JAVASCRIPT = SourceLanguage(
    source_files.JAVASCRIPT,
    _patterns(
        rf"(?:(?P<assigned>[\w$]+)\s*[=:]\s*)?(?:async\s+)?function\s*\*?\s*(?P<name>[\w$]*)\s*(?:<[^>]*>)?\s*{_PARAMETERS}[^()]*\Z",
        rf"(?:(?P<name>[\w$]+)\s*(?::[^=]*)?[=:]\s*)?(?:async\s*)?(?:<[^>]*>)?{_PARAMETERS}\s*(?::[^=]*)?=>\s*\Z",
        r"(?:(?P<name>[\w$]+)\s*[=:]\s*)?(?:async\s+)?(?P<parameters>[\w$]+)\s*=>\s*\Z",
        rf"\A\s*{_MODIFIERS}(?P<name>#?[\w$]+)\s*(?:<[^>]*>)?\s*{_PARAMETERS}\s*(?::[^{{]*)?\Z",
    ),
    re.compile(rf"{_C_COMMENTS}|{_JS_PATTERN}|{_QUOTED}|`(?:\\.|[^`\\])*`"),
    owner=re.compile(r"\bclass\s+(?P<name>[\w$]+)"),
    constructor="constructor",
    constructed=re.compile(r"\bnew\s+(?:[\w$]+\.)*(?P<name>[\w$]+)"),
    returned_names=frozenset({"Return value"}),
    nothing="undefined",
)
GO = SourceLanguage(
    source_files.GO,
    _patterns(
        rf"\bfunc\s*(?:\(\s*(?P<receiver>\w*)\s*\*?(?P<owner>\w+)[^)]*\)\s*)?(?P<name>\w*)\s*(?:\[[^\]]*\])?{_PARAMETERS}[^{{\n]*\Z"
    ),
    re.compile(rf"{_C_COMMENTS}|{_QUOTED}|`[^`]*`"),
    enters_at="header",
    pure=re.compile(
        r"(?<![\w$.])(?:\[\])?(?:u?int(?:8|16|32|64)?|float(?:32|64)|string|byte|rune|bool|len|cap|real|imag|min|max)\("
    ),
)
NATIVE = SourceLanguage(
    frozenset({".c", ".cc", ".cpp", ".cxx", ".h", ".hh", ".hpp", ".hxx"}),
    _patterns(
        rf"(?P<type>[\w:<>,*&\s]*?[\s*&])(?P<owner>(?:\w+::)*)(?P<name>[~\w]+)\s*{_PARAMETERS}"
        r"\s*(?:const|noexcept|override|final|\s)*(?:->[^{]*)?\Z"
    ),
    re.compile(rf"{_C_COMMENTS}|{_QUOTED}|^[ \t]*#[^\n]*", re.MULTILINE),
    owner=re.compile(r"\b(?:class|struct)\s+(?P<name>\w+)\s*(?:final\s*)?(?::[^{]*)?\Z"),
    parameter="last",
    returned_names=frozenset({"[return value]", "(Return Value)"}),
    register="({type})$rax",
    pure=re.compile(
        rf"(?<![\w$.:>])(?:sizeof|strlen|abs|fabs|ceil|floor|round|sqrt|pow|{_NUMBER_TYPES})\(|\({_NUMBER_TYPES}\**\)\s*\("
    ),
)
RUST = SourceLanguage(
    frozenset({".rs"}),
    _patterns(
        rf"\bfn\s+(?P<name>\w+)\s*(?:<[^(]*>)?\s*{_PARAMETERS}\s*(?:->\s*(?P<type>[^{{]*?)\s*)?(?:where[^{{]*)?\Z",
        r"\|(?P<parameters>[^|]*)\|\s*\Z",
    ),
    re.compile(rf"{_C_COMMENTS}|\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\\n])'"),
    register="({type})$rax",
    register_types={
        "i8": "signed char",
        "i16": "short",
        "i32": "int",
        "i64": "long",
        "isize": "long",
        "u8": "unsigned char",
        "u16": "unsigned short",
        "u32": "unsigned",
        "u64": "unsigned long",
        "usize": "unsigned long",
        "bool": "bool",
    },
    owner=re.compile(r"\bimpl\b(?:<[^{]*?>)?\s*(?:[\w:<>]+\s+for\s+)?(?P<name>\w+)"),
    has_last_value=True,
    returned_names=frozenset({"[return value]", "(Return Value)"}),
)
LUA = SourceLanguage(
    source_files.LUA,
    _patterns(
        r"^[ \t]*(?:local\s+)?function\s+(?P<owner>(?:\w+[.:])*)(?P<name>\w+)\s*\((?P<parameters>[^)]*)\)",
        r"^[ \t]*(?:local\s+)?(?P<owner>(?:\w+[.:])*)(?P<name>\w+)\s*=\s*function\s*\((?P<parameters>[^)]*)\)",
        r"\bfunction\s*\((?P<parameters>[^)]*)\)[ \t]*$",
    ),
    re.compile(rf"--\[\[[\s\S]*?\]\]|--[^\n]*|{_QUOTED}|\[\[[\s\S]*?\]\]"),
    has_braces=False,
    returns=re.compile(r"\breturn\b[ \t]*(?P<value>[^;\n]*?)[ \t]*(?:\bend\b.*)?$", re.MULTILINE),
    pure=re.compile(
        r"(?<![\w.:])(?:tonumber|tostring|type|ipairs|select|string\.(?!gsub)\w+|math\.(?!random)\w+)\(|:(?:lower|upper)\("
    ),
    called=re.compile(rf"{_CALLED}|(?<!\w)(?!(?:and|or|not)\b)[A-Za-z_]\w*\s*(?:''|\{{)"),
    conjunction="and",
    nothing="nil",
)
RUBY = SourceLanguage(
    source_files.RUBY,
    _patterns(
        r"^[ \t]*(?:private\s+)?def\s+(?P<owner>(?:\w+\.)?)(?P<name>\w+[?!=]?)"
        r"(?:[ \t]*\((?P<parameters>[^)]*)\)|(?P<bare>[ \t][^;\n=]*))?"
    ),
    re.compile(rf"#[^\n]*|{_QUOTED}"),
    owner=re.compile(r"^[ \t]*class\s+(?P<name>\w+)"),
    has_braces=False,
    constructor="initialize",
    constructed=re.compile(r"\b(?:\w+::)*(?P<name>[A-Z]\w*)\.new\b"),
    returned_names=frozenset({"_return"}),
    has_last_value=True,
)
LANGUAGES = (JAVASCRIPT, GO, NATIVE, RUST, LUA, RUBY)
_BY_SUFFIX: Mapping[str, SourceLanguage] = {suffix: it for it in LANGUAGES for suffix in it.suffixes}


def language_of_file(path: str) -> SourceLanguage | None:
    """None: a language whose functions this reader does not know, or that has a tracer."""
    return _BY_SUFFIX.get(PurePath(path).suffix.lower())
