"""The settings: each one with its default, its bounds and its description."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

from dragoman.core.localization import LocalizedText, localize
from dragoman.core.settings.adapters import AdapterSettings, require_known

PRIVATE_BINDS = frozenset({"127.0.0.1", "::1"})
"""Exactly as written here: only for these does the page get a new origin at each start of the daemon. Other loopback
addresses keep one origin, and with it whatever an earlier user of the port left in the browser.
"""
_FOLDER = "^(/|~/)"
_ADDRESS = localize("an IP address such as 127.0.0.1 or ::1, not a host name")
_NAMES = localize("a list of names made of letters, digits and _")
_FOLDERS = localize("a list of folders, each an absolute path or one that starts with ~/")
_KEYS = localize("a key such as alt-/ or ctrl-alt-p, or just :")
_PATTERNS = localize("a list of patterns of at most 200 characters each")
_WORDS = localize("a list of strings")
_URL = localize("an address that starts with http:// or https://")
_NAME = localize("a name")
_TOOL_SETS = localize("a list of tool sets, such as default")
_GATEWAY = localize("an address that starts with ws:// or wss://")
_USERS = localize("a list of users of this machine, as names or uids")
_SERVERS = localize("a list of servers, each with an address and a user, such as `127.0.0.1:18789 openclaw`")
_FILE = localize("an absolute file path or one that starts with ~/")
_TARGETS = localize("tables such as `[targets.build1]`, each with a command as a list of strings")
_KEY_TABLE = localize("a table such as `[known_keys]` with names and the keys that `dragoman share` prints")
_KEY = r"^(:|(ctrl-)?(alt-)?[!-~])$"
_Pattern = Annotated[str, Field(min_length=1, max_length=200)]


@dataclass(frozen=True, slots=True)
class SettingInfo:
    """The description of one setting, and when a change of it takes effect."""

    text: LocalizedText
    needs_restart: bool = True
    allowed: LocalizedText | None = None
    """The allowed values, if the type does not describe them."""


def _literal_address(text: str) -> str:
    """Accept only an IP address: a host name is resolved each time, and its meaning can change."""
    ipaddress.ip_address(text)
    return text


class TargetSettings(BaseModel):
    """One name for `--on`. Its command runs as the user, so it is never read from a workspace."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    command: Annotated[list[Annotated[str, Field(min_length=1, max_length=4096)]], Field(min_length=1, max_length=100)]


