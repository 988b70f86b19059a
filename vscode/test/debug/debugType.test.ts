/** Joining and starting by the editor's debugger, with a stand-in for the editor. */
import { beforeEach, expect, test, vi } from "vitest";

const filled = (words: string, ...values: unknown[]) =>
  words.replace(/\{(\d)\}/g, (_, index) => String(values[Number(index)]));
const editor = vi.hoisted(() => ({
  l10n: { t: (words: string, ...values: unknown[]) => filled(words, ...values) },
  commands: { registerCommand: vi.fn(), executeCommand: vi.fn() },
  window: {
    showInformationMessage: vi.fn(),
    showWarningMessage: vi.fn(),
    showQuickPick: vi.fn(),
    activeTextEditor: undefined,
  },
  workspace: { workspaceFolders: undefined as unknown, isTrusted: true },
  debug: {
    startDebugging: vi.fn(),
    onDidStartDebugSession: vi.fn(),
    onDidTerminateDebugSession: vi.fn(),
    registerDebugAdapterDescriptorFactory: vi.fn(),
    registerDebugAdapterTrackerFactory: vi.fn(),
    registerDebugConfigurationProvider: vi.fn(),
  },
  DebugConfigurationProviderTriggerKind: { Dynamic: 2 },
  DebugAdapterExecutable: class {
    constructor(
      readonly path: string,
      readonly args: string[],
    ) {}
  },
  Disposable: { from: () => ({ dispose: () => undefined }) },
}));
vi.mock("vscode", () => editor);

import { pythonSource } from "../pythonSource";
import type { Server } from "../../src/server/server";
import { ownerLabel } from "../../src/debug/mirroredBreakpoints";
import { PROGRAMS, registerDebugType } from "../../src/debug/debugType";

type Given = Record<string, unknown>;
const LIFE = { id: "debug-1", kind: "debug", title: "app.py" };

/** What we gave the editor, as it would call it. */
function registered(sessions = [LIFE], isInstalled = true, watcher = {}) {
  const found = { program: { path: "/bin/dragoman", args: [] }, environment: {} };
  const programs = { find: async () => (isInstalled ? found : undefined), configuredPath: "" };
  registerDebugType({ state: { state: "running", status: { sessions } }, programs, watcher } as unknown as Server);
  const [provider] = editor.debug.registerDebugConfigurationProvider.mock.calls.map((call) => call[1]);
  const [, factory] = editor.debug.registerDebugAdapterDescriptorFactory.mock.calls[0]!;
  return {
    join: editor.commands.registerCommand.mock.calls[0]![1] as (id?: string) => Promise<void>,
    began: editor.debug.onDidStartDebugSession.mock.calls[0]![0] as (session: Given) => void,
    resolve: (given: Given) => provider.resolveDebugConfiguration(undefined, given) as Promise<Given | undefined>,
    args: async (configuration: Given) =>
      ((await factory.createDebugAdapterDescriptor({ configuration })) as { args: string[] }).args,
  };
}

beforeEach(() => vi.clearAllMocks());

test("an invitation that still stands there when the person has joined leads to the session, and starts no second", async () => {
  const { join, began } = registered();
  await join("debug-1");
  expect(editor.debug.startDebugging.mock.lastCall?.[1]).toMatchObject({ request: "attach", session: "debug-1" });
  began({ configuration: { session: "debug-1" } });
  await join("debug-1");
  expect(editor.debug.startDebugging).toHaveBeenCalledOnce();
  expect(editor.window.showInformationMessage.mock.calls).toEqual([["You have already joined this session."]]);
  expect(editor.commands.executeCommand.mock.calls).toEqual([["workbench.debug.action.focusCallStackView"]]);
});

test("an invitation that is taken before the list of sessions was read again leads to the session", async () => {
  const sessions: (typeof LIFE)[] = [];
  const { join } = registered(sessions, true, { readStatus: async () => sessions.push(LIFE) });
  await join("debug-1");
  expect(editor.window.showInformationMessage).not.toHaveBeenCalled();
  expect(editor.debug.startDebugging.mock.lastCall?.[1]).toMatchObject({ request: "attach", session: "debug-1" });
});

