import { expect, test } from "vitest";
import { absolutePointer, failedChecks, resolvePointer } from "../../src/canvas/checks";

const get = (data: unknown) => (path: string) => resolvePointer(data, path);

test.each([
  ["required", { value: "" }, false],
  ["required", { value: [] }, false],
  ["required", { value: 0 }, true],
  ["length", { value: "abc", max: 2 }, false],
  ["length", { value: "abc", min: 3 }, true],
  ["numeric", { value: "x" }, false],
  ["numeric", { value: "7", min: 1, max: 9 }, true],
  ["email", { value: "a@b" }, false],
  ["email", { value: "a@b.example" }, true],
  ["and", { values: [true, false] }, false],
  ["or", { values: [true, false] }, true],
  ["not", { value: true }, false],
  ["regex", { value: "x", pattern: "(a+)+$" }, true],
])("%s of %j holds: %s", (call, args, holds) => {
  expect(failedChecks([{ call, args, message: "no" }], get({}))).toEqual(holds ? [] : ["no"]);
});

test("a condition reads the data, and may hold others", () => {
  const condition = { call: "and", args: { values: [{ call: "required", args: { value: { path: "/name" } } }, true] } };
  const checks = [{ condition, message: "Name it" }];
  expect(failedChecks(checks, get({ name: "" }))).toEqual(["Name it"]);
  expect(failedChecks(checks, get({ name: "x" }))).toEqual([]);
});

test("a JSON Pointer leads into lists and names with slashes, and nowhere else", () => {
  const data = { "a/b": [{ "c~d": 1 }] };
  expect(resolvePointer(data, "/a~1b/0/c~0d")).toBe(1);
  expect(resolvePointer(data, "/constructor")).toBeUndefined();
  expect(resolvePointer(data, "/a~1b/9/x")).toBeUndefined();
});

test("a relative pointer is one of its item", () => {
  expect(absolutePointer("name", "/items/0")).toBe("/items/0/name");
  expect(absolutePointer("/name", "/items/0")).toBe("/name");
});
