import { expect, test, vi } from "vitest";

vi.mock("../../src/link", async () => ({
  ...(await import("../../src/i18n/t")),
  ...(await import("../../src/link/unreachable")),
  feed: { subscribe: () => () => undefined },
  request: async () => ({ names: {} }),
}));

import { entryKey, mergeEntries, timelineEntry, type TimelineEntry } from "../../src/replay/timelineEntries";

const row = (kind: string, body: Record<string, unknown>, sequence = 1) => ({
  sequence,
  at_ns: sequence * 1e6,
  event: { kind, session: "s", body },
});
const entry = (sequence: number, stop: number, at: number): TimelineEntry => ({
  sequence,
  at,
  session: "s",
  actor: "",
  text: "",
  path: "",
  line: 0,
  stop,
});

test("a step names who made it", () => {
  expect(timelineEntry(row("debug.resumed", { by: "page", command: "next" }))).toMatchObject({
    actor: "you",
    text: "stepped over",
    session: "s",
  });
});

test("a stop has its reason, its place and its number", () => {
  const body = { reason: "breakpoint", path: "/a.py", line: 3, stop: 2 };
  expect(timelineEntry(row("debug.stopped", body))).toMatchObject({ path: "/a.py", line: 3, stop: 2 });
});

test("a breakpoint is its owner's", () => {
  const breakpoint = { owner: "shell", path: "/a.py", line: 3 };
  expect(timelineEntry(row("breakpoint.set", { breakpoint }))).toMatchObject({ actor: "the command line", line: 3 });
});

test("watches of the page and unknown events are not shown", () => {
  expect(timelineEntry(row("debug.evaluated", { by: "page", expression: "x" }))).toBeNull();
  expect(timelineEntry(row("debug.evaluated", { by: "shell", expression: "x" }))).not.toBeNull();
  expect(timelineEntry(row("debug.unheard_of", {}))).toBeNull();
});

test("entries are merged newest first, each once", () => {
  const merged = mergeEntries([entry(1, 0, 1), entry(3, 0, 3)], [entry(2, 0, 2), entry(3, 0, 3)]);
  expect(merged.map(({ sequence }) => sequence)).toEqual([3, 2, 1]);
});

test("a stop from the history gives way to the event of the same stop", () => {
  const merged = mergeEntries([entry(0, 1, 1), entry(0, 2, 2)], [entry(7, 2, 2)]);
  expect(merged.map((it) => [it.sequence, entryKey(it)])).toEqual([
    [7, "s:2"],
    [0, "s:1"],
  ]);
});
