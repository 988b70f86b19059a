/**
 * What is lent, when it is offered, and what is left of it when nobody has it any more: with stand-ins for the editor
 * and the daemon.
 */
import { beforeEach, expect, test, vi } from "vitest";

type Json = Record<string, unknown>;
type Listener = (it: never) => unknown;

const editor = vi.hoisted(() => {
  const listeners = new Map<string, Listener[]>();
  const on = (name: string) => (heard: Listener) => (
    listeners.set(name, [...(listeners.get(name) ?? []), heard]),
    { dispose: () => undefined }
  );
  class SourceBreakpoint {
    readonly id = String(Math.random());
    constructor(
      readonly location: unknown,
      readonly enabled = true,
      readonly condition?: string,
    ) {}
  }
  const state = {
    listeners,
    said: [] as string[],
    picked: undefined as ((rows: { label: string }[]) => unknown) | undefined,
    trackers: undefined as unknown as {
      createDebugAdapterTracker(session: unknown): { onDidSendMessage(it: unknown): void } | undefined;
    },
    commands: new Map<string, (given?: unknown) => Promise<void>>(),
    SourceBreakpoint,
    Location: class {
      constructor(
        readonly uri: unknown,
        readonly at: { line: number; character: number },
      ) {}
      get range() {
        return { start: this.at };
      }
    },
    Position: class {
      constructor(
        readonly line: number,
        readonly character: number,
      ) {}
    },
    ThemeColor: class {},
    Uri: { file: (fsPath: string) => ({ fsPath, scheme: "file" }) },
    l10n: {
      t: (words: string, ...values: unknown[]) =>
        words.replace(/\{(\d)\}/g, (_, at: string) => String(values[Number(at)])),
    },
    workspace: {
      isTrusted: true,
      workspaceFolders: [{ uri: { scheme: "file", fsPath: "/project" } }],
      getWorkspaceFolder: () => state.workspace.workspaceFolders[0],
      registerTextDocumentContentProvider: () => ({ dispose: () => undefined }),
    },
    window: {
      visibleTextEditors: [],
      createTextEditorDecorationType: () => ({ dispose: () => undefined }),
      onDidChangeVisibleTextEditors: on("editors"),
      showInformationMessage: async (words: string) => void state.said.push(words),
      showWarningMessage: async (words: string) => void state.said.push(words),
      showQuickPick: async (rows: { label: string }[]) => state.picked?.(rows),
    },
    debug: {
      breakpoints: [] as SourceBreakpoint[],
      activeDebugSession: undefined,
      activeDebugConsole: { appendLine: (line: string) => void state.said.push(line) },
      addBreakpoints: (added: SourceBreakpoint[]) => change(added, []),
      removeBreakpoints: (removed: SourceBreakpoint[]) => change([], removed),
      onDidChangeBreakpoints: on("breakpoints"),
      onDidTerminateDebugSession: on("ended"),
      registerDebugAdapterTrackerFactory: (_: string, factory: never) => (
        (state.trackers = factory),
        { dispose: () => undefined }
      ),
    },
  };
  const change = (added: SourceBreakpoint[], removed: SourceBreakpoint[]) => {
    state.debug.breakpoints = [...state.debug.breakpoints.filter((it) => !removed.includes(it)), ...added];
    if (added.length || removed.length) queueMicrotask(() => fire("breakpoints", { added, removed, changed: [] }));
  };
  const fire = (name: string, event: unknown) => (listeners.get(name) ?? []).forEach((heard) => heard(event as never));
  return Object.assign(state, { fire, commands: state.commands });
});
vi.mock("vscode", () => ({
  ...editor,
  get debug() {
    return editor.debug;
  },
  commands: {
    registerCommand: (name: string, act: never) => (editor.commands.set(name, act), { dispose: () => undefined }),
    executeCommand: vi.fn(),
  },
}));

import { Consent, type Answer } from "../../src/bridge/consent";
import { SessionSharing } from "../../src/sharing/sessionSharing";

class Memory {
  private readonly kept = new Map<string, unknown>();
  get<T>(key: string, otherwise?: T): T {
    return (this.kept.has(key) ? this.kept.get(key) : otherwise) as T;
  }
  async update(key: string, value: unknown): Promise<void> {
    this.kept.set(key, value);
  }
}

class Daemon {
  isOpen = true;
  answer: Answer = "once";
  takes = true;
  readonly questions: string[] = [];
  readonly told: [string, Json][] = [];
  readonly handlers: Record<string, (params: Json) => Promise<unknown>> = {};
  readonly consent = new Consent(
    new Memory(),
    async (words) => (this.questions.push(words), this.answer),
    () => true,
  );
  private connected: () => void = () => undefined;
  readonly onDidConnect = (heard: () => void) => ((this.connected = heard), { dispose: () => undefined });
  notify = (method: string, params: Json) => void this.told.push([method, params]);
  request = async (method: string, params: Json) => {
    this.told.push([method, params]);
    if (method === "debug.offered" && !this.takes) throw new Error("not_taken");
    return {};
  };
  comesBack = () => this.connected();
  all = (method: string) => this.told.filter(([name]) => name === method).map(([, params]) => params);
}

