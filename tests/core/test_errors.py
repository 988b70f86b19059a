"""The tables of errors: one row per error, and a code that is shared is shared on purpose."""

from __future__ import annotations

import importlib
import re
from collections import defaultdict
from pathlib import Path

import pytest

import dragoman
from dragoman.core.errors import DragomanError, ErrorSpec, cut, or_else, quoted, short_number

PACKAGE = Path(dragoman.__file__).parent
_ROW = re.compile(r"^(\w+) = \w*ErrorSpec\(", re.MULTILINE)
# Errors that a program handles alike, although people read different messages.
SHARED = {
    "adapter_gone": {"debug.errors.adapter_gone", "debug.errors.no_debugger_yet"},
    "adapter_silent": {
        "debug.errors.adapter_silent",
        "io.errors.adapter_not_reading",
        "io.errors.adapter_silent",
        "io.errors.not_reached",
        "io.errors.runtime_silent",
    },
    "bad_arguments": {
        "debug.evidence.trace.no_return_points",
        "servers.dap.errors.bad_arguments",
        "servers.web.page_forwarder._bad_port",
        "tools.debug.source_locations._line_or_text_needed",
        "tools.evidence.target._one_location",
        "tools.evidence.target._one_place",
        "tools.evidence.target._return_within_line",
        "tools.evidence.target._unreadable_return",
        "tools.registry._too_large",
    },
    "bad_map": {
        "cli.remote.folder_maps._bad_map",
        "cli.remote.folder_maps._mapped_twice",
        "cli.remote.folder_maps._too_many",
    },
    "disk_full": {"core.errors._file_not_written", "core.errors.disk_full"},
    "far_side_silent": {"io.net.remote_errors.far_side_silent", "io.net.remote_errors.far_side_waits"},
    "foreign_peer": {"io.errors.foreign_peer", "io.errors.not_started_by_us"},
    "gateway_silent": {"chat.errors.no_answer", "chat.errors.run_silent"},
    "halt_refused": {"debug.session.stop_permissions.halt_refused", "debug.session.stop_permissions.trace_halts"},
    "internal_error": {"core.errors.dragoman_failed", "core.errors.internal_error"},
    "link_lost": {
        "io.net.remote_errors.link_closed",
        "io.net.remote_errors.link_damaged",
        "io.net.remote_errors.link_failed",
        "io.net.remote_errors.link_silent",
    },
    "model_key_missing": {
        "models.errors.key_command_failed",
        "models.errors.key_variable_missing",
        "models.errors.no_key",
    },
    "needs_confirmation": {"cli.handover.rerun.needs_yes", "cli.handover.share.needs_yes"},
    "needs_build": {"debug.backends.adapters.javascript._not_runnable", "debug.errors.cargo_unsupported"},
    "no_such_folder": {
        "cli.remote.folder_maps._no_folder",
        "cli.remote.translation._no_folder_there",
        "workspace.trust.no_folder",
    },
    "not_answering": {"io.errors.not_answering", "io.net.remote_errors.far_daemon_silent"},
    "no_such_function": {
        "debug.evidence.calls.trace_call._not_python",
        "tools.evidence.target.no_such_function",
    },
    "nothing_to_rerun": {"cli.handover.rerun.attached", "cli.handover.rerun.no_start"},
    "not_dragoman": {"io.drivers.control_client._unreadable", "io.net.remote_errors.foreign_far_side"},
    "not_running": {"io.errors.daemon_not_running", "io.net.remote_errors.far_daemon_absent"},
    "not_a_person": {"chat.errors.approval_needs_person", "servers.control.handover.not_a_person"},
    "not_stopped": {"debug.errors.auto_resumed", "debug.errors.resuming"},
    "not_supported": {
        "debug.errors.not_supported",
        "debug.errors.session_owned_by_person",
        "debug.errors.no_such_access",
    },
    "share_damaged": {"protocols.share.errors.damaged", "protocols.share.errors.unexpected_part"},
    "too_many_sessions": {"chat.errors.too_many_sessions", "debug.errors.too_many_sessions"},
    "unknown_breakpoint": {"tools.debug.breakpoints._unknown_breakpoint", "workspace.breakpoints.unknown_breakpoint"},
    "unknown_component": {"canvas.service.unknown_component", "tools.canvas.components._unknown_component"},
    "unknown_session": {"chat.errors.unknown_session", "debug.shared_sessions.not_opened"},
    "unknown_target": {"cli.router.routes._unknown_target", "io.net.targets.unknown_target"},
    "usage": {"cli.remote.options._one_target", "cli.remote.options._only_here"},
}


def tables() -> dict[str, ErrorSpec]:
    """Every row, by the module that declares it and its name."""
    found: dict[str, ErrorSpec] = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        if names := _ROW.findall(path.read_text(encoding="utf-8")):
            module = ".".join(path.relative_to(PACKAGE).with_suffix("").parts)
            rows = vars(importlib.import_module(f"dragoman.{module}"))
            found |= {f"{module}.{name}": rows[name] for name in names}
    return found


def test_a_code_belongs_to_one_row_unless_it_is_shared_on_purpose() -> None:
    rows = defaultdict(set)
    for name, spec in tables().items():
        rows[spec.code].add(name)
    assert len(rows) > 100
    assert {code: names for code, names in rows.items() if len(names) > 1} == SHARED


def test_no_two_rows_say_the_same() -> None:
    text = [(spec.code, spec.message, spec.hint) for spec in tables().values()]
    assert len(text) == len(set(text))


def test_an_error_has_the_values_of_its_templates_as_its_row_shows_them() -> None:
    row = ErrorSpec("code", "{name} took {seconds} s: {reason}", "Not {name}.", name=quoted(3), seconds=short_number)
    error = row(name="a\x1bcd", seconds=2.50, reason="{x}")
    assert isinstance(error, DragomanError)
    assert (error.code, str(error.message), str(error.hint)) == ("code", r"'a\x1bc' took 2.5 s: {x}", r"Not 'a\x1bc'.")
    assert set(error.hint.values if error.hint else ()) == {"name"}
    assert ErrorSpec("code", "text")().hint is None


@pytest.mark.parametrize(
    ("show", "value", "shown"), [(cut(2), "abc", "ab"), (or_else("?"), "", "?"), (quoted(9), "é", r"'\xe9'")]
)
def test_values_are_shown_short_and_safe(show: object, value: str, shown: str) -> None:
    assert callable(show)
    assert show(value) == shown
