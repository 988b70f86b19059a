/** Agents' breakpoints in a person's session, with an editor that reports its changes as VS Code does: afterwards. */
import { beforeEach, expect, test, vi } from "vitest";

const editor = vi.hoisted(() => {
  type Change = { added: unknown[]; removed: unknown[]; changed: unknown[] };
  class Position {
    constructor(
      readonly line: number,
      readonly character: number,
    ) {}
  }
  class Location {
    readonly range: { start: Position };
    constructor(
      readonly uri: { fsPath: string },
      start: Position,
    ) {
      this.range = { start };
    }
  }
  class SourceBreakpoint {
    readonly id = String(Math.random());
    constructor(
      readonly location: Location,
      public enabled = true,
      public condition?: string,
      readonly hitCondition?: string,
      readonly logMessage?: string,
    ) {}
  }
  const listeners = new Set<(change: Change) => void>();
  const none = { dispose: () => undefined };
  const report = (change: Partial<Change>) =>
    listeners.forEach((listener) => listener({ added: [], removed: [], changed: [], ...change }));
  return {
    Position,
    Location,
    SourceBreakpoint,
    ThemeColor: class {},
    Uri: { file: (fsPath: string) => ({ fsPath }) },
    l10n: { t: (words: string) => words },
    report,
    window: {
      visibleTextEditors: [],
      createTextEditorDecorationType: () => none,
      onDidChangeVisibleTextEditors: () => none,
    },
    debug: {
      breakpoints: [] as SourceBreakpoint[],
      addBreakpoints(added: SourceBreakpoint[]) {
        editor.debug.breakpoints.push(...added);
        if (added.length) report({ added });
      },
      removeBreakpoints(removed: readonly SourceBreakpoint[]) {
        editor.debug.breakpoints = editor.debug.breakpoints.filter((it) => !removed.includes(it));
        if (removed.length) report({ removed: [...removed] });
      },
      onDidChangeBreakpoints(listener: (change: Change) => void) {
        listeners.add(listener);
        return { dispose: () => listeners.delete(listener) };
      },
    },
  };
});
vi.mock("vscode", () => editor);

import type { DebugSession, Memento, SourceBreakpoint } from "vscode";
import { AgentBreakpoints, currentState } from "../../src/sharing/agentBreakpoints";

const PATH = "/w/a.py";
const session = (bound: unknown = { verified: true }) =>
  ({ id: "s", getDebugProtocolBreakpoint: async () => bound }) as unknown as DebugSession;
const lines = () => editor.debug.breakpoints.map((it) => it.location.range.start.line + 1);
const at = (line: number, more = {}) =>
  new editor.SourceBreakpoint(place(line), true, ...Object.values(more as string[]));
const place = (line: number) => new editor.Location({ fsPath: PATH }, new editor.Position(line - 1, 0));
let agents: AgentBreakpoints;
let report: ReturnType<typeof vi.fn<(done: unknown) => Promise<boolean>>>;

beforeEach(() => {
  agents?.dispose();
  editor.debug.breakpoints = [];
  report = vi.fn(async () => true);
  agents = new AgentBreakpoints({ get: () => [], update: async () => undefined } as unknown as Memento, report);
});

const set = (...wanted: { line: number; condition?: string }[]) =>
  agents.set(session({ verified: true, line: 9 }), { source: { path: PATH }, breakpoints: wanted });

test("the list of a file is added and replaced in the editor, and answered with what the adapter bound", async () => {
  expect(await set({ line: 3 }, { line: 5 })).toEqual({
    breakpoints: [
      { verified: true, line: 9 },
      { verified: true, line: 9 },
    ],
  });
  await set({ line: 5 }, { line: 7 });
  expect(lines()).toEqual([5, 7]);
  agents.released(session());
  expect([lines(), report.mock.calls]).toEqual([[], []]); // our own removals are no news
});

test("a breakpoint of the person's at the line stays theirs, and counts for the agent", async () => {
  const own = at(3);
  editor.debug.breakpoints = [own];
  const { breakpoints } = await set({ line: 3 });
  expect([breakpoints, lines(), agents.has(own as unknown as SourceBreakpoint)]).toEqual([
    [{ verified: true, line: 9 }],
    [3],
    false,
  ]);
  agents.ended(session());
  expect(lines()).toEqual([3]);
});

test("a person's breakpoint with another condition is used, and the agent learns why", async () => {
  editor.debug.breakpoints = [at(3, { condition: "x" })];
  const { breakpoints } = await set({ line: 3 });
  expect(breakpoints).toEqual([
    {
      verified: false,
      line: 3,
      message: "The person has a breakpoint there with a different condition or message. Theirs is used.",
    },
  ]);
});

test("a breakpoint that the person removes is reported, until the daemon has it", async () => {
  await set({ line: 3 });
  report.mockResolvedValueOnce(false);
  editor.debug.removeBreakpoints([...editor.debug.breakpoints]);
  const edit = { session: "s", path: PATH, line: 3, now: null };
  expect(report.mock.calls).toEqual([[edit]]);
  const { breakpoints } = await set({ line: 3 }); // asked for before the daemon knew
  expect(breakpoints).toEqual([{ verified: false, line: 3, message: "The person removed this breakpoint." }]);
  expect(lines()).toEqual([]);
  await agents.reportAgain();
  expect(report.mock.calls).toEqual([[edit], [edit]]);
  await set({ line: 3 });
  expect(lines()).toEqual([3]);
});

test("a condition that the person gives it is reported once", async () => {
  await set({ line: 3 });
  const [mark] = editor.debug.breakpoints;
  mark!.condition = "n > 1";
  editor.report({ changed: [mark] });
  editor.report({ changed: [mark] });
  expect(report.mock.calls).toHaveLength(1);
  expect(report.mock.calls[0]![0]).toMatchObject({ line: 3, now: { condition: "n > 1", enabled: true } });
});

test("breakpoints prepared for a start become the session's, or go when nothing came of it", async () => {
  const lists = [{ source: { path: PATH }, breakpoints: [{ line: 3 }] }];
  agents.prepare("start 1", lists);
  expect(lines()).toEqual([3]);
  agents.started("start 1");
  expect(lines()).toEqual([]);
  agents.prepare("start 2", lists);
  agents.started("start 2", session());
  expect(lines()).toEqual([3]);
  agents.ended(session());
  expect(lines()).toEqual([]);
});

test("an adapter that never binds it leaves it unverified", async () => {
  vi.useFakeTimers();
  const answer = agents.set(session(null), { source: { path: PATH }, breakpoints: [{ line: 3 }] });
  await vi.advanceTimersByTimeAsync(3000);
  vi.useRealTimers();
  expect(await answer).toEqual({ breakpoints: [{ verified: false, line: 3 }] });
});

test("an editor's breakpoint is described as DAP counts: from line 1, and no column for the first", () => {
  const mark = at(3, { condition: "x" }) as unknown as SourceBreakpoint;
  const texts = { condition: "x", hitCondition: "", logMessage: "" };
  expect(currentState(mark)).toEqual({ line: 3, column: null, enabled: true, ...texts });
});
