/**
 * The gateway of the page's chat inside a view: every call and event goes through the extension, as messages of the
 * view.
 */
import type { GatewayEvent } from "../../../web/src/link/gateway";
import { t } from "../../../web/src/i18n/t";
import type { ToChat } from "../gateway/messages";
import { request, listen, notify } from "./extensionPort";

type Json = Record<string, unknown>;
type ChatMessage = Exclude<ToChat, { type: "answer" }>;

class ExtensionGateway extends EventTarget {
  connected = false;
  /** Empty while it connects: only a failure needs a reason. */
  reason = "";
  private key = "";
  private readonly listeners = new Set<(event: GatewayEvent) => void>();
  private sessions: unknown[] = [];
  private messages: unknown[] = [];

  start(): void {
    listen<ChatMessage>((message) => this.handleMessage(message));
    notify({ type: "ready" });
  }

  subscribe(listener: (event: GatewayEvent) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  async request<T = Json>(method: string, params: Json = {}): Promise<T> {
    const known = METHODS[method];
    if (!known) return request<T>({ type: "request", method, params });
    if (method === "chat.history") this.key = String(params.sessionKey);
    const answer = await request<Json | undefined>({ ...known(params) });
    return { ...answer, sessions: this.sessions, messages: this.messages } as T;
  }

  private handleMessage(message: ChatMessage): void {
    if ("kind" in message) this.emit(EVENTS[message.kind](message as never));
    else if (message.type === "event") this.emit(message);
    else if (message.type === "connection_state") this.setState(message.state);
    else if (message.type === "sessions") this.sessions = message.sessions;
    else if (message.type === "history") this.messages = message.messages;
    else if (message.type === "history_loading") this.messages = [];
    else if (message.type === "error")
      this.dispatchEvent(new CustomEvent("gateway-error", { detail: message.message }));
    else if (message.type === "inject_prompt")
      window.dispatchEvent(new CustomEvent("inject-prompt", { detail: message.text }));
  }

  private emit({ event, payload }: GatewayEvent): void {
    for (const listener of this.listeners) listener({ event, payload: { sessionKey: this.key, ...payload } });
  }

  private setState(state: string): void {
    this.connected = state === "connected";
    this.reason = this.connected || state === "connecting" ? "" : t(REASONS[state] ?? "The daemon does not respond.");
    this.dispatchEvent(new Event("state"));
  }
}

const REASONS: Record<string, string> = {
  disconnected: "The daemon does not respond. Retrying.",
  error: "Could not reach the daemon after ten attempts. Retrying when the daemon starts.",
};

const METHODS: Record<string, (params: Json) => object> = {
  "chat.send": ({ message, idempotencyKey }) => ({ type: "send", text: message, runId: idempotencyKey }),
  "chat.abort": () => ({ type: "abort" }),
  "chat.history": ({ sessionKey }) => ({ type: "switch_session", key: sessionKey }),
  "sessions.list": () => ({ type: "request_sessions" }),
};

type Kinds = Extract<ChatMessage, { kind: string }>;

const EVENTS: { [K in Kinds["kind"]]: (message: Extract<Kinds, { kind: K }>) => GatewayEvent } = {
  text_delta: ({ runId, content, itemId }) => stream(runId, "assistant", { delta: content, itemId }),
  tool_start: ({ runId, id, tool, title, input }) =>
    stream(runId, "tool", { phase: "start", toolCallId: id, name: tool, title, args: input }),
  tool_update: ({ runId, id, tool, title }) =>
    stream(runId, "item", { phase: "update", toolCallId: id, name: tool, title }),
  tool_result: ({ runId, id, output, error }) =>
    stream(runId, "tool", {
      phase: "result",
      toolCallId: id,
      result: { content: resultText(output, error) },
      isError: error !== null,
    }),
  diff: ({ runId, path, original, modified, toolCallId }) =>
    stream(runId, "diff", { path, original, modified, toolCallId }),
  done: ({ runId, stopReason, text }) => {
    const state = STATES[stopReason] ?? "error";
    const reason = state === "error" ? { errorMessage: stopReason } : {};
    return { event: "chat", payload: { runId, state, message: { content: text ?? "" }, ...reason } };
  },
};

/** The answer's text, then the error, unless one repeats the other. */
function resultText(output: string, error: string | null): string {
  return output.includes(error ?? "") ? output : [output, error].filter(Boolean).join("\n");
}

/** Any other text is the error itself. */
const STATES: Record<string, string> = {
  end_turn: "final",
  stop: "final",
  stop_sequence: "final",
  max_tokens: "final",
  aborted: "aborted",
};

function stream(runId: string, name: string, data: Json): GatewayEvent {
  return { event: "agent", payload: { runId, stream: name, data } };
}

export const gateway = new ExtensionGateway();
