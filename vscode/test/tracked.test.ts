/** What a session tells of itself by the messages that pass. */
import { expect, test } from "vitest";

import type { Json } from "../src/bridge/link";
import { Tracked } from "../src/sharing/tracked";

function tracked() {
  const told: [string, Json][] = [];
  return { told, it: new Tracked((event, body) => told.push([event, body])) };
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
  it.received({ type: "response", command: "initialize", request_seq: 1, success: true, body: { supportsSetVariable: true } });
  it.received({ type: "event", event: "capabilities", body: { capabilities: { supportsStepBack: true } } });
  expect(it.capabilities).toEqual({ supportsSetVariable: true, supportsStepBack: true });
});

test("a step of the person's is told as going on, also by adapters that tell nobody", () => {
  const { it, told } = tracked();
  it.received(stop);
  it.sent({ type: "request", command: "next", seq: 7, arguments: { threadId: 1 } });
  expect(it.stopped).toBeDefined();
  it.received({ type: "response", command: "next", request_seq: 7, success: true });
  expect(it.stopped).toBeUndefined();
  expect(told.at(-1)).toEqual(["continued", { threadId: 1, allThreadsContinued: true }]);
});

test("a stop that came before the answer to its step is the last word", () => {
  const { it, told } = tracked();
  it.sent({ type: "request", command: "next", seq: 7, arguments: { threadId: 1 } });
  it.received(stop);
  it.received({ type: "response", command: "next", request_seq: 7, success: true });
  expect(told.map(([event]) => event)).toEqual(["stopped"]);
  expect(it.stopped).toBeDefined();
});

test("a step that was refused is none", () => {
  const { it, told } = tracked();
  it.received(stop);
  it.sent({ type: "request", command: "continue", seq: 7 });
  it.received({ type: "response", command: "continue", request_seq: 7, success: false });
  expect(told).toHaveLength(1);
  expect(it.sentSoFar("continue")).toBe(1);
});

test("what adapters say of themselves is not told", () => {
  const { it, told } = tracked();
  it.received({ type: "event", event: "output", body: { category: "telemetry", output: "x" } });
  it.received({ type: "event", event: "debugpySockets", body: {} });
  expect(told).toEqual([]);
});
