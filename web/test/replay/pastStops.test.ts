import { beforeEach, expect, test, vi } from "vitest";
vi.mock("../../src/link", async () => (await import("../daemon")).link);

import { daemon, held, Refused, settled } from "../daemon";
import { fetchPastStop, pastStopReason, pastStopText } from "../../src/replay/pastStops";
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

test("a stop that is gone is an error in the daemon's words", async () => {
  daemon.answers["stop_history"] = () => {
    throw new Refused({ message: "No stop s:9." });
  };
  await expect(fetchPastStop("/w", "s", 9)).rejects.toThrow("No stop s:9.");
});

const record = (number: number, n: string) => ({
  number,
  at_ns: number * 1e6,
  reason: "step",
  seen: [[["run", "/w/a.py", number, false]], [["n", n, "int"]], ["n"], 0, ["", ""]],
});
const EMPTY = { text: "", start: 0, marks: [] };
const EVENTS = "/api/events?after=0&limit=1000&session=s";
const STOPS = "/api/replay/stops?session=s&after=0";
const OUTPUT = "/api/replay/output?session=s&after=0";

function recorded(...stops: unknown[]): void {
  daemon.answers[EVENTS] = () => ({ events: [], more: false });
  daemon.answers[STOPS] = () => ({ stops, more: false });
  daemon.answers[OUTPUT] = () => EMPTY;
}

test("a session's past is loaded once, and again after the record was erased or a read failed", async () => {
  recorded(record(1, "1"), record(3, "2"));
  const history = new SessionHistory();
  await history.load("/w", "s", () => undefined);
  await history.load("/w", "s", () => undefined);
  expect(daemon.asked).toHaveLength(3);
  expect([history.lastStop("s"), history.lastStop("other")]).toEqual([3, 0]);
  expect(history.of("s").map(({ path, line }) => `${path}:${line}`)).toEqual(["a.py:1", "a.py:3"]);
  history.clear();
  expect(history.of("s")).toEqual([]);
  daemon.answers[STOPS] = () => Promise.reject(new Error("lost"));
  await expect(history.load("/w", "s", () => undefined)).rejects.toThrow("lost");
  recorded(record(1, "1"));
  await history.load("/w", "s", () => undefined);
  expect(history.lastStop("s")).toBe(1);
});

test("what was added since is read on", async () => {
  recorded(record(1, "1"));
  const history = new SessionHistory();
  await history.load("/w", "s", () => undefined);
  const body = { stop: 2, reason: "step" };
  history.add([{ sequence: 9, at_ns: 2e6, event: { kind: "debug.stopped", session: "s", body } }]);
  daemon.answers["/api/replay/stops?session=s&after=1"] = () => ({ stops: [record(2, "5")], more: false });
  daemon.answers[OUTPUT] = () => EMPTY;
  await history.load("/w", "s", () => undefined);
  expect(history.stops.map(({ number }) => number)).toEqual([1, 2]);
  const then = await history.showStop("/w", "s", 2);
  expect(then?.changes).toEqual([{ name: "n", before: "1", after: "5" }]);
  expect(pastStopText(then!)).toBe("Stop 2 (past): step · n: 1 → 5");
});

test("stops of a session that is no longer selected are dropped", async () => {
  const { answer, given } = held();
  daemon.answers[STOPS] = answer;
  daemon.answers[EVENTS] = daemon.answers["/api/events?after=0&limit=1000&session=t"] = () => ({ events: [] });
  daemon.answers["/api/replay/stops?session=t&after=0"] = () => ({ stops: [], more: false });
  daemon.answers[OUTPUT] = daemon.answers["/api/replay/output?session=t&after=0"] = () => EMPTY;
  const history = new SessionHistory();
  const loads = [history.load("/w", "s", () => undefined), history.load("/w", "t", () => undefined)];
  await settled();
  given[0]!({ stops: [record(1, "1")], more: false });
  await Promise.all(loads);
  expect([history.of("s"), history.stops]).toEqual([[], []]);
});

test("a moment is shown with the stop before it, and a moment before all stops with none", async () => {
  recorded(record(1, "1"), record(5, "2"));
  const between = { sequence: 7, at_ns: 3e6, event: { kind: "debug.evaluated", session: "s", body: { by: "shell" } } };
  daemon.answers[EVENTS] = () => ({ events: [started("s", 0), between], more: false });
  const history = new SessionHistory();
  await history.load("/w", "s", () => undefined);
  const entries = history.of("s");
  expect(entries.map((it) => it.sequence || -it.stop)).toEqual([1, -1, 7, -5]);
  expect(entries.map((it) => history.showMoment("s", it).number)).toEqual([0, 1, 1, 5]);
  history.showMoment("s", entries[1]!);
  expect(history.presentValues("s")?.get("n")).toBe("2");
  history.showPresent();
  expect([history.moment, history.pastStop]).toEqual([null, null]);
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
