"""What can be set: each with its default, its bounds and what a person reads about it."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

from dragoman.adapter_settings import AdapterSettings, require_known
from dragoman.phrases import Phrase, say

PRIVATE_BINDS = frozenset({"127.0.0.1", "::1"})
"""As they are written here: for these alone the page has an origin of its own for each start of the daemon. Other
addresses of loopback keep one origin, and so whatever an earlier holder of the port left in the browser."""
_FOLDER = "^(/|~/)"
_ADDRESS = say("an IP address such as 127.0.0.1 or ::1, not a host name")
_NAMES = say("a list of names, each of letters, digits and _")
_FOLDERS = say("a list of folders, each with its whole path or from ~/ on")
_KEYS = say("a key such as alt-/ or ctrl-alt-p, or : alone")
_PATTERNS = say("a list of patterns, each of at most 200 characters")
_WORDS = say("a list of words")
_URL = say("an address that begins with http:// or https://")
_NAME = say("a name")
_GATEWAY = say("an address that begins with ws:// or wss://")
_USERS = say("a list of users of this machine, each by name or number")
_SERVERS = say("a list of servers, each with its address and its user, such as `127.0.0.1:18789 openclaw`")
_FILE = say("a file with its whole path or from ~/ on")
_KEY = r"^(:|(ctrl-)?(alt-)?[!-~])$"
_Pattern = Annotated[str, Field(min_length=1, max_length=200)]


@dataclass(frozen=True, slots=True)
class About:
    """What a person reads about one setting, and when a change of it counts."""

    text: Phrase
    needs_restart: bool = True
    allowed: Phrase | None = None
    """What may stand there, where the type does not say it."""


def _literal_address(text: str) -> str:
    """A name would be looked up each time, and what it means can change: only an address says what is bound."""
    ipaddress.ip_address(text)
    return text


class Settings(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    port: Annotated[
        int, Field(ge=0, le=65535), About(say("The port of the page and of the HTTP interfaces; 0 takes any free one."))
    ] = 8177
    bind: Annotated[
        str, AfterValidator(_literal_address), About(say("The address the daemon listens on."), allowed=_ADDRESS)
    ] = "127.0.0.1"
    allow_remote: Annotated[bool, About(say("Whether bind may be another address than 127.0.0.1 or ::1."))] = False
    auto_start: Annotated[bool, About(say("Whether an editor may start the daemon when it opens."))] = True
    mcp_starts_daemon: Annotated[
        bool, About(say("Whether `dragoman mcp` starts the daemon when none runs."), needs_restart=False)
    ] = True
    log_level: Annotated[
        Literal["debug", "info", "warning", "error"], About(say("How much the daemon writes to its log."))
    ] = "info"
    journal_max_age_days: Annotated[
        int, Field(ge=1, le=36500), About(say("How many days the journal keeps what happened."))
    ] = 30
    journal_max_size_mb: Annotated[
        int,
        Field(ge=1, le=1 << 20),
        About(say("How many megabytes the journal may take before its oldest part goes.")),
    ] = 2048
    session_linger_s: Annotated[
        int,
        Field(ge=1, le=7 * 86_400),
        About(say("How many seconds a debug session lives on after the last call about it.")),
    ] = 600
    redact: Annotated[bool, About(say("Whether secrets are hidden from agents, in values, output and messages."))] = (
        True
    )
    redact_names: Annotated[
        list[Annotated[str, Field(pattern=r"^\w+$", min_length=2, max_length=60)]],
        Field(max_length=100),
        About(say("More names whose texts are secrets, besides those known for it such as password."), allowed=_NAMES),
    ] = []
    allowed_folders: Annotated[
        list[Annotated[str, Field(pattern=_FOLDER)]],
        Field(max_length=100),
        About(say("Folders whose files agents may be shown, besides the workspace."), allowed=_FOLDERS),
    ] = []

    debug_port_users: Annotated[
        list[Annotated[str, Field(pattern=r"^[\w.-]+\$?$", max_length=64)]],
        Field(max_length=20),
        About(
            say("Users besides you at the other end of debug ports, such as root for the forwarder of a container."),
            allowed=_USERS,
        ),
    ] = []

    trusted_servers: Annotated[
        list[Annotated[str, Field(pattern=r"^\S+:\d+ [\w.-]+\$?$", max_length=300)]],
        Field(max_length=20),
        About(
            say("Servers of other users on this machine that may get your gateway token or model key."),
            allowed=_SERVERS,
        ),
    ] = []

    ask_key: Annotated[
        str, Field(pattern=_KEY), About(say("The key that opens a question line in a wrapped shell."), False, _KEYS)
    ] = "alt-/"
    accept_key: Annotated[
        Literal["right", "tab"],
        About(say("The key that takes a suggestion in a wrapped shell; End always does."), False),
    ] = "right"
    pause_key: Annotated[
        str,
        Field(pattern=_KEY),
        About(say("The key that pauses and resumes the recording of a wrapped shell."), False, _KEYS),
    ] = "ctrl-alt-p"
    suggest_commands: Annotated[
        bool, About(say("Whether a wrapped shell shows how a command may go on, in dim text."), False)
    ] = True
    record_raw_input: Annotated[
        bool, About(say("Whether keys typed into full-screen and remote programs are recorded too."), False)
    ] = False
    ignore_commands: Annotated[
        list[_Pattern],
        Field(max_length=100),
        About(say("Commands that are not recorded, nor their output: patterns such as `vault *`."), False, _PATTERNS),
    ] = []
    watch_output: Annotated[
        list[_Pattern],
        Field(max_length=20),
        About(
            say("Texts in a terminal's output that are told as events, such as `segmentation fault`."), False, _PATTERNS
        ),
    ] = []
    explain_failures: Annotated[
        bool, About(say("Whether a failed command is explained in one dim line without being asked."), False)
    ] = False
    explain_failures_every_s: Annotated[
        int, Field(ge=1, le=86_400), About(say("How many seconds lie at least between two such lines."), False)
    ] = 60
    terminal_max_age_days: Annotated[
        int, Field(ge=1, le=36500), About(say("How many days the output of terminals is kept."))
    ] = 30
    model: Annotated[
        Literal["none", "openai", "anthropic"],
        About(say("The kind of language model that answers questions; none works without one.")),
    ] = "none"
    model_name: Annotated[
        str, Field(max_length=200), About(say("The model's name, as its provider spells it."), allowed=_NAME)
    ] = ""
    model_address: Annotated[
        str,
        Field(pattern=r"^(https?://\S+)?$", max_length=500),
        About(say("Where the model is asked; empty takes the provider's own address."), allowed=_URL),
    ] = ""
    model_key_variable: Annotated[
        str,
        Field(pattern=r"^\w*$", max_length=100),
        About(say("The variable that holds the model's key."), allowed=_NAME),
    ] = ""
    model_key_command: Annotated[
        list[Annotated[str, Field(max_length=1000)]],
        Field(max_length=20),
        About(say("The command that prints the model's key, as a list of words."), allowed=_WORDS),
    ] = []
    model_completes: Annotated[bool, About(say("Whether the model may improve suggestions of commands."))] = False

    gateway_address: Annotated[
        str,
        Field(pattern=r"^wss?://\S+$", max_length=500),
        About(say("Where `dragoman gateway connect` finds an OpenClaw gateway."), allowed=_GATEWAY),
    ] = "ws://127.0.0.1:18789"
    gateway_token_variable: Annotated[
        str,
        Field(pattern=r"^\w*$", max_length=100),
        About(say("The variable that holds that gateway's token."), allowed=_NAME),
    ] = ""
    gateway_token_file: Annotated[
        str,
        Field(pattern=r"^((/|~/).*)?$", max_length=1000),
        About(say("The file that holds that gateway's token; only you may read it (mode 0600)."), allowed=_FILE),
    ] = ""
    gateway_unlimited: Annotated[
        bool, About(say("Whether a lost gateway is tried again without end, instead of ten times."))
    ] = False
    gateway_relay: Annotated[
        bool, About(say("Whether chats with our own gateway are those of that one, instead of our own agent's."))
    ] = False

    adapters: Annotated[
        dict[str, AdapterSettings],
        Field(max_length=50),
        About(say("Debug adapters: where one of ours is, or how another is started.")),
    ] = {}

    @model_validator(mode="after")
    def _knows_its_adapters(self) -> Self:
        require_known(self.adapters)
        return self

    @model_validator(mode="after")
    def _stays_on_this_machine(self) -> Self:
        if not self.allow_remote and self.bind not in PRIVATE_BINDS:
            raise PydanticCustomError("remote_bind", "{bind} needs allow_remote", {"bind": self.bind})
        return self
