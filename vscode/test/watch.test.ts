/** The feed's connection, where it fails. */
import { chmod, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, expect, test, vi } from "vitest";

import { Watch } from "../src/daemon/watch";
import { room } from "./rooms";

afterEach(() => vi.unstubAllGlobals());

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

test("a note that a dead server left is seen to be one, and looked at again", async () => {
  vi.stubGlobal("WebSocket", Unreachable);
  const folder = await room();
  const places = { stateFile: join(folder, "daemon.json"), tokensFolder: join(folder, "tokens"), logFile: "" };
  await mkdir(places.tokensFolder, { mode: 0o700 });
  for (const [path, text] of [[places.stateFile, JSON.stringify({ pid: 1, bind: "127.0.0.1", port: 9 })], [join(places.tokensFolder, "page"), "t"]] as const) {
    await writeFile(path, text);
    await chmod(path, 0o600);
  }
  const watch = new Watch(places, "en");
  watch.begin();
  try {
    expect(await watch.until(({ state }) => state === "stopped", 5000)).toBe(true);
    await vi.waitFor(() => expect(Unreachable.tried).toBeGreaterThan(1), 5000);
  } finally {
    watch.dispose();
  }
});
