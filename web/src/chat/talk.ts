/** One conversation: what was said before, and what is being said now. No drawing here. */
import { Away, gateway, unlessAway, type GatewayEvent } from "../link";
import { changesOf } from "./changes";
import { outbox, type Unsent } from "./outbox";

export interface Tool {
  kind: "tool";
  id: string;
  name: string;
  /** For people, where the agent gives one. */
  title: string;
  input: unknown;
  output: string;
  state: "running" | "done" | "failed";
  startedMs: number;
  /** Not a number while it runs, or where nobody knows. */
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
  state: "running" | "done" | "aborted" | "failed" | "unanswered";
  reason: string;
  /** Who said it, where the daemon knows. */
  by: string;
  /** Begun before we came: its text is told whole, and its pieces would stand there twice. */
  isAdopted: boolean;
}

type Json = Record<string, unknown>;
interface InFlight {
  runId: string;
  text: string;
  events?: { stream: string; data: Json }[];
}
interface History {
  messages: Message[];
  inFlightRun?: InFlight;
}
interface Message extends Json {
  role: string;
  content: unknown;
}

/** As many as a history has; a page that stays open for days keeps no more. */
const KEPT = 200;

export class Talk extends EventTarget {
  said: Said[] = [];
  private stop = () => {};
  private sending = 0;
  private reads = 0;

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

  /** In the person's words, each once in a row. */
  get asked(): string[] {
    const words = this.said.filter(({ role }) => role === "user").flatMap(({ parts }) => parts.find((it) => it.kind === "text")?.text ?? []);
    return words.filter((text, index) => text !== words[index + 1]);
  }

  /** A run that goes on keeps what was heard of it; everything else is as the daemon remembers it. After a loss only what
   *  the daemon says to go on does: the end may have been in what was lost. */
  async read({ afterLoss = false } = {}): Promise<void> {
    const round = ++this.reads;
    const { messages, inFlightRun } = await gateway.request<History>("chat.history", { sessionKey: this.key });
    if (round !== this.reads) return; // a later answer is on its way
    const said = remembered(messages);
    const heard = this.said.find(({ role, runId, state }) => role === "assistant" && state === "running" && runId === inFlightRun?.runId);
    if (inFlightRun) said.push(heard ? caughtUp(heard, inFlightRun) : adopted(inFlightRun, said.at(-1)?.atMs));
    const unfinished = afterLoss ? [] : this.unfinished(said, inFlightRun?.runId);
    if (!inFlightRun && !unfinished.length && said.at(-1)?.role === "user" && !this.sending) said.at(-1)!.state = "unanswered";
    this.settle(said);
    this.said = [...said, ...unfinished, ...this.onTheirWay([...said, ...unfinished])];
    this.changed();
  }

  /** Runs that are heard, each after its question: not every gateway has them in its history before they end. */
  private unfinished(said: Said[], told?: string): Said[] {
    const runs = this.said.filter(({ role, state, runId }) => role === "assistant" && state === "running" && runId !== told);
    return runs.flatMap((run) => {
      const asked = this.said.find(({ role, runId }) => role === "user" && runId === run.runId);
      return asked && !isLast(said, asked) ? [asked, run] : [run];
    });
  }

  /** What is not read now is read when the connection is back. */
  private readBeside(): void {
    this.read().catch(unlessAway);
  }

  /** Said here a moment ago, and not yet where the daemon looked. */
  private onTheirWay(said: Said[]): Said[] {
    const known = new Set(said.map(({ runId }) => runId));
    const isMissing = (it: Said) => it.role === "user" && it.runId && !known.has(it.runId) && !isLast(said, it);
    return this.sending ? this.said.filter(isMissing).slice(-this.sending) : [];
  }

  /** What was on its way when the connection or the page went: it came, or it is given back to be sent again. */
  private settle(said: Said[]): void {
    const unsent = this.sending ? null : outbox.kept(this.key);
    if (!unsent) return;
    if (said.some(({ role, runId }) => role === "user" && runId === unsent.id) || isLast(said, asking(unsent))) {
      outbox.clear(this.key);
      if (unsent.isGivenBack) this.dispatchEvent(new CustomEvent("arrived", { detail: unsent.text }));
    } else if (!unsent.isGivenBack) this.giveBack(unsent);
  }

  private giveBack(unsent: Unsent): void {
    outbox.put(this.key, { ...unsent, isGivenBack: true });
    this.dispatchEvent(new CustomEvent("unsent", { detail: unsent.text }));
  }

