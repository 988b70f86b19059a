/**
 * The chat's connection: the gateway protocol, version 4, on a proved socket, so that it needs no token. One for the
 * window.
 */
import type { Channel } from "../../../web/src/link/proof";
import type { Api } from "../daemon/api";
import type { Translate } from "../daemon/sessionLabel";

export interface GatewayEvent {
  event: string;
  payload: Record<string, unknown>;
  seq?: number;
}

/** The names that the protocol document uses. */
export type State = "disconnected" | "connecting" | "connected" | "error";

interface Frame extends GatewayEvent {
  type: "req" | "res" | "event";
  id?: string;
  ok?: boolean;
  error?: { code: string; message: string };
}

interface Pending {
  resolve(payload: Record<string, unknown>): void;
  reject(error: Error): void;
  timer: NodeJS.Timeout;
}

export interface Listener {
  event?(event: GatewayEvent): void;
  state?(state: State): void;
}

const WITHIN_MS = 30_000;
const LONGEST_MS = 30_000;
const FIRST_MS = 1000;
const MOST_ATTEMPTS = 10;
const SCOPES = ["read", "write", "approvals", "admin"].map((name) => `operator.${name}`);

export class GatewayClient {
  state: State = "disconnected";
  /** A connection was requested: reconnect when the daemon is back. */
  isWanted = false;
  /** Counts the connections: messages of an earlier one are ignored. */
  private connectionCount = 0;
  private channel: Channel | undefined;
  private readonly pending = new Map<string, Pending>();
  private readonly listeners = new Set<Listener>();
  private nextId = 1;
  private lastSeq = 0;
  private attempt = 0;
  private timer: NodeJS.Timeout | undefined;

  /** `api`: the daemon that runs now, or nothing. */
  constructor(
    private readonly api: () => Api | undefined,
    private readonly t: Translate,
  ) {}

  listen(listener: Listener): { dispose(): void } {
    this.listeners.add(listener);
    return { dispose: () => this.listeners.delete(listener) };
  }

  /** Connects unless it is connected; a new call resets the count of attempts. */
  connect(): void {
    this.isWanted = true;
    if (this.state === "connecting" || this.state === "connected") return;
    this.attempt = 0;
    void this.open();
  }

  disconnect(): void {
    clearTimeout(this.timer);
    this.closeChannel();
    this.rejectPending();
    this.setState("disconnected");
  }

  request<T = Record<string, unknown>>(method: string, params: Record<string, unknown> = {}): Promise<T> {
    if (this.state !== "connected") return Promise.reject(new Error(this.t("Not connected to the server.")));
    return this.send<T>(method, params);
  }

  private async open(): Promise<void> {
    clearTimeout(this.timer);
    const api = this.api();
    if (!api) return this.setState("disconnected");
    this.setState("connecting");
    this.closeChannel();
    const turn = this.connectionCount;
    const isOurs = () => turn === this.connectionCount;
    try {
      const line = await api.openChannel("/link/chat", {
        proved: () => undefined,
        message: (data) => isOurs() && this.handleFrame(JSON.parse(String(data)) as Frame, api),
        closed: () => isOurs() && this.closed(),
      });
      if (isOurs()) this.channel = line;
      else line.close();
    } catch {
      if (isOurs()) this.closed();
    }
  }

  private closeChannel(): void {
    this.connectionCount += 1;
    this.channel?.close();
    this.channel = undefined;
  }

  private send<T>(method: string, params: Record<string, unknown>): Promise<T> {
    const id = String(this.nextId++);
    return new Promise<T>((resolve, reject) => {
      const timer = setTimeout(() => {
        this.pending.delete(id);
        reject(new Error(this.t("The server did not respond within {0} s ({1}).", WITHIN_MS / 1000, method)));
      }, WITHIN_MS);
      this.pending.set(id, { resolve: resolve as Pending["resolve"], reject, timer });
      this.channel?.send(JSON.stringify({ type: "req", id, method, params }));
    });
  }

  private handleFrame(frame: Frame, api: Api): void {
    if (frame.type === "res") this.handleResponse(frame);
    else if (frame.event === "connect.challenge") void this.sendConnect(api);
    else if (this.isNew(frame)) for (const { event } of this.listeners) event?.(frame);
  }

  /** Skips events that have arrived already; events without a number always count. */
  private isNew({ seq }: Frame): boolean {
    if (seq === undefined) return true;
    if (seq <= this.lastSeq) return false;
    this.lastSeq = seq;
    return true;
  }

  private handleResponse({ id = "", ok, payload = {}, error }: Frame): void {
    const waiting = this.pending.get(id);
    this.pending.delete(id);
    clearTimeout(waiting?.timer);
    if (ok) waiting?.resolve(payload);
    else waiting?.reject(new Error(error?.message ?? "?"));
  }

  private async sendConnect(api: Api): Promise<void> {
    const client = { id: "gateway-client", version: "1", platform: process.platform, mode: "ui" };
    try {
      await this.send("connect", {
        minProtocol: 4,
        maxProtocol: 4,
        client,
        role: "operator",
        scopes: SCOPES,
        caps: ["tool-events"],
        locale: api.language,
      });
    } catch {
      return this.closed();
    }
    this.attempt = 0;
    this.lastSeq = 0;
    this.setState("connected");
  }

  private closed(): void {
    this.closeChannel();
    this.rejectPending();
    if (++this.attempt > MOST_ATTEMPTS) return this.setState("error");
    this.setState("connecting");
    this.timer = setTimeout(() => void this.open(), Math.min(FIRST_MS * 2 ** (this.attempt - 1), LONGEST_MS));
  }

  private rejectPending(): void {
    for (const { reject, timer } of this.pending.values()) {
      clearTimeout(timer);
      reject(new Error(this.t("The connection was lost before a response arrived.")));
    }
    this.pending.clear();
  }

  private setState(state: State): void {
    if (state === this.state) return;
    this.state = state;
    for (const listener of this.listeners) listener.state?.(state);
  }
}
