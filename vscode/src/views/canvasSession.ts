/** Sends what agents draw to the canvas view, and what a person does there to the agent. It does not import vscode. */
import { coalesced } from "../../../web/src/parts/coalesced";
import { RequestError, type Api } from "../daemon/api";
import type { Translate } from "../daemon/sessionLabel";
import type { FromCanvas, ToCanvas } from "../gateway/messages";
import type { ViewPort } from "./viewPort";

interface Surface {
  drawer: string;
  surface_id: string;
  version: number;
  messages: Record<string, unknown>[];
}

export class CanvasSession {
  private readonly versions = new Map<string, number>();
  /** Changes during a read cause another read. */
  readonly read = coalesced(() => this.readOnce());

  constructor(
    private readonly api: () => Api | undefined,
    private readonly port: ViewPort<ToCanvas>,
    private readonly t: Translate,
  ) {}

  /** Send everything again: to a view that has just been opened, or after a reconnect. */
  start(): Promise<void> {
    this.versions.clear();
    this.port.post({ type: "connection_state", state: this.api() ? "connected" : "disconnected" });
    return this.read();
  }

  private async readOnce(): Promise<void> {
    // If it fails, the feed reports when the daemon is back, and everything is read again.
    const answer = await this.api()
      ?.get<{ surfaces: Surface[] }>("/api/canvas")
      .catch(() => undefined);
    if (answer) this.post(answer.surfaces);
  }

  async handle(message: FromCanvas): Promise<void> {
    if (message.type === "ready") return;
    const { id } = message;
    const answer = (outcome: { ok: boolean; payload?: unknown; message?: string }) =>
      id === undefined ? undefined : this.port.post({ type: "answer", id, ...outcome });
    try {
      answer({ ok: true, payload: await this.perform(message) });
    } catch (error) {
      const hint = error instanceof RequestError ? ` ${error.hint}` : "";
      answer({ ok: false, message: `${(error as Error).message}${hint}` });
    }
  }

  private perform(message: Exclude<FromCanvas, { type: "ready" }>): Promise<unknown> {
    const api = this.api();
    if (!api) throw new Error(this.t("Not connected to the server."));
    if (message.type === "names") return api.get("/api/names");
    if (message.type === "removeSurface")
      return api.post("/api/canvas/remove", { drawer: message.drawer, surface_id: message.surface_id });
    return api.post("/api/canvas/act", { ...message.of, details: message.context });
  }

  private post(surfaces: Surface[]): void {
    const gone = new Set(this.versions.keys());
    for (const surface of surfaces) {
      const key = `${surface.drawer}\0${surface.surface_id}`;
      gone.delete(key);
      if (this.versions.get(key) === surface.version) continue;
      this.versions.set(key, surface.version);
      this.postSurface(surface);
    }
    for (const key of gone) {
      this.versions.delete(key);
      const [drawer, surfaceId] = key.split("\0");
      this.port.post({ type: "a2ui", payload: { deleteSurface: { surfaceId }, drawer } });
    }
  }

  /** The protocol's own messages; the last brings along what they come to, as the daemon resolved it. */
  private postSurface(surface: Surface): void {
    const { messages, ...drawn } = surface;
    messages.forEach((payload, index) =>
      this.port.post({ type: "a2ui", payload, ...(index === messages.length - 1 ? { drawn } : {}) }),
    );
  }
}
