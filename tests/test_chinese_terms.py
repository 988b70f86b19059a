"""The Chinese catalogues keep to docs/chinese-terms.md: one word for each idea, Chinese punctuation and spaces."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import setup_words

from tests.catalogues import CHINESE

ROOT = Path(__file__).parents[1]
HAN = r"\u3400-\u9fff"
# Quoted from the specification, or right in another sense; see the page.
ALLOWED = re.compile(r"工作目录|主目录|堆栈帧 ID|^步[过入出]$")
SPECIFIED = {"无法在当前上下文求值"}
CODE = re.compile(r"`[^`]*`|\{\{?\w+\}\}?|https?://\S+|\brequire\([^)]*\)\S*")
NOT_SPOKEN = re.compile(r"`[^`]*`|\{\w+\}|--\w+|\"\w+\"|\S+\.md")
HALF_WIDTH = re.compile(
    rf"[{HAN}）”][,;:?!](?![/\d\\])"
    r"|[\ufffc`][,;:?!](?![/\d\\\ufffc])"
    rf"|[,;:?!][{HAN}（“]|\([^)]*[{HAN}]|[{HAN}]\(|\)[{HAN}]"
)
_TYPESCRIPT = re.compile(r'^ {2}("(?:[^"\\]|\\.)*"):\s+("(?:[^"\\]|\\.)*"),?$', re.MULTILINE)


@dataclass(frozen=True)
class Term:
    english: str
    chinese: tuple[str, ...]
    never: tuple[str, ...]


@functools.cache
def terms() -> tuple[Term, ...]:
    text = (ROOT / "docs" / "chinese-terms.md").read_text(encoding="utf-8")
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line.startswith("| ")
    ]
    return tuple(Term(row[0], _words(row[1]), _words(row[2])) for row in rows[2:])


@functools.cache
def catalogues() -> dict[str, dict[str, str]]:
    """By where they are kept: English to Chinese."""
    found = {"locale/zh_CN": CHINESE}
    for path in sorted((ROOT / "web" / "src").glob("*/chinese.ts")):
        pairs = _TYPESCRIPT.findall(path.read_text(encoding="utf-8"))
        found[str(path.relative_to(ROOT))] = {json.loads(english): json.loads(chinese) for english, chinese in pairs}
    found["tools/setup_words.py"] = setup_words.CHINESE
    bundle, nls = ROOT / "vscode" / "l10n" / "bundle.l10n.zh-cn.json", ROOT / "vscode" / "package.nls.json"
    found["vscode/l10n"] = json.loads(bundle.read_text(encoding="utf-8"))
    chinese = json.loads(nls.with_name("package.nls.zh-cn.json").read_text(encoding="utf-8"))
    english = json.loads(nls.read_text(encoding="utf-8"))
    found["vscode/package.nls"] = {english[key]: text for key, text in chinese.items()}
    return found


def _words(cell: str) -> tuple[str, ...]:
    return () if cell == "—" else tuple(word.strip() for word in cell.split(","))


def wrong_words(english: str, chinese: str) -> Iterator[str]:
    if chinese in SPECIFIED:
        return
    shown = ALLOWED.sub("", chinese)
    spoken = NOT_SPOKEN.sub("", english)
    for term in terms():
        yield from (f"{word}: {chinese}" for word in term.never if word in shown)
        if (
            term.chinese
            and re.search(rf"\b{term.english}s?\b", spoken)
            and not any(it in chinese for it in term.chinese)
        ):
            yield f"{term.english} is {' or '.join(term.chinese)}: {english!r}: {chinese}"


def wrong_marks(chinese: str) -> Iterator[str]:
    """Punctuation and spaces, outside of what is code."""
    text = CODE.sub(lambda code: "`" if code[0].startswith("`") else "\N{OBJECT REPLACEMENT CHARACTER}", chinese)
    if not re.search(f"[{HAN}]", text):
        return
    if found := HALF_WIDTH.search(text):
        yield f"half-width {found[0]!r}: {chinese}"
    if found := re.search(rf"[{HAN}][A-Za-z0-9`]|[A-Za-z0-9`%][{HAN}]", text):
        yield f"no space in {found[0]!r}: {chinese}"
    if found := re.search(rf"[{HAN}] [{HAN}]| [，。：；？！）”]|[，。；？！（“] ", text):
        yield f"a space too many in {found[0]!r}: {chinese}"


@pytest.mark.parametrize("where", sorted(catalogues()))
def test_one_word_means_one_idea(where: str) -> None:
    assert [fault for pair in catalogues()[where].items() for fault in wrong_words(*pair)] == []


@pytest.mark.parametrize("where", sorted(catalogues()))
def test_punctuation_and_spaces_are_chinese(where: str) -> None:
    assert [fault for chinese in catalogues()[where].values() for fault in wrong_marks(chinese)] == []


def test_every_catalogue_and_every_term_is_read() -> None:
    assert len(terms()) > 30
    assert min(len(catalogue) for catalogue in catalogues().values()) > 3
    for path in (ROOT / "web" / "src").glob("*/chinese.ts"):
        written = sum(line.startswith('  "') for line in path.read_text(encoding="utf-8").splitlines())
        assert written == len(catalogues()[str(path.relative_to(ROOT))])


@pytest.mark.parametrize(
    ("english", "chinese"),
    [
        ("An agent asks.", "一个代理在询问。"),
        ("Yours.", "您的。"),
        ("It stopped.", "它停下了。"),
        ("Set a breakpoint.", "设置一个标记。"),
        ("the journal", "日志"),
    ],
)
def test_a_wrong_word_is_found(english: str, chinese: str) -> None:
    assert list(wrong_words(english, chinese))


@pytest.mark.parametrize(
    ("english", "chinese"), [("Run `agent`.", "请运行 `agent`。"), ("in the folder", "程序的工作目录")]
)
def test_code_and_quotations_pass(english: str, chinese: str) -> None:
    assert list(wrong_words(english, chinese)) == []


@pytest.mark.parametrize(
    "chinese",
    ["没有,", "没有:{x}", "({x} 个)", "请运行dragoman", "第3行", "用`x`打开", "没有 断点", "没有， 断点", "{x}, 没有?"],
)
def test_wrong_punctuation_is_found(chinese: str) -> None:
    assert list(wrong_marks(chinese))


@pytest.mark.parametrize(
    "chinese",
    [
        "没有：{x}",
        "用 `a, b: c` 打开",
        "第 3 行",
        "{host}:{port} 没有响应。",
        "由{who}结束",
        "见 a.py:12。",
        "{a}，{b}",
    ],
)
def test_right_punctuation_passes(chinese: str) -> None:
    assert list(wrong_marks(chinese)) == []
