import { expect, test, vi } from "vitest";
vi.mock("../../src/link", async () => (await import("../daemon")).link);

import { chartPoints, firstDifference, SeriesIndex, type Series } from "../../src/replay/series/valueSeries";
import type { StopRecord } from "../../src/replay/stopRecords";
import { entry } from "./entries";

const record = (number: number, values: Record<string, string>, name = "add"): StopRecord => ({
  number,
  at_ns: number * 1e6,
  reason: "step",
  seen: [[[name, "/w/a.py", 3, false]], Object.entries(values).map(([it, value]) => [it, value, ""]), [], 0, ["", ""]],
});

function seriesOf(stops: StopRecord[], entries: ReturnType<typeof entry>[] = []): Series[] {
  const index = new SeriesIndex({ stops, entries, workspace: "/w" });
  expect(index.collect(1000)).toBe(true);
  return index.list();
}
const points = (values: (number | string)[]) => values.map((value) => ({ value: String(value), stop: 1, place: "" }));
const numbers = (values: number[]): Series => ({
  key: "",
  name: "x",
  scope: "",
  points: points(values),
  changes: 0,
  isNumeric: true,
});

test("a variable is followed through the stops of its function", () => {
  const stops = [record(1, { n: "1", s: "'a'" }), record(2, { n: "5" }, "other"), record(3, { n: "2", s: "'a'" })];
  const [changing, ...rest] = seriesOf(stops);
  expect(changing).toMatchObject({ name: "n", scope: "add", changes: 1, isNumeric: true });
  expect(changing!.points.map(({ value, stop, place }) => [value, stop, place])).toEqual([
    ["1", 1, "a.py:3"],
    ["2", 3, "a.py:3"],
  ]);
  expect(rest.map(({ name, scope, isNumeric }) => [name, scope, isNumeric])).toEqual([
    ["s", "add", false],
    ["n", "other", true],
  ]);
});

test("what was evaluated and traced is followed too", () => {
  const evaluated = (at: number, detail: string) =>
    entry({ kind: "evaluation", actor: "cursor", text: "evaluated len(x)", detail, at });
  const traced = entry({
    kind: "trace",
    sequence: 9,
    rows: [{ hit: 1, values: { x: "1" } }, { hit: 2 }, { hit: 3, errors: { x: "gone" } }],
  });
  const found = seriesOf([record(1, {}), record(2, {})], [evaluated(1, "3"), evaluated(2.5, "4"), traced]);
  expect(found.map(({ name, scope, changes }) => [name, scope, changes])).toEqual([
    ["len(x)", "evaluated", 1],
    ["x", "traced", 1],
  ]);
  expect(found[0]!.points.map(({ stop }) => stop)).toEqual([1, 2]);
  expect(found[1]!.points.map(({ value }) => value)).toEqual(["1", "1", "gone"]);
});

test("collecting takes no longer at once than it may", () => {
  const index = new SeriesIndex({ stops: [record(1, { n: "1" }), record(2, { n: "2" })], entries: [], workspace: "" });
  let now = 0;
  expect(index.collect(1, () => now++)).toBe(false);
  expect(index.collect(1000, () => now)).toBe(true);
  expect(index.list()[0]!.points).toHaveLength(2);
});

test("the first difference is from the value before, or from the expected one", () => {
  expect(firstDifference(points([1, 1, 2, 2, 3]))).toBe(2);
  expect(firstDifference(points([0, 0, -4]), "0")).toBe(2);
  expect(firstDifference(points([7, 7]))).toBe(-1);
  expect(firstDifference(points([7]), "8")).toBe(0);
});

test("a long curve is thinned out and keeps its peaks", () => {
  const values = Array.from({ length: 10_000 }, (_, index) => (index === 4321 ? 99 : index % 3));
  const thin = chartPoints(numbers(values), 100);
  expect(thin.length).toBeLessThan(160);
  expect(thin.find(({ index }) => index === 4321)?.y).toBe(1);
  expect([thin[0]!.x, thin.at(-1)!.x]).toEqual([0, 1]);
  expect(chartPoints(numbers([5, 5]), 100).map(({ y }) => y)).toEqual([0.5, 0.5]);
});