test("an invitation to a session that is gone says so", async () => {
  const { join } = registered([], true, { readStatus: async () => undefined });
  await join("debug-1");
  expect(editor.window.showInformationMessage.mock.calls).toEqual([["That session has ended."]]);
  expect(editor.debug.startDebugging).not.toHaveBeenCalled();
});

test("a start that is refused for want of trust is made again once the person gave it, and not before", async () => {
  const ran: string[][] = [];
  const withDragoman = async (action: (dragoman: unknown) => unknown) =>
    action({ run: async (args: string[]) => ran.push(args) });
  registerDebugType({ state: { state: "stopped" }, withProgram: withDragoman } as unknown as Server);
  const [, factory] = editor.debug.registerDebugAdapterTrackerFactory.mock.calls[0]!;
  const configuration = { type: "dragoman", request: "launch", program: "/else/app.py" };
  const tracker = factory.createDebugAdapterTracker({ configuration });
  const refuse = (code: string) =>
    tracker.onDidSendMessage({ body: { error: { variables: { code, folder: "/else" } } } });
  tracker.onDidSendMessage({ type: "event", event: "output", body: { output: "needs_trust" } });
  refuse("no_target");
  expect(editor.window.showWarningMessage).not.toHaveBeenCalled();
  refuse("needs_trust"); // and the question is closed
  await vi.waitFor(() => expect(editor.window.showWarningMessage).toHaveBeenCalledOnce());
  expect([ran, editor.debug.startDebugging.mock.calls]).toEqual([[], []]);
  editor.window.showWarningMessage.mockResolvedValueOnce("Allow");
  refuse("needs_trust");
  await vi.waitFor(() => expect(editor.debug.startDebugging.mock.calls).toEqual([[undefined, configuration]]));
  expect(ran).toEqual([["trust", "/else"]]);
});

test("an attach that names nothing is to the only live session", async () => {
  expect(await registered().resolve({ type: "dragoman", request: "attach" })).toMatchObject({ session: "debug-1" });
});

test("where no dragoman is, it is offered to install one, and nothing is started that could not run", async () => {
  const { resolve } = registered([LIFE], false);
  expect(await resolve({ type: "dragoman", request: "attach", session: "debug-1" })).toBeUndefined();
  expect(editor.window.showWarningMessage.mock.lastCall?.slice(1)).toEqual(["Install", "Choose a path…"]);
});

test("an attach to a program is none to a session, by the same words as the daemon's", async () => {
  const { resolve } = registered();
  for (const key of PROGRAMS)
    expect(await resolve({ type: "dragoman", request: "attach", [key]: 1 })).not.toHaveProperty("session");
  const source = pythonSource("_ATTACHED_TO = frozenset");
  const sets = [...source.matchAll(/^_(?:TARGETS|ATTACHED_TO) = frozenset\(\s*\{([^}]*)\}/gm)].map(
    ([, names]) => names,
  );
  const words = [...sets.join(",").matchAll(/"(\w+)"/g)].map(([, word]) => word);
  expect(words.sort()).toEqual([...PROGRAMS].sort());
});

test("in a window without a folder a program runs in its own, not where the editor was started", async () => {
  const { args } = registered();
  expect(await args({ request: "launch", program: "/project/app.py" })).toEqual([
    "dap",
    "--stdio",
    "--workspace",
    "/project",
  ]);
  expect(await args({ request: "launch", program: "/project/app.py", cwd: "/project/below" })).toContain(
    "/project/below",
  );
  expect(await args({ request: "launch", program: "app.py" })).toEqual(["dap", "--stdio"]);
});

test("whose a breakpoint is stands beside it: an agent's, or a person's in another editor", () => {
  expect(ownerLabel("mcp-1f2e")).toBe("breakpoint of an agent");
  expect(ownerLabel("person-1f2e:Neovim")).toBe("breakpoint of a person in Neovim");
});
