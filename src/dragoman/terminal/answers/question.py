"""Parses a question: its kind, the words that name a command or a folder, and its period."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from dragoman.terminal.model import RecordedCommand

_TIMES = r"today|yesterday|this morning|(?:this|last|past) (?:hour|week|day)|so far|lately|recently"
_TESTS = r"\b(?:py\.?test|tests?|jest|vitest|ctest|rspec|tox|nox|busted|unittest|check|spec)\b"
_BUILD = (
    r"\b(?:make|gcc|g\+\+|clang|cc|cargo (?:b|build|check)|go build|tsc|cmake|ninja|mvnw?|gradlew?|rustc|javac|"
    r"webpack|build|compile)(?!\w)"
)
_INSTALL = r"\b(?:install|add|ci|sync|pip3?|npm i|apt(?:-get)?|brew)\b"
_MERGE = r"\bgit (?:merge|pull|rebase|cherry-pick)\b"
_DEPLOY = r"\b(?:deploy|kubectl|helm|terraform|ansible\S*)\b"
_SERVER = r"\b(?:serve[rd]?|runserver|uvicorn|gunicorn|flask|start|dev|http\.server)\b"
_HOUR_NS = 3600 * 10**9
_SHORTEST_PART = 3


def midnight_ns(now_ns: int, days_ago: int = 0) -> int:
    """The start of a day. It is computed from noon, since some days have 23 hours."""
    today = datetime.fromtimestamp(now_ns / 1e9).astimezone().replace(hour=12, minute=0, second=0, microsecond=0)
    day = (today - timedelta(days=days_ago)).date()
    return int(datetime(day.year, day.month, day.day).astimezone().timestamp()) * 10**9


def local_time(at_ns: int) -> str:
    return datetime.fromtimestamp(at_ns / 1e9).astimezone().strftime("%Y-%m-%d %H:%M")


QuestionKind = Literal["failure", "failures", "worked", "took", "ran", "printed", "search"]
# The first match wins: "when did the tests last pass" is not a question about a failure.
_KINDS: Sequence[tuple[QuestionKind, str]] = (
    ("worked", r"last (?:time )?\w* ?(?:work|pass|succe)|when did .*(?:work|pass|succe)|上次成功|什么时候.*成功"),
    # "Why did it fail" is about one command; "what failed today" is about all of them.
    ("failures", rf"^(?!.*\bwhy).*\b(?:fail|broke|wrong|crash|error).*\b(?:{_TIMES})"),
    ("failures", rf"^(?!.*\bwhy).*\b(?:{_TIMES})\b.*(?:fail|broke|wrong|crash|error)"),
    (
        "failures",
        r"\b(?:failures|failed commands)\b|(?:which|what) (?:commands|tests|things|builds) (?:have |has )?fail",
    ),
    ("failures", r"how (?:often|many).*fail|(?:every|any)thing .*fail|(?:list|show|all)\b.*\berrors\b|keeps? failing"),
    ("failures", r"^(?!.*为什么)(?=.*(?:失败|出错|报错|错误|崩溃)).*(?:今天|昨天|本周|这周|上周|最近|一小时|今早)"),
    (
        "failures",
        r"(?:哪些|哪几|所有|全部|列出).*(?:失败|出错|报错|错误)|(?:失败|出错|报错|错误).*(?:哪些|几次|多少次|列表)",
    ),
    ("took", r"how long|duration|did .* take|how slow|耗时|多久|多长时间"),
    ("ran", r"what (?:did|have) (?:i|we) (?:run|type|do|done)|(?:which|what|list|show).*\bcommands\b"),
    ("ran", r"运行了什么|执行了|哪些命令"),
    ("search", r"^(?:find|search|grep)\b|where (?:did|was|have) (?:i|we)|look(?:ing)? for|搜索|查找"),
    ("failure", r"\bwhy|fail|error|wrong|broke|crash|not work|problem|\bfix\b|reject|what happened"),
    ("failure", r"为什么|失败|错误|报错|怎么了|崩溃|出错|发生|怎么回事|问题|不行|不对|坏了"),
    ("failure", r"^(?:explain|last|what|怎么样|怎么办|解释\w*)\W*$"),
    ("printed", r"what (?:did|does|was|is) .*(?:sa[iy]d?|print|output|show|return)|output|输出|打印|说了什么"),
)
_LAST = re.compile(r"\b(?:last|previous) command\b|上一条命令|上一个命令")
_WORD = re.compile(r"[a-z0-9_][\w./+:-]*|[\u4e00-\u9fff]+")
_NEGATED = re.compile(r"\b\w+n['’]t\b")
_SHORTENED = re.compile(r"(?<=\w)['’](?:s|re|ve|ll|d|m)\b")
_STOP = frozenset(
    re.findall(
        r"\w+",
        """a about again all also an and any anything are as at be been broke broken but by can cannot code command
        commands could crash crashed did do does done duration else error errors ever everything exit explain fail
        failed failing fails failure failures far find fix for found from get gets getting got had happen happened
        has have here hour how i if in into is it its just keep keeps last lately latest list long look looking many
        me morning my no not nothing now of often on one only or our output past please print printed problem program
        ran really recent recently rejected result run running said same say says script search see seen should show
        since so some something still stop stopped succeed succeeded take tell that the their then there they thing
        things this time times to today took us was we week went were what when where which who why will with work
        worked works would wrong yesterday you your""",
    )
)
# Chinese has no spaces. These phrases are cut out of a run of characters, longest first; the rest are the words.
_CHINESE_STOP = re.compile(
    "|".join(
        sorted(
            re.findall(
                r"\w+",
                """为什么 为何 什么时候 什么 怎么回事 怎么样 怎么了 怎么办 怎么 怎样 如何 哪些 哪几 哪个 哪里 哪 何时
            多长时间 多久 多少次 多少 几次 失败 出错 报错 错误 崩溃 成功 问题 原因 坏了 不行 不对 没有 发生 出现
            耗时 今天 昨天 今早 本周 这周 上周 最近 过去 一小时 刚才 刚刚 现在 时候 上次 上一条 上一个 上一次
            最后 最新 一下 一次 一个 一条 所有 全部 列出 列表 运行 执行 命令 程序 脚本 输出 打印 说了 搜索 查找
            解释 告诉 显示 看看 结果 事情 情况 可以 知道 这个 那个 这次 那次 这 那 请 帮 我们 我 你 他 它 是 在
            没 不 了 的 吗 呢 吧 啊 和 与 也 都 就 还 又 再 被 把""",
            ),
            key=len,
            reverse=True,
        )
    )
)
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
class Period:
    """The last few hours, or whole days, starting a number of days ago."""

    hours: int = 0
    days_ago: int = 0
    days: int = 1

    def since_ns(self, now_ns: int) -> int:
        return now_ns - self.hours * _HOUR_NS if self.hours else midnight_ns(now_ns, self.days_ago)

    def until_ns(self, now_ns: int) -> int:
        ends = self.days_ago - self.days
        return midnight_ns(now_ns, ends) if not self.hours and ends >= 0 else now_ns


_PERIODS: Sequence[tuple[str, Period]] = (
    (r"(?:last|past|this) hour|过去一小时|最近一小时|一小时", Period(hours=1)),
    (r"\btoday\b|this morning|so far|今天|今早", Period()),
    (r"yesterday|昨天", Period(days_ago=1)),
    (r"(?:last|past) day\b", Period(hours=24)),
    (r"(?:last|this|past) week|上周|本周|这周|lately|recently|最近", Period(days_ago=6, days=7)),
)


@dataclass(frozen=True, slots=True)
class TerminalQuestion:
    text: str
    kind: QuestionKind
    words: tuple[str, ...]
    period: Period | None = None
    """The period, if the question names one."""
    is_about_last_command: bool = False
    """Whether it explicitly asks about the last command."""

    def fits(self, command: RecordedCommand) -> int:
        """How well the question's words match this command; 0 if none does."""
        return sum(self._each(command.line))

    def matches_all_words(self, command: RecordedCommand) -> bool:
        """Whether every word of the question matches the command."""
        return all(self._each(command.line))

    def unmatched_words(self, commands: Sequence[RecordedCommand]) -> list[str]:
        """The words that match none of these commands."""
        lines = "\n".join(command.line for command in commands)
        return [word for word in self.words if not _fits(word, lines.lower(), lines)]

    def is_answered_by(self, lines: Sequence[str]) -> bool:
        """Whether the output mentions what the question asks about."""
        text = "\n".join(lines)
        return any(_fits(word, text.lower(), text) for word in self.words)

    def _each(self, line: str) -> list[int]:
        return [_fits(word, line.lower(), line) for word in self.words]

    def names_folder(self, command: RecordedCommand) -> bool:
        return any(
            word.strip("/") in command.cwd.lower().split("/") or word == command.cwd.lower() for word in self.words
        )


