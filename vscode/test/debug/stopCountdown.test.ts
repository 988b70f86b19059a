/** A stop that ends by itself is counted down in the status bar, and a click puts its end off. */
import { afterEach, beforeEach, expect, test, vi } from "vitest";

const editor = vi.hoisted(() => {
  const item = {
    text: "",
    tooltip: "",
    shown: false,
    show: () => void (item.shown = true),
    hide: () => void (item.shown = false),
    dispose: () => undefined,
  };
  const listens = () => vi.fn((_: (event: unknown) => void) => ({ dispose: () => undefined }));
  return {
    item,
    ThemeColor: class {},
    StatusBarAlignment: { Left: 1, Right: 2 },
    l10n: {
      t: (words: string, ...values: unknown[]) => words.replace(/\{(\d)\}/g, (_, at) => String(values[Number(at)])),
    },
    window: { createStatusBarItem: () => item, showInformationMessage: vi.fn() },
    commands: { registerCommand: vi.fn((_: string, __: () => Promise<void>) => ({ dispose: () => undefined })) },
    debug: { onDidReceiveDebugSessionCustomEvent: listens(), onDidTerminateDebugSession: listens() },
  };
});
vi.mock("vscode", () => editor);
vi.mock("../../src/debug/debugType", () => ({ TYPE: "dragoman" }));

import { StopCountdown } from "../../src/debug/stopCountdown";

let countdown: StopCountdown;
const session = { id: "s", type: "dragoman", name: "shop", customRequest: vi.fn() };
const tell = (resumesInSeconds: number | null, type = "dragoman") =>
  editor.debug.onDidReceiveDebugSessionCustomEvent.mock.calls[0]![0]({
    session: Object.assign(session, { type }),
    event: "dragomanCountdown",
    body: { resumesInSeconds },
  });
const click = () => editor.commands.registerCommand.mock.calls[0]![1]();

beforeEach(() => {
  vi.clearAllMocks();
  vi.useFakeTimers();
  editor.item.shown = false;
  countdown = new StopCountdown();
});
afterEach(() => {
  countdown.dispose();
  vi.useRealTimers();
});

test("it counts down and goes when the program runs on", () => {
  tell(30);
  expect([editor.item.shown, editor.item.text]).toEqual([true, "$(watch) Runs on in 30 s"]);
  vi.advanceTimersByTime(10_000);
  expect(editor.item.text).toBe("$(watch) Runs on in 20 s");
  tell(null);
  expect(editor.item.shown).toBe(false);
});

test("a click holds the program, and the new time is shown", async () => {
  session.customRequest.mockResolvedValue({ resumesInSeconds: 120 });
  tell(5);
  await click();
  expect(session.customRequest).toHaveBeenCalledWith("dragomanHold", { seconds: 120 });
  expect(editor.item.text).toBe("$(watch) Runs on in 120 s");
});

test("a session that ends takes its countdown along", () => {
  tell(30);
  editor.debug.onDidTerminateDebugSession.mock.calls[0]![0](session);
  expect(editor.item.shown).toBe(false);
});

test("without a countdown a click says so, and other debuggers are none of ours", async () => {
  tell(30, "python");
  expect(editor.item.shown).toBe(false);
  await click();
  expect(editor.window.showInformationMessage).toHaveBeenCalledOnce();
});
