"""MCP resources: debug sessions of the caller's workspace (`dragoman://session/{id}/journal` and `…/output`), and the
complete schemas of tools (`dragoman://schema/{tool}`), which the list of tools leaves out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError

from dragoman.core.errors import DragomanError
from dragoman.core.localization import localize
from dragoman.servers.mcp.errors import unknown_address
from dragoman.tools import Tool, ToolRegistry
from dragoman.tools.resources import ResourceKind, ResourceProvider, ResourceSession
from dragoman.workspace.caller import Caller

_ADDRESS = re.compile(r"dragoman://session/([A-Za-z0-9_-]{1,64})/([a-z]{1,20})")
_SCHEMA_ADDRESS = re.compile(r"dragoman://schema/([a-z_]{1,64})")
_MEDIA_TYPE = "text/plain"
_SCHEMA_MEDIA_TYPE = "application/json"
_MAX_SCHEMAS_LISTED = 64

_SCHEMA_TITLE = localize("Schemas of a tool: its parameters and its result")

_Context = ServerRequestContext[Any]


class Resources:
    def __init__(
        self, resource_provider: ResourceProvider | None, caller: Caller, toolbox: ToolRegistry, listed: Sequence[Tool]
    ) -> None:
        """`listed` are the tools whose schemas are listed; those of all others can be read as well."""
        self._provider = resource_provider
        self._caller = caller
        self._schemas = {tool.name: tool for tool in toolbox.tools}
        self._listed = listed[:_MAX_SCHEMAS_LISTED]

    async def listed(self, _: _Context, __: types.PaginatedRequestParams | None) -> types.ListResourcesResult:
        resource_provider = self._provider
        sessions = resource_provider.sessions(self._caller) if resource_provider else []
        of_sessions = [
            self._resource(it, kind)
            for it in sessions
            for kind in (resource_provider.kinds if resource_provider else ())
        ]
        return types.ListResourcesResult(resources=[*of_sessions, *(_schema_resource(it) for it in self._listed)])

    async def templates(
        self, _: _Context, __: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        kinds = self._provider.kinds if self._provider else ()
        schema = types.ResourceTemplate(
            uri_template="dragoman://schema/{tool}",
            name="tool-schema",
            title=_SCHEMA_TITLE.in_language(self._caller.language),
            mime_type=_SCHEMA_MEDIA_TYPE,
        )
        return types.ListResourceTemplatesResult(resource_templates=[*(self._template(it) for it in kinds), schema])

    async def read(self, _: _Context, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        uri = str(params.uri)
        try:
            schema = _SCHEMA_ADDRESS.fullmatch(uri)
            if schema is not None and schema[1] in self._schemas:
                return _schema_contents(uri, self._schemas[schema[1]])
            match = _ADDRESS.fullmatch(uri)
            if match is None or self._provider is None:
                raise unknown_address()
            text = await self._provider.read(self._caller, match[1], match[2])
        except DragomanError as error:
            raise self._refusal(error, uri) from error
        return types.ReadResourceResult(
            contents=[types.TextResourceContents(uri=uri, mime_type=_MEDIA_TYPE, text=text)]
        )

    def _resource(self, session: ResourceSession, kind: ResourceKind) -> types.Resource:
        return types.Resource(
            uri=f"dragoman://session/{session.id}/{kind.name}",
            name=f"{session.id}/{kind.name}",
            title=kind.title.in_language(self._caller.language),
            description=f"{session.state}: {session.title}",
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


def _schema_resource(tool: Tool) -> types.Resource:
    return types.Resource(uri=f"dragoman://schema/{tool.name}", name=tool.name, mime_type=_SCHEMA_MEDIA_TYPE)


def _schema_contents(uri: str, tool: Tool) -> types.ReadResourceResult:
    schemas = {"name": tool.name, "inputSchema": tool.input_schema, "outputSchema": tool.output_schema}
    text = json.dumps(schemas, ensure_ascii=False, separators=(",", ":"))
    return types.ReadResourceResult(
        contents=[types.TextResourceContents(uri=uri, mime_type=_SCHEMA_MEDIA_TYPE, text=text)]
    )
