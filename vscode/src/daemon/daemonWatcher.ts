/**
 * Whether the daemon runs and which sessions it has, as the daemon itself reports: so all windows agree.
 *
 * While it runs, its feed reports changes. When the feed ends, the daemon is gone or restarting: `home.ts` looks for it
 * until there is a feed again.
 */
import { Api } from "./api";
import { findEndpoint, type Endpoint } from "./endpoint";
import type { Channel, CloseReason } from "../../../web/src/link/proof";
import type { Places } from "./places";
import type { ServerState, FeedRow, Status } from "./status";

const FILE_POLL_INTERVAL_MS = 250;
const GATHER_MS = 50;
const STATUS_POLL_INTERVAL_MS = 5000;
const ANSWERS_WITHIN_MS = 3000;
/** Events that may change the list of live sessions. */
const SESSION_EVENTS = /^(debug\.(started|ended|failed)|terminal\.|chat\.)/;

type Message = { type: "snapshot" | "gap"; state: Status } | { type: "events"; events: FeedRow[] };
/** `died`: it is gone, and did not say that it goes. */
export type WatcherListener = { state?(newState: ServerState): void; events?(rows: FeedRow[]): void; died?(): void };
/** The close code of a connection that ended without a close frame. */
const ABNORMAL_CLOSURE = 1006;

export class DaemonWatcher {
  state: ServerState = { state: "unknown" };
  api: Api | undefined;
  private readonly listeners = new Set<WatcherListener>();
  private channel: Channel | undefined;
  private timers = new Set<NodeJS.Timeout>();
  private isRefreshing = false;
  private isEnded = false;
  /** The feed ended without a reason: the next poll finds out whether the daemon runs. */
  private isMissed = false;

  constructor(
    private readonly places: Places,
    private readonly language: string,
  ) {}

  listen(listener: WatcherListener): { dispose(): void } {
    this.listeners.add(listener);
    return { dispose: () => this.listeners.delete(listener) };
  }

  start(): void {
    this.after(0, () => this.findDaemon());
  }

  dispose(): void {
    this.isEnded = true;
    for (const timer of this.timers) clearTimeout(timer);
    this.channel?.close();
    this.api?.close();
  }

  /** The next answer of the daemon that fits, or the present one. */
  async until(fits: (newState: ServerState) => boolean, withinMs: number): Promise<boolean> {
    if (fits(this.state)) return true;
    return new Promise((settle) => {
      const end = (answer: boolean) => {
        clearTimeout(timer);
        subscription.dispose();
        settle(answer);
      };
      const subscription = this.listen({ state: (newState) => fits(newState) && end(true) });
      const timer = setTimeout(() => end(false), withinMs);
    });
  }

  private async findDaemon(): Promise<void> {
    const home = await findEndpoint(this.places, this.language).catch(() => undefined);
    if (this.isEnded) return;
    if (home) await this.connect(home);
    else this.lost();
  }

  private async connect(home: Endpoint): Promise<void> {
    const api = new Api(home, this.places, this.language);
    let [isOpen, isOver] = [false, false];
    const closed = (why: CloseReason, code: number) => {
      if (isOver) return;
      isOver = true;
      clearTimeout(deadline);
      api.close();
      this.lost(isOpen && this.state.state === "running" && why === "ended" && isAbnormal(code));
    };
    const message = (data: string | ArrayBuffer) => {
      clearTimeout(deadline);
      if (!isOpen && this.channel) this.connected(api, this.channel);
      isOpen = true;
      this.handleMessage(JSON.parse(String(data)) as Message);
    };
    const deadline = setTimeout(() => {
      this.channel?.close();
      closed("unreachable", 0);
    }, ANSWERS_WITHIN_MS);
    try {
      const line = await api.openChannel("/link/feed", { proved: () => undefined, message, closed });
      if (this.isEnded) line.close();
      else this.channel = line;
    } catch {
      closed("unreachable", 0);
    }
  }

  private connected(api: Api, line: Channel): void {
    this.api = api;
    this.isMissed = false;
    this.checkHealth(line);
  }

  private lost(isMissed = false): void {
    this.channel = undefined;
    this.api = undefined;
    if (this.isEnded) return;
    if (this.isMissed && !isMissed) for (const { died } of this.listeners) died?.();
    this.isMissed = isMissed;
    this.setState({ state: "stopped" });
    this.after(FILE_POLL_INTERVAL_MS, () => this.findDaemon());
  }

  private handleMessage(message: Message): void {
    if (message.type !== "events") {
      this.setState({ state: "running", status: message.state });
      return;
    }
    for (const { events } of this.listeners) events?.(message.events);
    if (message.events.some(({ event }) => SESSION_EVENTS.test(event.kind))) this.refreshSoon();
  }

  /** Many events in a row are one question. */
  private refreshSoon(): void {
    if (this.isRefreshing) return;
    this.isRefreshing = true;
    this.after(GATHER_MS, async () => {
      this.isRefreshing = false;
      await this.readStatus();
    });
  }

  /** A process that hangs keeps its connections: only an answer proves that it runs. */
  private checkHealth(line: Channel): void {
    this.after(STATUS_POLL_INTERVAL_MS, async () => {
      if (line !== this.channel) return;
      await this.readStatus();
      this.checkHealth(line);
    });
  }

  /** Asks the daemon now: an event arrives a moment before the list of sessions that it changes is read again. */
  async readStatus(): Promise<void> {
    const currentApi = this.api;
    try {
      const status = await currentApi?.get<Status>("/api/status", ANSWERS_WITHIN_MS);
      if (status && currentApi === this.api) this.setState({ state: "running", status });
    } catch {
      if (currentApi && currentApi === this.api) this.setState({ state: "silent" });
    }
  }

  private setState(newState: ServerState): void {
    if (newState.state !== "running" && newState.state === this.state.state) return;
    this.state = newState;
    for (const { state: notify } of this.listeners) notify?.(newState);
  }

  private after(ms: number, action: () => unknown): void {
    const timer = setTimeout(() => {
      this.timers.delete(timer);
      void action();
    }, ms);
    this.timers.add(timer);
  }
}

function isAbnormal(code: number): boolean {
  return (code || ABNORMAL_CLOSURE) === ABNORMAL_CLOSURE;
}
