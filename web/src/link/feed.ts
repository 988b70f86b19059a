/** The live feed: a snapshot, then everything after it. One for the whole page; it reconnects automatically. */
import { isResponsive, request } from "./requests";
import type { Channel, CloseReason } from "./proof";
import { openDaemonChannel, forgetSession } from "./session";

export interface FeedRow {
  sequence: number;
  at_ns: number;
  event: {
    kind: string;
    session?: string;
    cause?: string;
    text?: string;
    workspace?: string;
    body?: Record<string, unknown>;
  };
}

/** Events after one number, up to another, oldest first. An answer of the daemon holds as many as fit into it. */
export async function fetchEvents(after: number, upto: number, kinds: readonly string[] = []): Promise<FeedRow[]> {
  const rows: FeedRow[] = [];
  for (let [at, more] = [after, true]; more && at < upto;) {
    const answer = await request<{ events: FeedRow[]; more: boolean }>(
      `/api/events?after=${at}&limit=${AT_ONCE}&kinds=${kinds.join()}`,
    );
    rows.push(...answer.events);
    at = answer.events.at(-1)?.sequence ?? upto;
    ({ more } = answer);
  }
  return rows;
}

export interface Snapshot {
  sequence: number;
  state: Record<string, unknown>;
}

export interface FeedListener {
  /** Events of the kinds asked for, in order. */
  events?(rows: FeedRow[]): void;
  /** At the start, after a lost connection and after a gap: read what is shown again. */
  reset?(snapshot: Snapshot): void;
  /** Part of the record was erased: drop what is shown of it. A reset follows. */
  erased?(): void;
}

/**
 * `outside`: there is no session; `silent`: connected, but the daemon does not answer; `lost`: disconnected, retrying;
 * `foreign`: another program answers now, not the daemon of this tab, so nothing is sent to it.
 */
export type FeedState = "outside" | "connecting" | "connected" | "silent" | "lost" | "foreign";

type Message =
  | ({ type: "snapshot" | "erased" } & Snapshot)
  | { type: "gap"; after: number; resumed_at: number; state: Record<string, unknown> }
  | { type: "events"; events: FeedRow[] };

/** Events in one answer. */
const AT_ONCE = 200;
const ROTATED = 4401;
const TOO_BUSY = 503;
const LONGEST_MS = 5000;
const PING_INTERVAL_MS = 5000;

class Feed extends EventTarget {
  state: FeedState = "connecting";
  snapshot: Snapshot | null = null;
  /** Not begun yet. */
  isNew = true;
  private readonly listeners = new Set<{ kinds: string[]; listener: FeedListener }>();
  private attempt = 0;
  private channel: Channel | null = null;

  /** Kinds are whole (`canvas.action_taken`) or a beginning (`canvas.`); none is all. Returns how to stop. */
  subscribe(kinds: string | string[], listener: FeedListener): () => void {
    const entry = { kinds: [kinds].flat(), listener };
    this.listeners.add(entry);
    if (this.snapshot) listener.reset?.(this.snapshot);
    return () => this.listeners.delete(entry);
  }

  start(): void {
    this.isNew = false;
    const line = openDaemonChannel("/link/feed", {
      proved: (proved) => this.checkHealth((this.channel = proved)),
      message: (data) => this.handleMessage(JSON.parse(String(data)) as Message),
      closed: (why, code) => void this.closed(why, code),
    });
    if (!line) this.setState("outside");
  }

  private checkHealth(line: Channel): void {
    setTimeout(async () => {
      if (line !== this.channel) return;
      const now = (await isResponsive()) ? "connected" : "silent";
      if (line !== this.channel) return;
      if (this.snapshot && now !== this.state) this.setState(now);
      this.checkHealth(line);
    }, PING_INTERVAL_MS);
  }

  private handleMessage(message: Message): void {
    if (message.type === "events") {
      this.deliver(message.events);
      return;
    }
    const sequence = message.type === "gap" ? message.resumed_at : message.sequence;
    this.attempt = 0;
    this.snapshot = { sequence, state: message.state };
    this.setState("connected");
    for (const { listener } of this.listeners) {
      if (message.type === "erased") listener.erased?.();
      listener.reset?.(this.snapshot);
    }
  }

  /** A later subscriber starts at the current position. */
  private deliver(rows: FeedRow[]): void {
    const last = rows.at(-1);
    if (this.snapshot && last) this.snapshot = { ...this.snapshot, sequence: last.sequence };
    for (const { kinds, listener } of this.listeners) {
      const wanted = rows.filter(({ event }) => matches(event.kind, kinds));
      if (wanted.length) listener.events?.(wanted);
    }
  }

  /** A foreign server is not tried again: no other program can have the port while our daemon runs, so the daemon and
   *  the session have ended. */
  private async closed(why: CloseReason, code: number): Promise<void> {
    this.snapshot = this.channel = null;
    const isOtherServer = why === "foreign" || (why === "unreachable" && (await isForeignServer()));
    if (code === ROTATED || isOtherServer) {
      forgetSession();
      this.setState(isOtherServer ? "foreign" : "outside");
      return;
    }
    this.setState("lost");
    setTimeout(() => this.start(), Math.min(300 * 2 ** this.attempt++, LONGEST_MS));
  }

  private setState(state: FeedState): void {
    this.state = state;
    this.dispatchEvent(new Event("state"));
  }
}

/**
 * A failed upgrade does not tell a page the reason. A plain request, without secrets, does: our daemon serves its own
 * icon, and is then only too busy; another instance does not know the name of this page.
 */
async function isForeignServer(): Promise<boolean> {
  try {
    const { ok, status } = await fetch("/icon.svg", {
      cache: "no-store",
      signal: AbortSignal.timeout(PING_INTERVAL_MS),
    });
    return !ok && status !== TOO_BUSY;
  } catch {
    return false; // no server answers
  }
}

function matches(kind: string, kinds: string[]): boolean {
  return kinds.length === 0 || kinds.some((it) => (it.endsWith(".") || it === "" ? kind.startsWith(it) : kind === it));
}

export const feed = new Feed();
