"""An extension with a debugger of its own, inside the editor: it runs files of lines such as `total = total + 2`."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

from tests.vscode.other_extension import MANIFEST, TYPES

TYPE = "line-script"


def line_script_extension(room: Path) -> Path:
    debugger = {"type": TYPE, "label": "Line script", "languages": ["plaintext"]}
    about = {
        "name": TYPE, "publisher": "test", "version": "0.0.1", "engines": {"vscode": "^1.101.0"},
        "extensionKind": ["workspace"], "main": "./main.js", "activationEvents": [f"onDebugResolve:{TYPE}"],
        "contributes": {"debuggers": [debugger], "breakpoints": [{"language": "plaintext"}]},
    }  # fmt: skip
    package = room / f"{TYPE}.vsix"
    with zipfile.ZipFile(package, "w") as archive:
        archive.writestr("extension/package.json", json.dumps(about))
        archive.writestr("extension/main.js", _MAIN)
        archive.writestr("[Content_Types].xml", TYPES)
        archive.writestr("extension.vsixmanifest", MANIFEST.replace("plain-python", TYPE))
    return package


_MAIN = r"""
const vscode = require("vscode");
const { readFileSync } = require("fs");

class LineScript {
  constructor() {
    this.sent = new vscode.EventEmitter();
    this.onDidSendMessage = this.sent.event;
    this.stops = [];
    this.names = {};
    this.at = 0;
    this.seq = 1;
  }
  dispose() {}
  send(message) {
    this.sent.fire({ seq: this.seq++, ...message });
  }
  event(event, body = {}) {
    this.send({ type: "event", event, body });
  }
  handleMessage({ seq, command, arguments: given = {} }) {
    const answer = { type: "response", request_seq: seq, command, success: true };
    try {
      const body = this[command] ? this[command](given) : undefined;
      this.send({ ...answer, body });
    } catch (error) {
      this.send({ ...answer, success: false, message: String(error.message) });
    }
    if (command === "initialize") this.event("initialized");
    if (command === "configurationDone") this.run();
    if (command === "continue") this.run(true);
    if (command === "next") this.step("step");
    if (command === "disconnect") this.event("terminated");
  }
  initialize() {
    return { supportsConfigurationDoneRequest: true, supportsSetVariable: true };
  }
  launch({ program, fails }) {
    if (fails) throw new Error("this script cannot be started");
    this.path = program;
    this.lines = readFileSync(program, "utf8").split("\n").filter(Boolean);
  }
  setBreakpoints({ source, breakpoints }) {
    if (source.path.endsWith(".txt")) this.stops = breakpoints.map(({ line }) => line);
    return { breakpoints: breakpoints.map(({ line }, index) => ({ id: index + 1, verified: true, line })) };
  }
  threads() {
    return { threads: [{ id: 1, name: "lines" }] };
  }
  stackTrace() {
    const source = { path: this.path, name: "script" };
    return { stackFrames: [{ id: 1, name: "script", line: this.at + 1, column: 1, source }], totalFrames: 1 };
  }
  scopes() {
    return { scopes: [{ name: "Names", variablesReference: 1, expensive: false }] };
  }
  variables() {
    const shown = ([name, value]) => ({ name, value: String(value), variablesReference: 0 });
    return { variables: Object.entries(this.names).map(shown) };
  }
  evaluate({ expression }) {
    return { result: String(this.value(expression)), variablesReference: 0 };
  }
  setVariable({ name, value }) {
    this.names[name] = Number(value);
    return { value };
  }
  continue() {
    return { allThreadsContinued: true };
  }
  value(text) {
    return text.split("+").reduce((sum, word) => sum + this.word(word.trim()), 0);
  }
  word(word) {
    if (/^\d+$/.test(word)) return Number(word);
    if (!(word in this.names)) throw new Error(`nothing is called ${word}`);
    return this.names[word];
  }
  line() {
    const [name, text] = this.lines[this.at].split("=").map((it) => it.trim());
    const print = (output) => this.event("output", { category: "stdout", output });
    if (text === undefined) print(`${this.value(name.replace("print ", ""))}\n`);
    else this.names[name] = this.value(text);
    this.at += 1;
  }
  run(isPastThis = false) {
    if (isPastThis) this.line();
    while (this.at < this.lines.length && !this.stops.includes(this.at + 1)) this.line();
    this.stand("breakpoint");
  }
  step(reason) {
    this.line();
    this.stand(reason);
  }
  stand(reason) {
    if (this.at < this.lines.length) return this.event("stopped", { reason, threadId: 1, allThreadsStopped: true });
    this.event("exited", { exitCode: 0 });
    this.event("terminated");
  }
}

exports.activate = (context) => {
  const factory = { createDebugAdapterDescriptor: () => new vscode.DebugAdapterInlineImplementation(new LineScript()) };
  context.subscriptions.push(vscode.debug.registerDebugAdapterDescriptorFactory("line-script", factory));
};
"""
