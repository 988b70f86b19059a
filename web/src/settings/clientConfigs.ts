/** The configuration files of MCP clients: which are connected, what writing one would change, and writing it. */
import { RequestError, feed, ignoreUnreachable, post, request } from "../link";
import { coalesced } from "../parts/coalesced";

export interface Client {
  id: string;
  title: string;
  path: string | null;
  installed: boolean;
  /** Its file has an entry of ours. */
  configured: boolean;
  stdio: { text: string };
  http: { text: string } | null;
  cli: string[] | null;
  note: string;
}

/** What writing would change, as the person has to see it first. */
export interface PlannedChange {
  path: string;
  change: "added" | "updated" | "unchanged";
  lines: string[];
}

/** Of one client: a change to confirm, or what became of it. */
export interface ClientNotice {
  plan?: PlannedChange;
  messages?: readonly string[];
  error?: string;
}

class ClientConfigs extends EventTarget {
  clients: readonly Client[] = [];
  private notices = new Map<string, ClientNotice>();

  /** Keeps it current while a view shows it. Returns how to stop. */
  watch(): () => void {
    const read = () => void this.read().catch(ignoreUnreachable);
    return feed.subscribe("mcp.connected", { events: read, reset: read });
  }

  readonly read = coalesced(async () => {
    this.clients = (await request<{ clients: Client[] }>("/api/settings/clients")).clients;
    this.changed();
  });

  notice(client: string): ClientNotice {
    return this.notices.get(client) ?? {};
  }

  /** Nothing is written yet. */
  async plan(client: string): Promise<void> {
    await this.attempt(client, async () => ({
      plan: await post<PlannedChange>("/api/settings/clients/plan", { client }),
    }));
  }

  async write(client: string): Promise<void> {
    const lines = this.notice(client).plan?.lines;
    if (!lines) return;
    await this.attempt(client, () => post<ClientNotice>("/api/settings/clients/write", { client, lines }));
    await this.read().catch(ignoreUnreachable);
  }

  dismiss(client: string): void {
    this.notices.delete(client);
    this.changed();
  }

  private async attempt(client: string, action: () => Promise<ClientNotice>): Promise<void> {
    try {
      this.notices.set(client, await action());
    } catch (error) {
      const text = error instanceof RequestError ? `${error.message} ${error.hint}` : (error as Error).message;
      this.notices.set(client, { error: text });
    }
    this.changed();
  }

  private changed(): void {
    this.dispatchEvent(new Event("change"));
  }
}

export const clientConfigs = new ClientConfigs();
