"""The MCP clients as data: which file, which key, which format, and the client's own command to add a server.

Paths are templates over `Machine.folders`; entries are templates over `fill_template`. The newest location of a client
comes first. Sources: the clients' documentation and, for Claude Code, Codex and Gemini, the files that they wrote.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from dragoman.clients.machine import Machine
from dragoman.core.localization import LocalizedText, localize

Format = Literal["jsonc", "toml"]
Template = Mapping[str, Any]

TOKEN_VARIABLE = "DRAGOMAN_TOKEN"

_BEARER: Template = {"Authorization": "{bearer}"}
_PLAIN: Template = {"command": "{command}", "args": "{args}"}
_URL: Template = {"url": "{url}", "headers": _BEARER}
_STORAGE = "{application}/Code/User/globalStorage"
# Read by Codex (developers.openai.com/codex/skills), Gemini CLI (geminicli.com/docs/cli/using-agent-skills), Cursor
# (cursor.com/docs/skills) and Copilot (docs.github.com, "About agent skills"): one copy serves all of them.
_SHARED_SKILLS = "{home}/.agents/skills"


@dataclass(frozen=True, slots=True, kw_only=True)
class McpClient:
    """One MCP client: where its configuration is and what our entry in it looks like. It holds data and looks at
    files, but never writes.
    """

    id: str
    title: str
    container: str = "mcpServers"
    format: Format = "jsonc"
    files: tuple[str, ...] = ()
    file_variable: str = ""
    project_file: str = ""
    windows_file: str = ""
    markers: tuple[str, ...] = ()
    program: str = ""
    skills: str = ""
    """The folder in which the client looks for its user's skills."""
    stdio: Template
    http: Template | None = None
    add_stdio: tuple[str, ...] = ()
    add_http: tuple[str, ...] = ()
    note: LocalizedText | None = None

    def file(self, machine: Machine, *, project: bool = False) -> Path | None:
        """The file to edit: the first that exists, else the first in an existing folder, else the first."""
        candidates = self._candidates(machine, project=project)
        there = [path for path in candidates if path.exists() or path.is_symlink()]
        likely = [path for path in candidates if path.parent.is_dir()]
        return next(iter([*there, *likely, *candidates]), None)

    def is_installed(self, machine: Machine) -> bool:
        if self.program and machine.which(self.program):
            return True
        marks = [_path(mark, machine) for mark in self.markers]
        return any(path.exists() for path in (*marks, *self._candidates(machine, project=False)))

    def _candidates(self, machine: Machine, *, project: bool) -> list[Path]:
        if project:
            return [_path(f"{{project}}/{self.project_file}", machine)] if self.project_file else []
        named = machine.environment.get(self.file_variable, "") if self.file_variable else ""
        return [Path(named)] if named else [_path(template, machine) for template in self.files]

    def skills_folder(self, machine: Machine) -> Path | None:
        return _path(self.skills, machine) if self.skills else None


def _path(template: str, machine: Machine) -> Path:
    return Path(template.format_map(machine.folders()))


