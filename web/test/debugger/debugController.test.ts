import { afterEach, beforeEach, expect, test, vi } from "vitest";
vi.mock("../../src/link", async () => (await import("../daemon")).link);
vi.mock("../../src/link/feed", () => ({ fetchEvents: async () => [] }));

import { router } from "../../src/app/router";
import { DebugController } from "../../src/debugger/debugController";
import { daemon, held, host, Refused, settled, type Json } from "../daemon";

const frame = (id: number) => ({ frame_id: id, function_name: "f", file_path: "/w/a.py", line_number: 3 + id });
const stopAt = (number: number, session_id = "s1") => ({
  session_id,
  stop_number: number,
  reason: "step",
  call_stack: [frame(number), frame(90)],
  total_frames: 2,
});
let controller: DebugController;
let sessions: Record<string, Json[]>;
let stop: Json;

beforeEach(() => {
  stop = stopAt(1);
  sessions = { "/w": [{ session_id: "s1", name: "app", state: "Stopped", stop_number: 1 }], "/other": [] };
  daemon.start({
    "/api/debug/folders": () => ({ own: "/w", all: ["/other", "/w"] }),
    "list_sessions": (_, workspace) => ({ sessions: sessions[workspace] }),
    "watches": () => [],
    "wait_for_stop": () => ({ stop_event_data: stop }),
    "get_scopes": ({ frame_id }) => ({ scopes: [{ name: `scope ${String(frame_id)}` }] }),
    "get_source": () => ({ file_path: "/w/a.py", lines: [], total_lines: 0 }),
  });
  router.replace("debugger");
  controller = new DebugController(host() as never);
});
afterEach(() => controller.hostDisconnected());

/** As the page does it when the feed begins. */
async function begin(): Promise<void> {
  controller.hostConnected();
  daemon.listener.reset?.({ sequence: 0, state: {} });
  await vi.waitFor(() => expect(daemon.askedFor("get_debugger_configurations")).not.toEqual([]));
  await settled();
}

const event = (kind: string, session: string, body: Json = {}) => ({
  sequence: 1,
  at_ns: 1,
  event: { kind, session, body },
});

test("at the start the newest live session is selected, with its stop, its frame and its scopes", async () => {
  sessions["/w"]!.unshift({ session_id: "s0", name: "old", state: "Terminated" });
  await begin();
  expect([
    controller.sessions.selected,
    controller.inspection.stop?.stop_number,
    controller.inspection.frame?.frame_id,
  ]).toEqual(["s1", 1, 1]);
  expect(controller.inspection.scopes).toEqual([{ name: "scope 1" }]);
  expect([controller.text?.path, controller.revealed.line]).toEqual(["/w/a.py", 4]);
  expect(controller.sessions.folders).toEqual(["/w", "/other"]); // the daemon's own first
});

test("a program that runs on by itself says when, and can be held", async () => {
  Object.assign(sessions["/w"]![0]!, { resumes_in_s: 30 });
  await begin();
  const left = () => ((controller.sessions.current?.resumesAt ?? 0) - performance.now()) / 1000;
  expect(left()).toBeGreaterThan(25);
  expect(left()).toBeLessThanOrEqual(30);
  Object.assign(sessions["/w"]![0]!, { resumes_in_s: 120 });
  await controller.commands.hold();
  expect(daemon.askedFor("wait_for_stop").at(-1)).toEqual({ session_id: "s1", hold_s: 120, timeout_s: 0 });
  expect(left()).toBeGreaterThan(100);
});

test("a live session in another folder comes before an ended one in this", async () => {
  sessions = {
    "/w": [{ session_id: "s0", name: "old", state: "Terminated" }],
    "/other": [{ session_id: "s2", name: "there", state: "Running" }],
  };
  await begin();
  expect([controller.sessions.selected, controller.sessions.workspace]).toEqual(["s2", "/other"]);
});

test("the address selects the session, and a past stop in it", async () => {
  sessions["/w"]!.unshift({ session_id: "s0", name: "old", state: "Terminated" });
  daemon.answers["stop_history"] = ({ at }) =>
    at ? { at: { reason: "step", place: "b.py:7 in f", frames: [], variables: {} } } : { stops: [] };
  router.replace("debugger", "s0", "5");
  await begin();
  expect([controller.sessions.selected, controller.history.pastStop?.number]).toEqual(["s0", 5]);
  expect([controller.text?.path, controller.revealed.line]).toEqual(["b.py", 7]);
});

