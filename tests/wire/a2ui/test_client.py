"""What comes back from a renderer: actions and errors, in every dialect, both ways."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given

from dragoman.protocols.a2ui import (
    VALIDATION_FAILED,
    A2uiError,
    Action,
    ClientError,
    FunctionMessage,
    read_client,
    to_v08,
    to_v09,
)
from tests.wire.a2ui.strategies import client_actions

NOW = "2026-01-02T03:04:05Z"
ACTION = Action(
    name="submit", surface_id="s", source_component_id="go", timestamp=NOW, context={"a": [1]}, user_message=""
)
BODY: dict[str, Any] = {
    "name": "submit",
    "surfaceId": "s",
    "sourceComponentId": "go",
    "timestamp": NOW,
    "context": {"a": [1]},
}


def test_an_action_is_called_user_action_in_0_8() -> None:
    assert to_v08([ACTION]) == [{"userAction": BODY}]
    assert to_v09([ACTION]) == [{"version": "v0.9", "action": BODY}]


@pytest.mark.parametrize(
    "document", [{"userAction": BODY}, {"version": "v0.9", "action": BODY}, {"version": "v1.0", "action": BODY}]
)
def test_actions_are_read_in_every_version(document: object) -> None:
    assert read_client(document) == [ACTION]
    assert read_client(json.dumps(document)) == [ACTION]
    assert read_client([document, document]) == [ACTION, ACTION]


def test_what_the_user_is_told_travels_in_0_9_only() -> None:
    told = Action(name="n", surface_id="s", source_component_id="c", timestamp=NOW, user_message="Sent.")
    assert to_v09([told])[0]["action"]["userMessage"] == "Sent."
    assert "userMessage" not in to_v08([told])[0]["userAction"]


@pytest.mark.requirement("a2ui:user-action:type", "a2ui:user-action:action", "a2ui:user-action:context")
@pytest.mark.parametrize(
    ("action", "context", "component"),
    [
        ("onClick", {"componentId": "run"}, "run"),
        ("onSelect", {"path": "src/main.py"}, ""),
        ("onConfirm", {"componentId": "ask", "confirmed": False}, "ask"),
    ],
)
def test_the_documents_actions_are_read(action: str, context: dict[str, Any], component: str) -> None:
    (found,) = read_client({"type": "userAction", "action": action, "context": context})
    assert isinstance(found, Action)
    assert (found.name, found.context, found.source_component_id) == (action, context, component)


def test_a_refusal_goes_out_with_its_path_even_when_that_is_the_whole_message() -> None:
    error = ClientError(code=VALIDATION_FAILED, message="no", surface_id="s")
    (written,) = to_v09([error])
    assert written["error"] == {"code": VALIDATION_FAILED, "surfaceId": "s", "message": "no", "path": ""}
    assert read_client(written) == [error]


def test_other_errors_have_no_path_and_those_of_0_8_may_have_nothing() -> None:
    error = ClientError(code="RENDER_FAILED", message="no", surface_id="s")
    assert "path" not in to_v09([error])[0]["error"]
    assert read_client(to_v08([error])) == [error]
    assert read_client({"error": {"anything": 1}}) == [ClientError(code="", message="")]


@pytest.mark.parametrize("key", ["callAgentFunction", "rendererFunctionResponse", "functionResponse"])
def test_functions_messages_are_carried(key: str) -> None:
    body = {"functionCallId": "7", "value": 1}
    assert read_client({"version": "v1.0", key: body}) == [FunctionMessage(key=key, call_id="7", body=body)]


@pytest.mark.parametrize(
    ("document", "code", "pointer"),
    [
        (7, "invalid_message", ""),
        ({"version": "v0.9"}, "unknown_message", ""),
        ({"action": BODY, "error": {}}, "ambiguous_message", "/error"),
        ({"version": "v3", "action": BODY}, "unsupported_version", "/version"),
        ({"action": {**BODY, "name": 5}}, "invalid_message", "/action/name"),
        ([{"action": BODY}, {"userAction": {**BODY, "context": []}}], "invalid_message", "/1/userAction/context"),
        ({"type": "userAction", "context": {}}, "invalid_message", ""),
        ({"error": "text"}, "invalid_message", "/error"),
    ],
)
def test_what_a_renderer_gets_wrong_is_refused_with_a_pointer(document: object, code: str, pointer: str) -> None:
    with pytest.raises(A2uiError) as caught:
        read_client(document)
    assert (caught.value.code, caught.value.pointer) == (code, pointer)


@given(client_actions)
def test_an_action_survives_both_dialects(action: Action) -> None:
    assert read_client(to_v08([action])) == [action]
    assert read_client(to_v09([action])) == [action]
