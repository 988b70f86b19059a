"""What a question is after: its kind, the words that name a command or a folder, and from when on."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from dragoman.terminal.model import Command

Kind = Literal["failure", "worked", "took", "ran", "printed", "search"]

_DAY_S = 86_400
# The first that matches counts: "when did the tests last pass" is no question about a failure.
_KINDS: Sequence[tuple[Kind, str]] = (
    ("worked", r"last (?:time )?\w* ?(?:work|pass|succe)|when did .*(?:work|pass|succe)|上次成功|什么时候.*成功"),
    ("took", r"how long|duration|did .* take|how slow|耗时|多久|多长时间"),
    ("ran", r"what (?:did|have) (?:i|we) (?:run|type|do|done)|(?:which|what|list|show).*\bcommands\b"),
    ("ran", r"运行了什么|执行了|哪些命令"),
    ("search", r"^(?:find|search|grep)\b|where (?:did|was|have) (?:i|we)|look(?:ing)? for|搜索|查找"),
    ("failure", r"\bwhy|fail|error|wrong|broke|crash|not work|problem|\bfix\b|reject|what happened"),
    ("failure", r"为什么|失败|错误|报错|怎么了|崩溃|出错"),
    ("printed", r"what (?:did|does|was|is) .*(?:sa[iy]d?|print|output|show|return)|output|输出|打印|说了什么"),
)
_LAST = re.compile(r"\b(?:last|previous) command\b|上一条命令|上一个命令")
_WORD = re.compile(r"[a-z0-9_][\w./+:-]*|[\u4e00-\u9fff]+")
_STOP = frozenset(
    re.findall(
        r"\w+",
        """a about again all an and any are at be been broke broken by can cannot code command commands could crash
        crashed did do does done duration error errors exit explain fail failed failing fails failure find fix for
        found from had happen happened has have how i in is it its last latest list long look looking me my no not of
        on one or output please print printed problem ran recent rejected result run running said say says search see
        seen show since so stop stopped succeed succeeded take tell that the their then there they this time to today
        took us was we went were what when where which why will with work worked works wrong yesterday you""",
    )
)
_TESTS = r"\b(?:py\.?test|tests?|jest|vitest|ctest|rspec|tox|nox|busted|unittest|check|spec)\b"
_BUILD = (
    r"\b(?:make|gcc|g\+\+|clang|cc|cargo (?:b|build|check)|go build|tsc|cmake|ninja|mvnw?|gradlew?|rustc|javac|"
    r"webpack|build|compile)(?!\w)"
)
_INSTALL = r"\b(?:install|add|ci|sync|pip3?|npm i|apt(?:-get)?|brew)\b"
_MERGE = r"\bgit (?:merge|pull|rebase|cherry-pick)\b"
_DEPLOY = r"\b(?:deploy|kubectl|helm|terraform|ansible\S*)\b"
_SERVER = r"\b(?:serve[rd]?|runserver|uvicorn|gunicorn|flask|start|dev|http\.server)\b"
_TOPICS: Mapping[str, re.Pattern[str]] = {
    name: re.compile(pattern, re.IGNORECASE)
    for names, pattern in {
        "test tests testing 测试": _TESTS,
        "build builds compile compiler compilation 构建 编译": _BUILD,
        "install installation dependencies 安装 依赖": _INSTALL,
        "merge conflict 合并 冲突": _MERGE,
        "push 推送": r"\bgit push\b",
        "pull 拉取": r"\bgit pull\b",
        "commit 提交": r"\bgit commit\b",
        "deploy deployment 部署": _DEPLOY,
        "server 服务器 服务": _SERVER,
        "lint linter": r"\b(?:ruff|eslint|flake8|mypy|pylint|lint|clippy)\b",
        "copy 复制": r"\b(?:cp|rsync|scp)\b",
    }.items()
    for name in names.split()
}


@dataclass(frozen=True, slots=True)
class Question:
    text: str
    kind: Kind
    words: tuple[str, ...]
    since_s: int | None = None
    """How far back, where the question says it."""
    is_of_last: bool = False
    """Whether it speaks of the last command by that name."""

    def fits(self, command: Command) -> int:
        """How well the question's words name this command; 0 where none does."""
        return sum(_fits(word, command.line.lower(), command.line) for word in self.words)

    def is_answered_by(self, lines: Sequence[str]) -> bool:
        """Whether what was printed speaks of what the question does."""
        text = "\n".join(lines)
        return any(_fits(word, text.lower(), text) for word in self.words)

    def names_folder(self, command: Command) -> bool:
        return any(
            word.strip("/") in command.cwd.lower().split("/") or word == command.cwd.lower() for word in self.words
        )


def understood(text: str) -> Question:
    """Without any word that is known, what is wanted is what went wrong last."""
    folded = text.lower().strip()
    kind: Kind = next((kind for kind, pattern in _KINDS if re.search(pattern, folded)), "failure")
    words = [word.rstrip(".:") for found in _WORD.findall(folded) for word in _parts(found)]
    named = tuple(dict.fromkeys(word for word in words if word and word not in _STOP))
    return Question(text, kind, named, _since(folded), bool(_LAST.search(folded)))


def _parts(word: str) -> list[str]:
    """Chinese has no spaces: of a run of it, the topics that stand in it are the words."""
    if word[0] < "\u4e00":
        return [word]
    return [topic for topic in _TOPICS if topic[0] >= "\u4e00" and topic in word]


def _fits(word: str, folded: str, line: str) -> int:
    topic = _TOPICS.get(word)
    if re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", folded):
        return 3
    if topic and topic.search(line):
        return 2
    return 1 if len(word) > 3 and word in folded else 0


def _since(folded: str) -> int | None:
    if re.search(r"last hour|过去一小时|最近一小时", folded):
        return 3600
    if re.search(r"\btoday\b|今天", folded):
        return _DAY_S
    if re.search(r"yesterday|昨天", folded):
        return 2 * _DAY_S
    return _DAY_S * 7 if re.search(r"last week|this week|上周|本周", folded) else None