test("an address with a session that is gone is reported", async () => {
  router.replace("debugger", "s9");
  await begin();
  expect([controller.sessions.selected, controller.commands.notice]).toEqual([
    "s1",
    "The session in this address no longer exists.",
  ]);
});

test("a session that others start is shown, unless one is being debugged here", async () => {
  await begin();
  sessions["/w"]!.push({ session_id: "s2", name: "new", state: "Running" });
  daemon.listener.events?.([event("debug.started", "s2")]);
  await vi.waitFor(() => expect(controller.sessions.all).toHaveLength(2));
  expect(controller.sessions.selected).toBe("s1");
  sessions["/w"]![0]!["state"] = "Terminated";
  sessions["/w"]!.push({ session_id: "s3", name: "newer", state: "Running" });
  daemon.listener.events?.([event("debug.started", "s3")]);
  await vi.waitFor(() => expect(controller.sessions.selected).toBe("s3"));
});

test("a step shows the next stop from its own answer, and no older one after it", async () => {
  await begin();
  daemon.answers["next"] = () => {
    [stop, sessions["/w"]] = [stopAt(2), [{ session_id: "s1", name: "app", state: "Stopped", stop_number: 2 }]];
    return { stop_event_data: stop };
  };
  const step = controller.commands.run("next");
  expect(controller.commands.busy).toBe(true);
  await step;
  expect([
    controller.commands.busy,
    controller.inspection.stop?.stop_number,
    controller.inspection.frame?.line_number,
  ]).toEqual([false, 2, 5]);
  expect(daemon.askedFor("next")).toEqual([{ session_id: "s1", timeout_s: 1 }]);
  expect(daemon.askedFor("wait_for_stop")).toHaveLength(1);
});

test("what is pressed at the next stop, before the step is over, follows it; at the same stop it is dropped", async () => {
  await begin();
  const { answer, given } = held();
  daemon.answers["next"] = answer;
  const step = controller.commands.run("next");
  await settled();
  const [early, late] = [vi.fn(), vi.fn()];
  controller.commands.whenDone(early);
  [stop, sessions["/w"]] = [stopAt(2), [{ session_id: "s1", name: "app", state: "Stopped", stop_number: 2 }]];
  await controller.refresh();
  controller.commands.whenDone(late);
  given[0]!({ stop_event_data: stop });
  await step;
  expect([early.mock.calls.length, late.mock.calls.length]).toEqual([0, 1]);
});

test("values are read again after another client changed something, not after the page did", async () => {
  await begin();
  const reads = () => daemon.askedFor("get_scopes").length;
  const before = reads();
  daemon.listener.events?.([event("debug.variable_set", "s1", { by: "page" })]);
  await controller.refresh();
  expect(reads()).toBe(before);
  daemon.listener.events?.([event("debug.variable_set", "s1", { by: "agent" })]);
  await controller.refresh();
  expect(reads()).toBe(before + 1);
});

test("a refused start names the folder to trust, and runs once it is trusted", async () => {
  await begin();
  let trusted = false;
  daemon.answers["/api/trust"] = () => ((trusted = true), {});
  daemon.answers["start_debugging"] = () => {
    if (trusted) return { session_id: "s5" };
    throw new Refused({ code: "needs_trust", message: "Not trusted.", details: { folder: "/w", shown: "run a.py" } });
  };
  await controller.commands.start({ program: "a.py" });
  expect(controller.commands.error).toMatchObject({ message: "Not trusted.", untrusted: "/w", wouldRun: "run a.py" });
  sessions["/w"]!.push({ session_id: "s5", name: "a.py", state: "Running" });
  await controller.commands.trust("/w");
  expect([controller.commands.error, controller.sessions.selected]).toEqual([null, "s5"]);
});

test("a session that ran on keeps no frame and no values", async () => {
  await begin();
  sessions["/w"]![0] = { session_id: "s1", name: "app", state: "Running" };
  await controller.refresh();
  expect([controller.inspection.stop, controller.inspection.frame, controller.inspection.scopes]).toEqual([
    null,
    null,
    [],
  ]);
});

test.each([
  [0, "No calls were waiting."],
  [1, "Ended one wait."],
  [3, "Ended 3 waits."],
])("%i ended waits are reported", async (count, notice) => {
  daemon.answers["/api/debug/stop-waiting"] = () => ({ count });
  await controller.commands.stopWaiting();
  expect(controller.commands.notice).toBe(notice);
});
