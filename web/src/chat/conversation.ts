/** One conversation: what was said before, and what is being said now. No drawing here. */
import { Unreachable, gateway, ignoreUnreachable, type GatewayEvent } from "../link";
import { fileChanges } from "./fileChanges";
import { outbox, type Unsent } from "./outbox";

export interface ToolPart {
  kind: "tool";
  id: string;
  name: string;
  /** For people, where the agent gives one. */
  title: string;
  input: unknown;
  output: string;
  state: "running" | "done" | "failed";
  startedMs: number;
  /** NaN while it runs, or if unknown. */
  endedMs: number;
}
export interface TextPart {
  kind: "text";
  id: string;
  text: string;
}
export interface DiffPart {
  kind: "diff";
  id: string;
  path: string;
  original: string;
  modified: string;
}
export type Part = ToolPart | TextPart | DiffPart;

export interface ChatMessage {
  role: "user" | "assistant";
  parts: Part[];
  runId: string;
  atMs: number;
  state: "running" | "done" | "aborted" | "failed" | "unanswered";
  reason: string;
  /** The author, if the daemon knows it. */
  by: string;
  /** The run began before this page connected: its text arrives as a whole, so pieces of it must be ignored. */
  isAdopted: boolean;
}

type Json = Record<string, unknown>;
interface InFlight {
  runId: string;
  text: string;
  events?: { stream: string; data: Json }[];
}
interface History {
  messages: HistoryMessage[];
  inFlightRun?: InFlight;
}
interface HistoryMessage extends Json {
  role: string;
  content: unknown;
}

/** As many messages as a history has; a page that stays open for days keeps no more. */
const KEPT = 200;

export class Conversation extends EventTarget {
  messages: ChatMessage[] = [];
  private unsubscribe = () => {};
  private sending = 0;
  private reads = 0;

  constructor(readonly key: string) {
    super();
  }

  start(): void {
    this.unsubscribe = gateway.subscribe((event) => this.handleEvent(event));
  }

  end(): void {
    this.unsubscribe();
  }

  get running(): ChatMessage | undefined {
    return this.messages.find(({ state }) => state === "running");
  }

  /** In the person's words, each once in a row. */
  get prompts(): string[] {
    const words = this.messages
      .filter(({ role }) => role === "user")
      .flatMap(({ parts }) => parts.find((it) => it.kind === "text")?.text ?? []);
    return words.filter((text, index) => text !== words[index + 1]);
  }

  /**
   * A run that continues keeps the text that has arrived; everything else is replaced by the daemon's state. After a
   * lost connection, only runs that the daemon reports as running continue: their end may have been lost.
   */
  async read({ afterLoss = false } = {}): Promise<void> {
    const round = ++this.reads;
    const { messages, inFlightRun } = await gateway.request<History>("chat.history", { sessionKey: this.key });
    if (round !== this.reads) return; // a later answer is on its way
    const thread = messagesOfHistory(messages);
    const current = this.messages.find(
      ({ role, runId, state }) => role === "assistant" && state === "running" && runId === inFlightRun?.runId,
    );
    if (inFlightRun) thread.push(current ? catchUp(current, inFlightRun) : adoptRun(inFlightRun, thread.at(-1)?.atMs));
    const unfinished = afterLoss ? [] : this.unfinishedRuns(thread, inFlightRun?.runId);
    if (!inFlightRun && !unfinished.length && thread.at(-1)?.role === "user" && !this.sending)
      thread.at(-1)!.state = "unanswered";
    this.settleOutbox(thread);
    this.messages = [...thread, ...unfinished, ...this.pendingMessages([...thread, ...unfinished])];
    this.notifyChange();
  }

  /** Running runs, each after its question: not every gateway has them in its history before they end. */
  private unfinishedRuns(thread: ChatMessage[], metadata?: string): ChatMessage[] {
    const runs = this.messages.filter(
      ({ role, state, runId }) => role === "assistant" && state === "running" && runId !== metadata,
    );
    return runs.flatMap((run) => {
      const question = this.messages.find(({ role, runId }) => role === "user" && runId === run.runId);
      return question && !isLastQuestion(thread, question) ? [question, run] : [run];
    });
  }

  /** What is not read now is read when the connection is back. */
  private readInBackground(): void {
    this.read().catch(ignoreUnreachable);
  }

