import { afterEach, beforeEach, expect, test, vi } from "vitest";
vi.mock("../../src/link/session", async () => (await import("./channel")).session);

import type { Json } from "../daemon";
import type { gateway as own } from "../../src/link/gateway";
import type { FakeChannel, session } from "./channel";

let gateway: typeof own;
let channels: FakeChannel[];
const channel = () => channels.at(-1)!;
const settle = () => vi.advanceTimersByTimeAsync(0);

/** One for each page: every test loads its own. */
beforeEach(async () => {
  vi.useFakeTimers();
  vi.resetModules();
  ({ channels } = (await import("../../src/link/session")) as unknown as typeof session);
  channels.length = 0;
  ({ gateway } = await import("../../src/link/gateway"));
  gateway.start();
});
afterEach(() => vi.useRealTimers());

/** Through the handshake, with the interval of the daemon's ticks. */
async function connect(policy: Json = {}): Promise<void> {
  channel().prove();
  channel().receive({ type: "event", event: "connect.challenge" });
  const { id } = channel().sent.at(-1)!;
  channel().receive({ type: "res", id, ok: true, payload: { policy } });
  await settle();
}

const event = (seq: number) => channel().receive({ type: "event", event: "chat", payload: { seq }, seq });

test("it connects as an operator once it is challenged", async () => {
  gateway.start(); // a second view
  expect(channels).toHaveLength(1);
  await connect();
  expect(gateway.connected).toBe(true);
  expect(channel().sent[0]).toMatchObject({ method: "connect", params: { role: "operator", minProtocol: 4 } });
});

test("a refused handshake gives the reason", async () => {
  channel().receive({ type: "event", event: "connect.challenge" });
  channel().receive({
    type: "res",
    id: channel().sent[0]!["id"],
    ok: false,
    error: { code: "X", message: "Too old." },
  });
  await settle();
  expect([gateway.connected, gateway.reason]).toEqual([false, "Too old."]);
  channel().end();
  expect(gateway.reason).toBe("Too old.");
});

test("a request ends with its answer or its error", async () => {
  await connect();
  const [good, bad] = [gateway.request("chat.history"), gateway.request("chat.send")];
  const [one, two] = channel().sent.slice(-2);
  channel().receive({ type: "res", id: two!["id"], ok: false, error: { code: "X", message: "No." } });
  channel().receive({ type: "res", id: one!["id"], ok: true, payload: { messages: [] } });
  await expect(bad).rejects.toThrow("No.");
  expect(await good).toEqual({ messages: [] });
});

test("a request fails without a connection, without an answer in time, and when the connection is lost", async () => {
  await expect(gateway.request("a")).rejects.toThrow("The chat is not connected.");
  await connect();
  const late = expect(gateway.request("a")).rejects.toThrow("The daemon did not respond in time.");
  await vi.advanceTimersByTimeAsync(30_000);
  await late;
  const lost = expect(gateway.request("a")).rejects.toThrow("The connection was lost");
  channel().end();
  await lost;
});

test("an event that comes twice is passed on once, and a gap makes views read again", async () => {
  await connect();
  const [events, states] = [vi.fn(), vi.fn()];
  const leave = gateway.subscribe(events);
  gateway.addEventListener("state", states);
  [1, 2, 2].forEach(event);
  expect([events.mock.calls.length, states.mock.calls.length]).toEqual([2, 0]);
  event(4);
  expect([events.mock.calls.length, states.mock.calls.length]).toEqual([3, 1]);
  leave();
  event(5);
  expect(events).toHaveBeenCalledTimes(3);
});

test("a daemon that sends nothing for two of its ticks counts as lost", async () => {
  await connect({ tickIntervalMs: 1000 });
  await vi.advanceTimersByTimeAsync(1900);
  event(1);
  await vi.advanceTimersByTimeAsync(1900);
  expect(gateway.connected).toBe(true);
  await vi.advanceTimersByTimeAsync(200);
  expect([gateway.connected, channels[0]!.isClosed]).toEqual([false, true]);
});

test("a lost connection is tried again, more and more rarely, and says why", async () => {
  await connect();
  channel().end("ended", 1012);
  expect(gateway.reason).toBe("The daemon is restarting.");
  await vi.advanceTimersByTimeAsync(300);
  expect(channels).toHaveLength(2);
  channel().end("unreachable");
  await vi.advanceTimersByTimeAsync(500);
  expect(channels).toHaveLength(2);
  await vi.advanceTimersByTimeAsync(100);
  expect(channels).toHaveLength(3);
});

test("another program at the daemon's port is never tried again", async () => {
  channel().end("foreign");
  await vi.advanceTimersByTimeAsync(60_000);
  expect(channels).toHaveLength(1);
});
