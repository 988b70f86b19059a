/** The chat's connection: the gateway protocol, version 4, on a proved socket, so that it needs no token. */
import { language, t } from "../i18n/t";
import { Away } from "./away";
import type { Line, Why } from "./proof";
import { dialHome } from "./session";

export interface GatewayEvent {
  event: string;
  payload: Record<string, unknown>;
}

interface Frame {
  type: "req" | "res" | "event";
  id?: string;
  ok?: boolean;
  event?: string;
  seq?: number;
  payload?: Record<string, unknown>;
  error?: { code: string; message: string };
}

interface Pending {
  resolve(payload: Record<string, unknown>): void;
  reject(error: Error): void;
  timer: number;
}

const WITHIN_MS = 30_000;
const LONGEST_MS = 5000;
const WHY: Record<number, string> = {
  1012: "The daemon is restarting.",
  1013: "The daemon has too many connections, or this page was too slow.",
};
/** No code of the protocol: we left. */
const SILENT = 0;
const SCOPES = ["read", "write", "approvals", "admin"].map((name) => `operator.${name}`);

class Gateway extends EventTarget {
  connected = false;
  /** Why it is not, where somebody said so. */
  reason = "";
  private line: Line | null = null;
  private pending = new Map<string, Pending>();
  private readonly listeners = new Set<(event: GatewayEvent) => void>();
  private nextId = 1;
  private lastSeq = 0;
  private attempt = 0;
  private begun = false;
  /** How long the daemon may say nothing, not even that it is there: two of its ticks. */
  private silentMs = WITHIN_MS;
  private watchdog = 0;

  /** Connects when first wanted, and again whenever it is lost. */
  begin(): void {
    if (this.begun) return;
    this.begun = true;
    this.open();
  }

  subscribe(listener: (event: GatewayEvent) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  request<T = Record<string, unknown>>(method: string, params: Record<string, unknown> = {}): Promise<T> {
    if (!this.connected) return Promise.reject(new Away(t("The chat is not connected right now.")));
    return this.send<T>(method, params);
  }

  private open(): void {
    this.lastSeq = 0;
    this.silentMs = WITHIN_MS;
    this.line = dialHome("/link/chat", {
      proved: () => this.watch(),
      message: (data) => this.heard(JSON.parse(String(data)) as Frame),
      closed: (why, code) => this.closed(code, why),
    });
    this.begun = this.line !== null;
  }

  private send<T>(method: string, params: Record<string, unknown>): Promise<T> {
    const id = String(this.nextId++);
    return new Promise<T>((resolve, reject) => {
      const timer = window.setTimeout(() => {
        this.pending.delete(id);
        reject(new Away(t("The daemon did not answer in time.")));
      }, WITHIN_MS);
      this.pending.set(id, { resolve: resolve as Pending["resolve"], reject, timer });
      this.line?.send(JSON.stringify({ type: "req", id, method, params }));
    });
  }

  private heard(frame: Frame): void {
    this.watch();
    if (frame.type === "res") this.answered(frame);
    else if (frame.event === "connect.challenge") void this.greet();
    else if (frame.type === "event" && frame.event) this.told(frame);
  }

  private watch(): void {
    clearTimeout(this.watchdog);
    if (this.silentMs < Infinity) this.watchdog = window.setTimeout(() => this.abandon(), this.silentMs);
  }

  /** Whoever says nothing would not say goodbye either. */
  private abandon(): void {
    this.line?.close();
    this.closed(SILENT);
  }

  private answered({ id = "", ok, payload = {}, error }: Frame): void {
    const waiting = this.pending.get(id);
    if (!waiting) return;
    this.pending.delete(id);
    clearTimeout(waiting.timer);
    if (ok) waiting.resolve(payload);
    else waiting.reject(new Error(error?.message ?? "?"));
  }

  private async greet(): Promise<void> {
    const client = { id: "openclaw-control-ui", version: "1", platform: "web", mode: "ui" };
    try {
      const { policy } = await this.send<{ policy?: { tickIntervalMs?: number } }>("connect", {
        minProtocol: 4, maxProtocol: 4, client, role: "operator", scopes: SCOPES, caps: ["tool-events"], locale: language,
      });
      this.silentMs = 2 * (policy?.tickIntervalMs ?? Infinity);
      this.watch();
    } catch (error) {
      this.reason = (error as Error).message; // it closes; the feed says whether the session still holds
      return;
    }
    this.reason = "";
    this.attempt = 0;
    this.become(true);
  }

  /** Numbers begin at 1 with each connection. One that is missing means that something was not told: whoever shows it
   *  reads it anew. One that was there is told twice. */
  private told({ event = "", payload = {}, seq }: Frame): void {
    if (seq !== undefined) {
      if (seq <= this.lastSeq) return;
      const isGap = seq > this.lastSeq + 1;
      this.lastSeq = seq;
      if (isGap) this.dispatchEvent(new Event("state"));
    }
    for (const listener of this.listeners) listener({ event, payload });
  }

  private closed(code: number, why: Why = "ended"): void {
    clearTimeout(this.watchdog);
    if (this.connected || !this.reason) this.reason = t(WHY[code] ?? "The daemon does not answer; it is tried again.");
    for (const { reject, timer } of this.pending.values()) {
      clearTimeout(timer);
      reject(new Away(t("The connection was lost before the answer came.")));
    }
    this.pending.clear();
    this.begun = why !== "stranger";
    this.become(false);
    if (this.begun) setTimeout(() => this.open(), Math.min(300 * 2 ** this.attempt++, LONGEST_MS));
  }

  private become(connected: boolean): void {
    this.connected = connected;
    this.dispatchEvent(new Event("state"));
  }
}

export const gateway = new Gateway();
