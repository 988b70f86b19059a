"""The fast commands for cyclopts: functions with signatures built from the table in `fast_commands`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from inspect import Parameter as SignatureParameter
from inspect import Signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter
from cyclopts.validators import Number

from dragoman.cli import completion
from dragoman.cli.output import render
from dragoman.cli.parser.fast_commands import FastCommand
from dragoman.core.command_options import Option
from dragoman.core.localization import localize

if TYPE_CHECKING:
    from dragoman.core.command_options import Help

# For each kind of option, its type and its cyclopts parameter.
_KINDS: Mapping[str, tuple[Any, Mapping[str, Any]]] = {
    "flag": (bool, {"negative": ""}),
    "text": (str | None, {}),
    "name": (str | None, {}),
    "folder": (Path | None, {}),
    "session": (str | None, {"completer": completion.debug_sessions}),
    "port": (int | None, {"validator": Number(gte=0, lte=65535)}),
    "seconds": (float | None, {"validator": Number(gte=0, lte=3600)}),
    "thread": (int | None, {}),
    "shell": (Literal["", "bash", "zsh", "fish"], {}),
}


def option_parameter(option: Option) -> Parameter:
    _, extra = _KINDS[option.kind]
    return Parameter(name=option.names, help=_render(option.help), **extra)


def command_function(command: FastCommand) -> Callable[..., int]:
    """The command as a function with a signature, which is what cyclopts reads."""

    def call(*words: str, **given: object) -> int:
        return command.run(*words, **given)

    parameters = [_signature_parameter(option) for option in command.options]
    if command.trailing is not None:
        trailing = Parameter(allow_leading_hyphen=False, help=_render(command.trailing))
        words = SignatureParameter("command", SignatureParameter.VAR_POSITIONAL, annotation=Annotated[str, trailing])
        parameters.insert(0, words)
    call.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    return call


def _signature_parameter(option: Option) -> SignatureParameter:
    kind, _ = _KINDS[option.kind]
    default = Path(str(option.default)) if option.kind == "folder" and option.default is not None else option.default
    annotation = Annotated[kind, option_parameter(option)]  # type: ignore[valid-type]
    return SignatureParameter(option.keyword, SignatureParameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _render(help: Help) -> str:
    return render(help(localize))
