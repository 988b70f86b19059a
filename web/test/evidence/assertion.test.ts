import { expect, test } from "vitest";
import { assertionOf, differingParts } from "../../src/evidence/results/assertion";

const marked = (left: string, right: string) =>
  differingParts(left, right).map((parts) => parts.map(({ text, differs }) => (differs ? `[${text}]` : text)).join(""));

test("both sides of pytest's message, with where they come from", () => {
  expect(assertionOf("assert 26.35 == 23.9\n +  where 26.35 = total()\n\n  - 23.9")).toEqual({
    left: "26.35",
    operator: "==",
    right: "23.9",
    rest: " +  where 26.35 = total()",
  });
});

test("an operator inside a value is none of the assertion", () => {
  expect(assertionOf("assert 'a == b' == \"c == d\"")).toMatchObject({ left: "'a == b'", right: '"c == d"' });
  expect(assertionOf("assert [1 < 2] == {'a': (3 > 2)}")).toMatchObject({ left: "[1 < 2]" });
  expect(assertionOf("assert <Cart object> is None")).toMatchObject({ left: "<Cart object>", operator: "is" });
});

test("other runners say it otherwise", () => {
  expect(assertionOf("180 != 200 : the price is full")).toMatchObject({ left: "180", operator: "!=", right: "200" });
  expect(assertionOf("Expected values to be strictly equal:\n\n1 !== 2\n")).toMatchObject({ left: "1", right: "2" });
  expect(assertionOf("expect(received).toBe(expected)\n\nExpected: 4\nReceived: 3")).toMatchObject({
    left: "3",
    right: "4",
  });
});

test("what compares nothing has no sides", () => {
  expect(assertionOf("not enough values to unpack (expected 2, got 1)")).toBeNull();
  expect(assertionOf("assert is_open(door)")).toBeNull();
  expect(assertionOf("broken\nvalue a == b")).toBeNull();
});

test("what differs is marked in both sides, numbers as a whole", () => {
  expect(marked("26.35", "23.9")).toEqual(["[26.35]", "[23.9]"]);
  expect(marked("{'a': 1, 'b': 2}", "{'a': 1, 'b': 3}")).toEqual(["{'a': 1, 'b': [2]}", "{'a': 1, 'b': [3]}"]);
  expect(marked("[1, 2, 3]", "[1, 3]")).toEqual(["[1, [2, ]3]", "[1, 3]"]);
  expect(marked("same", "same")).toEqual(["same", "same"]);
});
