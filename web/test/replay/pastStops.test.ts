import { beforeEach, expect, test, vi } from "vitest";
vi.mock("../../src/link", async () => (await import("../daemon")).link);

import { daemon, held, Refused, settled } from "../daemon";
import { fetchPastStop, fetchPastStops, pastStopReason } from "../../src/replay/pastStops";
import { SessionHistory } from "../../src/replay/sessionHistory";

const SUMMARY = { id: "s:3", at: "2026-01-02T03:04:05Z", reason: "step", place: "pkg/a b.py:12 in run" };
const STORED = { ...SUMMARY, exception: "ValueError: x", frames: [], variables: { n: "1" } };

beforeEach(() => daemon.start({ stop_history: ({ at }) => (at ? { at: STORED } : { stops: [SUMMARY] }) }));

const started = (session: string, at_ns: number) => ({
  sequence: 1,
  at_ns,
  event: { kind: "debug.started", session, body: { by: "page" } },
});

test("a past stop has its place, its variables and its exception as the reason", async () => {
  const stop = await fetchPastStop("/w", "s", 3);
  expect(stop).toMatchObject({ number: 3, path: "pkg/a b.py", line: 12, variables: [{ name: "n", value: "1" }] });
  expect(daemon.askedFor("stop_history")).toEqual([{ at: "s:3" }]);
  expect(pastStopReason(stop)).toBe("ValueError: x");
  expect(pastStopReason({ ...stop, exception: null })).toBe("step");
});

test("stops of the history become entries of the timeline", async () => {
  const [entry] = await fetchPastStops("/w", "s");
  expect(entry).toMatchObject({ sequence: 0, stop: 3, line: 12, path: "pkg/a b.py", at: Date.parse(SUMMARY.at) });
});

test("a stop that is gone is an error in the daemon's words", async () => {
  daemon.answers["stop_history"] = () => {
    throw new Refused({ message: "No stop s:9." });
  };
  await expect(fetchPastStop("/w", "s", 9)).rejects.toThrow("No stop s:9.");
});

test("a session's stops are loaded once, and again after the record was erased or a read failed", async () => {
  const history = new SessionHistory();
  await history.loadStops("/w", "s");
  await history.loadStops("/w", "s");
  expect(daemon.asked).toHaveLength(1);
  expect([history.lastStop("s"), history.lastStop("other")]).toEqual([3, 0]);
  history.clear();
  expect(history.entries).toEqual([]);
  daemon.answers["stop_history"] = () => Promise.reject(new Error("lost"));
  await expect(history.loadStops("/w", "s")).rejects.toThrow("lost");
  daemon.answers["stop_history"] = () => ({ stops: [SUMMARY] });
  await history.loadStops("/w", "s");
  expect(history.lastStop("s")).toBe(3);
});

test("stops of a session that is no longer selected are dropped", async () => {
  const { answer, given } = held();
  daemon.answers["stop_history"] = answer;
  const history = new SessionHistory();
  const loads = [history.loadStops("/w", "s"), history.loadStops("/w", "t")];
  given[0]!({ stops: [SUMMARY] });
  given[1]!({ stops: [] });
  await Promise.all(loads);
  expect(history.entries).toEqual([]);
});

test("of two past stops the one chosen last is shown, and none after the return to the present", async () => {
  const { answer, given } = held();
  daemon.answers["stop_history"] = answer;
  const history = new SessionHistory();
  const shown = [history.showStop("/w", "s", 1), history.showStop("/w", "s", 2)];
  given[1]!({ at: STORED });
  given[0]!({ at: STORED });
  expect(await shown[0]).toBeNull();
  expect(history.pastStop?.number).toBe(2);
  const late = history.showStop("/w", "s", 3);
  history.showPresent();
  await settled();
  given[2]!({ at: STORED });
  expect([await late, history.pastStop]).toEqual([null, null]);
});

test("a session's start names when and who", () => {
  const history = new SessionHistory();
  history.add([started("s", 5e6)]);
  expect(history.startOf("s")).toEqual({ at: 5, actor: "you" });
  expect(history.startOf("t")).toBeNull();
  history.add(Array.from({ length: 500 }, (_, n) => started(`n${n}`, n)));
  expect([history.startOf("s"), history.startOf("n0")?.at]).toEqual([null, 0]); // the oldest makes room
});
