"""Debug sessions as MCP resources: `dragoman://session/{id}/journal` and `…/output`, for the caller's workspace."""

from __future__ import annotations

import re
from typing import Any

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError

from dragoman.core.errors import DragomanError
from dragoman.servers.mcp.errors import unknown_address
from dragoman.tools.resources import ResourceKind, ResourceProvider, ResourceSubject
from dragoman.workspace.caller import Caller

_ADDRESS = re.compile(r"dragoman://session/([A-Za-z0-9_-]{1,64})/([a-z]{1,20})")
_MEDIA_TYPE = "text/plain"

_Context = ServerRequestContext[Any]


class Resources:
    def __init__(self, readings: ResourceProvider, caller: Caller) -> None:
        self._readings = readings
        self._caller = caller

    async def listed(self, _: _Context, __: types.PaginatedRequestParams | None) -> types.ListResourcesResult:
        subjects = self._readings.subjects(self._caller)
        return types.ListResourcesResult(
            resources=[self._resource(subject, kind) for subject in subjects for kind in self._readings.kinds]
        )

    async def templates(
        self, _: _Context, __: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        return types.ListResourceTemplatesResult(resource_templates=[self._template(it) for it in self._readings.kinds])

    async def read(self, _: _Context, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        uri = str(params.uri)
        try:
            found = _ADDRESS.fullmatch(uri)
            if found is None:
                raise unknown_address()
            text = await self._readings.read(self._caller, found[1], found[2])
        except DragomanError as error:
            raise self._refusal(error, uri) from error
        return types.ReadResourceResult(
            contents=[types.TextResourceContents(uri=uri, mime_type=_MEDIA_TYPE, text=text)]
        )

    def _resource(self, subject: ResourceSubject, kind: ResourceKind) -> types.Resource:
        return types.Resource(
            uri=f"dragoman://session/{subject.id}/{kind.name}",
            name=f"{subject.id}/{kind.name}",
            title=kind.title.in_language(self._caller.language),
            description=f"{subject.state}: {subject.title}",
            mime_type=_MEDIA_TYPE,
        )

    def _template(self, kind: ResourceKind) -> types.ResourceTemplate:
        language = self._caller.language
        return types.ResourceTemplate(
            uri_template=f"dragoman://session/{{session_id}}/{kind.name}",
            name=f"session-{kind.name}",
            title=kind.title.in_language(language),
            description=kind.description.in_language(language),
            mime_type=_MEDIA_TYPE,
        )

    def _refusal(self, error: DragomanError, uri: str) -> MCPError:
        """The error with the address in `data`, as every MCP revision requires: a client has many open requests."""
        text = error.in_language(self._caller.language)
        return MCPError(types.INVALID_PARAMS, text, {"code": error.code, "uri": uri})
