/** Which daemon is believed to live: only one that says so on the socket that is ours alone. */
import { chmod, rm } from "node:fs/promises";
import type { Server } from "node:net";
import { dirname } from "node:path";
import { afterEach, expect, test, vi } from "vitest";

import { findEndpoint } from "../../src/daemon/endpoint";
import { DaemonWatcher } from "../../src/daemon/daemonWatcher";
import { daemonPlaces, greeting, INSTANCE } from "../daemons";

let server: Server | undefined;
afterEach(() => {
  vi.unstubAllGlobals();
  server?.close();
  server = undefined;
});

/** As Node 22 has it: what cannot be reached is told as an error, and not as closed. */
class Unreachable {
  static tried = 0;
  onerror: (() => void) | null = null;
  onclose: (() => void) | null = null;
  constructor() {
    Unreachable.tried++;
    queueMicrotask(() => this.onerror?.());
  }
  close(): void {}
}

async function watched(
  places: Awaited<ReturnType<typeof daemonPlaces>>,
  look: (watch: DaemonWatcher) => Promise<void>,
): Promise<void> {
  Unreachable.tried = 0;
  vi.stubGlobal("WebSocket", Unreachable);
  const watch = new DaemonWatcher(places, "en");
  watch.start();
  try {
    expect(await watch.until(({ state }) => state === "stopped", 5000)).toBe(true);
    await look(watch);
  } finally {
    watch.dispose();
  }
}

test("a note that a dead server left is no reason to dial its port", async () => {
  await watched(await daemonPlaces(), async () => {
    await new Promise((settle) => setTimeout(settle, 600)); // looked at again, several times
    expect(Unreachable.tried).toBe(0);
  });
});

test("a server that lives and cannot be reached is tried again", async () => {
  const places = await daemonPlaces();
  server = await greeting(places);
  await watched(places, () => vi.waitFor(() => expect(Unreachable.tried).toBeGreaterThan(1), 5000));
});

test("the note and the socket must speak of the same start", async () => {
  const places = await daemonPlaces();
  server = await greeting(places);
  expect(await findEndpoint(places, "en")).toEqual({ authority: "127.0.0.1:9", instance: INSTANCE });
  server.close();
  await rm(places.controlSocket, { force: true });
  server = await greeting(places, "another start");
  expect(await findEndpoint(places, "en")).toBeUndefined();
});

test("a socket in a folder that others can write to is nobody's", async () => {
  const places = await daemonPlaces();
  server = await greeting(places);
  await chmod(dirname(places.controlSocket), 0o777);
  expect(await findEndpoint(places, "en")).toBeUndefined();
  await chmod(dirname(places.controlSocket), 0o700);
  expect(await findEndpoint(places, "en")).toBeDefined();
});

test("a note without an instance, as an older daemon wrote it, is not dialled", async () => {
  const places = await daemonPlaces({ instance: "" });
  server = await greeting(places, "");
  expect(await findEndpoint(places, "en")).toBeUndefined();
});
