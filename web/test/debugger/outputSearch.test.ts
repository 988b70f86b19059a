import { expect, test } from "vitest";
import { OutputLines } from "../../src/debugger/output/outputLines";
import { OutputSearch, marked } from "../../src/debugger/output/outputSearch";

function printed(count: number): OutputLines {
  const lines = new OutputLines();
  lines.add(Array.from({ length: count }, (_, number) => `line ${number}\n`).join(""));
  return lines;
}

function searched(lines: OutputLines, query: string): OutputSearch {
  const search = new OutputSearch();
  search.find(query);
  while (search.advance(lines));
  return search;
}

test("a hundred thousand lines are searched a part at a time", () => {
  const lines = printed(100_000);
  const search = new OutputSearch();
  search.find("LINE 9999");
  let parts = 1;
  while (search.advance(lines)) parts++;
  expect(parts).toBe(25);
  expect(search.hits).toEqual([9999, ...Array.from({ length: 10 }, (_, last) => 99990 + last)]);
});

test("hits are walked in both directions, around the end", () => {
  const search = searched(printed(30), "line 2");
  expect([search.step(1), search.step(1), search.step(-1), search.step(-1)]).toEqual([2, 20, 2, 29]);
  expect(searched(printed(3), "none").step(1)).toBeNull();
});

test("what is printed later is found too, and a line that grows once", () => {
  const lines = printed(2);
  lines.add("line");
  const search = searched(lines, "line");
  lines.add(" 2, whole\nline 3\n");
  while (search.advance(lines));
  expect(search.hits).toEqual([0, 1, 2, 3]);
});

test("hits in lines that are no longer kept are forgotten", () => {
  const lines = printed(3);
  const search = searched(lines, "line");
  lines.clear();
  lines.add("line 3\n");
  search.advance(lines);
  expect(search.hits).toEqual([3]);
});

test("a hit across two colours is marked in both", () => {
  const runs = [
    { text: "an er", look: "ink-red" },
    { text: "ror here", look: "" },
  ];
  expect(marked(runs, "ERROR").map(({ text, isHit }) => [text, isHit])).toEqual([
    ["an ", false],
    ["er", true],
    ["ror", true],
    [" here", false],
  ]);
});