  /** Said here a moment ago, and not yet where the daemon looked. */
  private pendingMessages(thread: ChatMessage[]): ChatMessage[] {
    const known = new Set(thread.map(({ runId }) => runId));
    const isMissing = (it: ChatMessage) =>
      it.role === "user" && it.runId && !known.has(it.runId) && !isLastQuestion(thread, it);
    return this.sending ? this.messages.filter(isMissing).slice(-this.sending) : [];
  }

  /** A message that was being sent when the connection was lost: it arrived, or it returns to the input. */
  private settleOutbox(thread: ChatMessage[]): void {
    const unsent = this.sending ? null : outbox.kept(this.key);
    if (!unsent) return;
    if (
      thread.some(({ role, runId }) => role === "user" && runId === unsent.id) ||
      isLastQuestion(thread, questionMessage(unsent))
    ) {
      outbox.clear(this.key);
      if (unsent.isGivenBack) this.dispatchEvent(new CustomEvent("arrived", { detail: unsent.text }));
    } else if (!unsent.isGivenBack) this.returnUnsent(unsent);
  }

  private returnUnsent(unsent: Unsent): void {
    outbox.put(this.key, { ...unsent, isGivenBack: true });
    this.dispatchEvent(new CustomEvent("unsent", { detail: unsent.text }));
  }

  /**
   * Sending the same text again repeats the same message, as long as it is not known whether it arrived. `again` asks
   * for another run.
   */
  async send(text: string, { again = false } = {}): Promise<void> {
    const kept = again ? null : outbox.kept(this.key);
    const unsent = { text, id: kept?.text === text ? kept.id : crypto.randomUUID(), isGivenBack: false };
    const thread = questionMessage(unsent);
    this.messages = [
      ...this.messages.filter(({ role, runId }) => role !== "user" || runId !== unsent.id),
      thread,
    ].slice(-KEPT);
    this.notifyChange();
    this.sending++;
    outbox.put(this.key, unsent);
    try {
      const { status, runId } = await gateway.request<{ status?: string; runId?: string }>("chat.send", {
        sessionKey: this.key,
        message: text,
        idempotencyKey: unsent.id,
      });
      outbox.clear(this.key);
      if (runId) thread.runId = runId; // a gateway may have a name of its own for it
      if (status === "ok" || status === "in_flight") this.readInBackground(); // it had come before
    } catch (error) {
      this.messages = this.messages.filter((it) => it !== thread);
      this.returnUnsent(unsent); // nothing that was written is lost
      if (!(error instanceof Unreachable)) outbox.clear(this.key); // refused: to send it again is a new wish
      this.notifyChange();
      throw error;
    } finally {
      this.sending--;
      if (!this.sending && this.messages.some((it) => it.state === "running" && !this.isOurs(it.runId)))
        this.readInBackground();
    }
  }

  abort(): Promise<unknown> {
    const runId = this.running?.runId;
    return gateway.request("chat.abort", { sessionKey: this.key, ...(runId ? { runId } : {}) });
  }

  private handleEvent({ event, payload }: GatewayEvent): void {
    if ((event !== "chat" && event !== "agent") || canonicalKey(payload.sessionKey) !== canonicalKey(this.key)) return;
    const runId = String(payload.runId);
    const run = this.findOrCreateRun(runId, event === "chat" && payload.state !== "delta");
    if (!run) return;
    const data = (payload.data ?? {}) as Json;
    if (event === "chat") applyChatState(run, payload);
    else if (!(run.isAdopted && payload.stream === "assistant")) STREAM_HANDLERS[String(payload.stream)]?.(run, data);
    this.notifyChange();
  }

  /**
   * A run of another client: the daemon has its question. Its end may be all that arrives here, because the daemon
   * leaves out pieces for a page that reads slowly. A run of our own may end without any text.
   */
  private findOrCreateRun(runId: string, isEnd: boolean): ChatMessage | undefined {
    const known = this.messages.find((it) => it.role === "assistant" && it.runId === runId);
    if (known) return known;
    const isOurs = this.isOurs(runId);
    if (!isOurs && !this.sending) this.readInBackground(); // what is being sent may be what it answers
    if (isEnd && !isOurs) return undefined;
    const run = createMessage("assistant", runId, "running", []);
    this.messages = [...this.messages, run].slice(-KEPT);
    return run;
  }

  private isOurs(runId: string): boolean {
    return this.messages.some((it) => it.role === "user" && it.runId === runId);
  }

  private notifyChange(): void {
    this.dispatchEvent(new Event("change"));
  }
}

