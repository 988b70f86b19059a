import { expect, test, vi } from "vitest";
vi.mock("../../src/link", async () => (await import("../daemon")).link);

import { lanesOf } from "../../src/replay/track/lanes";
import { entry } from "./entries";

test("each actor has a lane and a colour, and the program the first of both", () => {
  const entries = [
    entry({ actor: "cursor" }),
    entry({ kind: "stop" }),
    entry({ actor: "you" }),
    entry({ kind: "output", actor: "" }),
    entry({ actor: "cursor" }),
  ];
  const { lanes, laneOf } = lanesOf(entries);
  expect(lanes).toEqual([
    { name: "Program", colour: 0, count: 2 },
    { name: "cursor", colour: 1, count: 2 },
    { name: "you", colour: 2, count: 1 },
  ]);
  expect([...laneOf]).toEqual([1, 0, 2, 0, 1]);
});

test("many actors share colours, but never the program's", () => {
  const { lanes } = lanesOf(Array.from({ length: 40 }, (_, number) => entry({ actor: `agent ${number}` })));
  expect(lanes).toHaveLength(41);
  expect(lanes.slice(1).every(({ colour }) => colour >= 1 && colour <= 7)).toBe(true);
});
