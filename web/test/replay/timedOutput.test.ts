import { expect, test, vi } from "vitest";
vi.mock("../../src/link", async () => (await import("../daemon")).link);

import { TimedOutput } from "../../src/replay/timedOutput";

const linesAt = (output: TimedOutput, at: number) => output.linesAt(at).map(({ text }) => text);

const ms = (at: number) => at * 1e6;

test("the output of a moment is what had been printed by then", () => {
  const output = new TimedOutput();
  output.add({
    text: "one\ntwo\n",
    start: 0,
    marks: [
      [ms(10), 4],
      [ms(20), 8],
    ],
  });
  output.add({ text: "three\n", start: 8, marks: [[ms(30), 14]] });
  expect([5, 10, 25, 99].map((at) => linesAt(output, at))).toEqual([
    [],
    ["one"],
    ["one", "two"],
    ["one", "two", "three"],
  ]);
  expect(output.entries("s").map(({ text, at }) => [text, at])).toEqual([
    ["printed one", 10],
    ["printed two", 20],
    ["printed three", 30],
  ]);
});

test("characters that a string counts twice do not move the rest", () => {
  const output = new TimedOutput();
  output.add({
    text: "🐉🐉\nend\n",
    start: 0,
    marks: [
      [ms(1), 3],
      [ms(2), 7],
    ],
  });
  expect([output.end, linesAt(output, 1), linesAt(output, 2)]).toEqual([7, ["🐉🐉"], ["🐉🐉", "end"]]);
});

test("what is no longer kept is left out", () => {
  const output = new TimedOutput();
  output.add({ text: "one\n", start: 0, marks: [[ms(1), 4]] });
  output.add({ text: "nine\n", start: 40, marks: [[ms(9), 45]] });
  expect([output.end, linesAt(output, 9)]).toEqual([45, ["nine"]]);
});
