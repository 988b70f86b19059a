"""A place in a program, said in the same way to every tool for evidence."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import Field

from dragoman.debug.evidence.points import Point
from dragoman.debug.service import DebugService
from dragoman.phrases import say
from dragoman.tools.debug.client import client_of, files_of_stacks
from dragoman.tools.debug.failures import ToolError
from dragoman.tools.debug.parameters import Place
from dragoman.tools.debug.places import Places
from dragoman.tools.evidence.functions import PythonNames, first_line_of, is_python, is_searched
from dragoman.tools.evidence.subject import OfSubject
from dragoman.tools.operation import Caller, Parameters
from dragoman.tools.schemas import Maybe
from dragoman.tools.showing import one_line


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
            place = await self._searched(caller, subject, wanted, named)
            path, line = place or ("", 0)
            function = "" if place else wanted.function
            return Point(path=path, line=line, function=function, condition=condition, expressions=expressions)
        path, line = await self.places.line_of(
            wanted.file_path or self._default(caller, subject),
            caller.workspace,
            named,
            wanted.line_number,
            wanted.line_text,
        )
        return Point(path=path, line=line, condition=condition, expressions=expressions)

    async def _searched(
        self, caller: Caller, subject: OfSubject, wanted: OfPlace, named: Collection[str]
    ) -> tuple[str, int] | None:
        """Where the debugger would not find the function by its name, it is looked for in the source."""
        file = wanted.file_path or subject.program or str(subject.configuration.get("program") or "")
        file = "" if "$" in file else file
        if is_python(file):
            await self._require_python(caller, wanted, file, named)
        if not is_searched(file):
            return None
        path, lines = await self.places.read(file, caller.workspace, named)
        line = first_line_of(wanted.function, lines or ())
        if line is None:
            raise no_such_function()
        return path, line

    async def _require_python(self, caller: Caller, wanted: OfPlace, file: str, named: Collection[str]) -> None:
        """Its debugger takes any name: one that no file has would never be reached."""
        names = PythonNames()
        path, lines = await self.places.read(file, caller.workspace, named)
        names.add(Path(path), "\n".join(lines or ()))
        if lines is None or names.has(wanted.function):
            return
        for other, text in await self.places.texts(caller.workspace, ".py"):
            names.add(other, text)
        if names.is_whole and not names.has(wanted.function):
            raise no_such_function(nearest=[one_line(it) for it in names.nearest(wanted.function)])

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


def no_such_function(**more: list[str]) -> ToolError:
    return ToolError(
        "no_such_function",
        say("No function of this name was found in the file."),
        hint=say("Give its `file_path`, or a `line_number` of it."),
        **more,
    )
