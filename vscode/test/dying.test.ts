/** A server that goes, and one that dies: only of the second is a person told. */
import { chmod, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, expect, test, vi } from "vitest";

import { Watch } from "../src/daemon/watch";
import { room } from "./rooms";

afterEach(() => vi.unstubAllGlobals());

/** A feed that this test holds by its other end. */
class Feed {
  static all: Feed[] = [];
  static refuses = false;
  onmessage: ((told: { data: string }) => void) | null = null;
  onclose: ((end: { code?: number }) => void) | null = null;
  onerror: ((end: object) => void) | null = null;
  constructor() {
    Feed.all.push(this);
    queueMicrotask(() => (Feed.refuses ? this.onerror?.({}) : this.says(7)));
  }
  says(pid: number): void {
    this.onmessage?.({ data: JSON.stringify({ type: "snapshot", state: { pid, sessions: [] } }) });
  }
  close(): void {}
}

async function watched() {
  Object.assign(Feed, { all: [], refuses: false });
  vi.stubGlobal("WebSocket", Feed);
  const folder = await room();
  const places = { stateFile: join(folder, "daemon.json"), tokensFolder: join(folder, "tokens"), logFile: "" };
  await mkdir(places.tokensFolder, { mode: 0o700 });
  for (const [path, text] of [[places.stateFile, JSON.stringify({ pid: 7, bind: "127.0.0.1", port: 9 })], [join(places.tokensFolder, "page"), "t"]] as const) {
    await writeFile(path, text);
    await chmod(path, 0o600);
  }
  const [watch, died] = [new Watch(places, "en"), vi.fn()];
  watch.listen({ died });
  watch.begin();
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