class Settings(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    port: Annotated[
        int,
        Field(ge=0, le=65535),
        SettingInfo(localize("Port of the page and the HTTP interfaces; 0 picks any free port.")),
    ] = 8177
    bind: Annotated[
        str,
        AfterValidator(_literal_address),
        SettingInfo(localize("Address the daemon listens on."), allowed=_ADDRESS),
    ] = "127.0.0.1"
    allow_remote: Annotated[
        bool, SettingInfo(localize("Whether bind may be an address other than 127.0.0.1 or ::1."))
    ] = False
    auto_start: Annotated[bool, SettingInfo(localize("Whether an editor may start the daemon when it opens."))] = True
    mcp_starts_daemon: Annotated[
        bool,
        SettingInfo(
            localize("Whether `dragoman mcp` and `dragoman pipe` start the daemon if it is not running."),
            needs_restart=False,
        ),
    ] = True
    tools: Annotated[
        list[Annotated[str, Field(pattern=r"^[a-z]+$", max_length=40)]],
        Field(min_length=1, max_length=20),
        SettingInfo(
            localize("Tool sets that MCP clients are shown, such as default, all and debug."),
            allowed=_TOOL_SETS,
        ),
    ] = ["default"]
    structured: Annotated[
        Literal["auto", "always", "never"],
        SettingInfo(
            localize(
                "Whether MCP results have structured content besides their text; auto leaves it out for clients that "
                "would show it to the model instead of the text."
            )
        ),
    ] = "auto"
    log_level: Annotated[
        Literal["debug", "info", "warning", "error"], SettingInfo(localize("Log level of the daemon."))
    ] = "info"
    journal_max_age_days: Annotated[
        int, Field(ge=1, le=36500), SettingInfo(localize("Number of days the journal keeps events."))
    ] = 30
    journal_max_size_mb: Annotated[
        int,
        Field(ge=1, le=1 << 20),
        SettingInfo(localize("Maximum size of the journal in MB. The oldest part is deleted first.")),
    ] = 2048
    session_linger_s: Annotated[
        int,
        Field(ge=1, le=7 * 86_400),
        SettingInfo(localize("Number of seconds to keep a debug session after the last call.")),
    ] = 600
    halt_s: Annotated[
        int,
        Field(ge=1, le=600),
        SettingInfo(localize("Seconds before an attached program resumes automatically (with --on).")),
    ] = 30
    redact: Annotated[
        bool, SettingInfo(localize("Whether to hide secrets in values, output and messages from agents."))
    ] = True
    redact_names: Annotated[
        list[Annotated[str, Field(pattern=r"^\w+$", min_length=2, max_length=60)]],
        Field(max_length=100),
        SettingInfo(localize("Names to treat as secrets, besides built-in ones such as password."), allowed=_NAMES),
    ] = []
    allowed_folders: Annotated[
        list[Annotated[str, Field(pattern=_FOLDER)]],
        Field(max_length=100),
        SettingInfo(localize("Folders that agents may read besides the workspace."), allowed=_FOLDERS),
    ] = []

    debug_port_users: Annotated[
        list[Annotated[str, Field(pattern=r"^[\w.-]+\$?$", max_length=64)]],
        Field(max_length=20),
        SettingInfo(
            localize("Other users that may connect to debug ports, such as root for a container's port forwarder."),
            allowed=_USERS,
        ),
    ] = []

    trusted_servers: Annotated[
        list[Annotated[str, Field(pattern=r"^\S+:\d+ [\w.-]+\$?$", max_length=300)]],
        Field(max_length=20),
        SettingInfo(
            localize("Servers of other users on this machine that may receive your gateway token or model key."),
            allowed=_SERVERS,
        ),
    ] = []

    ask_key: Annotated[
        str,
        Field(pattern=_KEY),
        SettingInfo(localize("Key that opens a question line in `dragoman shell`."), False, _KEYS),
    ] = "alt-/"
    accept_key: Annotated[
        Literal["right", "tab"],
        SettingInfo(localize("Key that accepts a suggestion in `dragoman shell`, besides End."), False),
    ] = "right"
    pause_key: Annotated[
        str,
        Field(pattern=_KEY),
        SettingInfo(localize("Key that pauses and resumes recording in `dragoman shell`."), False, _KEYS),
    ] = "ctrl-alt-p"
    suggest_commands: Annotated[
        bool, SettingInfo(localize("Whether `dragoman shell` shows command suggestions in dim text."), False)
    ] = True
    record_raw_input: Annotated[
        bool, SettingInfo(localize("Whether to also record keys typed into full-screen and remote programs."), False)
    ] = False
    ignore_commands: Annotated[
        list[_Pattern],
        Field(max_length=100),
        SettingInfo(
            localize("Patterns of commands to leave unrecorded, with their output, such as `vault *`."),
            False,
            _PATTERNS,
        ),
    ] = []
    watch_output: Annotated[
        list[_Pattern],
        Field(max_length=20),
        SettingInfo(
            localize("Terminal output to report as events, such as `segmentation fault`."),
            False,
            _PATTERNS,
        ),
    ] = []
    explain_failures: Annotated[
        bool, SettingInfo(localize("Whether to explain failed commands automatically, in one dim line."), False)
    ] = False
    explain_failures_every_s: Annotated[
        int,
        Field(ge=1, le=86_400),
        SettingInfo(localize("Minimum number of seconds between two explanations."), False),
    ] = 60
    terminal_max_age_days: Annotated[
        int, Field(ge=1, le=36500), SettingInfo(localize("Number of days to keep terminal output."))
    ] = 30
    model: Annotated[
        Literal["none", "openai", "anthropic"],
        SettingInfo(localize("Provider of the language model that answers questions; none uses no model.")),
    ] = "none"
    model_name: Annotated[
        str, Field(max_length=200), SettingInfo(localize("Model name, as spelled by its provider."), allowed=_NAME)
    ] = ""
    model_address: Annotated[
        str,
        Field(pattern=r"^(https?://\S+)?$", max_length=500),
        SettingInfo(localize("Address of the model; if empty, the provider's default."), allowed=_URL),
    ] = ""
    model_key_variable: Annotated[
        str,
        Field(pattern=r"^\w*$", max_length=100),
        SettingInfo(localize("Environment variable with the model key."), allowed=_NAME),
    ] = ""
    model_key_command: Annotated[
        list[Annotated[str, Field(max_length=1000)]],
        Field(max_length=20),
        SettingInfo(localize("Command that prints the model key, as a list of strings."), allowed=_WORDS),
    ] = []
    model_completes: Annotated[bool, SettingInfo(localize("Whether the model may improve command suggestions."))] = (
        False
    )

    gateway_address: Annotated[
        str,
        Field(pattern=r"^wss?://\S+$", max_length=500),
        SettingInfo(localize("Address of the OpenClaw gateway for `dragoman gateway connect`."), allowed=_GATEWAY),
    ] = "ws://127.0.0.1:18789"
    gateway_token_variable: Annotated[
        str,
        Field(pattern=r"^\w*$", max_length=100),
        SettingInfo(localize("Environment variable with the gateway token."), allowed=_NAME),
    ] = ""
    gateway_token_file: Annotated[
        str,
        Field(pattern=r"^((/|~/).*)?$", max_length=1000),
        SettingInfo(localize("File with the gateway token. Only you may read it (mode 0600)."), allowed=_FILE),
    ] = ""
    gateway_unlimited: Annotated[
        bool, SettingInfo(localize("Whether to reconnect to the gateway indefinitely instead of ten times."))
    ] = False
    gateway_relay: Annotated[
        bool,
        SettingInfo(
            localize(
                "Whether Dragoman's own gateway relays chats to the OpenClaw gateway instead of its built-in agent."
            )
        ),
    ] = False

    targets: Annotated[
        dict[Annotated[str, Field(pattern=r"^[A-Za-z0-9_][\w.-]*$", max_length=60)], TargetSettings],
        Field(max_length=100),
        SettingInfo(localize("Names for `--on`, each with the command that reaches it."), False, _TARGETS),
    ] = {}

    known_keys: Annotated[
        dict[
            Annotated[str, Field(pattern=r"^[\w][\w .@-]*$", max_length=60)],
            Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")],
        ],
        Field(max_length=100),
        SettingInfo(localize("Public keys of people whose shared sessions you trust, by name."), False, _KEY_TABLE),
    ] = {}

    adapters: Annotated[
        dict[str, AdapterSettings],
        Field(max_length=50),
        SettingInfo(localize("Debug adapters: the path of a built-in one, or how to start another.")),
    ] = {}

    @model_validator(mode="after")
    def _check_adapters(self) -> Self:
        require_known(self.adapters)
        return self

    @model_validator(mode="after")
    def _check_bind_address(self) -> Self:
        if not self.allow_remote and self.bind not in PRIVATE_BINDS:
            raise PydanticCustomError("remote_bind", "{bind} needs allow_remote", {"bind": self.bind})
        return self
