/** Runs inside the extension host of a real editor: `run` throws what failed, and the editor ends with its code. */
import * as assert from "node:assert/strict";
import { spawn, type ChildProcess } from "node:child_process";
import { availableParallelism, loadavg } from "node:os";
import { createInterface } from "node:readline";
import * as vscode from "vscode";

import type { Exported } from "../../src/extension";

type Case = (exported: Exported) => Promise<void>;

const CASES: Record<string, Case> = {
  async "it is active within 150 ms"({ activatedWithinMs }) {
    const { cpu, clock } = activatedWithinMs;
    console.log(`activation: ${cpu.toFixed(1)} ms of the processor, ${clock.toFixed(1)} ms by the clock`);
    assert.ok(cpu <= 150, `${cpu} ms`);
    // By the clock it takes as much longer as there are others who want the same processors.
    const crowd = Math.max(1, loadavg()[0]! / availableParallelism());
    assert.ok(
      clock <= 150 * crowd * Number(process.env.TEST_PATIENCE ?? 1),
      `${clock} ms by the clock, ${crowd.toFixed(1)} at each processor`,
    );
  },

  async "every command of the manifest is there"() {
    const { contributes } = extension().packageJSON as { contributes: { commands: { command: string }[] } };
    const known = new Set(await vscode.commands.getCommands(true));
    assert.deepEqual(
      contributes.commands.filter(({ command }) => !known.has(command)),
      [],
    );
  },

  async "a session of the debug type runs through the server"() {
    const ended = new Promise<vscode.DebugSession>((settle) => vscode.debug.onDidTerminateDebugSession(settle));
    const [folder] = vscode.workspace.workspaceFolders ?? [];
    const program = vscode.Uri.joinPath(folder!.uri, "adding.py").fsPath;
    assert.ok(
      await vscode.debug.startDebugging(folder, { type: "dragoman", request: "launch", name: "host", program }),
    );
    assert.equal((await ended).name, "host");
  },

  async "others' breakpoints of a session that is joined are in the editor's list, and leave it with the session"({
    server,
  }) {
    const [folder] = vscode.workspace.workspaceFolders ?? [];
    const told: string[] = [];
    vscode.debug.onDidReceiveDebugSessionCustomEvent(({ event, body }) =>
      told.push(`${event} ${JSON.stringify(body)}`),
    );
    const dragoman = (await server.programs.find())!;
    const debug = (...words: string[]) => dragoman.run(["debug", ...words], folder!.uri.fsPath);
    await debug("adding.py", "--break", "adding.py:4");
    await eventually(
      () => server.state.state === "running" && server.state.status.sessions.length === 1,
      () => "a session",
    );
    await vscode.commands.executeCommand("dragoman.joinSession");
    await debug("break", "adding.py:5");
    const lines = () =>
      vscode.debug.breakpoints.map((it) => (it as vscode.SourceBreakpoint).location.range.start.line + 1);
    await eventually(
      () => lines().includes(5),
      () => `${lines().join()} ${told.join("\n")}`,
    );
    await vscode.debug.stopDebugging();
    await eventually(
      () => lines().length === 0,
      () => lines().join(),
    );
    await debug("clear", "--all");
  },

  async "the editor's own agent is told how to speak to the server, wherever it moves"({ definitions, server }) {
    const [definition, ...others] = await definitions();
    const { program } = (await server.programs.find())!;
    const folder = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath;
    assert.deepEqual(others, []);
    assert.ok(definition instanceof vscode.McpStdioServerDefinition);
    assert.deepEqual(
      [definition.label, definition.command, definition.args, definition.env, definition.version],
      [
        "Dragoman",
        program.path,
        ["mcp", "--workspace", folder],
        { DRAGOMAN_HOME: process.env.DRAGOMAN_HOME },
        program.version,
      ],
    );
    const client = new Client(definition);
    try {
      const hello = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "host", version: "1" } };
      assert.equal(
        (await client.ask<{ serverInfo: { name: string } }>("initialize", hello)).serverInfo.name,
        "dragoman",
      );
      client.tell("notifications/initialized");
      const before = await client.ask<{ tools: unknown[] }>("tools/list");
      await vscode.commands.executeCommand("dragoman.restart");
      assert.deepEqual(await client.ask("tools/list"), before);
    } finally {
      client.end();
    }
    assert.deepEqual((await definitions())[0], definition);
  },
};

export async function run(): Promise<void> {
  const exported = await extension().activate();
  assert.ok(await exported.server.watcher.until(({ state }) => state === "running", 60_000));
  for (const [name, test] of Object.entries(CASES)) {
    const began = Date.now();
    try {
      await test(exported);
    } catch (error) {
      throw new Error(`${name}: ${String(error)}`);
    }
    console.log(`✓ ${name} (${Date.now() - began} ms)`);
  }
}

/** As an agent of the editor speaks to a server that it starts itself. */
class Client {
  private readonly child: ChildProcess;
  private readonly waiting = new Map<number, (message: { result: unknown }) => void>();
  private asked = 0;

  constructor({ command, args, env }: vscode.McpStdioServerDefinition) {
    this.child = spawn(command, args, {
      env: { ...process.env, ...(env as Record<string, string>) },
      stdio: ["pipe", "pipe", "ignore"],
    });
    createInterface({ input: this.child.stdout! }).on("line", (line) => {
      const message = JSON.parse(line) as { id?: number; result: unknown };
      this.waiting.get(message.id ?? 0)?.(message);
    });
  }

  tell(method: string, params: object = {}, id?: number): void {
    this.child.stdin!.write(`${JSON.stringify({ jsonrpc: "2.0", method, params, ...(id ? { id } : {}) })}\n`);
  }

  async ask<T>(method: string, params: object = {}): Promise<T> {
    const id = ++this.asked;
    const answered = new Promise<{ result: unknown }>((settle) => this.waiting.set(id, settle));
    this.tell(method, params, id);
    return (await answered).result as T;
  }

  end(): void {
    this.child.kill();
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
