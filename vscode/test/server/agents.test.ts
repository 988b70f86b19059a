/** The editor's own agents: what they are told of the server, with stand-ins for the editors that have such agents. */
import { beforeEach, expect, test, vi } from "vitest";

const editor = vi.hoisted(() => ({
  lm: {} as Record<string, unknown>,
  cursor: undefined as unknown,
  workspace: { workspaceFolders: [{ uri: { scheme: "file", fsPath: "/project" } }] },
  McpStdioServerDefinition: class {
    readonly told: unknown[];
    constructor(...told: unknown[]) {
      this.told = told;
    }
  },
  Disposable: class {
    static from(...all: { dispose(): void }[]): { dispose(): void } {
      return { dispose: () => all.forEach((one) => one.dispose()) };
    }
    constructor(readonly dispose: () => void) {}
  },
}));
vi.mock("vscode", () => editor);

import type { ProgramFinder } from "../../src/server/programFinder";
import { registerWithAgents } from "../../src/server/agents";

/** What is found, and who is told when it changes. */
class Found {
  path: string | undefined = "/bin/dragoman";
  private readonly told = new Set<() => void>();
  readonly onDidChange = (tell: () => void) => (this.told.add(tell), { dispose: () => this.told.delete(tell) });
  find = async () => this.path && { program: { path: this.path, args: [], version: "1", origin: "PATH" } };
  becomes(path: string | undefined): void {
    this.path = path;
    for (const tell of this.told) tell();
  }
}

const registered = (programs: Found) => registerWithAgents(programs as unknown as ProgramFinder);
const server = (command: string) => ({
  command,
  args: ["mcp", "--workspace", "/project"],
  env: { DRAGOMAN_HOME: "/home/d" },
});

beforeEach(() => {
  editor.lm = {};
  editor.cursor = undefined;
  vi.stubEnv("DRAGOMAN_HOME", "/home/d");
});

test("Cursor is told of it, told anew when another one is used, and that it is gone with the window", async () => {
  const mcp = { registerServer: vi.fn(), unregisterServer: vi.fn() };
  editor.cursor = { mcp };
  const programs = new Found();
  const disposable = registered(programs);
  await vi.waitFor(() =>
    expect(mcp.registerServer.mock.calls).toEqual([[{ name: "dragoman", server: server("/bin/dragoman") }]]),
  );
  programs.becomes("/other/dragoman");
  await vi.waitFor(() =>
    expect(mcp.registerServer.mock.lastCall).toEqual([{ name: "dragoman", server: server("/other/dragoman") }]),
  );
  expect(mcp.unregisterServer).not.toHaveBeenCalled();
  disposable.dispose();
  expect(mcp.unregisterServer.mock.calls).toEqual([["dragoman"]]);
});

test("where no dragoman is, nobody is told of one", async () => {
  const mcp = { registerServer: vi.fn(), unregisterServer: vi.fn() };
  editor.cursor = { mcp };
  const programs = new Found();
  programs.path = undefined;
  registered(programs);
  programs.becomes("/bin/dragoman");
  await vi.waitFor(() => expect(mcp.registerServer).toHaveBeenCalledOnce());
});

test("an editor with an agent asks for the definition, and is told when to ask again", async () => {
  const register = vi.fn(() => ({ dispose() {} }));
  editor.lm = { registerMcpServerDefinitionProvider: register };
  const programs = new Found();
  registered(programs);
  const [[id, provider]] = register.mock.calls as unknown as [
    [
      string,
      { provideMcpServerDefinitions(): Promise<{ told: unknown[] }[]>; onDidChangeMcpServerDefinitions: unknown },
    ],
  ];
  const { command, args, env } = server("/bin/dragoman");
  expect(id).toBe("dragoman");
  expect((await provider.provideMcpServerDefinitions()).map(({ told }) => told)).toEqual([
    ["Dragoman", command, args, env, "1"],
  ]);
  expect(provider.onDidChangeMcpServerDefinitions).toBe(programs.onDidChange);
});

test.each([undefined, {}, { mcp: {} }])("an editor without one (%j) is left alone", (cursor) => {
  editor.cursor = cursor;
  expect(() => registered(new Found()).dispose()).not.toThrow();
});
