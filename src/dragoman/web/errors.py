"""Where errors become HTTP: the one place of this face."""

from __future__ import annotations

from http import HTTPStatus

from starlette.exceptions import HTTPException
from starlette.requests import HTTPConnection, Request
from starlette.responses import JSONResponse, Response

from dragoman.access.guard import Refusal
from dragoman.errors import DragomanError
from dragoman.phrases import Language, Phrase, say

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

# A refusal says nothing that would help a stranger: not which names are right, not whether the address exists.
_REFUSALS: dict[str, Phrase] = {
    "wrong_host": say("This is not an address of this server."),
    "wrong_origin": say("Pages of other origins may not call this server."),
    "token_needed": say("A token is needed."),
    "not_found": say("There is nothing at this address."),
}


# The same at every address, and without our name: it says neither which addresses there are nor what serves them.
_HINTS: dict[str, Phrase] = {
    "token_needed": say(
        "Send the header `Authorization: Bearer TOKEN`. On the command line, `token show mcp` prints the token for MCP "
        "clients, and `page` opens the page."
    ),
}


def language_of(connection: HTTPConnection) -> Language:
    return "zh" if connection.headers.get("accept-language", "").lower().startswith("zh") else "en"


def error_response(error: DragomanError, language: Language) -> Response:
    body = {
        "code": error.code,
        "message": error.message.in_language(language),
        "hint": error.hint.in_language(language) if error.hint else "",
    }
    return JSONResponse({"error": body}, status_code=_STATUS_BY_CODE.get(error.code, 500))


async def answer_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, DragomanError)
    return error_response(error, language_of(request))


async def answer_wrong_method(request: Request, error: Exception) -> Response:
    """What Starlette itself refuses; an address that it does not know can come over a proved socket alone."""
    assert isinstance(error, HTTPException)
    if error.status_code == HTTPStatus.NOT_FOUND:
        return refusal_response(Refusal(404, "not_found"), language_of(request))
    answer = error_response(
        DragomanError("wrong_method", say("This address does not take {method}.", method=request.method)),
        language_of(request),
    )
    answer.headers.update(error.headers or {})
    return answer


async def answer_fault(request: Request, _: Exception) -> Response:
    """The server logs the fault itself; the caller learns that it is not theirs."""
    fault = DragomanError(
        "internal_error", say("Something went wrong in the daemon."), hint=say("See `dragoman logs`, then try again.")
    )
    return error_response(fault, language_of(request))


def refusal_response(refusal: Refusal, language: Language) -> Response:
    hint = _HINTS.get(refusal.code)
    body = {
        "code": refusal.code,
        "message": _REFUSALS[refusal.code].in_language(language),
        "hint": hint.in_language(language) if hint else "",
    }
    headers = {"WWW-Authenticate": "Bearer"} if refusal.status == 401 else {}
    return JSONResponse({"error": body}, status_code=refusal.status, headers=headers)
