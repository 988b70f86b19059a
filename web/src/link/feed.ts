/** The live feed: a snapshot, then everything after it. One for the whole page, and it comes back by itself. */
import { answers, forgetSession, isRefused, session } from "./calls";

export interface Row {
  sequence: number;
  at_ns: number;
  event: { kind: string; session?: string; cause?: string; text?: string; body?: Record<string, unknown> };
}

export interface Snapshot {
  sequence: number;
  state: Record<string, unknown>;
}

export interface FeedListener {
  /** Events of the kinds asked for, in order. */
  events?(rows: Row[]): void;
  /** At the beginning, after a lost connection and after a gap: read anew what you show. */
  reset?(snapshot: Snapshot): void;
  /** Something of the record is no more: let go of what you show of it. A reset follows. */
  erased?(): void;
}

/** `outside`: there is no session; `silent`: the connection stands, and nobody answers; `lost`: the daemon is not there,
 *  and is being tried again. */
export type FeedState = "outside" | "connecting" | "connected" | "silent" | "lost";

type Message =
  | ({ type: "snapshot" | "erased" } & Snapshot)
  | { type: "gap"; after: number; resumed_at: number; state: Record<string, unknown> }
  | { type: "events"; events: Row[] };

const ROTATED = 4401;
const LONGEST_MS = 5000;
const ASK_EVERY_MS = 5000;

class Feed extends EventTarget {
  state: FeedState = "connecting";
  snapshot: Snapshot | null = null;
  /** The port that a restart moves it to; 0: none that we know of. */
  nextPort = 0;
  /** Not begun yet. */
  isNew = true;
  private readonly listeners = new Set<{ kinds: string[]; listener: FeedListener }>();
  private attempt = 0;

  /** Kinds are whole (`canvas.action_taken`) or a beginning (`canvas.`); none is all. Returns how to stop. */
  subscribe(kinds: string | string[], listener: FeedListener): () => void {
    const entry = { kinds: [kinds].flat(), listener };
    this.listeners.add(entry);
    if (this.snapshot) listener.reset?.(this.snapshot);
    return () => this.listeners.delete(entry);
  }

  begin(): void {
    this.isNew = false;
    if (!session()) {
      this.become("outside");
      return;
    }
    const socket = new WebSocket(`ws://${location.host}/api/feed`, ["dragoman.v1", `bearer.${session()}`]);
    socket.onmessage = ({ data }: MessageEvent<string>) => this.heard(JSON.parse(data) as Message);
    socket.onclose = ({ code }) => void this.closed(code);
    socket.onopen = () => this.askNowAndThen(socket);
  }

  private askNowAndThen(socket: WebSocket): void {
    setTimeout(async () => {
      const now = (await answers()) ? "connected" : "silent";
      if (socket.readyState !== WebSocket.OPEN) return;
      if (this.snapshot && now !== this.state) this.become(now);
      this.askNowAndThen(socket);
    }, ASK_EVERY_MS);
  }

  private heard(message: Message): void {
    if (message.type === "events") {
      this.tell(message.events);
      return;
    }
    const sequence = message.type === "gap" ? message.resumed_at : message.sequence;
    this.attempt = 0;
    this.snapshot = { sequence, state: message.state };
    this.become("connected");
    for (const { listener } of this.listeners) {
      if (message.type === "erased") listener.erased?.();
      listener.reset?.(this.snapshot);
    }
  }

  /** Who subscribes later begins where this is by then. */
  private tell(rows: Row[]): void {
    const last = rows.at(-1);
    if (this.snapshot && last) this.snapshot = { ...this.snapshot, sequence: last.sequence };
    for (const { kinds, listener } of this.listeners) {
      const wanted = rows.filter(({ event }) => matches(event.kind, kinds));
      if (wanted.length) listener.events?.(wanted);
    }
  }

  private async closed(code: number): Promise<void> {
    this.snapshot = null;
    if (code === ROTATED || (await isRefused())) {
      forgetSession();
      this.become("outside");
      return;
    }
    this.become("lost");
    setTimeout(() => this.begin(), Math.min(300 * 2 ** this.attempt++, LONGEST_MS));
  }

  private become(state: FeedState): void {
    this.state = state;
    this.dispatchEvent(new Event("state"));
  }
}

function matches(kind: string, kinds: string[]): boolean {
  return kinds.length === 0 || kinds.some((it) => (it.endsWith(".") || it === "" ? kind.startsWith(it) : kind === it));
}

export const feed = new Feed();
