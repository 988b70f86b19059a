/** The extension's own way to the daemon, without an editor: for tests that put somebody else behind the port.
 *
 *     dialler watch MS               what the window comes to know within that time, one state a line, then a status
 *     dialler dial HOST:PORT ID      one socket to a listener that is believed to be that start of the daemon
 */
import { Api } from "../../src/daemon/api";
import { findPlaces } from "../../src/daemon/places";
import { DaemonWatcher } from "../../src/daemon/daemonWatcher";

const say = (it: unknown) => console.log(JSON.stringify(it));
const [mode = "", first = "", second = ""] = process.argv.slice(2);

if (mode === "watch") void watch(Number(first));
else void dial(first, second);

async function watch(withinMs: number): Promise<void> {
  const watch = new DaemonWatcher(findPlaces(), "en");
  watch.listen({ state: ({ state }) => say({ state }) });
  watch.start();
  if (await watch.until(({ state }) => state === "running", withinMs))
    say({ status: await watch.api?.get("/api/status") });
  watch.dispose();
  process.exit();
}

async function dial(authority: string, instance: string): Promise<void> {
  const end = (it: unknown) => {
    say(it);
    process.exit();
  };
  const api = new Api({ authority, instance }, findPlaces(), "en");
  await api.openChannel("/link/feed", {
    proved: () => undefined,
    message: (data) => end({ said: String(data).slice(0, 200) }),
    closed: (why) => end({ why }),
  });
}
