"""The skill, the subagent and the manifests for agents and registries: formats, versions, tools, commands and links."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from dragoman import __version__
from dragoman.cli.installation.skill import SKILL, skill_files
from dragoman.tools import debug, evidence
from tests.e2e.guides import blocks_of

ROOT = Path(__file__).parents[1]
SKILL_FOLDER = ROOT / "skills" / SKILL
SKILL_TEXTS = sorted(SKILL_FOLDER.rglob("*.md"))
AGENT = ROOT / "agents" / "debugger.md"
TOOLS = {it.name: it for it in (*debug.TOOLS, *evidence.TOOLS)}
_NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
# Fields of the Agent Skills specification (agentskills.io/specification).
SKILL_FIELDS = {"name", "description", "license", "compatibility", "metadata", "allowed-tools"}
# Characters: what an agent pays when it loads the skill, and when it reads one page more.
MOST_SKILL = 4000
MOST_REFERENCE = 3500

SERVER_SCHEMA = {
    # The rules of server.json (schema 2025-12-11 of the MCP registry) that apply to a package started over stdio.
    # Compared on 2026-11-19 with docs/reference/server-json/draft/server.schema.json of
    # modelcontextprotocol/registry@13760d02.
    "type": "object",
    "required": ["$schema", "name", "description", "version", "packages"],
    "additionalProperties": False,
    "properties": {
        "$schema": {"const": "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"},
        "name": {"type": "string", "maxLength": 200, "pattern": r"^[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+$"},
        "title": {"type": "string", "minLength": 1, "maxLength": 100},
        "description": {"type": "string", "minLength": 1, "maxLength": 100},
        "version": {"type": "string", "maxLength": 255, "pattern": r"^\d+\.\d+\.\d+$"},
        "packages": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["registryType", "identifier", "version", "transport"],
                "additionalProperties": False,
                "properties": {
                    "registryType": {"const": "pypi"},
                    "identifier": {"const": "dragoman"},
                    "version": {"type": "string", "pattern": r"^\d+\.\d+\.\d+$"},
                    "runtimeHint": {"const": "uvx"},
                    "transport": {"const": {"type": "stdio"}},
                    "packageArguments": {
                        "items": {
                            "required": ["type", "value"],
                            "properties": {"type": {"const": "positional"}, "value": {"type": "string"}},
                        }
                    },
                },
            },
        },
    },
}
_TEXT = {"type": "string", "minLength": 1}
_VERSION = {"type": "string", "pattern": r"^\d+\.\d+\.\d+$"}
_NAMED = {"type": "string", "pattern": r"^[a-z][a-z0-9]*(-[a-z0-9]+)*$"}
_PERSON = {
    "type": "object",
    "required": ["name"],
    "additionalProperties": False,
    "properties": {"name": _TEXT, "email": _TEXT, "url": _TEXT},
}
# Claude Code's manifests (schemastore.org: claude-code-plugin-manifest and claude-code-marketplace), narrower: a field
# that is not here may exist, but a misspelt one is refused. Both of ours were valid on 2026-11-19 by the schemas of
# SchemaStore/schemastore@d6c59e8a9 (2026-04-23).
_ABOUT = {"description": _TEXT, "license": _TEXT, "keywords": {"type": "array", "items": _TEXT}}
PLUGIN_SCHEMA = {
    "type": "object",
    "required": ["name", "version", "description"],
    "additionalProperties": False,
    "properties": {"name": _NAMED, "version": _VERSION, "author": _PERSON, **_ABOUT},
}
MARKETPLACE_SCHEMA = {
    "type": "object",
    "required": ["name", "owner", "plugins"],
    "additionalProperties": False,
    "properties": {
        "name": _NAMED,
        "owner": _PERSON,
        "metadata": {"type": "object", "additionalProperties": False, "properties": {"description": _TEXT}},
        "plugins": {
            "type": "array",
            "minItems": 1,
            "items": {
                "type": "object",
                "required": ["name", "source"],
                "additionalProperties": False,
                "properties": {
                    "name": _NAMED,
                    "source": {"type": "string", "pattern": r"^\./"},
                    "category": _TEXT,
                    **_ABOUT,
                },
            },
        },
    },
}
_SERVERS = {
    "type": "object",
    "additionalProperties": {
        "type": "object",
        "required": ["command"],
        "additionalProperties": False,
        "properties": {"command": _TEXT, "args": {"type": "array", "items": _TEXT}},
    },
}
# An extension of Gemini CLI (docs/extensions/reference): it ignores `trust` of a server, and unknown fields.
GEMINI_SCHEMA = {
    "type": "object",
    "required": ["name", "version", "mcpServers"],
    "additionalProperties": False,
    "properties": {"name": _NAMED, "version": _VERSION, "description": _TEXT, "mcpServers": _SERVERS},
}
MCP_SCHEMA = {"type": "object", "additionalProperties": False, "properties": {"mcpServers": _SERVERS}}
MANIFESTS: dict[str, dict[str, Any]] = {
    "server.json": SERVER_SCHEMA,
    ".claude-plugin/plugin.json": PLUGIN_SCHEMA,
    ".claude-plugin/marketplace.json": MARKETPLACE_SCHEMA,
    "gemini-extension.json": GEMINI_SCHEMA,
    ".mcp.json": MCP_SCHEMA,
}


def manifest(name: str) -> Any:
    return json.loads((ROOT / name).read_text("utf-8"))


def front_matter(path: Path) -> dict[str, str]:
    """`name: value` lines between two rules. Plain scalars only: what each YAML parser reads alike."""
    _, head, _ = path.read_text("utf-8").split("---\n", 2)
    fields = dict(line.split(": ", 1) for line in head.splitlines())
    for value in fields.values():
        assert not re.search(r": | #|^[\"'`\[{>|*&!%@]", value), value
    return fields


def test_the_skill_has_the_form_of_the_specification() -> None:
    fields = front_matter(SKILL_FOLDER / "SKILL.md")
    assert set(fields) <= SKILL_FIELDS
    assert fields["name"] == SKILL_FOLDER.name
    assert _NAME.fullmatch(fields["name"])
    assert len(fields["name"]) <= 64
    assert 1 <= len(fields["description"]) <= 1024
    assert "<" not in fields["description"]
    assert len(fields["compatibility"]) <= 500


def test_the_skill_is_short() -> None:
    assert len((SKILL_FOLDER / "SKILL.md").read_text("utf-8")) <= MOST_SKILL
    assert all(len(it.read_text("utf-8")) <= MOST_REFERENCE for it in SKILL_TEXTS)


def test_the_subagent_has_a_name_and_says_when_to_use_it() -> None:
    fields = front_matter(AGENT)
    # Gemini CLI refuses fields that it does not know, and Claude Code needs these two.
    assert set(fields) == {"name", "description"}
    assert fields["name"] == AGENT.stem
    assert len(fields["description"]) <= 1024


@pytest.mark.parametrize("text", [*SKILL_TEXTS, AGENT], ids=lambda it: it.name)
def test_every_tool_that_is_named_exists_with_these_parameters(text: Path) -> None:
    content = text.read_text("utf-8")
    parameters = {name for it in TOOLS.values() for name in it.parameters.model_fields}
    known = {*TOOLS, *parameters, "needs_trust", "no tests", "codes"}
    named = set(re.findall(r"`([a-z]+(?:_[a-z]+)+)`", content))
    assert named <= known
    for block in blocks_of(content):
        if block.kind == "mcp":
            for example in block.examples:
                name, _, arguments = example.command.partition(" ")
                TOOLS[name].parameters.model_validate_json(arguments)


@pytest.mark.parametrize("text", SKILL_TEXTS, ids=lambda it: it.name)
def test_the_links_of_the_skill_stay_within_it(text: Path) -> None:
    """A copy of the skill has nothing else beside it."""
    for target in re.findall(r"\]\(([^)#]+)", text.read_text("utf-8")):
        assert (text.parent / target).resolve().is_relative_to(SKILL_FOLDER)
        assert (text.parent / target).is_file()


def test_setup_finds_every_file_of_the_skill() -> None:
    assert set(skill_files()) == {str(it.relative_to(SKILL_FOLDER)) for it in SKILL_TEXTS}


@pytest.mark.parametrize("name", MANIFESTS)
def test_the_manifests_have_the_published_form(name: str) -> None:
    jsonschema.validate(manifest(name), MANIFESTS[name])


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("server.json", {"name": "dragoman"}),
        ("server.json", {"description": "x" * 101}),
        ("server.json", {"version": "^0.1"}),
        ("server.json", {"packages": [{"registryType": "pypi", "identifier": "dragoman", "version": "0.1.0"}]}),
        (".claude-plugin/plugin.json", {"author": "The Dragoman authors"}),
        (".claude-plugin/plugin.json", {"keyword": ["debugger"]}),
        (".claude-plugin/marketplace.json", {"plugins": [{"name": "dragoman", "source": "/dragoman"}]}),
        ("gemini-extension.json", {"name": "dragoman_debugger"}),
        (
            "gemini-extension.json",
            {"mcpServers": {"dragoman": {"command": "dragoman", "args": ["mcp"], "trust": True}}},
        ),
    ],
)
def test_a_manifest_with_a_fault_is_refused(name: str, change: dict[str, Any]) -> None:
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**manifest(name), **change}, MANIFESTS[name])


def test_the_versions_are_that_of_the_package() -> None:
    server = manifest("server.json")
    versions = [manifest(it)["version"] for it in (".claude-plugin/plugin.json", "gemini-extension.json")]
    assert {server["version"], server["packages"][0]["version"], *versions} == {__version__}


def test_the_marketplace_has_the_plugin() -> None:
    [entry] = manifest(".claude-plugin/marketplace.json")["plugins"]
    assert entry["name"] == manifest(".claude-plugin/plugin.json")["name"]
    assert (ROOT / entry["source"] / ".claude-plugin/plugin.json").is_file()


def test_the_manifests_start_the_server_as_the_registry_does() -> None:
    wanted = {"dragoman": {"command": "dragoman", "args": ["mcp"]}}
    assert manifest(".mcp.json")["mcpServers"] == manifest("gemini-extension.json")["mcpServers"] == wanted
    [package] = manifest("server.json")["packages"]
    assert [it["value"] for it in package["packageArguments"]] == wanted["dragoman"]["args"]


def test_the_readme_proves_to_the_registry_that_the_package_is_this_server() -> None:
    """The registry looks for this mark in the description of the package on PyPI, which is the README."""
    assert f"mcp-name: {manifest('server.json')['name']} " in (ROOT / "README.md").read_text("utf-8")
