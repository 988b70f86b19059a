/** The gateway's events about an agent's run, as messages for the chat view. */
import type { GatewayEvent } from "./client";
import type { ToChat } from "./messages";

type Json = Record<string, unknown>;

/** Undefined for messages of another session, and for messages that a chat does not show. */
export function chatMessageOf({ event, payload }: GatewayEvent, key: string): ToChat | undefined {
  if (event !== "agent" && event !== "chat") return { type: "event", event, payload };
  if ((payload.sessionKey ?? key) !== key) return undefined;
  const runId = String(payload.runId ?? "");
  if (event === "chat") return doneMessage(payload, runId);
  const { stream, kind, data = {} } = payload;
  return stream === undefined ? KINDS[String(kind)]?.(payload, runId) : STREAMS[String(stream)]?.(data as Json, runId);
}

const STREAMS: Record<string, (data: Json, runId: string) => ToChat | undefined> = {
  assistant: ({ delta, itemId }, runId) => ({
    kind: "text_delta",
    content: String(delta ?? ""),
    runId,
    itemId: String(itemId ?? ""),
  }),
  tool: ({ phase, toolCallId, name, title, args, result, isError }, runId) => {
    const id = String(toolCallId);
    if (phase === "start")
      return { kind: "tool_start", id, tool: String(name), title: String(title ?? name), input: args, runId };
    if (phase !== "result") return undefined;
    const output = textOf((result as Json | undefined)?.content);
    return { kind: "tool_result", id, output, error: isError ? output : null, runId };
  },
  /** The same call, from the event that has its title: real gateways send the title nowhere else. */
  item: ({ phase, toolCallId, name, title }, runId) =>
    toolCallId && title && phase !== "end"
      ? { kind: "tool_update", id: String(toolCallId), tool: String(name ?? ""), title: String(title), runId }
      : undefined,
  diff: diffMessage,
};

/** The protocol document's gateway has no streams: events with a `kind` are passed through. */
const KINDS: Record<string, (payload: Json, runId: string) => ToChat | undefined> = {
  text_delta: ({ content }, runId) => ({ kind: "text_delta", content: String(content ?? ""), runId }),
  tool_start: ({ id, tool, title, input }, runId) => ({
    kind: "tool_start",
    id: String(id),
    tool: String(tool),
    title: String(title ?? tool),
    input,
    runId,
  }),
  tool_update: ({ id, tool, title }, runId) =>
    title ? { kind: "tool_update", id: String(id), tool: String(tool ?? ""), title: String(title), runId } : undefined,
  tool_result: ({ id, output, error }, runId) => ({
    kind: "tool_result",
    id: String(id),
    output: String(output ?? ""),
    error: textOrNull(error),
    runId,
  }),
  diff: diffMessage,
  done: ({ stopReason }, runId) => ({ kind: "done", stopReason: String(stopReason ?? "end_turn"), runId }),
};

function diffMessage({ path, original, modified, toolCallId }: Json, runId: string): ToChat {
  return {
    kind: "diff",
    path: String(path),
    original: textOrNull(original),
    modified: String(modified ?? ""),
    runId,
    toolCallId: String(toolCallId ?? ""),
  };
}

function textOrNull(value: unknown): string | null {
  return value === null || value === undefined ? null : String(value);
}

/** The batches of text in between repeat what the stream of pieces has sent already. */
function doneMessage({ state, message, errorMessage }: Json, runId: string): ToChat | undefined {
  const reasons: Record<string, string> = {
    final: "end_turn",
    aborted: "aborted",
    error: String(errorMessage ?? "error"),
  };
  const stopReason = reasons[String(state)];
  return stopReason === undefined
    ? undefined
    : { kind: "done", stopReason, runId, text: textOf((message as Json | undefined)?.content) };
}

export function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  const parts = Array.isArray(content) ? (content as Json[]) : [];
  return parts
    .filter(({ type }) => type === "text")
    .map(({ text }) => String(text))
    .join("");
}