const session = {
  id: "s",
  name: "app.js [1] « Mine",
  type: "node",
  workspaceFolder: undefined,
  parentSession: { id: "p", name: "Mine" },
  getDebugProtocolBreakpoint: async () => ({ verified: true }),
  customRequest: vi.fn(async () => ({})),
};
const settled = () => new Promise<void>((settle) => setTimeout(settle, 0));
const agents = (lines: number[]) => ({
  session: "s",
  arguments: { source: { path: "/project/a.js" }, breakpoints: lines.map((line) => ({ line })) },
});

let daemon: Daemon;
let memory: Memory;
let program: (event: string, body?: Json) => Promise<void>;

beforeEach(() => {
  editor.listeners.clear();
  editor.debug.breakpoints = [];
  editor.said.length = 0;
  editor.picked = undefined;
  daemon = new Daemon();
  memory = new Memory();
  new SessionSharing(daemon as never, memory as never);
  const tracker = editor.trackers.createDebugAdapterTracker(session)!;
  program = async (event, body = {}) => (tracker.onDidSendMessage({ type: "event", event, body }), await settled());
});

test("it is offered at its first stop, with what agents may do in it, and then told of", async () => {
  await program("output", { output: "hello" });
  expect(daemon.questions).toEqual([]);
  await program("stopped", { threadId: 1 });
  expect(daemon.questions).toEqual([
    "Let agents look at your debug session Mine, step it, set values and run expressions in it? Always: all sessions of this workspace.",
  ]);
  expect(daemon.all("debug.offered")).toMatchObject([{ session: "s", folder: "/project", stops: [{ threadId: 1 }] }]);
  await program("continued", { threadId: 1 });
  expect(daemon.all("debug.event")).toMatchObject([{ event: "continued" }]);
});

test("an offer that the daemon refuses is made again at the next stop, and not at each line that is printed", async () => {
  daemon.takes = false;
  await program("stopped", { threadId: 1 });
  for (let line = 0; line < 50; line++) await program("output", { output: "line" });
  expect(daemon.all("debug.offered")).toHaveLength(1);
  daemon.takes = true;
  await program("stopped", { threadId: 1 });
  expect(daemon.all("debug.offered")).toHaveLength(2);
  expect(daemon.questions).toHaveLength(1);
});

test("agents hear of one that is not lent, and of none that will never be", async () => {
  daemon.answer = undefined; // the question went away unanswered
  await program("stopped", { threadId: 1 });
  expect(daemon.all("debug.lendable")).toEqual([{ sessions: [{ name: "app.js [1] (Mine)", folder: "/project" }] }]);
  await daemon.consent.forget();
  daemon.answer = "never";
  await program("stopped", { threadId: 1 });
  expect(daemon.all("debug.lendable").at(-1)).toEqual({ sessions: [] });
});

test("by command it is lent after all, and taken back", async () => {
  daemon.answer = undefined;
  await program("stopped", { threadId: 1 });
  const shown: string[] = [];
  editor.picked = (rows) => (shown.push(...rows.map(({ label }) => label)), rows[0]);
  await editor.commands.get("dragoman.lendSession")!({ sessionId: "p" });
  expect(shown).toEqual(["$(debug-alt) Lend app.js [1] (Mine)"]); // not as js-debug writes it, "app.js [1] « Mine"
  expect(daemon.all("debug.offered")).toMatchObject([{ name: "app.js [1] (Mine)" }]);
  await editor.commands.get("dragoman.lendSession")!();
  expect(daemon.all("debug.ended")).toEqual([{ session: "s", why: "taken_back" }]);
  await program("stopped", { threadId: 1 });
  expect(daemon.all("debug.offered")).toHaveLength(1); // the person's word holds
});

test("where the editor does not trust the workspace, the command leads to where that is said", async () => {
  editor.workspace.isTrusted = false;
  await editor.commands.get("dragoman.lendSession")!();
  editor.workspace.isTrusted = true;
  expect(editor.said).toEqual(["The editor does not trust this workspace, so its sessions are not lent."]);
});

test("where nothing could be lent, the command says so", async () => {
  await editor.commands.get("dragoman.lendSession")!();
  expect(editor.said).toEqual(["There is no debug session to lend."]);
});

