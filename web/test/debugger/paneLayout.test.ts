import { afterEach, beforeEach, expect, test, vi } from "vitest";
vi.mock("../../src/link", async () => (await import("../daemon")).link);

import { PaneLayout, clamped, sizeByKey } from "../../src/debugger/layout/paneLayout";
import { daemon, settled } from "../daemon";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  daemon.start({ preferences: () => ({ pane_sizes: { left: 200 }, folded_panes: ["watches"] }) });
});
afterEach(() => vi.useRealTimers());

const at = { size: 200, least: 100, most: 300 };

test.each([
  ["ArrowRight", false, 216],
  ["ArrowRight", true, 264],
  ["ArrowLeft", false, 184],
  ["Home", false, 100],
  ["End", false, 300],
  ["Enter", false, 250],
  ["a", false, null],
] as const)("%s (Shift: %s) leads to %s", (key, isShift, expected) => {
  expect(sizeByKey(key, at, isShift, 250)).toBe(expected);
});

test("no pane is smaller than it can be, nor so large that the others have no room", () => {
  expect([clamped(20, 100, 300), clamped(900, 100, 300), clamped(150.4, 100, 300)]).toEqual([100, 300, 150]);
});

test("of a drag only the last size is kept, and what was left before is there again", async () => {
  const layout = new PaneLayout(() => undefined);
  await vi.waitFor(() => expect(layout.size("left")).toBe(200));
  expect(layout.isFolded("watches")).toBe(true);
  for (const size of [210, 220, 230]) layout.resize("left", size);
  layout.resize("dock", 90);
  expect(daemon.askedFor("change preferences")).toEqual([]);
  vi.runAllTimers();
  expect(daemon.askedFor("change preferences")).toEqual([{ pane_sizes: { left: 230, dock: 90 } }]);
  layout.fold("watches");
  layout.fold("timeline");
  expect(daemon.askedFor("change preferences").slice(1)).toEqual([{ unfold: "watches" }, { fold: "timeline" }]);
  vi.useRealTimers();
  await settled();
  expect([layout.isFolded("watches"), layout.isFolded("timeline")]).toEqual([false, true]);
});
