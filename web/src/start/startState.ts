/** What the daemon knows about the first visit: the folder, its trust, and which steps were done. */
import { RequestError, feed, ignoreUnreachable, post, request } from "../link";
import { coalesced } from "../parts/coalesced";

export interface StartState {
  folder: string;
  is_trusted: boolean;
  may_trust: boolean;
  is_connected: boolean;
  was_demo_run: boolean;
  was_explained: boolean;
  is_shell_recorded: boolean;
  /** Nothing was debugged, asked or recorded here yet. */
  is_new: boolean;
}

/** Events after which a step may be done. */
const KINDS = ["workspace.", "mcp.connected", "debug.started", "terminal.began"];

class Start extends EventTarget {
  state: StartState | null = null;
  error = "";

  /** Keeps it current while a view shows it. Returns how to stop. */
  watch(): () => void {
    const read = () => void this.read().catch(ignoreUnreachable);
    return feed.subscribe(KINDS, { events: read, reset: read });
  }

  readonly read = coalesced(async () => {
    this.state = await request<StartState>("/api/start");
    this.dispatchEvent(new Event("change"));
  });

  async trust(): Promise<void> {
    try {
      await post("/api/trust", { folder: this.state!.folder });
      this.error = "";
      await this.read();
    } catch (error) {
      if (error instanceof RequestError) this.error = `${error.message} ${error.hint}`;
      this.dispatchEvent(new Event("change"));
    }
  }
}

export const start = new Start();

/** Whether the person should see the first visit instead of an empty chat. */
export async function isFirstVisit(): Promise<boolean> {
  try {
    return (await request<StartState>("/api/start")).is_new;
  } catch {
    return false;
  }
}

/** The steps in the order in which they are shown, each with whether it is done. */
export function stepsDone(it: StartState): readonly boolean[] {
  return [it.is_trusted, it.is_connected, it.was_demo_run, it.was_explained, it.is_shell_recorded];
}