/** `main` and `agent:main:main` are one conversation: the daemon's events have the long spelling. */
export function canonicalKey(key: unknown): string {
  const text = String(key ?? "");
  return text.startsWith("agent:") ? text : `agent:main:${text}`;
}

function questionMessage({ id, text }: Unsent): ChatMessage {
  return createMessage("user", id, "done", [{ kind: "text", id: "", text }]);
}

/** Whether a history without names of runs ends with this very question. */
function isLastQuestion(thread: ChatMessage[], { parts }: ChatMessage): boolean {
  const last = thread.at(-1);
  return last?.role === "user" && !last.runId && textOfParts(last.parts) === textOfParts(parts);
}

function textOfParts(parts: Part[]): string {
  return parts.map((part) => (part.kind === "text" ? part.text : "")).join("");
}

function createMessage(
  role: ChatMessage["role"],
  runId: string,
  state: ChatMessage["state"],
  parts: Part[],
  atMs = Date.now(),
): ChatMessage {
  return { role, parts, runId, atMs, state, reason: "", by: "", isAdopted: false };
}

/** It began with the message before it. */
function adoptRun({ runId, text, events = [] }: InFlight, atMs?: number): ChatMessage {
  const run = createMessage("assistant", runId, "running", [], atMs);
  for (const { stream, data } of events) if (stream !== "assistant") STREAM_HANDLERS[stream]?.(run, data);
  run.parts = interleave(
    text,
    run.parts,
    new Map(events.map(({ data }) => [String(data.toolCallId), Number(data.after ?? 0)])),
  );
  run.isAdopted = true;
  return run;
}

/** Words and calls in the order in which they were made, by how much was said before each call. */
function interleave(text: string, made: Part[], after: Map<string, number>): Part[] {
  const parts: Part[] = [];
  let at = 0;
  const say = (until: number) => {
    const words = text.slice(at, until).trim();
    if (words) parts.push({ kind: "text", id: `told ${at}`, text: words });
    at = Math.max(at, until);
  };
  for (const part of made) {
    if (part.kind === "tool") say(after.get(part.id) ?? 0);
    parts.push(part);
  }
  say(text.length);
  return parts;
}

/** Events of the run were lost: read its tool calls again, and take its text only as a whole from now on. */
function catchUp(run: ChatMessage, { text, events = [] }: InFlight): ChatMessage {
  for (const { stream, data } of events) if (stream !== "assistant") STREAM_HANDLERS[stream]?.(run, data);
  replaceText(run, text);
  return run;
}

const STREAM_HANDLERS: Record<string, (run: ChatMessage, data: Json) => void> = {
  assistant(run, { text, delta, itemId }) {
    const id = String(itemId ?? "");
    let part = run.parts.find((it): it is TextPart => it.kind === "text" && it.id === id);
    if (!part) run.parts.push((part = { kind: "text", id, text: "" }));
    part.text = typeof text === "string" ? text : part.text + String(delta ?? "");
  },
  /** The same call from the side that has its title. */
  item(run, data) {
    if (!data.toolCallId || data.phase === "end") return;
    const tool = findOrCreateTool(run, data);
    tool.title = String(data.title ?? "") || tool.title;
  },
  tool(run, data) {
    const tool = findOrCreateTool(run, data);
    if (data.phase === "update") tool.output = textOf((data.partialResult as Json | undefined)?.content);
    if (data.phase !== "result") return;
    tool.output = textOf((data.result as Json | undefined)?.content);
    if (tool.state === "running") addFileChanges(run, tool, Boolean(data.isError));
    tool.state = data.isError ? "failed" : "done";
    tool.endedMs = typeof data.tookMs === "number" ? tool.startedMs + data.tookMs : Date.now();
  },
  diff(run, { path, original, modified, toolCallId }) {
    const change = { path: String(path), original: String(original ?? ""), modified: String(modified ?? "") };
    run.parts = run.parts.filter((part) => part.kind !== "diff" || part.id !== toolCallId || part.path !== change.path);
    run.parts.push({ kind: "diff", id: String(toolCallId), ...change });
  },
};

/** After the call that made them. */
function addFileChanges(run: ChatMessage, tool: ToolPart, isError: boolean): void {
  const changes = isError ? [] : fileChanges(tool.id, tool.name, tool.input);
  const hasDiff = run.parts.some((part) => part.kind === "diff" && part.id === tool.id);
  if (changes.length && !hasDiff) run.parts.splice(run.parts.indexOf(tool) + 1, 0, ...changes);
}

