import { expect, test, vi } from "vitest";
vi.mock("../../src/link/session", async () => (await import("./channel")).session);

import { settled } from "../daemon";
import { isResponsive, post, request, RequestError, stream } from "../../src/link/requests";
import { Unreachable } from "../../src/link/unreachable";
import { channels, session } from "./channel";

/** The socket that is open now; the first request opens it. */
function channel() {
  return channels.at(-1)!;
}

async function sent() {
  await settled();
  return channel().sent.at(-1)!;
}

const whole = (id: unknown, status: number, body: unknown) =>
  channel().receive({ id, status, text: typeof body === "string" ? body : JSON.stringify(body), more: false });

test("a request opens the socket, and parts of its answer are put together", async () => {
  const answer = request("/api/status");
  channel().prove();
  const { id, method, path } = await sent();
  expect([method, path, channel().path]).toEqual(["GET", "/api/status", "/link/calls"]);
  channel().receive({ id, status: 200, text: '{"pid"', more: true });
  channel().receive({ id, text: ": 7}", more: false });
  expect(await answer).toEqual({ pid: 7 });
});

test("answers find their request, in any order, over one socket", async () => {
  const [first, second] = [post("/a", { n: 1 }), post("/b", { n: 2 })];
  await settled();
  const [a, b] = channel().sent.slice(-2);
  whole(b!["id"], 200, "2");
  whole(a!["id"], 200, "1");
  expect([await first, await second, channels.length]).toEqual([1, 2, 1]);
  expect(b).toMatchObject({ method: "POST", body: { n: 2 } });
});

test("a refusal is an error with its code, its message and its hint", async () => {
  const answer = request("/a");
  const { id } = await sent();
  whole(id, 404, { error: { code: "gone", message: "It is gone.", hint: "Start it." } });
  await expect(answer).rejects.toMatchObject({ code: "gone", message: "It is gone.", hint: "Start it." });
  const plain = request("/a");
  whole((await sent())["id"], 502, "<html>bad gateway");
  await expect(plain).rejects.toThrow("Request refused (502): <html>bad gateway");
});

test("what is too large is refused before it is sent", async () => {
  const before = channel().sent.length;
  await expect(post("/a", "x".repeat(1 << 20))).rejects.toMatchObject({ code: "body_too_large" });
  expect(channel().sent).toHaveLength(before);
});

test("a stream passes on its parts, and cancels the request when its reader leaves", async () => {
  const abort = new AbortController();
  const parts = stream("/api/ask", {}, abort.signal);
  const first = parts.next();
  const { id } = await sent();
  channel().receive({ id, status: 200, text: "one", more: true });
  expect(await first).toEqual({ value: "one", done: false });
  const second = parts.next();
  abort.abort();
  await expect(second).rejects.toThrow();
  expect(await sent()).toEqual({ id, cancel: true });
});

test("a stream that is refused halfway throws", async () => {
  const parts = stream("/api/ask", {}, new AbortController().signal).next();
  whole((await sent())["id"], 409, { error: { code: "busy", message: "Busy.", hint: "" } });
  await expect(parts).rejects.toBeInstanceOf(RequestError);
});

test("an error proves that the daemon runs, silence does not", async () => {
  const answer = isResponsive();
  whole((await sent())["id"], 500, "oops");
  expect(await answer).toBe(true);
  const silent = isResponsive();
  await settled();
  channel().end();
  expect(await silent).toBe(false);
});

test("when the socket is lost every request fails, and the next one opens it again", async () => {
  const opened = request("/a");
  channel().prove();
  await settled();
  channel().end();
  await expect(opened).rejects.toBeInstanceOf(Unreachable);
  const count = channels.length;
  const again = request("/b");
  expect(channels).toHaveLength(count + 1);
  channel().end("unreachable"); // before it was proved
  await expect(again).rejects.toBeInstanceOf(Unreachable);
});

test("without a session nothing is sent", async () => {
  session.hasSession = false;
  await expect(request("/a")).rejects.toBeInstanceOf(Unreachable);
  session.hasSession = true;
});
