/** Others' breakpoints are stored before the editor has them: it keeps what it has when a window is left. */
import { beforeEach, expect, test, vi } from "vitest";

const editor = vi.hoisted(() => {
  class SourceBreakpoint {
    readonly id = String(Math.random());
    constructor(readonly location: unknown) {}
  }
  const listens = () => vi.fn(() => ({ dispose: () => undefined }));
  return {
    SourceBreakpoint,
    Location: class {
      constructor(
        readonly uri: unknown,
        readonly range: unknown,
      ) {}
    },
    Position: class {},
    ThemeColor: class {},
    Uri: { file: (fsPath: string) => ({ fsPath }) },
    l10n: { t: (words: string) => words },
    window: {
      visibleTextEditors: [],
      createTextEditorDecorationType: () => ({ dispose: () => undefined }),
      onDidChangeVisibleTextEditors: listens(),
    },
    debug: {
      breakpoints: [],
      addBreakpoints: vi.fn(),
      removeBreakpoints: vi.fn(),
      onDidChangeBreakpoints: listens(),
      onDidReceiveDebugSessionCustomEvent: listens(),
      onDidTerminateDebugSession: listens(),
    },
  };
});
vi.mock("vscode", () => editor);
vi.mock("../../src/debug/debugType", () => ({ TYPE: "dragoman" }));

import type { Memento } from "vscode";
import { MirroredBreakpoints } from "../../src/debug/mirroredBreakpoints";

beforeEach(() => vi.clearAllMocks());

/** With a memory that takes its time. */
function joined() {
  const kept: (() => void)[] = [];
  const update = vi.fn(() => new Promise<void>((settle) => kept.push(settle)));
  new MirroredBreakpoints({ get: () => [], update } as unknown as Memento);
  const { calls } = editor.debug.onDidReceiveDebugSessionCustomEvent.mock;
  const [[hear]] = calls as unknown as [[(event: unknown) => void]];
  const tell = (...lines: number[]) => {
    const breakpoints = lines.map((line) => ({ id: line, owner: "agent", path: "/w/a.py", line }));
    hear({ session: { id: "s", type: "dragoman" }, event: "dragomanBreakpoints", body: { breakpoints } });
  };
  return { tell, update, keep: () => kept.splice(0).forEach((settle) => settle()) };
}

test("a breakpoint of another is added after it is stored", async () => {
  const { tell, update, keep } = joined();
  tell(5);
  await Promise.resolve();
  expect(update).toHaveBeenCalledOnce();
  expect(editor.debug.addBreakpoints).not.toHaveBeenCalled();
  keep();
  await vi.waitFor(() => expect(editor.debug.addBreakpoints).toHaveBeenCalledOnce());
  const [[mark]] = editor.debug.addBreakpoints.mock.calls[0]!;
  const [, stored] = update.mock.calls[0]! as unknown as [string, string[]];
  expect(stored).toEqual([mark.id]);
});

test("one that is taken away again meanwhile is not added", async () => {
  const { tell, keep } = joined();
  tell(5);
  tell();
  keep();
  await vi.waitFor(() => expect(editor.debug.addBreakpoints).toHaveBeenCalledOnce());
  expect(editor.debug.addBreakpoints).toHaveBeenCalledWith([]);
});
