"""What may stand before the command that is meant: `uv run`, `env`, `timeout` and their like, with their options."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)=(.*)", re.DOTALL)
_OF_UV = frozenset(
    {"--with", "-w", "--with-editable", "--with-requirements", "--extra", "--no-extra", "--group", "--no-group"}
    | {"--only-group", "--python", "-p", "--env-file", "--directory", "--project", "--package", "--index"}
    | {"--default-index", "--index-url", "-i", "--extra-index-url", "--find-links", "-f", "--index-strategy"}
    | {"--keyring-provider", "--allow-insecure-host", "--cache-dir", "--config-file", "--color", "--resolution"}
    | {"--prerelease", "--fork-strategy", "--exclude-newer", "--link-mode", "--config-setting", "-C"}
    | {"--upgrade-package", "-P", "--reinstall-package", "--refresh-package", "--no-build-package"}
    | {"--no-binary-package", "--no-build-isolation-package", "--python-platform"}
)


@dataclass(frozen=True, slots=True)
class CommandPrefix:
    """What may stand before a command: how many words belong to it, and which of its options take one more."""

    words: int = 0
    with_value: frozenset[str] = frozenset()
    module: str = ""
    """Its option for a module of Python, which is then the command."""
    folder: frozenset[str] = frozenset()
    """Options that say where the command runs."""
    env_file: str = ""
    unset: frozenset[str] = frozenset()
    refused: frozenset[str] = frozenset()
    """What would make something else of the command than is read here."""


PREFIXES: Mapping[tuple[str, ...], CommandPrefix] = {
    ("uv", "run"): CommandPrefix(
        with_value=_OF_UV,
        module="-m",
        folder=frozenset({"--directory"}),
        env_file="--env-file",
        refused=frozenset({"--package", "--project"}),
    ),
    **dict.fromkeys(
        (("poetry", "run"), ("pipenv", "run"), ("hatch", "run"), ("pdm", "run"), ("rye", "run")), CommandPrefix()
    ),
    **dict.fromkeys(
        (("time",), ("nohup",), ("exec",), ("command",), ("cross-env",), ("c8",), ("nyc",)), CommandPrefix()
    ),
    ("env",): CommandPrefix(
        with_value=frozenset({"-u", "--unset", "-C", "--chdir"}),
        folder=frozenset({"-C", "--chdir"}),
        unset=frozenset({"-u", "--unset"}),
        refused=frozenset({"-", "-i", "--ignore-environment", "-S", "--split-string"}),
    ),
    ("timeout",): CommandPrefix(1, frozenset({"-s", "--signal", "-k", "--kill-after"})),
    ("nice",): CommandPrefix(with_value=frozenset({"-n", "--adjustment"})),
}
"""By the first words."""


def assigned(word: str) -> tuple[str, str]:
    name, _, value = word.partition("=")
    return name, value
