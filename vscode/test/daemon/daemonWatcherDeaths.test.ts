/** A server that goes, and one that dies: only of the second is a person told. */
import type { Server } from "node:net";
import { afterEach, expect, test, vi } from "vitest";

import { DaemonWatcher } from "../../src/daemon/daemonWatcher";
import { daemonPlaces, greeting, ProvedSocket } from "../daemons";

let server: Server | undefined;
afterEach(() => {
  vi.unstubAllGlobals();
  server?.close();
});

/** A feed that this test holds by its other end. */
class Feed extends ProvedSocket {
  static all: Feed[] = [];
  static refuses = false;
  constructor(url: string) {
    super(url);
    Feed.all.push(this);
  }
  protected override opened(): void {
    if (Feed.refuses) this.onerror?.({});
    else super.opened();
  }
  protected override proved(): void {
    this.says({ type: "snapshot", state: { pid: 7, sessions: [] } });
  }
}

async function watched() {
  Object.assign(Feed, { all: [], refuses: false });
  vi.stubGlobal("WebSocket", Feed);
  const places = await daemonPlaces();
  server = await greeting(places);
  const [watch, died] = [new DaemonWatcher(places, "en"), vi.fn()];
  watch.listen({ died });
  watch.start();
  expect(await watch.until(({ state }) => state === "running", 5000)).toBe(true);
  return { watch, died };
}

const looks = (times: number) => vi.waitFor(() => expect(Feed.all.length).toBeGreaterThan(times), 5000);

test.each([
  ["closed without a word", (feed: Feed) => feed.onclose?.({ code: 1006 })],
  ["an error, as Node 22 may tell it", (feed: Feed) => feed.onerror?.({})],
])("one that dies is told of once: %s", async (_, ends) => {
  const { watch, died } = await watched();
  Feed.refuses = true;
  ends(Feed.all[0]!);
  await looks(3);
  expect(died).toHaveBeenCalledOnce();
  watch.dispose();
});

test("one that was stopped or restarted said so, and nobody is alarmed", async () => {
  const { watch, died } = await watched();
  Feed.refuses = true;
  Feed.all[0]!.onclose?.({ code: 1012 });
  await looks(3);
  expect(died).not.toHaveBeenCalled();
  watch.dispose();
});

test("a connection that breaks while the server lives is made again without a word", async () => {
  const { watch, died } = await watched();
  Feed.all[0]!.onclose?.({ code: 1006 });
  expect(await watch.until(({ state }) => state === "running", 5000)).toBe(true);
  Feed.refuses = true;
  Feed.all[1]!.onclose?.({ code: 1012 });
  await looks(3);
  expect(died).not.toHaveBeenCalled();
  watch.dispose();
});
