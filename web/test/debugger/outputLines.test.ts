import { expect, test } from "vitest";
import { OutputLines } from "../../src/debugger/outputLines";

function lines(...parts: string[]): string[] {
  const output = new OutputLines();
  for (const part of parts) output.add(part);
  return output.all;
}

test("parts that end anywhere become whole lines", () => {
  expect(lines("a", "b\nc", "\n", "d")).toEqual(["ab", "c", "d"]);
});

test("an empty line is a line, and an empty part is nothing", () => {
  expect(lines("a\n\n", "", "b\n")).toEqual(["a", "", "b"]);
});

test("a line without an end is shown as several", () => {
  expect(lines("x".repeat(4500)).map(({ length }) => length)).toEqual([2000, 2000, 500]);
});

test("of a long output the last lines are kept", () => {
  const output = new OutputLines();
  for (let part = 0; part < 13; part++) output.add(Array.from({ length: 10_000 }, (_, i) => `${part}:${i}\n`).join(""));
  expect(output.all.length).toBeLessThanOrEqual(120_000);
  expect(output.all.at(-1)).toBe("12:9999");
});