function findOrCreateTool(run: ChatMessage, { toolCallId, name, title, args }: Json): ToolPart {
  const known = run.parts.find((it): it is ToolPart => it.kind === "tool" && it.id === toolCallId);
  if (known) {
    known.input ??= args;
    known.title ||= String(title ?? "");
    return known;
  }
  const id = String(toolCallId);
  const tool: ToolPart = {
    kind: "tool",
    id,
    name: String(name ?? title ?? ""),
    title: String(title ?? ""),
    input: args,
    output: "",
    state: "running",
    startedMs: Date.now(),
    endedMs: NaN,
  };
  run.parts.push(tool);
  return tool;
}

/** `chat` frames carry the whole text, so they repair what is missing in the stream of pieces. */
function applyChatState(run: ChatMessage, { state, message, errorMessage }: Json): void {
  replaceText(run, textOf((message as Json | undefined)?.content));
  const ended = { final: "done", aborted: "aborted", error: "failed" } as const;
  if (!(String(state) in ended)) return;
  run.state = ended[state as keyof typeof ended];
  run.reason = String(errorMessage ?? "");
  for (const part of run.parts) if (part.kind === "tool" && part.state === "running") part.state = "failed";
}

/** The whole text is shown already: ignore its pieces, which would appear twice. */
function replaceText(run: ChatMessage, whole: string): void {
  const current = run.parts
    .filter((it): it is TextPart => it.kind === "text")
    .map(({ text }) => text)
    .join("");
  if (
    !whole ||
    withoutSpaces(whole) === withoutSpaces(current) ||
    withoutSpaces(whole).length < withoutSpaces(current).length
  )
    return;
  run.parts = [...run.parts.filter(({ kind }) => kind !== "text"), { kind: "text", id: "whole", text: whole }];
  run.isAdopted = true;
}

function withoutSpaces(text: string): string {
  return text.replace(/\s+/g, "");
}

function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  const parts = Array.isArray(content) ? (content as Json[]) : [];
  return parts
    .filter(({ type }) => type === "text")
    .map(({ text }) => String(text))
    .join("");
}

function messagesOfHistory(messages: HistoryMessage[]): ChatMessage[] {
  const thread: ChatMessage[] = [];
  for (const message of messages) {
    if (message.role === "toolResult") applyToolResult(thread, message);
    else if (message.role === "user" || message.role === "assistant")
      thread.push(messageOfHistory(message.role, message));
  }
  return thread;
}

function messageOfHistory(role: ChatMessage["role"], message: HistoryMessage): ChatMessage {
  const ended: Record<string, ChatMessage["state"]> = { aborted: "aborted", error: "failed" };
  const calls = (Array.isArray(message.content) ? (message.content as Json[]) : []).filter(
    ({ type }) => type === "toolCall",
  );
  const metadata = (message.__openclaw ?? {}) as Json;
  const about = (metadata.calls ?? {}) as Record<string, { title?: string; after?: number; tookMs?: number | null }>;
  const tools = calls.map((call): ToolPart => ({
    kind: "tool",
    id: String(call.id),
    name: String(call.name),
    title: about[String(call.id)]?.title ?? "",
    input: call.arguments,
    output: "",
    state: "done",
    startedMs: 0,
    endedMs: about[String(call.id)]?.tookMs ?? NaN,
  }));
  const after = new Map(tools.map(({ id }) => [id, about[id]?.after ?? 0]));
  const parts =
    role === "user"
      ? [{ kind: "text", id: "", text: textOf(message.content) } as TextPart]
      : interleave(textOf(message.content), tools, after);
  const thread = createMessage(
    role,
    String(metadata.runId ?? ""),
    ended[String(message.stopReason)] ?? "done",
    parts,
    Number(message.timestamp ?? 0),
  );
  thread.reason = String(message.errorMessage ?? "");
  thread.by = String(metadata.by ?? "");
  return thread;
}

function applyToolResult(thread: ChatMessage[], { toolCallId, isError, content }: HistoryMessage): void {
  const run = thread.at(-1);
  for (const part of [...(run?.parts ?? [])])
    if (part.kind === "tool" && part.id === toolCallId) {
      part.output = textOf(content);
      part.state = isError ? "failed" : "done";
      addFileChanges(run!, part, Boolean(isError));
    }
}
