"""`dragoman config`: read and change the settings file, and keep its comments."""

from __future__ import annotations

import json
import os
from typing import Annotated, Any

from cyclopts import Parameter

from dragoman.cli import completion
from dragoman.cli.output import ExitCode, render, show_json, show_message, show_text, warn
from dragoman.core.localization import localize, preferred_language
from dragoman.core.paths import find_paths
from dragoman.core.settings.loader import ResolvedSetting, explain_settings, find_setting, unknown_variables
from dragoman.shell.settings import ShellSettings

_KEY_HELP = render(localize("Setting name. `dragoman config list` lists them."))
Key = Annotated[str, Parameter(help=_KEY_HELP, completer=completion.settings)]


def config_get(key: Key, /) -> int:
    find_setting(key)
    show_text(_plain(explain_settings(find_paths())[key].value))
    return ExitCode.OK


def config_set(
    key: Key,
    value: Annotated[
        str,
        Parameter(
            help=render(localize("New value. Separate list items with commas.")), completer=completion.setting_values
        ),
    ],
    /,
) -> int:
    from dragoman.io.files.settings_file import write_setting

    setting = find_setting(key)
    write_setting(find_paths().settings_file, key, value)
    shown = explain_settings(find_paths(), {})[key].value
    text = _plain(shown)
    cleared = localize("{key} cleared.", key=key)
    show_message(localize("Set: {key} = {value}", key=key, value=text) if text else cleared)
    if setting.needs_restart:
        show_message(localize("Run `dragoman restart` for this to take effect."))
    elif hasattr(ShellSettings, key):
        show_message(localize("Takes effect in new shells."))
    if os.environ.get(setting.variable):
        warn(localize("The environment variable {name} is set and overrides the file.", name=setting.variable))
    return ExitCode.OK


def config_list(*, json: Annotated[bool, Parameter(negative="", help=render(localize("Print JSON.")))] = False) -> int:
    settings = list(explain_settings(find_paths()).values())
    if json:
        show_json([_row(entry) for entry in settings])
    else:
        for entry in settings:
            _show_entry(entry)
    warn(*unknown_variables())
    return ExitCode.OK


def config_path() -> int:
    show_text(str(find_paths().settings_file))
    return ExitCode.OK


def _show_entry(entry: ResolvedSetting) -> None:
    value, source = _plain(entry.value), entry.source.localized()
    show_message(
        localize("{key} = {value}  ({source})", key=entry.setting.key, value=value, source=source),
        localize("    {about}", about=entry.setting.about),
    )


def _row(entry: ResolvedSetting) -> dict[str, Any]:
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
