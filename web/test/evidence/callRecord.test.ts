import { expect, test } from "vitest";
import {
  callText,
  loopsOf,
  nested,
  shownCall,
  type CallRecord,
  type StepRow,
} from "../../src/evidence/results/callRecord";

const SOURCE: [number, string][] = [
  [1, "def total(items):"],
  [2, "    total = 0"],
  [3, "    for item in items:"],
  [4, "        total += item"],
  [5, ""],
  [6, "    return total"],
];

const step = (line: number, ...changes: [string, string][]): StepRow => ({ line, changes, calls: [], more_calls: 0 });

const record = (
  rows: CallRecord["rows"],
  end: CallRecord["end"] = { how: "returned", line: 6, value: "3" },
): CallRecord => ({
  function: "total",
  file: "cart.py",
  first: 1,
  source: SOURCE,
  args: [["items", "[1, 2]"]],
  rows,
  end,
  call: 1,
  lines: rows.length,
});

const LOOPING = record([
  step(2, ["total", "0"]),
  step(3, ["item", "1"]),
  step(4, ["total", "1"]),
  step(3, ["item", "2"]),
  step(4, ["total", "3"]),
  step(3),
  step(6),
]);

const changes = (of: CallRecord, chosen: [number, number][] = [], ofEnd = false) =>
  [...shownCall(nested(of), new Map(chosen), ofEnd).steps].map(([line, steps]) => [
    line,
    ...steps.flatMap((it) => it.changes.map(({ name, value, old }) => `${name}: ${old ?? ""} → ${value}`)),
  ]);

test("a loop reaches to the last line of its body", () => {
  expect(loopsOf(SOURCE)).toEqual([{ head: 3, last: 4 }]);
});

test("each pass through a loop is shown by itself, with the values before it", () => {
  expect(changes(LOOPING)).toEqual([[2, "total:  → 0"], [3, "item:  → 1"], [4, "total: 0 → 1"], [6]]);
  expect(changes(LOOPING, [[3, 1]])).toEqual([[2, "total:  → 0"], [3, "item: 1 → 2"], [4, "total: 1 → 3"], [6]]);
});

test("the question whether there is another item is no pass", () => {
  expect(shownCall(nested(LOOPING), new Map(), false).loops).toEqual(
    new Map([[3, { passes: 2, chosen: 0, isGap: false }]]),
  );
});

test("of a call that failed, the last pass is shown first", () => {
  const failed = record(LOOPING.rows.slice(0, 5), { how: "raised", line: 4, error: "TypeError" });
  expect(shownCall(nested(failed), new Map(), true).loops.get(3)).toMatchObject({ chosen: 1 });
});

test("passes that were not kept are one, and values after them are known", () => {
  const long = record([
    ...LOOPING.rows.slice(0, 3),
    { gap: 38, lines: [3, 4], changes: [["total", "20"]], calls: 0 },
    step(3, ["item", "21"]),
    step(4, ["total", "41"]),
  ]);
  expect(shownCall(nested(long), new Map([[3, 1]]), false).gaps.get(3)).toMatchObject({ gap: 38 });
  expect(changes(long, [[3, 2]])).toEqual([
    [2, "total:  → 0"],
    [3, "item: 1 → 21"],
    [4, "total: 20 → 41"],
  ]);
});

test("loops in loops have passes of their own", () => {
  const source: [number, string][] = [
    [1, "for a in x:"],
    [2, "    for b in y:"],
    [3, "        f(a, b)"],
  ];
  const rows = [
    step(1),
    step(2),
    step(3, ["n", "1"]),
    step(2),
    step(3, ["n", "2"]),
    step(1),
    step(2),
    step(3, ["n", "3"]),
  ];
  const items = nested({ ...record(rows), source });
  const shown = (outer: number, inner: number) => {
    const { steps, loops } = shownCall(
      items,
      new Map([
        [1, outer],
        [2, inner],
      ]),
      false,
    );
    return [steps.get(3)?.[0]?.changes[0]?.value, loops.get(2)?.passes];
  };
  expect(shown(0, 1)).toEqual(["2", 2]);
  expect(shown(1, 0)).toEqual(["3", 1]);
  expect(shown(1, 5)).toEqual(["3", 1]);
});

test("a call in a line is one text: a method's own object is left out, an error counts more than a result", () => {
  expect(
    callText([
      "Cart.add",
      [
        ["self", "<Cart>"],
        ["price", "2"],
      ],
      "None",
      "",
      0,
    ]),
  ).toBe("Cart.add(price=2) → None");
  expect(callText(["parse", [["text", "'x'"]], null, "ValueError: x", 0])).toBe("parse(text='x') ✗ ValueError: x");
});