  /** The same text again is the same message as long as nobody knows whether it came; `again` is the wish for another run. */
  async send(text: string, { again = false } = {}): Promise<void> {
    const kept = again ? null : outbox.kept(this.key);
    const unsent = { text, id: kept?.text === text ? kept.id : crypto.randomUUID(), isGivenBack: false };
    const said = asking(unsent);
    this.said = [...this.said.filter(({ role, runId }) => role !== "user" || runId !== unsent.id), said].slice(-KEPT);
    this.changed();
    this.sending++;
    outbox.put(this.key, unsent);
    try {
      const { status, runId } = await gateway.request<{ status?: string; runId?: string }>("chat.send", {
        sessionKey: this.key, message: text, idempotencyKey: unsent.id,
      });
      outbox.clear(this.key);
      if (runId) said.runId = runId; // a gateway may have a name of its own for it
      if (status === "ok" || status === "in_flight") this.readBeside(); // it had come before
    } catch (error) {
      this.said = this.said.filter((it) => it !== said);
      this.giveBack(unsent); // nothing that was written is lost
      if (!(error instanceof Away)) outbox.clear(this.key); // refused: to send it again is a new wish
      this.changed();
      throw error;
    } finally {
      this.sending--;
      if (!this.sending && this.said.some((it) => it.state === "running" && !this.isOurs(it.runId))) this.readBeside();
    }
  }

  abort(): Promise<unknown> {
    const runId = this.running?.runId;
    return gateway.request("chat.abort", { sessionKey: this.key, ...(runId ? { runId } : {}) });
  }

  private heard({ event, payload }: GatewayEvent): void {
    if ((event !== "chat" && event !== "agent") || canonical(payload.sessionKey) !== canonical(this.key)) return;
    const runId = String(payload.runId);
    const run = this.run(runId, event === "chat" && payload.state !== "delta");
    if (!run) return;
    const data = (payload.data ?? {}) as Json;
    if (event === "chat") hearState(run, payload);
    else if (!(run.isAdopted && payload.stream === "assistant")) HEAR[String(payload.stream)]?.(run, data);
    this.changed();
  }

  /** A run that somebody else began: what they said is with the daemon. One of ours may end without a word before. */
  private run(runId: string, isEnd: boolean): Said | undefined {
    const known = this.said.find((it) => it.role === "assistant" && it.runId === runId);
    const isOurs = this.isOurs(runId);
    if (known || (isEnd && !isOurs)) return known;
    const run = made("assistant", runId, "running", []);
    this.said = [...this.said, run].slice(-KEPT);
    if (!isOurs && !this.sending) this.readBeside(); // what is being sent may be what it answers
    return run;
  }

  private isOurs(runId: string): boolean {
    return this.said.some((it) => it.role === "user" && it.runId === runId);
  }

  private changed(): void {
    this.dispatchEvent(new Event("change"));
  }
}

/** `main` and `agent:main:main` are one conversation: the daemon's events have the long spelling. */
export function canonical(key: unknown): string {
  const text = String(key ?? "");
  return text.startsWith("agent:") ? text : `agent:main:${text}`;
}

function asking({ id, text }: Unsent): Said {
  return made("user", id, "done", [{ kind: "text", id: "", text }]);
}

/** Whether a history without names of runs ends with this very question. */
function isLast(said: Said[], { parts }: Said): boolean {
  const last = said.at(-1);
  return last?.role === "user" && !last.runId && words(last.parts) === words(parts);
}

function words(parts: Part[]): string {
  return parts.map((part) => (part.kind === "text" ? part.text : "")).join("");
}

function made(role: Said["role"], runId: string, state: Said["state"], parts: Part[], atMs = Date.now()): Said {
  return { role, parts, runId, atMs, state, reason: "", by: "", isAdopted: false };
}

/** It began with the message before it. */
function adopted({ runId, text, events = [] }: InFlight, atMs?: number): Said {
  const run = made("assistant", runId, "running", [], atMs);
  for (const { stream, data } of events) if (stream !== "assistant") HEAR[stream]?.(run, data);
  run.parts = laid(text, run.parts, new Map(events.map(({ data }) => [String(data.toolCallId), Number(data.after ?? 0)])));
  run.isAdopted = true;
  return run;
}

