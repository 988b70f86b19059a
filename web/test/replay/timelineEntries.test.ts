import { expect, test, vi } from "vitest";

vi.mock("../../src/link", async () => ({
  ...(await import("../../src/i18n/t")),
  ...(await import("../../src/link/unreachable")),
  feed: { subscribe: () => () => undefined },
  request: async () => ({ names: {} }),
}));

import { outputEntry, timelineEntry } from "../../src/replay/timelineEntries";

const row = (kind: string, body: Record<string, unknown>, sequence = 1) => ({
  sequence,
  at_ns: sequence * 1e6,
  event: { kind, session: "s", body },
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

test("an evaluation has its result, a trace its rows, and an end its fault", () => {
  expect(timelineEntry(row("debug.evaluated", { by: "shell", expression: "x", result: "3" }))).toMatchObject({
    kind: "evaluation",
    detail: "3",
  });
  const rows = [{ hit: 1, values: { x: "1" } }];
  expect(timelineEntry(row("debug.traced", { place: "a.py:3", rows }))?.rows).toEqual(rows);
  expect(timelineEntry(row("debug.ended", { exit_code: 1 }))?.isBad).toBe(true);
  expect(timelineEntry(row("debug.stopped", { reason: "exception", stop: 1 }))?.isBad).toBe(true);
});

test("an answer to an agent's question belongs to no session", () => {
  const answered = timelineEntry(row("canvas.action_taken", { by: "the page", drawer: "shell", name: "submit" }));
  expect(answered).toMatchObject({ session: "", actor: "you", kind: "question", detail: "submit" });
});

test("output is called by its first line", () => {
  expect(outputEntry("s", 1, 3, "one\n").text).toBe("printed one");
  expect(outputEntry("s", 1, 9, "\none\ntwo\n")).toMatchObject({ text: "printed 2 lines: one", printed: 9 });
});
