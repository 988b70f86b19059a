import { expect, test } from "vitest";
import { arranged, numberOf, sparkline, traceTable } from "../../src/evidence/results/traceRows";

const POINTS = [{ place: "a.py:3", expressions: ["week", "saved", "name"], hits: 4 }];
const TABLE = traceTable(POINTS, [
  { hit: 1, values: { week: "1", saved: "0.5", name: "'b'" } },
  { hit: 2, values: { week: "2" } },
  { hit: 3, values: { week: "10", name: "'a'" }, errors: { saved: "NameError" } },
  { hit: 4, values: { week: "9", saved: "0.75" } },
]);

const texts = (rows = TABLE.rows) => rows.map(({ cells }) => cells.map((it) => it?.text));

test("a cell that did not change keeps the value of the row before", () => {
  expect(texts()).toEqual([
    ["1", "0.5", "'b'"],
    ["2", "0.5", "'b'"],
    ["10", "NameError", "'a'"],
    ["9", "0.75", "'a'"],
  ]);
  expect(TABLE.rows.map(({ cells }) => cells.map((it) => it?.changed))).toEqual([
    [false, false, false],
    [true, false, false],
    [true, true, true],
    [true, true, false],
  ]);
});

test("a column knows its first change, and its numbers if it has any", () => {
  expect(TABLE.columns).toEqual([
    { expression: "week", series: [1, 2, 10, 9], firstChange: 1 },
    { expression: "saved", series: [0.5, 0.5, null, 0.75], firstChange: 2 },
    { expression: "name", series: null, firstChange: 2 },
  ]);
});

test("numbers are sorted by size, other values as text", () => {
  const by = (column: number, isDescending = false) =>
    arranged(TABLE, "", { column, isDescending }, false).map(({ hit }) => hit);
  expect(by(0)).toEqual([1, 2, 4, 3]);
  expect(by(0, true)).toEqual([3, 4, 2, 1]);
  expect(by(2)).toEqual([3, 4, 1, 2]);
  expect(by(-1, true)).toEqual([4, 3, 2, 1]);
});

test("rows are filtered by what they show, and by whether they changed", () => {
  const order = { column: -1, isDescending: false };
  expect(arranged(TABLE, "nameerror", order, false).map(({ hit }) => hit)).toEqual([3]);
  expect(arranged(TABLE, "", order, true).map(({ hit }) => hit)).toEqual([2, 3, 4]);
});

test("two points share a column where they ask the same, and each has its own row before", () => {
  const points = [
    { place: "a.py:3", expressions: ["x"], hits: 2 },
    { place: "a.py:5", expressions: ["x", "y"], hits: 1 },
  ];
  const table = traceTable(points, [
    { hit: 1, point: 1, values: { x: "1" } },
    { hit: 2, point: 2, values: { x: "7", y: "2" } },
    { hit: 3, point: 1 },
  ]);
  expect(texts(table.rows)).toEqual([
    ["1", undefined],
    ["7", "2"],
    ["1", undefined],
  ]);
  expect(table.rows.at(-1)?.cells[0]?.changed).toBe(false);
  expect(table.columns[0]?.series).toEqual([1, 7, 1]);
  expect(table.columns[1]?.series).toBeNull();
});

test("what is written as a number counts as one", () => {
  expect(["3", "-2.5", "1e3", "1_000", "True", "0x10", "'3'", "[3]", ""].map(numberOf)).toEqual([
    3,
    -2.5,
    1000,
    1000,
    1,
    null,
    null,
    null,
    null,
  ]);
});

test("a sparkline reaches from the lowest to the highest value, with a gap where there is none", () => {
  expect(sparkline([0, 10, null, 5], 30, 10)).toBe("M0.0 10.0L10.0 0.0M30.0 5.0");
  expect(sparkline([4, 4], 30, 10)).toBe("M0.0 5.0L30.0 5.0");
  expect(
    sparkline(
      Array.from({ length: 10_000 }, (_, it) => it),
      100,
      10,
    ).split("L").length,
  ).toBeLessThan(250);
});
