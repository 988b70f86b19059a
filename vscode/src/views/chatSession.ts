/** The chat view's requests to the gateway. Nothing here knows the editor. */
import type { GatewayClient, State } from "../gateway/client";
import type { FromChat, ToChat } from "../gateway/messages";
import { chatMessageOf } from "../gateway/chatMessages";
import type { ViewPort } from "./viewPort";

export const MAIN = "agent:main:main";
/** Requests that a view may make in addition to its protocol. */
const ALLOWED = new Set([
  "sessions.subscribe",
  "sessions.create",
  "sessions.patch",
  "dragoman.complete",
  "dragoman.gateway",
  "dragoman.approvals",
  "dragoman.approval.resolve",
]);

export class ChatSession {
  private readonly subscription: { dispose(): void };
  key: string;
  /** The run that an abort is about. */
  private running: string | undefined;

  constructor(
    private readonly gateway: GatewayClient,
    private readonly port: ViewPort<ToChat>,
    private readonly memory: { get(): string | undefined; set(key: string): void },
    private readonly onDiff: (change: Extract<ToChat, { kind: "diff" }>) => void,
    private readonly folder: () => string | undefined = () => undefined,
  ) {
    this.key = memory.get() ?? MAIN;
    this.subscription = gateway.listen({
      state: (state) => void this.stateChanged(state),
      event: (event) => this.post(chatMessageOf(event, this.key)),
    });
  }

  dispose(): void {
    this.subscription.dispose();
  }

  /** Send the current state to a view that has just been opened. */
  start(): void {
    this.port.post({ type: "connection_state", state: this.gateway.state });
  }

  async handle(message: FromChat): Promise<void> {
    const id = "id" in message ? message.id : undefined;
    try {
      const payload = await this.perform(message);
      if (id !== undefined) this.port.post({ type: "answer", id, ok: true, payload });
    } catch (error) {
      const words = (error as Error).message;
      if (id !== undefined) this.port.post({ type: "answer", id, ok: false, message: words });
      if (message.type !== "request") this.port.post({ type: "error", message: words });
    }
  }

  /** The chat of this window is about its folder, so the view is connected only when the folder is known. */
  private async stateChanged(state: State): Promise<void> {
    if (state === "connected") await this.openFolder();
    if (state === this.gateway.state) this.port.post({ type: "connection_state", state });
  }

  private async openFolder(): Promise<void> {
    const workspace = this.folder();
    if (!workspace || this.memory.get()) return;
    try {
      const { key } = await this.gateway.request<{ key: string }>("dragoman.open", { workspace });
      this.key = key;
      this.port.post({ type: "event", event: "dragoman.opened", payload: { key } });
    } catch (error) {
      this.port.post({ type: "error", message: (error as Error).message });
    }
  }

  private async createSession(params: Record<string, unknown>): Promise<unknown> {
    const made = await this.gateway.request<{ key: string }>("sessions.create", params);
    const workspace = this.folder();
    if (workspace) await this.gateway.request("dragoman.open", { workspace, key: made.key });
    return made;
  }

  private post(message: ToChat | undefined): void {
    if (!message) return;
    if ("kind" in message) this.running = message.kind === "done" ? undefined : message.runId || this.running;
    this.port.post(message);
    if ("kind" in message && message.kind === "diff") this.onDiff(message);
  }

  private async perform(message: FromChat): Promise<unknown> {
    switch (message.type) {
      case "ready":
        return undefined;
      case "send":
        return this.send(message.text, message.runId ?? crypto.randomUUID());
      case "abort":
        return this.gateway.request("chat.abort", {
          sessionKey: this.key,
          ...(this.running ? { runId: this.running } : {}),
        });
      case "switch_session":
        return this.switchTo(message.key);
      case "request_sessions":
        return this.postSessions();
      case "request":
        if (!ALLOWED.has(message.method)) throw new Error(`${message.method}: not for a view`);
        return message.method === "sessions.create"
          ? this.createSession(message.params)
          : this.gateway.request(message.method, message.params);
    }
  }

  /** The run is called as the answer calls it, which need not be as we did. */
  private async send(message: string, idempotencyKey: string): Promise<unknown> {
    const params = { sessionKey: this.key, message, idempotencyKey };
    const answer = await this.gateway.request<{ runId?: string }>("chat.send", params);
    this.running ??= answer.runId ?? idempotencyKey;
    return answer;
  }

  private async switchTo(key: string): Promise<void> {
    if (key !== this.key) this.running = undefined;
    this.key = key;
    this.memory.set(key);
    this.port.post({ type: "history_loading" });
    const { messages } = await this.gateway.request<{ messages: unknown[] }>("chat.history", { sessionKey: key });
    if (this.key === key) this.port.post({ type: "history", messages });
  }

  private async postSessions(): Promise<void> {
    const { sessions } = await this.gateway.request<{ sessions: unknown[] }>("sessions.list", { limit: 200 });
    this.port.post({ type: "sessions", sessions });
  }
}
