import { expect, test } from "vitest";
import { inlineValues, type NamedValue } from "../../src/source/inlineValues";
import { pathAt } from "../../src/source/valuePath";

const PROGRAM = `\
total = 9
def add(values):
    total = 0  # the total
    def helper(value):
        return value + total
    for value in values:
        if value:
            total += value
    return total`;

function shown(program: string, current: number, values: Record<string, NamedValue | string>) {
  const lines = program.split("\n");
  const code = {
    line: (number: number) => lines[number - 1]!,
    isQuoted: (number: number, column: number) => lines[number - 1]!.slice(0, column).includes("#"),
  };
  const known = Object.entries(values).map(
    ([name, it]) => [name, typeof it === "string" ? { value: it } : it] as const,
  );
  const found = inlineValues(code, current, new Map(known));
  return Object.fromEntries([...found].map(([line, them]) => [line, them.map(({ text }) => text).join(", ")]));
}

test("values stand beside the lines of the function up to the current one", () => {
  expect(shown(PROGRAM, 8, { total: "3", value: "2", values: "[1, 2]" })).toEqual({
    2: "values = [1, 2]",
    3: "total = 3",
    6: "value = 2, values = [1, 2]",
    7: "value = 2",
    8: "total = 3, value = 2",
  });
});

test("outside of a function, its lines have none", () => {
  expect(shown(`${PROGRAM}\nresult = add([total])`, 10, { total: "9", value: "1" })).toEqual({
    1: "total = 9",
    10: "total = 9",
  });
});

test("braces are read as indents are", () => {
  const program = "function f(a) {\n  if (a) {\n    b = a;\n  }\n}\nfunction g(a) {\n  return a;\n}";
  expect(shown(program, 7, { a: "1", b: "2" })).toEqual({ 6: "a = 1", 7: "a = 1" });
});

test("functions are left out, long values are cut, and members are not taken for variables", () => {
  const values = { add: "<function add at 0x7f>", text: "x".repeat(60), name: "1" };
  expect(shown("add(text, it.name)", 1, values)).toEqual({ 1: `text = ${"x".repeat(48)}…` });
});

test("a changed value is marked", () => {
  const lines = ["x = 1"];
  const code = { line: (number: number) => lines[number - 1]!, isQuoted: () => false };
  const found = inlineValues(code, 1, new Map([["x", { value: "2", isChanged: true }]]));
  expect(found.get(1)).toEqual([{ text: "x = 2", isChanged: true }]);
});

test.each([
  ["total += order.lines[0].price", 1, "total"],
  ["total += order.lines[0].price", 10, "order"],
  ["total += order.lines[0].price", 17, "order.lines"],
  ["total += order.lines[0].price", 26, "order.lines[0].price"],
  ["node->next", 8, "node->next"],
  ["read(file).name", 12, undefined],
  ["a[read()].b", 10, undefined],
])("pointing into %s at %i means %s", (line, column, text) => {
  expect(pathAt(line, column)?.text).toBe(text);
});
