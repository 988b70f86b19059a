/** Runs inside the extension host of a real editor: `run` throws what failed, and the editor ends with its code. */
import * as assert from "node:assert/strict";
import * as vscode from "vscode";

import type { Exported } from "../../src/extension";

type Case = (exported: Exported) => Promise<void>;

const CASES: Record<string, Case> = {
  async "it is active within 150 ms"({ activatedWithinMs }) {
    assert.ok(activatedWithinMs <= 150, `${activatedWithinMs} ms`);
  },

  async "every command of the manifest is there"() {
    const { contributes } = extension().packageJSON as { contributes: { commands: { command: string }[] } };
    const known = new Set(await vscode.commands.getCommands(true));
    assert.deepEqual(contributes.commands.filter(({ command }) => !known.has(command)), []);
  },

  async "the server was started, and ends and starts by command"({ server }) {
    const becomes = (state: string) => server.watch.until((known) => known.state === state, 30_000);
    assert.ok(await becomes("running"));
    await vscode.commands.executeCommand("dragoman.stop");
    assert.ok(await becomes("stopped"));
    await vscode.commands.executeCommand("dragoman.start");
    assert.ok(await becomes("running"));
  },

  async "a session of the debug type runs through the server"() {
    const ended = new Promise<vscode.DebugSession>((settle) => vscode.debug.onDidTerminateDebugSession(settle));
    const [folder] = vscode.workspace.workspaceFolders ?? [];
    const program = vscode.Uri.joinPath(folder!.uri, "adding.py").fsPath;
    assert.ok(await vscode.debug.startDebugging(folder, { type: "dragoman", request: "launch", name: "host", program }));
    assert.equal((await ended).name, "host");
  },

  async "others' breakpoints of a session that is joined are in the editor's list, and leave it with the session"({ server }) {
    const [folder] = vscode.workspace.workspaceFolders ?? [];
    const told: string[] = [];
    vscode.debug.onDidReceiveDebugSessionCustomEvent(({ event, body }) => told.push(`${event} ${JSON.stringify(body)}`));
    const dragoman = (await server.programs.find())!;
    const debug = (...words: string[]) => dragoman.run(["debug", ...words], folder!.uri.fsPath);
    await debug("adding.py", "--break", "adding.py:4");
    await eventually(() => server.known.state === "running" && server.known.status.sessions.length === 1, () => "a session");
    await vscode.commands.executeCommand("dragoman.joinSession");
    await debug("break", "adding.py:5");
    const lines = () => vscode.debug.breakpoints.map((it) => (it as vscode.SourceBreakpoint).location.range.start.line + 1);
    await eventually(() => lines().includes(5), () => `${lines().join()} ${told.join("\n")}`);
    await vscode.debug.stopDebugging();
    await eventually(() => lines().length === 0, () => lines().join());
    await debug("clear", "--all");
  },

  async "a setting of the editor becomes the daemon's own"({ server }) {
    const said = () => server.with(async (dragoman) => (await dragoman.run(["config", "get", "auto_start"])).out.trim());
    await server.setAutoStart(false);
    assert.equal(vscode.workspace.getConfiguration("dragoman").get("autoStart"), false);
    assert.equal(await said(), "false");
    await server.setAutoStart(true);
    assert.equal(await said(), "true");
  },

  async "features that an editor may lack are looked for first"() {
    assert.equal(typeof vscode.lm.registerMcpServerDefinitionProvider, "function");
    assert.equal((vscode as unknown as { cursor?: unknown }).cursor, undefined);
  },
};

export async function run(): Promise<void> {
  const exported = await extension().activate();
  for (const [name, test] of Object.entries(CASES)) {
    try {
      await test(exported);
    } catch (error) {
      throw new Error(`${name}: ${String(error)}`);
    }
    console.log(`✓ ${name}`);
  }
}

async function eventually(condition: () => boolean, told: () => string): Promise<void> {
  const deadline = Date.now() + 30_000;
  while (!condition()) {
    assert.ok(Date.now() < deadline, told());
    await new Promise((settle) => setTimeout(settle, 50));
  }
}

function extension(): vscode.Extension<Exported> {
  const found = vscode.extensions.getExtension<Exported>("dragoman.dragoman");
  assert.ok(found);
  return found;
}
