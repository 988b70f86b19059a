/** The state of the settings view: the server, every setting and its source, the gateway, the clients. */
import type { ReactiveController, ReactiveControllerHost } from "lit";
import { RequestError, request, feed, post } from "../link";

export interface Setting {
  key: string;
  kind: "string" | "integer" | "boolean" | "choice" | "array" | "object";
  choices: string[];
  value: unknown;
  default: unknown;
  source: "default" | "file" | "variable";
  where: string;
  /** The variable that wins over the file, where one is set. */
  variable: string;
  needs_restart: boolean;
  waits_for_restart: boolean;
  about: string;
  allowed: string;
  may_change: boolean;
  /** The settings that a page may change, if not all. */
  from_page: string;
}

export interface Server {
  version: string;
  pid: number;
  address: string;
  port: number;
  wanted_port: number;
  workspace: string;
  uptime_s: number;
  started_at: string;
  resident_mb: number;
}

export interface GatewayStatus {
  address: string;
  state: string;
  version: string;
  code: string;
  reason: string;
  hint: string;
}

interface SettingsResponse {
  server: Server;
  file: string;
  settings: Setting[];
  warnings: string[];
  gateway: GatewayStatus;
}

const POLL_INTERVAL_MS = 2000;

export class SettingsController implements ReactiveController {
  server: Server | null = null;
  file = "";
  settings = new Map<string, Setting>();
  warnings: string[] = [];
  gateway: GatewayStatus | null = null;
  error = "";
  isConnecting = false;
  private unsubscribe = () => {};
  private timer = 0;

  constructor(private readonly host: ReactiveControllerHost & HTMLElement) {
    host.addController(this);
  }

  hostConnected(): void {
    this.unsubscribe = feed.subscribe("daemon.", { events: () => void this.read(), reset: () => void this.read() });
    this.timer = window.setInterval(
      () => this.host.checkVisibility() && feed.state === "connected" && void this.poll(),
      POLL_INTERVAL_MS,
    );
  }

  hostDisconnected(): void {
    this.unsubscribe();
    clearInterval(this.timer);
  }

  get waitingForRestart(): Setting[] {
    return [...this.settings.values()].filter((it) => it.waits_for_restart);
  }

  /** Empty, or why the value was refused, in the daemon's words. */
  async change(key: string, value: string): Promise<string> {
    try {
      this.settings.set(key, await post<Setting>("/api/settings/change", { key, value }));
      this.host.requestUpdate();
      return "";
    } catch (error) {
      return error instanceof RequestError ? `${error.message} ${error.hint}` : (error as Error).message;
    }
  }

  async connect(): Promise<void> {
    this.isConnecting = true;
    this.host.requestUpdate();
    await this.attempt(async () => (this.gateway = await post<GatewayStatus>("/api/gateway/connect", {})));
    this.isConnecting = false;
    this.host.requestUpdate();
  }

  async disconnect(): Promise<void> {
    await this.attempt(async () => (this.gateway = await post<GatewayStatus>("/api/gateway/disconnect", {})));
  }

  private async read(): Promise<void> {
    await this.attempt(async () => {
      const { server, file, settings, warnings, gateway } = await request<SettingsResponse>("/api/settings");
      Object.assign(this, { server, file, warnings, gateway, settings: new Map(settings.map((it) => [it.key, it])) });
    });
  }

  private poll(): Promise<void> {
    return this.attempt(async () => {
      [this.gateway, this.server] = await Promise.all([
        request<GatewayStatus>("/api/gateway"),
        request<Server>("/api/status"),
      ]);
    });
  }

  private async attempt(action: () => Promise<unknown>): Promise<void> {
    try {
      await action();
      this.error = "";
    } catch (error) {
      // Otherwise the page frame reports the lost connection.
      if (error instanceof RequestError) this.error = `${error.message} ${error.hint}`;
    }
    this.host.requestUpdate();
  }
}