/** Words and calls in the order in which they were made, by how much was said before each call. */
function laid(text: string, made: Part[], after: Map<string, number>): Part[] {
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

/** Something of it was not told: its tools are told again, and from now on its words come whole. */
function caughtUp(run: Said, { text, events = [] }: InFlight): Said {
  for (const { stream, data } of events) if (stream !== "assistant") HEAR[stream]?.(run, data);
  correct(run, text);
  return run;
}

const HEAR: Record<string, (run: Said, data: Json) => void> = {
  assistant(run, { text, delta, itemId }) {
    const id = String(itemId ?? "");
    let part = run.parts.find((it): it is Words => it.kind === "text" && it.id === id);
    if (!part) run.parts.push((part = { kind: "text", id, text: "" }));
    part.text = typeof text === "string" ? text : part.text + String(delta ?? "");
  },
  /** The same call from the side that has its title. */
  item(run, data) {
    if (!data.toolCallId || data.phase === "end") return;
    const tool = toolOf(run, data);
    tool.title = String(data.title ?? "") || tool.title;
  },
  tool(run, data) {
    const tool = toolOf(run, data);
    if (data.phase === "update") tool.output = textOf((data.partialResult as Json | undefined)?.content);
    if (data.phase !== "result") return;
    tool.output = textOf((data.result as Json | undefined)?.content);
    if (tool.state === "running") addChanges(run, tool, Boolean(data.isError));
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
function addChanges(run: Said, tool: Tool, isError: boolean): void {
  const changes = isError ? [] : changesOf(tool.id, tool.name, tool.input);
  const isTold = run.parts.some((part) => part.kind === "diff" && part.id === tool.id);
  if (changes.length && !isTold) run.parts.splice(run.parts.indexOf(tool) + 1, 0, ...changes);
}

function toolOf(run: Said, { toolCallId, name, title, args }: Json): Tool {
  const known = run.parts.find((it): it is Tool => it.kind === "tool" && it.id === toolCallId);
  if (known) {
    known.input ??= args;
    known.title ||= String(title ?? "");
    return known;
  }
  const id = String(toolCallId);
  const tool: Tool = {
    kind: "tool", id, name: String(name ?? title ?? ""), title: String(title ?? ""), input: args, output: "", state: "running",
    startedMs: Date.now(), endedMs: NaN,
  };
  run.parts.push(tool);
  return tool;
}

/** `chat` frames tell the whole again: what was left out of the quick stream is made good by them. */
function hearState(run: Said, { state, message, errorMessage }: Json): void {
  correct(run, textOf((message as Json | undefined)?.content));
  const ended = { final: "done", aborted: "aborted", error: "failed" } as const;
  if (!(String(state) in ended)) return;
  run.state = ended[state as keyof typeof ended];
  run.reason = String(errorMessage ?? "");
  for (const part of run.parts) if (part.kind === "tool" && part.state === "running") part.state = "failed";
}

/** Pieces of what stands there whole would stand there twice: they are not heard any more. */
function correct(run: Said, whole: string): void {
  const heard = run.parts.filter((it): it is Words => it.kind === "text").map(({ text }) => text).join("");
  if (!whole || bare(whole) === bare(heard) || bare(whole).length < bare(heard).length) return;
  run.parts = [...run.parts.filter(({ kind }) => kind !== "text"), { kind: "text", id: "whole", text: whole }];
  run.isAdopted = true;
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
  const told = (message.__openclaw ?? {}) as Json;
  const about = (told.calls ?? {}) as Record<string, { title?: string; after?: number; tookMs?: number | null }>;
  const tools = calls.map((call): Tool => ({
    kind: "tool", id: String(call.id), name: String(call.name), title: about[String(call.id)]?.title ?? "", input: call.arguments, output: "", state: "done",
    startedMs: 0, endedMs: about[String(call.id)]?.tookMs ?? NaN,
  }));
  const after = new Map(tools.map(({ id }) => [id, about[id]?.after ?? 0]));
  const parts = role === "user" ? [{ kind: "text", id: "", text: textOf(message.content) } as Words] : laid(textOf(message.content), tools, after);
  const said = made(role, String(told.runId ?? ""), ended[String(message.stopReason)] ?? "done", parts, Number(message.timestamp ?? 0));
  said.reason = String(message.errorMessage ?? "");
  said.by = String(told.by ?? "");
  return said;
}

function answerOf(said: Said[], { toolCallId, isError, content }: Message): void {
  const run = said.at(-1);
  for (const part of [...(run?.parts ?? [])])
    if (part.kind === "tool" && part.id === toolCallId) {
      part.output = textOf(content);
      part.state = isError ? "failed" : "done";
      addChanges(run!, part, Boolean(isError));
    }
}
