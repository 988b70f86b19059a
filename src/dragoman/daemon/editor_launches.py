"""Debuggers that only a connected editor has, and the sessions that it was asked to start with them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from dragoman.debug.adapters import AdapterSpec
from dragoman.debug.backend import Owns
from dragoman.debug.dialect import Dialect
from dragoman.debug.editor_launch import EditorLaunch, EditorLaunchSession, editor_configuration, launch_dialect
from dragoman.debug.launch import Resolved
from dragoman.debug.lent import owned_by
from dragoman.debug.persons import person_at
from dragoman.debug.service import Client
from dragoman.debug.session import Session
from dragoman.editor import Editor, Editors
from dragoman.ids import new_id

_FEATURES = frozenset({"debug.start", "debug.stop"})

Released = Callable[[Editor, str, str], None]
"""An editor, its own name for a session, and why nobody here has that any more."""


@dataclass(eq=False, slots=True)
class Requested:
    """A session that an editor was asked for, and has not lent yet."""

    editor: Editor
    backend: EditorLaunchSession
    client: Client
    """The person, in the folder of whoever asked."""
    session: Session | None = None


@dataclass(frozen=True, slots=True)
class DebuggerOfEditor:
    """One type of debugger, in one window."""

    window: Editor
    dialect: Dialect
    owns: Owns
    launches: EditorLaunches = field(repr=False)

    @property
    def editor(self) -> str:
        return self.window.about.name

    def open(self, client: Client, session: Resolved, *, no_debug: bool) -> EditorLaunchSession:
        return self.launches.request(self, client, session, no_debug=no_debug)


class EditorLaunches:
    def __init__(self, editors: Editors, adapters: Sequence[AdapterSpec]) -> None:
        self.when_released: Released = lambda *_: None
        self._editors = editors
        self._dialects = {type: spec.dialect for spec in adapters for type in spec.types}
        self._requested: dict[str, Requested] = {}

    def debuggers(self, workspace: Path) -> Mapping[str, DebuggerOfEditor]:
        """By type. Of several windows that have one, it is the window that a person looked at last."""
        able = [it for it in self._editors.of_folder(workspace) if it.about.features >= _FEATURES]
        return {type: self._debugger(it, type) for it in reversed(able) for type in it.about.debug_types}

    def _debugger(self, window: Editor, type: str) -> DebuggerOfEditor:
        owns = owned_by(person_at(window.about.name))
        return DebuggerOfEditor(window, launch_dialect(self._dialects.get(type, Dialect(has_console=True))), owns, self)

    def request(
        self, debugger: DebuggerOfEditor, client: Client, session: Resolved, *, no_debug: bool
    ) -> EditorLaunchSession:
        window, id = debugger.window, new_id("start")
        by, folder = client.name or client.id, window.about.as_called(str(client.workspace))
        launch = EditorLaunch(id, editor_configuration(session), folder, by, no_debug)

        def released(why: str) -> None:
            self.when_released(window, backend.lent_as, why)

        def over() -> None:
            self._requested.pop(id, None)

        def made(session: Session | None) -> None:
            requested.session = session

        backend = EditorLaunchSession(launch, debugger.editor, window.ask, debugger.owns.others, released, over)
        backend.made = made
        person = Client(debugger.owns.others, client.workspace, client.workspace)
        self._requested[id] = requested = Requested(window, backend, person)
        return backend

    def lent(self, editor: Editor, id: str) -> Requested | None:
        """Once, and by the editor that was asked."""
        requested = self._requested.get(id)
        if requested is None or requested.editor is not editor:
            return None
        return self._requested.pop(id)