test("when agents let go, their breakpoints go and the person's stay; the next stop lends it again without a question", async () => {
  await program("stopped", { threadId: 1 });
  const mine = new editor.SourceBreakpoint(
    new editor.Location(editor.Uri.file("/project/a.js"), new editor.Position(8, 0)),
  );
  editor.debug.addBreakpoints([mine]);
  await daemon.handlers["debug.breakpoints"]!(agents([3, 9]));
  expect(editor.debug.breakpoints).toHaveLength(2);
  await daemon.handlers["debug.released"]!({ session: "s" });
  expect(editor.debug.breakpoints).toEqual([mine]);
  await program("output", { output: "x" });
  expect(daemon.all("debug.event")).toEqual([]);
  await program("stopped", { threadId: 1 });
  expect([daemon.all("debug.offered").length, daemon.questions.length]).toEqual([2, 1]);
});

test("a daemon that comes back is lent it again without a question, with nothing left of the last one's wishes", async () => {
  await program("stopped", { threadId: 1 });
  await daemon.handlers["debug.breakpoints"]!(agents([3]));
  daemon.comesBack();
  await settled();
  expect(editor.debug.breakpoints).toEqual([]);
  expect([daemon.all("debug.offered").length, daemon.questions.length]).toEqual([2, 1]);
});

test("what was allowed and is forgotten is taken back at once, and asked for anew", async () => {
  await program("stopped", { threadId: 1 });
  await daemon.handlers["debug.breakpoints"]!(agents([3]));
  await daemon.consent.forget();
  expect(daemon.all("debug.ended")).toEqual([{ session: "s", why: "taken_back" }]);
  expect(editor.debug.breakpoints).toEqual([]);
  await expect(
    daemon.handlers["debug.request"]!({ session: "s", command: "threads", arguments: {} }),
  ).rejects.toThrow();
  await program("stopped", { threadId: 1 });
  expect(daemon.questions).toHaveLength(2);
});

test("the person's own breakpoints are told as theirs, at the loan and at each change; agents' are not", async () => {
  editor.debug.addBreakpoints([
    new editor.SourceBreakpoint(new editor.Location(editor.Uri.file("/elsewhere/b.js"), new editor.Position(1, 0))),
  ]);
  await program("stopped", { threadId: 1 });
  await daemon.handlers["debug.breakpoints"]!(agents([3]));
  await settled();
  expect(daemon.all("debug.own")).toEqual([{ session: "s", breakpoints: [] }]);
  editor.debug.addBreakpoints([
    new editor.SourceBreakpoint(
      new editor.Location(editor.Uri.file("/project/a.js"), new editor.Position(8, 0)),
      true,
      "x > 1",
    ),
  ]);
  await settled();
  expect(daemon.all("debug.own").at(-1)).toMatchObject({
    breakpoints: [{ path: "/project/a.js", line: 9, condition: "x > 1", isBound: true }],
  });
});

test("a value that an agent sets is said in the console, since the editor reads it only at the next stop", async () => {
  await program("stopped", { threadId: 1 });
  session.customRequest.mockResolvedValueOnce({ value: "5" });
  await daemon.handlers["debug.request"]!({
    session: "s",
    command: "setVariable",
    arguments: { name: "total", value: "5\n" },
  });
  expect(editor.said).toEqual(["An agent set total = 5 . The Variables view shows it at the next stop."]);
});

const mark = (line: number, condition?: string) =>
  new editor.SourceBreakpoint(
    new editor.Location(editor.Uri.file("/project/a.js"), new editor.Position(line - 1, 0)),
    true,
    condition,
  );

test("another's breakpoint that the editor shows of a joined session is not told as the person's", async () => {
  const mirrored = mark(4);
  await memory.update("dragoman.othersBreakpoints", [mirrored.id]);
  editor.debug.addBreakpoints([mirrored, mark(9)]);
  await program("stopped", { threadId: 1 });
  await settled();
  expect(daemon.all("debug.own").map(({ breakpoints }) => (breakpoints as Json[]).map(({ line }) => line))).toEqual([
    [9],
  ]);
});

test("where the person has one with another condition, theirs counts, and the agent hears it", async () => {
  editor.debug.addBreakpoints([mark(9, "x > 1")]);
  await program("stopped", { threadId: 1 });
  const { body } = (await daemon.handlers["debug.breakpoints"]!(agents([9]))) as { body: { breakpoints: Json[] } };
  expect(body.breakpoints).toMatchObject([
    {
      verified: false,
      message: "The person has a breakpoint there with a different condition or message. Theirs is used.",
    },
  ]);
  expect(editor.debug.breakpoints).toHaveLength(1);
});

test("marks that a reload left behind are taken away, and the person's are not", async () => {
  const [left, mine] = [mark(3), mark(9)];
  await memory.update("dragoman.agentsBreakpoints", [left.id]);
  editor.debug.breakpoints = [left, mine];
  new SessionSharing(daemon as never, memory as never);
  expect(editor.debug.breakpoints).toEqual([mine]);
});
