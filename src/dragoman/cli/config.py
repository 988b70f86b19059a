"""`dragoman config`: read and change the settings file, comments kept."""

from __future__ import annotations

import json
import os
from typing import Annotated, Any

from cyclopts import Parameter

from dragoman.cli import completers
from dragoman.cli.output import ExitCode, show_json, show_text, shown, tell, warn
from dragoman.phrases import preferred_language, say
from dragoman.places import find_places
from dragoman.settings import Explained, explain, find_setting, unknown_variables
from dragoman.shell.wishes import Wishes

_ABOUT = shown(say("A setting's name; `dragoman config list` shows them."))
Key = Annotated[str, Parameter(help=_ABOUT, completer=completers.settings)]


def config_get(key: Key, /) -> int:
    find_setting(key)
    show_text(_plain(explain(find_places())[key].value))
    return ExitCode.OK


def config_set(
    key: Key,
    value: Annotated[
        str,
        Parameter(help=shown(say("Its new value; of a list, words with commas.")), completer=completers.setting_values),
    ],
    /,
) -> int:
    from dragoman.transport.settings_file import write_setting

    setting = find_setting(key)
    write_setting(find_places().settings_file, key, value)
    shown = explain(find_places(), {})[key].value
    tell(say("{key} is now {value}.", key=key, value=_plain(shown)))
    if setting.needs_restart:
        tell(say("It takes effect when the daemon restarts: `dragoman restart`."))
    elif hasattr(Wishes, key):
        tell(say("It counts in every wrapped shell that is opened from now on."))
    if os.environ.get(setting.variable):
        warn(say("The variable {name} is set, and it wins over the file.", name=setting.variable))
    return ExitCode.OK


def config_list(*, json: Annotated[bool, Parameter(negative="", help=shown(say("Answer with JSON.")))] = False) -> int:
    settings = list(explain(find_places()).values())
    if json:
        show_json([_row(entry) for entry in settings])
    else:
        for entry in settings:
            _tell_entry(entry)
    warn(*unknown_variables())
    return ExitCode.OK


def config_path() -> int:
    show_text(str(find_places().settings_file))
    return ExitCode.OK


def _tell_entry(entry: Explained) -> None:
    value, source = _plain(entry.value), entry.source.phrase()
    tell(
        say("{key} = {value}  ({source})", key=entry.setting.key, value=value, source=source),
        say("    {about}", about=entry.setting.about),
    )


def _row(entry: Explained) -> dict[str, Any]:
    setting, source, language = entry.setting, entry.source, preferred_language()
    return {
        "key": setting.key,
        "value": entry.value,
        "default": setting.default,
        "source": source.kind,
        "file": str(source.file) if source.file else None,
        "line": source.line or None,
        "variable": setting.variable,
        "needs_restart": setting.needs_restart,
        "about": setting.about.in_language(language),
        "allowed": setting.allowed.in_language(language),
    }


def _plain(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)
