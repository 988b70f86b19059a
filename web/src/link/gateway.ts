/** The chat's connection: the gateway protocol, version 4, on a proved socket, so that it needs no token. */
import { language, t } from "../i18n/t";
import { Unreachable } from "./unreachable";
import type { Channel, CloseReason } from "./proof";
import { openDaemonChannel } from "./session";

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
const CLOSE_REASONS: Record<number, string> = {
  1012: "The daemon is restarting.",
  1013: "The daemon has too many connections, or this page reads too slowly.",
};
/** No code of the protocol: we left. */
const SILENT = 0;
const SCOPES = ["read", "write", "approvals", "admin"].map((name) => `operator.${name}`);

class Gateway extends EventTarget {
  connected = false;
  /** Why it is not connected, if the daemon gave a reason. */
  reason = "";
  private channel: Channel | null = null;
  private pending = new Map<string, Pending>();
  private readonly listeners = new Set<(event: GatewayEvent) => void>();
  private nextId = 1;
  private lastSeq = 0;
  private attempt = 0;
  private isStarted = false;
  /** How long the daemon may say nothing, not even that it is there: two of its ticks. */
  private maxSilenceMs = WITHIN_MS;
  private watchdog = 0;

  /** Connects when first wanted, and again whenever it is lost. */
  start(): void {
    if (this.isStarted) return;
    this.isStarted = true;
    this.open();
  }

  subscribe(listener: (event: GatewayEvent) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  request<T = Record<string, unknown>>(method: string, params: Record<string, unknown> = {}): Promise<T> {
    if (!this.connected) return Promise.reject(new Unreachable(t("The chat is not connected.")));
    return this.send<T>(method, params);
  }

  private open(): void {
    this.lastSeq = 0;
    this.maxSilenceMs = WITHIN_MS;
    this.channel = openDaemonChannel("/link/chat", {
      proved: () => this.restartWatchdog(),
      message: (data) => this.handleFrame(JSON.parse(String(data)) as Frame),
      closed: (why, code) => this.closed(code, why),
    });
    this.isStarted = this.channel !== null;
  }

  private send<T>(method: string, params: Record<string, unknown>): Promise<T> {
    const id = String(this.nextId++);
    return new Promise<T>((resolve, reject) => {
      const timer = window.setTimeout(() => {
        this.pending.delete(id);
        reject(new Unreachable(t("The daemon did not respond in time.")));
      }, WITHIN_MS);
      this.pending.set(id, { resolve: resolve as Pending["resolve"], reject, timer });
      this.channel?.send(JSON.stringify({ type: "req", id, method, params }));
    });
  }

  private handleFrame(frame: Frame): void {
    this.restartWatchdog();
    if (frame.type === "res") this.handleResponse(frame);
    else if (frame.event === "connect.challenge") void this.sendConnect();
    else if (frame.type === "event" && frame.event) this.handleEvent(frame);
  }

  private restartWatchdog(): void {
    clearTimeout(this.watchdog);
    if (this.maxSilenceMs < Infinity) this.watchdog = window.setTimeout(() => this.disconnect(), this.maxSilenceMs);
  }

  /** A peer that sends nothing would not answer a close frame either. */
  private disconnect(): void {
    this.channel?.close();
    this.closed(SILENT);
  }

  private handleResponse({ id = "", ok, payload = {}, error }: Frame): void {
    const waiting = this.pending.get(id);
    if (!waiting) return;
    this.pending.delete(id);
    clearTimeout(waiting.timer);
    if (ok) waiting.resolve(payload);
    else waiting.reject(new Error(error?.message ?? "?"));
  }

  private async sendConnect(): Promise<void> {
    const client = { id: "openclaw-control-ui", version: "1", platform: "web", mode: "ui" };
    try {
      const { policy } = await this.send<{ policy?: { tickIntervalMs?: number } }>("connect", {
        minProtocol: 4,
        maxProtocol: 4,
        client,
        role: "operator",
        scopes: SCOPES,
        caps: ["tool-events"],
        locale: language,
      });
      this.maxSilenceMs = 2 * (policy?.tickIntervalMs ?? Infinity);
      this.restartWatchdog();
    } catch (error) {
      this.reason = (error as Error).message; // it closes; the feed reports whether the session is still valid
      return;
    }
    this.reason = "";
    this.attempt = 0;
    this.setConnected(true);
  }

  /**
   * Numbers begin at 1 with each connection. A gap means that an event was lost, so the view reads everything again. An
   * event may also arrive twice.
   */
  private handleEvent({ event = "", payload = {}, seq }: Frame): void {
    if (seq !== undefined) {
      if (seq <= this.lastSeq) return;
      const isGap = seq > this.lastSeq + 1;
      this.lastSeq = seq;
      if (isGap) this.dispatchEvent(new Event("state"));
    }
    for (const listener of this.listeners) listener({ event, payload });
  }

  private closed(code: number, why: CloseReason = "ended"): void {
    clearTimeout(this.watchdog);
    if (this.connected || !this.reason)
      this.reason = t(CLOSE_REASONS[code] ?? "The daemon does not respond. Retrying.");
    for (const { reject, timer } of this.pending.values()) {
      clearTimeout(timer);
      reject(new Unreachable(t("The connection was lost before a response arrived.")));
    }
    this.pending.clear();
    this.isStarted = why !== "foreign";
    this.setConnected(false);
    if (this.isStarted) setTimeout(() => this.open(), Math.min(300 * 2 ** this.attempt++, LONGEST_MS));
  }

  private setConnected(connected: boolean): void {
    this.connected = connected;
    this.dispatchEvent(new Event("state"));
  }
}

export const gateway = new Gateway();
