import { expect, test } from "vitest";
import { OutputLines, visibleText } from "../../src/debugger/output/outputLines";

function lines(...parts: string[]): string[] {
  const output = new OutputLines();
  for (const part of parts) output.add(part);
  return output.all.map(({ text }) => text);
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
  expect(output.all.at(-1)?.text).toBe("12:9999");
});

test("what goes to another category is another line, and each keeps its own colours", () => {
  const output = new OutputLines();
  output.add("\x1b[31mred\n", "stdout");
  output.add("plain\n", "stderr");
  output.add("still", "stdout");
  output.add("oops\n", "stderr");
  expect(output.all.map(({ category, look }) => [category, look])).toEqual([
    ["stdout", ""],
    ["stderr", ""],
    ["stdout", "ink-red"],
    ["stderr", ""],
  ]);
});

test("what can be read of a line has no colours, and is what stands there last", () => {
  const text = (it: string) => visibleText({ text: it, category: "stdout", look: "" });
  expect([text("\x1b[1;31mred\x1b[0m x"), text("10 %\r20 %\r"), text("plain\r")]).toEqual(["red x", "20 %", "plain"]);
});

test("lines keep their numbers when the view is cleared", () => {
  const output = new OutputLines();
  output.add("a\nb\n");
  output.clear();
  output.add("c\n");
  expect([output.dropped, output.all.map(({ text }) => text)]).toEqual([2, ["c"]]);
});
