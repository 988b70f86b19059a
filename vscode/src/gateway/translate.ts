/** What the gateway tells of an agent's run, in the words that the chat view takes. */
import type { GatewayEvent } from "./client";
import type { ToChat } from "./messages";

type Json = Record<string, unknown>;

/** Nothing for what is not of this session, or not shown in a chat. */
export function translated({ event, payload }: GatewayEvent, key: string): ToChat | undefined {
  if (event !== "agent" && event !== "chat") return { type: "event", event, payload };
  if (payload.sessionKey !== key) return undefined;
  const runId = String(payload.runId ?? "");
  return event === "chat" ? ended(payload, runId) : STREAMS[String(payload.stream)]?.((payload.data ?? {}) as Json, runId);
}

const STREAMS: Record<string, (data: Json, runId: string) => ToChat | undefined> = {
  assistant: ({ delta, itemId }, runId) => ({ kind: "text_delta", content: String(delta ?? ""), runId, itemId: String(itemId ?? "") }),
  tool: ({ phase, toolCallId, name, title, args, result, isError }, runId) => {
    const id = String(toolCallId);
    if (phase === "start") return { kind: "tool_start", id, tool: String(name), title: String(title ?? name), input: args, runId };
    if (phase !== "result") return undefined;
    const output = textOf((result as Json | undefined)?.content);
    return { kind: "tool_result", id, output, error: isError ? output : null, runId };
  },
  diff: ({ path, original, modified }, runId) => ({
    kind: "diff", path: String(path), original: original === null || original === undefined ? null : String(original), modified: String(modified ?? ""), runId,
  }),
};

/** The batches of text in between are what the quick stream has told already. */
function ended({ state, message, errorMessage }: Json, runId: string): ToChat | undefined {
  const reasons: Record<string, string> = { final: "end_turn", aborted: "aborted", error: String(errorMessage ?? "error") };
  const stopReason = reasons[String(state)];
  return stopReason === undefined ? undefined : { kind: "done", stopReason, runId, text: textOf((message as Json | undefined)?.content) };
}

export function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  const parts = Array.isArray(content) ? (content as Json[]) : [];
  return parts.filter(({ type }) => type === "text").map(({ text }) => String(text)).join("");
}
