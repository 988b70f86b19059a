/** What a session tells of itself by the messages that pass. */
import { expect, test } from "vitest";

import type { Json } from "../../src/bridge/rpcConnection";
import { SessionTracker } from "../../src/sharing/sessionTracker";

function tracked() {
  const told: [string, Json][] = [];
  return {
    told,
    it: new SessionTracker(
      (event, body) => told.push([event, body]),
      (count) => `[${count} left out]`,
    ),
  };
}

const stop = { type: "event", event: "stopped", body: { reason: "step", threadId: 1 } };

test("what only starts others never lives", () => {
  const { it } = tracked();
  it.received({ type: "event", event: "output", body: { output: "hello" } });
  it.received({ type: "event", event: "terminated" });
  expect([it.isLive, it.isEnded]).toEqual([false, true]);
});

test("capabilities are those of the handshake and what is added later", () => {
  const { it } = tracked();
  it.received({
    type: "response",
    command: "initialize",
    request_seq: 1,
    success: true,
    body: { supportsSetVariable: true },
  });
  it.received({ type: "event", event: "capabilities", body: { capabilities: { supportsStepBack: true } } });
  expect(it.capabilities).toEqual({ supportsSetVariable: true, supportsStepBack: true });
});

test("a step of the person's is told as going on, also by adapters that tell nobody", () => {
  const { it, told } = tracked();
  it.received(stop);
  it.sent({ type: "request", command: "next", seq: 7, arguments: { threadId: 1 } });
  expect(it.stops).toHaveLength(1);
  it.received({ type: "response", command: "next", request_seq: 7, success: true });
  expect(it.stops).toEqual([]);
  expect(told.at(-1)).toEqual(["continued", { threadId: 1, allThreadsContinued: true }]);
});

test("a stop that came before the answer to its step is the last word", () => {
  const { it, told } = tracked();
  it.sent({ type: "request", command: "next", seq: 7, arguments: { threadId: 1 } });
  it.received(stop);
  it.received({ type: "response", command: "next", request_seq: 7, success: true });
  expect(told.map(([event]) => event)).toEqual(["stopped"]);
  expect(it.stops).toHaveLength(1);
});

test("a step that was refused is none", () => {
  const { it, told } = tracked();
  it.received(stop);
  it.sent({ type: "request", command: "continue", seq: 7 });
  it.received({ type: "response", command: "continue", request_seq: 7, success: false });
  expect(told).toHaveLength(1);
  expect(it.sentCount("continue")).toBe(1);
});

test("what adapters say of themselves is not told", () => {
  const { it, told } = tracked();
  it.received({ type: "event", event: "output", body: { category: "telemetry", output: "x" } });
  it.received({ type: "event", event: "debugpySockets", body: {} });
  expect(told).toEqual([]);
});

const at = (threadId: number, more: Json = {}) => ({
  type: "event",
  event: "stopped",
  body: { reason: "breakpoint", threadId, ...more },
});

test("threads that stop by themselves go on by themselves", () => {
  const { it, told } = tracked();
  it.received(at(1));
  it.received(at(2));
  it.received({ type: "event", event: "continued", body: { threadId: 2, allThreadsContinued: false } });
  expect(it.stops.map(({ threadId }) => threadId)).toEqual([1]);
  it.received(at(2));
  it.sent({ type: "request", command: "next", seq: 7, arguments: { threadId: 2 } });
  it.received({ type: "response", command: "next", request_seq: 7, success: true });
  expect(it.stops.map(({ threadId }) => threadId)).toEqual([1]);
  expect(told.at(-1)).toEqual(["continued", { threadId: 2, allThreadsContinued: false }]);
});

test("a stop of another thread meanwhile does not hide that the first went on", () => {
  const { it } = tracked();
  it.received(at(1));
  it.sent({ type: "request", command: "next", seq: 7, arguments: { threadId: 1 } });
  it.received(at(2));
  it.received({ type: "response", command: "next", request_seq: 7, success: true });
  expect(it.stops.map(({ threadId }) => threadId)).toEqual([2]);
});

test("where all threads stop and go on together, the last stop stands for all", () => {
  const { it } = tracked();
  it.received(at(1));
  it.received(at(2, { allThreadsStopped: true }));
  expect(it.stops.map(({ threadId }) => threadId)).toEqual([2]);
  it.received({ type: "event", event: "continued", body: { threadId: 2 } });
  expect(it.stops).toEqual([]);
});

test("a print that no message can hold is cut, and says so", () => {
  const { it, told } = tracked();
  it.received({
    type: "event",
    event: "output",
    body: { category: "stdout", output: `first${"x".repeat(1_000_000)}last`, variablesReference: 3 },
  });
  const output = String(told[0]![1].output);
  expect(output.length).toBeLessThan(50_000);
  expect(output).toMatch(/^first[^]*\[960009 left out\][^]*last$/);
});
