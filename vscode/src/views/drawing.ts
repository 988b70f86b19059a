/** What agents draw, told to the canvas view; what a person does there, told to who drew it. No editor in here. */
import { anew } from "../../../web/src/parts/anew";
import { Refused, type Api } from "../daemon/api";
import type { Words } from "../daemon/words";
import type { FromCanvas, ToCanvas } from "../gateway/messages";
import type { Port } from "./port";

interface Surface {
  drawer: string;
  surface_id: string;
  version: number;
  messages: Record<string, unknown>[];
}

export class Drawing {
  private readonly versions = new Map<string, number>();
  /** What changes while it is being read is read again after. */
  readonly read = anew(() => this.readOnce());

  constructor(
    private readonly api: () => Api | undefined,
    private readonly port: Port<ToCanvas>,
    private readonly t: Words,
  ) {}

  /** All anew: for a view that has just been opened, or a daemon that has just been found. */
  begin(): Promise<void> {
    this.versions.clear();
    this.port.post({ type: "connection_state", state: this.api() ? "connected" : "disconnected" });
    return this.read();
  }

  private async readOnce(): Promise<void> {
    // Where it fails, the feed says when the daemon is back, and then all is read anew.
    const answer = await this.api()?.get<{ surfaces: Surface[] }>("/api/canvas").catch(() => undefined);
    if (answer) this.tell(answer.surfaces);
  }

  async take(message: FromCanvas): Promise<void> {
    if (message.type === "ready") return;
    const { id } = message;
    const answer = (told: { ok: boolean; payload?: unknown; message?: string }) =>
      id === undefined ? undefined : this.port.post({ type: "answer", id, ...told });
    try {
      answer({ ok: true, payload: await this.done(message) });
    } catch (error) {
      const hint = error instanceof Refused ? ` ${error.hint}` : "";
      answer({ ok: false, message: `${(error as Error).message}${hint}` });
    }
  }

  private done(message: Exclude<FromCanvas, { type: "ready" }>): Promise<unknown> {
    const api = this.api();
    if (!api) throw new Error(this.t("Not connected to the server right now."));
    if (message.type === "names") return api.get("/api/names");
    if (message.type === "removeSurface") return api.post("/api/canvas/remove", { drawer: message.drawer, surface_id: message.surface_id });
    return api.post("/api/canvas/act", { ...message.of, details: message.context });
  }

  private tell(surfaces: Surface[]): void {
    const gone = new Set(this.versions.keys());
    for (const surface of surfaces) {
      const key = `${surface.drawer}\0${surface.surface_id}`;
      gone.delete(key);
      if (this.versions.get(key) === surface.version) continue;
      this.versions.set(key, surface.version);
      this.tellOne(surface);
    }
    for (const key of gone) {
      this.versions.delete(key);
      const [drawer, surfaceId] = key.split("\0");
      this.port.post({ type: "a2ui", payload: { deleteSurface: { surfaceId }, drawer } });
    }
  }

  /** The protocol's own messages; the last brings along what they come to, as the daemon resolved it. */
  private tellOne(surface: Surface): void {
    const { messages, ...drawn } = surface;
    messages.forEach((payload, index) =>
      this.port.post({ type: "a2ui", payload, ...(index === messages.length - 1 ? { drawn } : {}) }),
    );
  }
}
