import { expect, test } from "vitest";

import { RequestedBreakpoints, type BreakpointRequest } from "../../src/sharing/requestedBreakpoints";

const nobody = (): undefined => undefined;
const at = (line: number, condition = ""): BreakpointRequest => ({ line, condition });
const now = (line: number, condition = "", enabled = true) => ({
  ...at(line, condition),
  column: null,
  hitCondition: "",
  logMessage: "",
  enabled,
});

class Editor {
  readonly wanting = new RequestedBreakpoints<string>();
  readonly marks = new Set<string>();
  private count = 0;

  set(
    wanted: BreakpointRequest[],
    session = "s",
    theirs: (it: BreakpointRequest) => string | undefined = nobody,
  ): (string | undefined)[] {
    const { marks, added, removed } = this.wanting.set(
      session,
      "/a.py",
      wanted,
      theirs,
      ({ line, condition }) => `${++this.count}@${line}${condition}`,
    );
    for (const mark of removed) this.marks.delete(mark);
    for (const mark of added) this.marks.add(mark);
    return marks;
  }
}

test("what is wanted is added once, and goes when it is wanted no more", () => {
  const editor = new Editor();
  expect(editor.set([at(3), at(5)])).toEqual(["1@3", "2@5"]);
  expect(editor.set([at(5)])).toEqual(["2@5"]);
  expect([...editor.marks]).toEqual(["2@5"]);
});

test("the same line with another condition is another mark", () => {
  const editor = new Editor();
  editor.set([at(3)]);
  expect(editor.set([at(3, "x > 1")])).toEqual(["2@3x > 1"]);
  expect([...editor.marks]).toEqual(["2@3x > 1"]);
});

test("what the person has there stays the person's: not added, not taken away, not told", () => {
  const editor = new Editor();
  const mine = ({ line }: BreakpointRequest) => (line === 3 ? "mine" : undefined);
  expect(editor.set([at(3), at(5)], "s", mine)).toEqual(["mine", "1@5"]);
  editor.set([], "s", mine);
  expect([...editor.marks]).toEqual([]);
  expect(editor.wanting.removedByPerson("mine")).toBeUndefined();
});

test("one of ours that the editor finds at the place, with another meaning, is not taken for the person's", () => {
  const editor = new Editor();
  editor.set([at(3)]);
  expect(editor.set([at(3, "x")], "s", () => "1@3")).toEqual(["2@3x"]);
});

test("what the person takes away is told, and what was on its way meanwhile does not bring it back", () => {
  const editor = new Editor();
  editor.set([at(3)]);
  const done = editor.wanting.removedByPerson("1@3")!;
  expect(done).toEqual({ session: "s", path: "/a.py", line: 3, now: null });
  expect(editor.set([at(3)])).toEqual([undefined]);
  expect(editor.wanting.unacknowledged()).toEqual([done]);
  editor.wanting.acknowledge(done);
  expect(editor.set([at(3)])).toEqual(["2@3"]); // the agent's word, said later
});

test("what we took away ourselves is nobody's doing", () => {
  const editor = new Editor();
  editor.set([at(3)]);
  editor.set([]);
  expect(editor.wanting.removedByPerson("1@3")).toBeUndefined();
});

test("what the person changed is told once; one that is off stays to be switched on again", () => {
  const editor = new Editor();
  editor.set([at(3)]);
  expect(editor.wanting.changedByPerson("1@3", now(3))).toBeUndefined();
  expect(editor.wanting.changedByPerson("1@3", now(3, "", false))?.now?.enabled).toBe(false);
  editor.set([]); // the daemon knows: it wants it no more
  expect([...editor.marks]).toEqual(["1@3"]);
  expect(editor.wanting.changedByPerson("1@3", now(3))).toMatchObject({
    session: "s",
    line: 3,
    now: { enabled: true },
  });
  expect(editor.set([at(3)])).toEqual(["1@3"]);
});

test("of two sessions that want one, the end of the first takes nothing away", () => {
  const editor = new Editor();
  editor.set([at(3)], "s");
  expect(editor.set([at(3)], "t")).toEqual(["1@3"]);
  expect(editor.wanting.ended("s")).toEqual([]);
  expect(editor.wanting.removedByPerson("1@3")?.session).toBe("t");
  editor.set([at(5)], "t");
  expect(editor.wanting.ended("t")).toEqual(["2@5"]);
});

test("where the debugger put it is no change of the person's", () => {
  const editor = new Editor();
  editor.set([at(3)]);
  editor.wanting.boundAt("1@3", { line: 4, column: 9 });
  expect(editor.wanting.changedByPerson("1@3", { ...now(4), column: 9 })).toBeUndefined();
  expect(editor.wanting.changedByPerson("1@3", { ...now(4, "", false), column: 9 })).toMatchObject({
    line: 3,
    now: { line: 3, enabled: false },
  });
  expect(editor.wanting.changedByPerson("1@3", now(6))).toMatchObject({ line: 3, now: { line: 6 } });
});

test("a session that agents let go of loses their marks, and gets them again when it is lent again", () => {
  const editor = new Editor();
  editor.set([at(3), at(5)]);
  expect(editor.wanting.released("s")).toEqual(["1@3", "2@5"]);
  expect(editor.wanting.removedByPerson("1@3")).toBeUndefined(); // our own doing
  expect(editor.set([at(3)])).toEqual(["3@3"]);
});

test("what the person did while the daemon was away is told to the next one, and counts against what it wants", () => {
  const editor = new Editor();
  editor.set([at(3), at(5)]);
  const gone = editor.wanting.removedByPerson("1@3");
  const changed = editor.wanting.changedByPerson("2@5", now(5, "x"));
  editor.wanting.released("s");
  expect(editor.set([at(3), at(5)])[0]).toBeUndefined();
  expect(editor.wanting.unacknowledged()).toEqual([gone, changed]);
  editor.wanting.ended("s");
  expect(editor.wanting.unacknowledged()).toEqual([]);
});
