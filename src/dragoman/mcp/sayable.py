"""Results that the SDK's HTTP transports can put on the wire: it gives up on half a character and knows no cap."""

from __future__ import annotations

from typing import Any

import mcp_types as types
import msgspec
from mcp.server.context import HandlerResult
from mcp.shared.exceptions import MCPError

from dragoman.mcp.lines import RESULT_CAP


def sayable(result: HandlerResult) -> HandlerResult:
    """What middleware sees of a handler's result is plain already."""
    try:
        size = len(msgspec.json.encode(result)) if isinstance(result, dict) else 0
    except UnicodeEncodeError:  # a lone surrogate: program output may hold any
        whole: dict[str, Any] = _escaped(result)
        return sayable(whole)
    if size > RESULT_CAP:
        message = f"the result has {size} bytes, more than the {RESULT_CAP} that are passed on; ask for less"
        raise MCPError(types.INTERNAL_ERROR, message, {"code": "result_too_large"})
    return result


def _escaped(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode(errors="backslashreplace").decode()
    if isinstance(value, dict):
        return {_escaped(key): _escaped(item) for key, item in value.items()}
    return [_escaped(item) for item in value] if isinstance(value, list) else value
