import { expect, test, vi } from "vitest";
vi.mock("../../src/link", async () => (await import("../daemon")).link);

import { EntryList } from "../../src/replay/entryList";
import { entry } from "./entries";

const stop = (number: number, at: number, sequence = 0) => entry({ kind: "stop", stop: number, at, sequence });
const listed = (list: EntryList, session = "s") => list.of(session).map((it) => it.sequence || `stop ${it.stop}`);

test("entries are in order, each once, however they came", () => {
  const list = new EntryList();
  list.add([entry({ sequence: 3, at: 3 }), entry({ sequence: 1, at: 1 })]);
  list.add([entry({ sequence: 2, at: 2 }), entry({ sequence: 3, at: 3 })]);
  expect(listed(list)).toEqual([1, 2, 3]);
});

test("a stop from the history gives way to the event of the same stop, and keeps its time and its exception", () => {
  const list = new EntryList();
  list.add([stop(1, 1), { ...stop(2, 2), detail: "ValueError: x" }]);
  list.add([stop(2, 250, 7)]);
  expect(listed(list)).toEqual(["stop 1", 7]);
  expect(list.of("s")[1]).toMatchObject({ at: 2, detail: "ValueError: x" });
});

test("an event is not later than the stop that it led to: it is recorded a moment after it happened", () => {
  const list = new EntryList();
  list.add([entry({ sequence: 1, at: 250 }), stop(1, 250, 2), entry({ sequence: 3, at: 250 }), stop(1, 10)]);
  expect(list.of("s").map(({ at }) => at)).toEqual([10, 10, 250]);
});

test("what belongs to no session is part of one that was there around it", () => {
  const list = new EntryList();
  const [minute, hour] = [60_000, 3_600_000];
  list.add([
    entry({ sequence: 1, at: hour, session: "" }),
    entry({ sequence: 2, at: 2 * hour - minute, session: "" }),
    entry({ sequence: 3, at: 2 * hour }),
    entry({ sequence: 4, at: 2 * hour, session: "other" }),
    entry({ sequence: 5, at: 3 * hour, session: "" }),
  ]);
  expect(listed(list)).toEqual([2, 3]);
  expect(listed(list, "")).toEqual([1, 2, 5]);
});
