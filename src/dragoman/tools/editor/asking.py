"""The editor of the caller's workspace, asked; and which of its files an agent may hear of."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from dragoman.editor import Editors
from dragoman.errors import DragomanError
from dragoman.phrases import say
from dragoman.redaction import Redactor
from dragoman.tools import showing
from dragoman.tools.editor import told
from dragoman.tools.editor.parameters import DEFAULT_WAIT_S
from dragoman.tools.operation import Caller
from dragoman.workspace.paths import PathRule, RefusedError

_AnyTold = TypeVar("_AnyTold", bound=Any)


@dataclass(frozen=True, slots=True)
class Asker:
    editors: Editors
    rule: PathRule = field(default_factory=PathRule)
    redactor: Redactor = field(default_factory=Redactor)

    async def ask(
        self,
        caller: Caller,
        method: str,
        params: dict[str, Any],
        kind: type[_AnyTold],
        within_s: float = DEFAULT_WAIT_S,
    ) -> _AnyTold:
        """The person is told who asks: by the name that the client gives itself."""
        asked = {**params, "by": showing.one_line(caller.name, 60), "folder": str(caller.workspace)}
        answer: _AnyTold = told.read(await self.editors.ask(caller.workspace, method, asked, within_s), kind)
        return answer

    def place(self, caller: Caller, path: str) -> str:
        """Where a path of the caller's leads, if it may."""
        whole = os.path.normpath(caller.workspace / path)
        try:
            return self.rule.judge(whole, caller.workspace)
        except RefusedError as refused:
            raise _refused(whole, caller.workspace) from refused

    def may_see(self, caller: Caller, path: str) -> bool:
        try:
            self.rule.judge(path, caller.workspace)
        except RefusedError:
            return False
        return True

    def shown(self, text: str) -> str:
        """What stands in an editor is another's words, and may hold secrets."""
        return showing.escaped(self.redactor.text(text))


def _refused(path: str, workspace: Path) -> DragomanError:
    return DragomanError(
        "not_in_workspace",
        say("{path} is not a file that agents may use here.", path=showing.path(path)),
        hint=say("Name one inside of {folder}; the setting allowed_folders adds others.", folder=workspace),
    )
