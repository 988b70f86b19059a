/** One conversation: what was said before, and what is being said now. No drawing here. */
import { gateway, type GatewayEvent } from "../link";

export interface Tool {
  kind: "tool";
  id: string;
  name: string;
  input: unknown;
  output: string;
  state: "running" | "done" | "failed";
  startedMs: number;
  endedMs: number;
}
export interface Words {
  kind: "text";
  id: string;
  text: string;
}
export interface Change {
  kind: "diff";
  id: string;
  path: string;
  original: string;
  modified: string;
}
export type Part = Tool | Words | Change;

export interface Said {
  role: "user" | "assistant";
  parts: Part[];
  runId: string;
  atMs: number;
  state: "running" | "done" | "aborted" | "failed";
  reason: string;
}

type Json = Record<string, unknown>;
interface Message extends Json {
  role: string;
  content: unknown;
}

export class Talk extends EventTarget {
  said: Said[] = [];
  private stop = () => {};

  constructor(readonly key: string) {
    super();
  }

  begin(): void {
    this.stop = gateway.subscribe((event) => this.heard(event));
  }

  end(): void {
    this.stop();
  }

  get running(): Said | undefined {
    return this.said.find(({ state }) => state === "running");
  }

  /** Runs that go on keep what was heard of them; everything else is as the daemon remembers it. */
  async read(): Promise<void> {
    const { messages } = await gateway.request<{ messages: Message[] }>("chat.history", { sessionKey: this.key });
    const running = this.said.filter(({ role, state }) => role === "assistant" && state === "running");
    this.said = [...remembered(messages), ...running];
    this.changed();
  }

  async send(text: string): Promise<void> {
    const runId = crypto.randomUUID();
    const said = made("user", runId, "done", [{ kind: "text", id: "", text }]);
    this.said.push(said);
    this.changed();
    try {
      await gateway.request("chat.send", { sessionKey: this.key, message: text, idempotencyKey: runId });
    } catch (error) {
      this.said = this.said.filter((it) => it !== said);
      this.changed();
      throw error;
    }
  }

  abort(): Promise<unknown> {
    return gateway.request("chat.abort", { sessionKey: this.key });
  }

  private heard({ event, payload }: GatewayEvent): void {
    if (payload.sessionKey !== this.key || (event !== "chat" && event !== "agent")) return;
    const runId = String(payload.runId);
    const run = this.run(runId, event === "chat" && payload.state !== "delta");
    if (!run) return;
    const data = (payload.data ?? {}) as Json;
    if (event === "chat") hearState(run, payload);
    else HEAR[String(payload.stream)]?.(run, data);
    this.changed();
  }

  /** A run that somebody else began: what they said is with the daemon. */
  private run(runId: string, isEnd: boolean): Said | undefined {
    const known = this.said.find((it) => it.role === "assistant" && it.runId === runId);
    if (known || isEnd) return known;
    const isOurs = this.said.some((it) => it.role === "user" && it.runId === runId);
    const run = made("assistant", runId, "running", []);
    this.said.push(run);
    if (!isOurs) void this.read();
    return run;
  }

  private changed(): void {
    this.dispatchEvent(new Event("change"));
  }
}

function made(role: Said["role"], runId: string, state: Said["state"], parts: Part[], atMs = Date.now()): Said {
  return { role, parts, runId, atMs, state, reason: "" };
}

const HEAR: Record<string, (run: Said, data: Json) => void> = {
  assistant(run, { text, delta, itemId }) {
    const id = String(itemId ?? "");
    let part = run.parts.find((it): it is Words => it.kind === "text" && it.id === id);
    if (!part) run.parts.push((part = { kind: "text", id, text: "" }));
    part.text = typeof text === "string" ? text : part.text + String(delta ?? "");
  },
  tool(run, data) {
    const tool = toolOf(run, data);
    if (data.phase === "update") tool.output = textOf((data.partialResult as Json | undefined)?.content);
    if (data.phase !== "result") return;
    tool.output = textOf((data.result as Json | undefined)?.content);
    tool.state = data.isError ? "failed" : "done";
    tool.endedMs = Date.now();
  },
  diff(run, { path, original, modified, toolCallId }) {
    const change = { path: String(path), original: String(original ?? ""), modified: String(modified ?? "") };
    run.parts.push({ kind: "diff", id: String(toolCallId), ...change });
  },
};

function toolOf(run: Said, { toolCallId, name, args }: Json): Tool {
  const known = run.parts.find((it): it is Tool => it.kind === "tool" && it.id === toolCallId);
  if (known) return known;
  const id = String(toolCallId);
  const tool: Tool = { kind: "tool", id, name: String(name), input: args, output: "", state: "running", startedMs: Date.now(), endedMs: 0 };
  run.parts.push(tool);
  return tool;
}

/** `chat` frames tell the whole again: what was left out of the quick stream is made good by them. */
function hearState(run: Said, { state, message, errorMessage }: Json): void {
  const whole = textOf((message as Json | undefined)?.content);
  const heard = run.parts.filter((it): it is Words => it.kind === "text").map(({ text }) => text).join("");
  if (whole && bare(whole) !== bare(heard) && bare(whole).length >= bare(heard).length)
    run.parts = [...run.parts.filter(({ kind }) => kind !== "text"), { kind: "text", id: "whole", text: whole }];
  const ended = { final: "done", aborted: "aborted", error: "failed" } as const;
  if (!(String(state) in ended)) return;
  run.state = ended[state as keyof typeof ended];
  run.reason = String(errorMessage ?? "");
  for (const part of run.parts) if (part.kind === "tool" && part.state === "running") part.state = "failed";
}

function bare(text: string): string {
  return text.replace(/\s+/g, "");
}

function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  const parts = Array.isArray(content) ? (content as Json[]) : [];
  return parts.filter(({ type }) => type === "text").map(({ text }) => String(text)).join("");
}

function remembered(messages: Message[]): Said[] {
  const said: Said[] = [];
  for (const message of messages) {
    if (message.role === "toolResult") answerOf(said, message);
    else if (message.role === "user" || message.role === "assistant") said.push(one(message.role, message));
  }
  return said;
}

function one(role: Said["role"], message: Message): Said {
  const ended: Record<string, Said["state"]> = { aborted: "aborted", error: "failed" };
  const calls = (Array.isArray(message.content) ? (message.content as Json[]) : []).filter(({ type }) => type === "toolCall");
  const tools = calls.map((call): Tool => ({
    kind: "tool", id: String(call.id), name: String(call.name), input: call.arguments, output: "", state: "done", startedMs: 0, endedMs: 0,
  }));
  const text = textOf(message.content);
  const words: Words[] = text ? [{ kind: "text", id: "", text }] : [];
  return made(role, "", ended[String(message.stopReason)] ?? "done", [...tools, ...words], Number(message.timestamp ?? 0));
}

function answerOf(said: Said[], { toolCallId, isError, content }: Message): void {
  for (const { parts } of said.slice(-1))
    for (const part of parts)
      if (part.kind === "tool" && part.id === toolCallId) {
        part.output = textOf(content);
        part.state = isError ? "failed" : "done";
      }
}
