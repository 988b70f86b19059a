import { expect, test, vi } from "vitest";
vi.mock("../../src/link", async () => (await import("../daemon")).link);

import { fold, rowsOf, type Fold } from "../../src/replay/folding";
import { outputEntry, type TimelineEntry } from "../../src/replay/timelineEntries";
import { entry } from "./entries";

let sequence = 0;
const step = (actor = "cursor") => entry({ kind: "run", actor, text: "stepped over", sequence: ++sequence });
const stop = (more: Partial<TimelineEntry> = {}) =>
  entry({ kind: "stop", text: "stopped: step", sequence: ++sequence, stop: sequence, ...more });
const breakpoint = (actor = "cursor") =>
  entry({ kind: "breakpoint", actor, text: "set a breakpoint", sequence: ++sequence, session: "" });
const texts = (entries: TimelineEntry[]) => fold(entries).map((it) => ("entries" in it ? `[${it.text}]` : it.text));
const times = <T>(count: number, make: () => T[]) => Array.from({ length: count }, make).flat();

test("breakpoints that one actor set are one row", () => {
  expect(texts(times(400, () => [breakpoint()]))).toEqual(["[cursor set 400 breakpoints]"]);
});

test("steps fold with the stops that they led to", () => {
  const entries = [...times(12, () => [step(), stop()]), step("ada"), stop()];
  expect(texts(entries)).toEqual(["[cursor stepped over 12 times]", "stepped over", "stopped: step"]);
  expect((fold(entries)[0] as Fold).entries).toHaveLength(24);
});

test("a few repeats are shown one by one, and an exception never hides in a fold", () => {
  expect(texts(times(3, () => [breakpoint()]))).toHaveLength(3);
  const failing = [...times(4, () => [step(), stop()]), step(), stop({ isBad: true, text: "stopped: exception" })];
  expect(texts(failing)).toEqual(["[cursor stepped over 5 times]", "stopped: exception"]);
});

test("different expressions of one actor are one row", () => {
  const asked = (number: number) => entry({ kind: "evaluation", actor: "cursor", text: `evaluated x${number}` });
  expect(texts([1, 2, 3, 4].map(asked))).toEqual(["[cursor evaluated 4 expressions]"]);
});

test("output that comes in pieces is one entry", () => {
  const pieces = ["a\n", "b", "c\n"].map((words, index) => outputEntry("s", index, index + 1, words));
  const [joined] = fold(pieces) as TimelineEntry[];
  expect(joined).toMatchObject({ text: "printed 2 lines: a", at: 2, printed: 3, detail: "a\nbc\n" });
});

test("the list has the newest first, and shows what an open fold stands for", () => {
  const folded = fold([...times(4, () => [breakpoint()]), step()]);
  const closed = rowsOf(folded, new Set());
  expect(closed.map((it) => it.fold?.count ?? 0)).toEqual([0, 4]);
  const open = rowsOf(folded, new Set([closed[1]!.fold!.key]));
  expect(open.map(({ isInside }) => isInside)).toEqual([false, false, true, true, true, true]);
  expect(new Set(open.map(({ key }) => key)).size).toBe(open.length);
});
