"""Five thousand commands as a developer might type them: the same ones each time, made without looking at a guesser.

Weeks of work on five projects in two terminals. A stretch of work is a walk through a cycle (edit, test, again if it
failed, look, add, commit, push), on a handful of files that changes every now and then. Between them: looking around,
and commands whose arguments never come again (commit messages, searches, branches, one-off scripts); one line in seven
was never typed before. Slips of the fingers stand before their correction, and habits differ by folder. Half-way one
project is left for a new one and an alias replaces a habit. Outcomes are drawn too: tests fail two times in five.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

Chosen = TypeVar("Chosen")

WORDS = tuple(
    re.findall(
        r"\w+",
        """cart price order user login token cache queue retry parser header footer theme index search upload report
        invoice export import worker mailer webhook session router schema migration fixture helper config logger""",
    )
)


@dataclass(frozen=True)
class Typed:
    line: str
    cwd: str
    terminal: str
    at_s: float
    exit_code: int


@dataclass
class Project:
    folder: str
    edit: str
    tests: tuple[str, ...]
    runs: tuple[str, ...]
    files: tuple[str, ...]
    working_on: list[str] = field(default_factory=list)
    branch: str = "main"


def projects() -> list[Project]:
    def files(pattern: str, first: int, last: int) -> tuple[str, ...]:
        return tuple(pattern.format(word) for word in WORDS[first:last])

    python = ("pytest -x", "pytest -x tests/test_{}.py", "make test"), ("make run", "python -m shop")
    javascript = ("npm test", "npm test -- {}", "npm run lint"), ("npm run dev", "npm run build")
    rust = ("cargo test", "cargo test {}", "cargo clippy"), ("cargo run", "cargo run --release")
    machines = ("terraform plan", "make check"), ("terraform apply", "kubectl get pods -n staging")
    golang = ("go test ./...", "go test ./{}/...", "go vet ./..."), ("go run .", "go build ./...")
    return [
        Project("shop", "vim {}", *python, files("shop/{}.py", 0, 20)),
        Project("site", "code {}", *javascript, files("src/{}.tsx", 8, 26)),
        Project("tally", "nvim {}", *rust, files("src/{}.rs", 4, 16)),
        Project("infra", "vim {}", *machines, files("modules/{}/main.tf", 14, 26)),
        Project("notes", "nano {}", ("make spell",), ("make html", "make publish"), files("{}.md", 20, 31)),
        Project("ledger", "vim {}", *golang, files("{0}/{0}.go", 2, 18)),
    ]


class Developer:
    def __init__(self, terminal: str, seed: int) -> None:
        self.terminal = terminal
        self.random = random.Random(seed)
        self.projects = projects()[:5]
        self.at = self.projects[0]
        self.typed = 0
        self.status = "git status"

    def work(self) -> Iterator[tuple[str, int]]:
        """Lines with their exit codes, without end."""
        while True:
            if self.random.random() < 0.12:
                yield from self._change_project()
            if self.random.random() < 0.3:
                yield from self._look_around()
            yield from self._cycle()

    def half_way(self) -> None:
        self.projects = [*self.projects[1:], projects()[5]]
        self.status = "git st"

    def _cycle(self) -> Iterator[tuple[str, int]]:
        self._choose_files()
        for _ in range(self.random.choice((1, 1, 2, 3))):
            yield self.at.edit.format(self.random.choice(self.at.working_on)), 0
            test = self._weighted(self.at.tests).format(self._topic())
            while self.random.random() < 0.4:
                yield test, 1
                yield self.at.edit.format(self.random.choice(self.at.working_on)), 0
            yield test, 0
        if self.random.random() < 0.4:
            yield self._weighted(self.at.runs), 0
        if self.random.random() < 0.7:
            yield from self._commit()

    def _commit(self) -> Iterator[tuple[str, int]]:
        if self.random.random() < 0.8:
            yield self.status, 0
        if self.random.random() < 0.5:
            yield "git diff", 0
        yield self.random.choice(("git add -A", "git add -A", f"git add {self.at.working_on[0]}")), 0
        yield f'git commit -m "{self._message()}"', 0
        if self.random.random() < 0.5:
            yield self.random.choice(("git push", "git push", f"git push -u origin {self.at.branch}")), 0

    def _look_around(self) -> Iterator[tuple[str, int]]:
        word, number = self._topic(), self.random.randrange(10_000)
        choices = (
            "ls -la", "git log --oneline", "git pull", "docker ps", "docker compose up -d", "htop", "df -h",
            f"grep -rn {word}{number % 50} .", f"cat {self.at.files[number % len(self.at.files)]}",
            f"curl -s localhost:8000/api/{word}/{number}", f"ssh build{number % 3}.example.org", f"man {word}",
            f"git checkout -b {word}-{number}", "git checkout main", f"python3 scratch/{word}{number}.py",
        )  # fmt: skip
        for _ in range(self.random.choice((1, 1, 2))):
            line = self._weighted(choices)
            if line.startswith("git checkout -b"):
                self.at.branch = line.split()[-1]
            yield line, 0

    def _change_project(self) -> Iterator[tuple[str, int]]:
        self.at = self._weighted(self.projects)
        yield f"cd ~/{self.at.folder}", 0

    def _choose_files(self) -> None:
        if not self.at.working_on or self.random.random() < 0.15:
            self.at.working_on = self.random.sample(self.at.files, 3)

    def _topic(self) -> str:
        name = self.random.choice(self.at.working_on or list(self.at.files))
        return name.rsplit("/", 1)[-1].split(".")[0]

    def _message(self) -> str:
        verb = self.random.choice(("Fix", "Add", "Move", "Rename", "Test", "Drop"))
        return f"{verb} {self._topic()} {self.random.choice(WORDS)} {self.random.randrange(1000)}"

    def _weighted(self, choices: Sequence[Chosen]) -> Chosen:
        weights = [1 / (place + 1) for place in range(len(choices))]
        return self.random.choices(choices, weights)[0]


def slip(line: str, chance: random.Random) -> str:
    """Two neighbouring letters of the program's name change places."""
    at = chance.randrange(max(1, min(len(line.split(maxsplit=1)[0]), 6) - 1))
    return line[:at] + line[at + 1 : at + 2] + line[at : at + 1] + line[at + 2 :]


def history(count: int = 5_000, seed: int = 20_261) -> list[Typed]:
    chance = random.Random(seed)
    people = [Developer("t1", seed + 1), Developer("t2", seed + 2)]
    works = [person.work() for person in people]
    typed: list[Typed] = []
    at_s, which = 1_700_000_000.0, 0
    while len(typed) < count:
        which = 1 - which if chance.random() < 0.04 else which
        line, exit_code = next(works[which])
        at_s += chance.expovariate(1 / 60) + (50_000 if chance.random() < 0.004 else 0)
        person = people[which]
        cwd = f"/home/dev/{person.at.folder}"
        if chance.random() < 0.03 and (wrong := slip(line, chance)) != line:
            typed.append(Typed(wrong, cwd, person.terminal, at_s, 127))
        typed.append(Typed(line, cwd, person.terminal, at_s + 5, exit_code))
        if len(typed) == count // 2:
            for one in people:
                one.half_way()
    return typed[:count]
