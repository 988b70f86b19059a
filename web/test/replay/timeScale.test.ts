import { expect, test, vi } from "vitest";
vi.mock("../../src/link", async () => (await import("../daemon")).link);

import { durationText, including, moved, TimeScale, tickStep, zoomed } from "../../src/replay/timeScale";
import { entry } from "./entries";

const scaleOf = (...times: number[]) => new TimeScale(times.map((at) => entry({ at })));

test("pauses are cut, and what happened at once is pulled apart", () => {
  const scale = scaleOf(0, 0, 1000, 601_000);
  expect([...scale.positions]).toEqual([0, 20, 1020, 3020]);
  expect(scale.pauses).toEqual([{ position: 3020, ms: 600_000 }]);
  expect(new TimeScale([entry({ at: 0 }), entry({ at: 1, kind: "stop" })]).length).toBe(150);
});

test("a position leads to the moment at it, and to the nearest one", () => {
  const scale = scaleOf(0, 1000, 2000);
  expect([-5, 0, 999, 1000, 9999].map((at) => scale.indexAt(at))).toEqual([0, 0, 0, 1, 2]);
  expect([400, 600, 5000].map((at) => scale.nearest(at))).toEqual([0, 1, 2]);
  expect([0, 1, 1000, 2001].map((at) => scale.indexFrom(at))).toEqual([0, 1, 1, 3]);
  expect(scaleOf().length).toBe(0);
});

test("zooming keeps what is under the pointer where it is, and stays within what there is", () => {
  expect(zoomed({ from: 0, to: 1000 }, 0.5, 400, 1000)).toEqual({ from: 200, to: 700 });
  expect(zoomed({ from: 200, to: 700 }, Infinity, 400, 1000)).toEqual({ from: 0, to: 1000 });
  expect(zoomed({ from: 0, to: 1000 }, 1e-9, 0, 1000)).toEqual({ from: 0, to: 200 });
  expect(moved({ from: 0, to: 100 }, 5000, 1000)).toEqual({ from: 900, to: 1000 });
  expect(including({ from: 0, to: 100 }, 500, 1000)).toEqual({ from: 405, to: 505 });
  expect(including({ from: 0, to: 100 }, 50, 1000)).toEqual({ from: 0, to: 100 });
});

test("an axis has round steps and short texts", () => {
  expect([tickStep(1000, 10), tickStep(70_000, 7), tickStep(4e7, 2)]).toEqual([100, 10_000, 21_600_000]);
  expect([5, 1500, 45_000, 600_000, 7_200_000].map(durationText)).toEqual(["5 ms", "1.5 s", "45 s", "10 min", "2 h"]);
});