def parse_question(text: str) -> TerminalQuestion:
    """Parse the question. Words alone are a search, as in `history`; without any words, the question is about the
    last failure."""
    folded = _SHORTENED.sub("", _NEGATED.sub("not", text.lower().strip()))
    tokens = _WORD.findall(folded)
    words = [word.rstrip(".:") for found in tokens for word in _parts(found)]
    named = tuple(dict.fromkeys(word for word in words if word and word not in _STOP))
    found = next((kind for kind, pattern in _KINDS if re.search(pattern, folded)), None)
    if found is None and not named and len(tokens) == 1 and _CHINESE_STOP.sub("", tokens[0]):
        named = (tokens[0],)  # `run` alone is not a question but a search word
    kind: QuestionKind = found or ("search" if named else "failure")
    return TerminalQuestion(text, kind, named, _period(folded), bool(_LAST.search(folded)))


def _parts(word: str) -> list[str]:
    """Split a run of Chinese: the topics in it, and the rest that is neither a question word nor a single character."""
    if word[0] < "\u4e00":
        return [word]
    found: list[str] = []
    for piece in _CHINESE_STOP.split(word):
        topics = [topic for topic in _TOPICS if topic[0] >= "\u4e00" and topic in piece]
        found += topics or ([piece] if len(piece) > 1 else [])
    return found


def _fits(word: str, folded: str, line: str) -> int:
    """A part of a word matches as in `history`: fewer than three letters match only at the start."""
    topic = _TOPICS.get(word)
    if re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", folded):
        return 3
    if topic and topic.search(line):
        return 2
    if len(word) < _SHORTEST_PART and word.isascii():
        return 1 if len(word) > 1 and re.search(rf"(?<![^\W_]){re.escape(word)}", folded) else 0
    return 1 if word in folded else 0


def _period(folded: str) -> Period | None:
    return next((period for pattern, period in _PERIODS if re.search(pattern, folded)), None)