CLIENTS: tuple[McpClient, ...] = (
    McpClient(
        id="claude-code",
        title="Claude Code",
        files=("{claude}/.claude.json",),
        project_file=".mcp.json",
        markers=("{home}/.claude",),
        program="claude",
        skills="{claude_settings}/skills",
        stdio={"type": "stdio", **_PLAIN},
        http={"type": "http", **_URL},
        add_stdio=("claude", "mcp", "add", "-s", "user", "{name}", "--", "{argv}"),
    ),
    McpClient(
        id="claude-desktop",
        title="Claude Desktop",
        files=("{application}/Claude/claude_desktop_config.json",),
        windows_file="%APPDATA%\\Claude\\claude_desktop_config.json",
        markers=("{application}/Claude",),
        stdio=_PLAIN,
        note=localize(
            "Claude Desktop accepts HTTP servers only in its Connectors window, not in its configuration file."
        ),
    ),
    McpClient(
        id="cursor",
        title="Cursor",
        files=("{home}/.cursor/mcp.json",),
        project_file=".cursor/mcp.json",
        windows_file="%USERPROFILE%\\.cursor\\mcp.json",
        markers=("{home}/.cursor",),
        skills=_SHARED_SKILLS,
        stdio=_PLAIN,
        http=_URL,
    ),
    McpClient(
        id="cline",
        title="Cline",
        files=(
            "{home}/.cline/data/settings/cline_mcp_settings.json",
            f"{_STORAGE}/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
        ),
        file_variable="CLINE_MCP_SETTINGS_PATH",
        markers=("{home}/.cline", f"{_STORAGE}/saoudrizwan.claude-dev"),
        stdio=_PLAIN,
        # Without a type, Cline uses the older SSE transport for a URL.
        http={"type": "streamableHttp", **_URL},
    ),
    McpClient(
        id="vscode",
        title="VS Code",
        container="servers",
        files=("{application}/Code/User/mcp.json",),
        project_file=".vscode/mcp.json",
        windows_file="%APPDATA%\\Code\\User\\mcp.json",
        markers=("{application}/Code/User",),
        program="code",
        skills=_SHARED_SKILLS,
        stdio={"type": "stdio", **_PLAIN},
        http={"type": "http", **_URL},
        add_stdio=("code", "--add-mcp", "{json}"),
    ),
    McpClient(
        id="codex",
        title="Codex CLI",
        container="mcp_servers",
        format="toml",
        files=("{codex}/config.toml",),
        project_file=".codex/config.toml",
        markers=("{codex}",),
        program="codex",
        skills=_SHARED_SKILLS,
        stdio=_PLAIN,
        # Codex does not accept a token in the file, only the name of a variable.
        http={"url": "{url}", "bearer_token_env_var": TOKEN_VARIABLE},
        add_stdio=("codex", "mcp", "add", "{name}", "--", "{argv}"),
        add_http=("codex", "mcp", "add", "{name}", "--url", "{url}", "--bearer-token-env-var", TOKEN_VARIABLE),
    ),
    McpClient(
        id="gemini",
        title="Gemini CLI",
        files=("{home}/.gemini/settings.json",),
        project_file=".gemini/settings.json",
        markers=("{home}/.gemini",),
        program="gemini",
        skills=_SHARED_SKILLS,
        stdio=_PLAIN,
        http={"url": "{url}", "type": "http", "headers": _BEARER},
        add_stdio=("gemini", "mcp", "add", "-s", "user", "{name}", "{argv}"),
    ),
    McpClient(
        id="zed",
        title="Zed",
        container="context_servers",
        files=("{config}/zed/settings.json",),
        windows_file="%APPDATA%\\Zed\\settings.json",
        markers=("{config}/zed",),
        stdio=_PLAIN,
        http=_URL,
    ),
    McpClient(
        id="devin",
        title="Devin Desktop",
        files=("{config}/devin/mcp_config.json",),
        project_file=".devin/mcp_config.json",
        windows_file="%APPDATA%\\devin\\mcp_config.json",
        markers=("{config}/devin",),
        stdio=_PLAIN,
        http={"url": "{url}", "transport": "http", "headers": _BEARER},
    ),
    McpClient(
        id="windsurf",
        title="Windsurf",
        files=("{home}/.codeium/windsurf/mcp_config.json",),
        markers=("{home}/.codeium/windsurf",),
        stdio=_PLAIN,
        # A plain "url" does not work here.
        http={"serverUrl": "{url}", "headers": _BEARER},
        note=localize("Windsurf became Devin Desktop in June 2026; for newer versions use `devin`."),
    ),
    McpClient(
        id="kilo",
        title="Kilo Code",
        container="mcp",
        files=("{config}/kilo/kilo.jsonc", "{config}/kilo/kilo.json"),
        project_file=".kilo/kilo.jsonc",
        markers=("{config}/kilo",),
        program="kilo",
        stdio={"type": "local", "command": "{argv}"},
        http={"type": "remote", **_URL},
    ),
    McpClient(
        id="kilo-old",
        title="Kilo Code (before kilo.jsonc)",
        files=(f"{_STORAGE}/kilocode.kilo-code/settings/mcp_settings.json",),
        project_file=".kilocode/mcp.json",
        stdio=_PLAIN,
        http={"type": "streamable-http", **_URL},
    ),
    McpClient(
        id="roo",
        title="Roo Code",
        files=(f"{_STORAGE}/rooveterinaryinc.roo-cline/settings/mcp_settings.json",),
        project_file=".roo/mcp.json",
        markers=(f"{_STORAGE}/rooveterinaryinc.roo-cline",),
        stdio=_PLAIN,
        http={"type": "streamable-http", **_URL},
        note=localize("Roo Code was discontinued in May 2026; its successors use the same format."),
    ),
    McpClient(
        id="jetbrains",
        title="JetBrains AI Assistant",
        stdio=_PLAIN,
        note=localize("Paste it into Settings > Tools > AI Assistant > Model Context Protocol (MCP)."),
    ),
)

BY_ID: dict[str, McpClient] = {client.id: client for client in CLIENTS}
