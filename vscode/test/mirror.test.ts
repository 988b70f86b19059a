import { expect, test } from "vitest";

import { Mirror, type Told } from "../src/together/mirror";

const told = (id: number, line: number, more: Partial<Told> = {}): Told => ({ id, owner: "a", path: "/w/a.py", line, ...more });

function shown(...all: Told[]): Mirror<string> {
  const mirror = new Mirror<string>();
  for (const it of mirror.compare(all).added) mirror.keep(it, `mark ${it.id}`);
  return mirror;
}

test("what is new is added, what is gone is taken away, the rest stays", () => {
  const mirror = shown(told(1, 3), told(2, 5));
  expect(mirror.compare([told(2, 5), told(3, 7)])).toEqual({ added: [told(3, 7)], removed: ["mark 1"] });
});

test("one that changed goes and comes", () => {
  const changed = told(1, 3, { condition: "x" });
  expect(shown(told(1, 3)).compare([changed])).toEqual({ added: [changed], removed: ["mark 1"] });
});

test("what is told again changes nothing", () => {
  expect(shown(told(1, 3)).compare([told(1, 3)])).toEqual({ added: [], removed: [] });
});

test("what has no line, or is off, is not shown", () => {
  expect(new Mirror().compare([told(1, 0, { kind: "exception" }), told(2, 3, { enabled: false })]).added).toEqual([]);
});

test("what the person takes away is told once with its owner; what we took away is nobody's", () => {
  const mirror = shown(told(1, 3), told(2, 5));
  expect(mirror.takenAway("mark 1")).toEqual(told(1, 3));
  expect(mirror.takenAway("mark 1")).toBeUndefined();
  mirror.compare([]);
  expect(mirror.takenAway("mark 2")).toBeUndefined();
});
