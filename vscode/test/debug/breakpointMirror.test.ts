import { expect, test } from "vitest";

import { BreakpointMirror, type OthersBreakpoint } from "../../src/debug/breakpointMirror";

const told = (id: number, line: number, more: Partial<OthersBreakpoint> = {}): OthersBreakpoint => ({
  id,
  owner: "a",
  path: "/w/a.py",
  line,
  ...more,
});
const as = (it: OthersBreakpoint) => ({
  line: it.line,
  column: it.column ?? null,
  condition: it.condition ?? "",
  hit_condition: "",
  log_message: "",
  enabled: it.enabled ?? true,
});

function shown(...all: OthersBreakpoint[]): BreakpointMirror<string> {
  const mirror = new BreakpointMirror<string>();
  for (const it of mirror.setList("s", all).added) mirror.addMark(it, `mark ${it.id}`);
  return mirror;
}

test("what is new is added, what is gone is taken away, the rest stays", () => {
  const mirror = shown(told(1, 3), told(2, 5));
  expect(mirror.setList("s", [told(2, 5), told(3, 7)])).toEqual({ added: [told(3, 7)], removed: ["mark 1"] });
});

test("one that changed goes and comes", () => {
  const changed = told(1, 3, { condition: "x" });
  expect(shown(told(1, 3)).setList("s", [changed])).toEqual({ added: [changed], removed: ["mark 1"] });
});

test("what is told again changes nothing", () => {
  expect(shown(told(1, 3)).setList("s", [told(1, 3)])).toEqual({ added: [], removed: [] });
});

test("what has no line is not shown; what is off is shown as off", () => {
  expect(
    new BreakpointMirror().setList("s", [told(1, 0, { kind: "exception" }), told(2, 3, { enabled: false })]).added,
  ).toEqual([told(2, 3, { enabled: false })]);
});

test("what the person takes away is told once, in the session that told of it; what we took away is nobody's", () => {
  const mirror = shown(told(1, 3), told(2, 5));
  expect(mirror.removedByPerson("mark 1")).toEqual({ session: "s", breakpoint: told(1, 3) });
  expect(mirror.removedByPerson("mark 1")).toBeUndefined();
  mirror.setList("s", []);
  expect(mirror.removedByPerson("mark 2")).toBeUndefined();
});

test("what was on its way when the person took one away does not bring it back; a refusal does", () => {
  const mirror = shown(told(1, 3));
  const wish = mirror.removedByPerson("mark 1")!;
  expect(mirror.setList("s", [told(1, 3)])).toEqual({ added: [], removed: [] });
  expect(mirror.completeEdit(wish)).toEqual({ added: [told(1, 3)], removed: [] });
});

test("what was on its way when the person changed one does not undo it; the daemon's answer is what is so", () => {
  const mirror = shown(told(1, 3));
  const wish = mirror.changedByPerson("mark 1", { ...as(told(1, 3)), condition: "y" })!;
  expect(mirror.setList("s", [told(1, 3, { condition: "x" })])).toEqual({ added: [], removed: [] });
  expect(mirror.completeEdit(wish, [told(1, 3, { condition: "y" })])).toEqual({ added: [], removed: [] });
});

test("a change of the person's is told; that the debugger moved it, or the editor tells it again, is none", () => {
  const at = told(1, 3, { boundLine: 4 });
  const mirror = shown(at);
  expect(mirror.changedByPerson("mark 1", as(at))).toBeUndefined();
  expect(mirror.changedByPerson("mark 1", { ...as(at), line: 4 })).toBeUndefined();
  expect(mirror.changedByPerson("mark 1", { ...as(at), line: 4, enabled: false })?.breakpoint).toMatchObject({
    id: 1,
    line: 3,
    enabled: false,
  });
});

test("one that the person only switches off stays where the agent wanted it, whatever column the debugger chose", () => {
  const mirror = shown(told(1, 3));
  expect(mirror.changedByPerson("mark 1", { ...as(told(1, 3)), column: 5 })).toBeUndefined();
  expect(mirror.changedByPerson("mark 1", { ...as(told(1, 3)), column: 5, enabled: false })?.breakpoint).toMatchObject({
    line: 3,
    column: null,
    enabled: false,
  });
});

test("where the person has one already it stays the person's, and goes for both when the person takes it away", () => {
  const mirror = new BreakpointMirror<string>();
  for (const it of mirror.setList("s", [told(1, 3)]).added) mirror.addMark(it, "theirs", false);
  expect(mirror.changedByPerson("theirs", { ...as(told(1, 3)), condition: "x" })).toBeUndefined();
  expect(mirror.setList("s", [])).toEqual({ added: [], removed: [] });
  for (const it of mirror.setList("s", [told(2, 3)]).added) mirror.addMark(it, "theirs", false);
  expect(mirror.removedByPerson("theirs")?.breakpoint.id).toBe(2);
});

test("of two sessions that tell of one breakpoint, the end of the first takes nothing away", () => {
  const mirror = shown(told(1, 3));
  expect(mirror.setList("t", [told(1, 3)])).toEqual({ added: [], removed: [] });
  expect(mirror.ended("s")).toEqual({ added: [], removed: [] });
  expect(mirror.removedByPerson("mark 1")).toEqual({ session: "t", breakpoint: told(1, 3) });
});
