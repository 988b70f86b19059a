"""A place in a program, said in the same way to every tool for evidence."""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import anyio.to_thread
import msgspec
from pydantic import Field

from dragoman.debug import suffixes
from dragoman.debug.adapters import PYTHON
from dragoman.debug.evidence.command_lines import read_words
from dragoman.debug.evidence.points import Point
from dragoman.debug.launch.listing import configurations
from dragoman.debug.service import DebugService
from dragoman.errors import DragomanError
from dragoman.phrases import say
from dragoman.tools.debug.client import client_of, files_of_stacks
from dragoman.tools.debug.failures import ToolError
from dragoman.tools.debug.parameters import Place
from dragoman.tools.debug.places import Places
from dragoman.tools.debug.python_functions import require_function
from dragoman.tools.evidence.functions import first_line_of, is_searched
from dragoman.tools.evidence.subject import OfSubject
from dragoman.tools.operation import Caller, Parameters
from dragoman.tools.schemas import Maybe


class OfPlace(Parameters):
    file_path: Annotated[str, Field(max_length=4096, description="Default: the program.")] = ""
    line_number: Maybe[Place] = None
    line_text: Annotated[str, Field(max_length=1000, description="Or text that only one line has.")] = ""
    function: Annotated[str, Field(max_length=1000, description="Or a function, at its entry.")] = ""

    @property
    def is_given(self) -> bool:
        return bool(self.line_number is not None or self.line_text or self.function)


@dataclass(frozen=True, slots=True)
class PlaceFinder:
    service: DebugService
    places: Places

    async def point(
        self, caller: Caller, subject: OfSubject, wanted: OfPlace, expressions: tuple[str, ...], condition: str = ""
    ) -> Point:
        """Where the expressions are to be asked; raises where there is no such place."""
        ways = [wanted.line_number is not None, bool(wanted.line_text), bool(wanted.function)]
        if sum(ways) != 1:
            raise ToolError("bad_arguments", say("Give exactly one of `line_number`, `line_text` and `function`."))
        named = files_of_stacks(self.service, client_of(caller))
        if wanted.function:
            found = await self._searched(caller, subject, wanted, named)
            return msgspec.structs.replace(found, condition=condition, expressions=expressions)
        path, line = await self.places.line_of(
            wanted.file_path or self._default(caller, subject),
            caller.workspace,
            named,
            wanted.line_number,
            wanted.line_text,
        )
        return Point(path=path, line=line, condition=condition, expressions=expressions)

    async def _searched(self, caller: Caller, subject: OfSubject, wanted: OfPlace, named: Collection[str]) -> Point:
        """Where the debugger would not find the function by its name, it is looked for in the source."""
        file = wanted.file_path or subject.program or str(subject.configuration.get("program") or "")
        file = file if suffixes.is_source(file) and "$" not in file else ""
        is_read = is_searched(file) or Path(file).suffix in suffixes.PYTHON
        path, lines = await self.places.read(file, caller.workspace, named) if is_read else ("", None)
        if is_searched(file):
            line = first_line_of(wanted.function, lines or ())
            if line is None:
                raise no_such_function()
            return Point(path=path, line=line)
        is_found = await require_function(
            wanted.function,
            caller.workspace,
            is_python=await self._is_python(caller, subject, file),
            besides={**dict.fromkeys(named), **({path: "\n".join(lines)} if lines is not None else {})},
        )
        return Point(function=wanted.function, is_unknown=not is_found)

    async def _is_python(self, caller: Caller, subject: OfSubject, file: str) -> bool | None:
        """By the file, the session or what is started; None where that does not say."""
        if file:
            return Path(file).suffix in suffixes.PYTHON
        if subject.session_id:
            session = self.service.find(client_of(caller), subject.session_id)
            return session.launch.dialect.suffixes == suffixes.PYTHON
        configuration = subject.configuration
        if subject.configuration_name:
            configuration = await anyio.to_thread.run_sync(_named, caller.workspace, subject.configuration_name)
        if "module" in configuration or configuration.get("type") in PYTHON.types:
            return True
        program = subject.program or str(configuration.get("program") or "")
        return _starts_python([program, *subject.args], caller, subject.cwd) if program and "$" not in program else None

    def _default(self, caller: Caller, subject: OfSubject) -> str:
        """The file that is run, or the one in which the session stands."""
        program = subject.program or str(subject.configuration.get("program", ""))
        if program and "$" not in program:
            return program
        if subject.session_id:
            frame = self.service.find(client_of(caller), subject.session_id).require_stopped().frame
            if frame is not None and frame.path:
                return frame.path
        raise ToolError("bad_arguments", say("Give the `file_path` of the place: the configuration does not say it."))


def _named(workspace: Path, name: str) -> dict[str, Any]:
    with contextlib.suppress(DragomanError):
        return next((it for it in configurations(workspace).configurations if it.get("name") == name), {})
    return {}


def _starts_python(words: Sequence[str], caller: Caller, cwd: str) -> bool | None:
    """Of `python3`, `pytest` and their like with arguments."""
    try:
        found = read_words(words, caller.cwd / Path(cwd), caller.environment, workspace=caller.workspace).wish
    except DragomanError:
        return None
    return found.configuration.get("type") in PYTHON.types if found.configuration else None


def no_such_function() -> ToolError:
    return ToolError(
        "no_such_function",
        say("No function of this name was found in the file."),
        hint=say("Give its `file_path`, or a `line_number` of it."),
    )
