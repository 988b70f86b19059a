"""Errors as HTTP responses."""

from __future__ import annotations

from http import HTTPStatus

from starlette.exceptions import HTTPException
from starlette.requests import HTTPConnection, Request
from starlette.responses import JSONResponse, Response

from dragoman.access.request_guard import GuardRefusal
from dragoman.core.errors import DragomanError, internal_error
from dragoman.core.localization import Language, LocalizedText, localize

_STATUS_BY_CODE = {
    "bad_request": 400,
    "bad_settings": 400,
    "not_for_pages": 403,
    "unknown_setting": 404,
    "unknown_terminal": 404,
    "code_spent": 401,
    "unknown_component": 404,
    "unknown_folder": 404,
    "unknown_surface": 404,
    "wrong_method": 405,
    "folder_moved": 409,
    "body_too_large": 413,
    "body_too_slow": 408,
    "too_many_calls": 429,
    "too_much_entered": 413,
    "query_timeout": 503,
    "disk_full": 507,
}

# A refusal reveals nothing to a stranger: neither valid names nor whether the address exists.
_REFUSAL_TEXTS: dict[str, LocalizedText] = {
    "wrong_host": localize("This is not an address of this server."),
    "wrong_origin": localize("Pages from other origins cannot call this server."),
    "token_needed": localize("A token is required."),
    "not_found": localize("There is nothing at this address."),
}


# The same at every address, and without the product's name: it reveals neither the routes nor the server.
_REFUSAL_HINTS: dict[str, LocalizedText] = {
    "token_needed": localize(
        "Send the header `Authorization: Bearer TOKEN`. On the command line, `token show mcp` prints the token for MCP "
        "clients, and `page` opens the page."
    ),
}


def request_language(connection: HTTPConnection) -> Language:
    return "zh" if connection.headers.get("accept-language", "").lower().startswith("zh") else "en"


def error_response(error: DragomanError, language: Language) -> Response:
    body = {
        "code": error.code,
        "message": error.message.in_language(language),
        "hint": error.hint.in_language(language) if error.hint else "",
    }
    return JSONResponse({"error": body}, status_code=_STATUS_BY_CODE.get(error.code, 500))


async def handle_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, DragomanError)
    return error_response(error, request_language(request))


async def handle_http_exception(request: Request, error: Exception) -> Response:
    """Errors of Starlette itself. An unknown address can only come over an authenticated socket."""
    assert isinstance(error, HTTPException)
    if error.status_code == HTTPStatus.NOT_FOUND:
        return refusal_response(GuardRefusal(404, "not_found"), request_language(request))
    answer = error_response(
        DragomanError("wrong_method", localize("This URL does not support {method}.", method=request.method)),
        request_language(request),
    )
    answer.headers.update(error.headers or {})
    return answer


async def handle_internal_error(request: Request, _: Exception) -> Response:
    """The server logs the fault itself; the caller learns that it is not theirs."""
    return error_response(internal_error(), request_language(request))


def refusal_response(refusal: GuardRefusal, language: Language) -> Response:
    hint = _REFUSAL_HINTS.get(refusal.code)
    body = {
        "code": refusal.code,
        "message": _REFUSAL_TEXTS[refusal.code].in_language(language),
        "hint": hint.in_language(language) if hint else "",
    }
    headers = {"WWW-Authenticate": "Bearer"} if refusal.status == 401 else {}
    return JSONResponse({"error": body}, status_code=refusal.status, headers=headers)
