"""Another extension in the same editor: a debugger for Python, and a command that its configurations call by a name."""

from __future__ import annotations

import json
import sys
import zipfile
from pathlib import Path

CHOSEN = "chosen by a command"


def others_extension(room: Path) -> Path:
    debugger = {
        "type": "plain-python", "label": "Python", "languages": ["python"], "program": sys.executable,
        "args": ["-m", "debugpy.adapter"], "variables": {"Choose": "plain-python.choose"},
    }  # fmt: skip
    about = {
        "name": "plain-python", "publisher": "test", "version": "0.0.1", "engines": {"vscode": "^1.101.0"},
        "extensionKind": ["workspace"], "main": "./main.js", "activationEvents": ["onCommand:plain-python.choose"],
        "contributes": {"debuggers": [debugger], "breakpoints": [{"language": "python"}]},
    }  # fmt: skip
    package = room / "plain-python.vsix"
    with zipfile.ZipFile(package, "w") as archive:
        archive.writestr("extension/package.json", json.dumps(about))
        archive.writestr("extension/main.js", _MAIN)
        archive.writestr("[Content_Types].xml", TYPES)
        archive.writestr("extension.vsixmanifest", MANIFEST)
    return package


_MAIN = f"""\
const vscode = require("vscode");
exports.activate = (context) => {{
  context.subscriptions.push(vscode.commands.registerCommand("plain-python.choose", () => {json.dumps(CHOSEN)}));
}};
"""
TYPES = """<?xml version="1.0" encoding="utf-8"?>
<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">
<Default Extension=".json" ContentType="application/json"/><Default Extension=".js" ContentType="text/javascript"/>
<Default Extension=".vsixmanifest" ContentType="text/xml"/></Types>"""
MANIFEST = """<?xml version="1.0" encoding="utf-8"?>
<PackageManifest Version="2.0.0" xmlns="http://schemas.microsoft.com/developer/vsx-schema/2011">
<Metadata><Identity Language="en-US" Id="plain-python" Version="0.0.1" Publisher="test"/></Metadata>
<Installation><InstallationTarget Id="Microsoft.VisualStudio.Code"/></Installation><Dependencies/>
<Assets><Asset Type="Microsoft.VisualStudio.Code.Manifest" Path="extension/package.json"/></Assets>
</PackageManifest>"""
