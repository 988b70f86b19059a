import { expect, test } from "vitest";
import { list, number, record, records, text } from "../../src/canvas/values";

test("whatever an agent sends becomes a text", () => {
  expect([null, undefined, 1, true, "x", { a: 1 }, [1]].map(text)).toEqual([
    "",
    "",
    "1",
    "true",
    "x",
    '{"a":1}',
    "[1]",
  ]);
});

test("functions of the catalogue are computed, and unknown ones are empty", () => {
  expect(text({ call: "pluralize", args: { value: 1, one: "file", other: "files" } })).toBe("file");
  expect(text({ call: "pluralize", args: { value: 2, one: "file", other: "files" } })).toBe("files");
  expect(text({ call: "formatDate", args: { value: "no date" } })).toBe("no date");
  expect(text({ call: "eval", args: { value: "1" } })).toBe("");
});

test("a number is read from a text, and has a default", () => {
  expect([number("3.5"), number(" "), number("x", 7), number(NaN, 1), number(null)]).toEqual([3.5, 0, 7, 1, 0]);
});

test("lists and records drop what is neither", () => {
  expect(list("x")).toEqual([]);
  expect(records([1, { a: 1 }, null, [2]])).toEqual([{ a: 1 }]);
  expect(record("x")).toEqual({});
});
