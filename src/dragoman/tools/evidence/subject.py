"""What to run, said in the same way to every tool for evidence."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from dragoman.debug.evidence.run import Subject
from dragoman.debug.service import Wish
from dragoman.phrases import say
from dragoman.tools.debug.failures import ToolError
from dragoman.tools.debug.parameters import MOST_NAMED, MOST_STDIN, Text
from dragoman.tools.operation import Parameters
from dragoman.tools.schemas import Maybe

WAYS = ("configuration_name", "configuration", "program", "session_id")
_OF_A_START = ("args", "cwd", "env", "stdin", "file")


class OfSubject(Parameters):
    """Exactly one of the four ways; a session is used where it stands, everything else is started for this alone."""

    configuration_name: Annotated[str, Field(max_length=1000)] = ""
    configuration: Annotated[dict[str, Any], Field(default_factory=dict)]
    program: Annotated[str, Field(max_length=4096)] = ""
    args: Annotated[list[Text], Field(default_factory=list, max_length=1000)]
    cwd: Annotated[str, Field(max_length=4096)] = ""
    env: Annotated[dict[str, Text], Field(default_factory=dict, max_length=MOST_NAMED)]
    stdin: Annotated[Maybe[str], Field(max_length=MOST_STDIN)] = None
    file: Annotated[str, Field(max_length=4096)] = ""
    session_id: Annotated[str, Field(max_length=100, description="A stopped session.")] = ""


def subject_of(wanted: OfSubject) -> Subject:
    given = [way for way in WAYS if getattr(wanted, way)]
    if len(given) != 1:
        raise ToolError(
            "bad_arguments",
            say("Give exactly one of `configuration_name`, `configuration`, `program` and `session_id`."),
            hint=say("get_debugger_configurations lists the names there are; list_sessions what is stopped."),
        )
    if wanted.session_id:
        _require_no_start(wanted)
        return Subject(session_id=wanted.session_id)
    return Subject(
        wish=Wish(
            configuration_name=wanted.configuration_name,
            configuration=wanted.configuration,
            program=wanted.program,
            args=tuple(wanted.args),
            cwd=wanted.cwd,
            env=wanted.env,
            stdin=wanted.stdin,
            file=wanted.file,
        )
    )


def _require_no_start(wanted: OfSubject) -> None:
    if any(getattr(wanted, name) for name in _OF_A_START):
        raise ToolError(
            "bad_arguments",
            say("`args`, `cwd`, `env`, `stdin` and `file` are for a start: a session runs already."),
        )
