/** What happened in a debug session, as entries of its timeline: from events, from kept stops, and from its output. */
import { t, type FeedRow } from "../link";
import { actorName, rememberActor } from "../parts/actors";

export type EntryKind =
  | "start"
  | "end"
  | "stop"
  | "run"
  | "evaluation"
  | "change"
  | "breakpoint"
  | "trace"
  | "output"
  | "question"
  | "presence";

export interface TimelineEntry {
  /** Zero for what is no event: a stop that only the history of stops still knows, or output. */
  sequence: number;
  at: number;
  session: string;
  kind: EntryKind;
  /** Who did it, by name; empty for what the program did. */
  actor: string;
  text: string;
  /** What came of it: the value of an expression, or what was printed. */
  detail: string;
  path: string;
  line: number;
  /** Its number, of a stop. */
  stop: number;
  /** The end of what had been printed, of output. */
  printed: number;
  isBad: boolean;
  /** Of a trace: the values at each hit, where they changed. */
  rows: readonly TraceRow[];
}

export interface TraceRow {
  hit: number;
  values?: Record<string, string>;
  errors?: Record<string, string>;
}

type Body = Record<string, unknown>;

const COMMANDS: Record<string, string> = {
  continue: "continued",
  next: "stepped over",
  stepIn: "stepped into",
  stepOut: "stepped out",
  reverseContinue: "continued backwards",
  stepBack: "stepped back",
};

const DESCRIPTIONS: Record<string, (body: Body) => Partial<TimelineEntry>> = {
  "debug.started": (body) => ({
    kind: "start",
    actor: actorName(body["by"]),
    text: t("started {name}", { name: text(body["title"]) }),
  }),
  "debug.failed": (body) => ({
    kind: "end",
    isBad: true,
    text: t("could not start: {name}", { name: text(body["code"]) }),
  }),
  "debug.resumed": (body) => ({
    kind: "run",
    actor: actorName(body["by"]),
    text: t(COMMANDS[text(body["command"])] ?? text(body["command"])),
  }),
  "debug.paused": (body) => ({ kind: "run", actor: actorName(body["by"]), text: t("paused") }),
  "debug.stopped": (body) => ({
    kind: "stop",
    text: t("stopped: {reason}", { reason: t(text(body["reason"])) }),
    path: text(body["path"]),
    line: Number(body["line"] ?? 0),
    stop: Number(body["stop"] ?? 0),
    isBad: isException(body["reason"]),
  }),
  "debug.evaluated": (body) => ({
    kind: "evaluation",
    actor: actorName(body["by"]),
    text: t("evaluated {name}", { name: text(body["expression"]) }),
    detail: text(body["result"]),
  }),
  "debug.traced": (body) => ({
    kind: "trace",
    actor: actorName(body["by"]),
    text: t("traced {name}", { name: text(body["place"]) }),
    detail: text(body["table"]),
    rows: (body["rows"] ?? []) as TraceRow[],
  }),
  "debug.variable_set": (body) => ({
    kind: "change",
    actor: actorName(body["by"]),
    text: t("set {name}", { name: text(body["name"]) }),
  }),
  "debug.joined": (body) => ({ kind: "presence", actor: actorName(body["by"]), text: t("joined the session") }),
  "debug.left": (body) => ({ kind: "presence", actor: actorName(body["by"]), text: t("left the session") }),
  "debug.ended": (body) => ({
    kind: "end",
    actor: actorName(body["by"]),
    text: endText(body["exit_code"]),
    isBad: Number(body["exit_code"] ?? 0) !== 0,
  }),
  "breakpoint.set": (body) => ({ ...breakpointEntry(body), text: t("set a breakpoint") }),
  "breakpoint.changed": (body) => ({ ...breakpointEntry(body), text: t("changed a breakpoint") }),
  "breakpoint.removed": (body) => ({
    ...breakpointEntry(body),
    actor: actorName(body["by"]),
    text: t("removed a breakpoint"),
  }),
  "canvas.action_taken": (body) => ({
    kind: "question",
    actor: actorName(body["by"]),
    text: t("answered {name}", { name: actorName(body["drawer"]) }),
    detail: text(body["name"]),
  }),
  "agents.paused": (body) => ({
    kind: "question",
    isBad: true,
    actor: actorName(body["by"]),
    text: t("stopped all agents"),
  }),
  "agents.continued": (body) => ({ kind: "question", actor: actorName(body["by"]), text: t("let the agents go on") }),
};

export const FEED_KINDS = [
  "debug.",
  "breakpoint.",
  "agents.",
  "canvas.action_taken",
  "mcp.connected",
  "mcp.disconnected",
];
/** The kinds of events that the timeline shows. */
export const TIMELINE_KINDS: readonly string[] = [...Object.keys(DESCRIPTIONS), "mcp.connected"];

/** The key of an entry: a stop has its number, whether it came from the feed or from the history of stops. */
export function entryKey(it: TimelineEntry): number | string {
  if (it.stop) return `${it.session}:${it.stop}`;
  return it.printed ? `${it.session}>${it.printed}` : it.sequence;
}

/** The text of an event. Watches that this page evaluates automatically are left out. */
export function timelineEntry(row: FeedRow): TimelineEntry | null {
  const { sequence, at_ns, event } = row;
  const body = event.body ?? {};
  rememberActor(row);
  const description = DESCRIPTIONS[event.kind]?.(body);
  if (!description || (event.kind === "debug.evaluated" && body["by"] === "page")) return null;
  const session = event.kind.startsWith("debug.") ? (event.session ?? "") : "";
  return { ...PLAIN, sequence, at: at_ns / 1e6, session, ...description };
}

const PLAIN: TimelineEntry = {
  sequence: 0,
  at: 0,
  session: "",
  kind: "stop",
  actor: "",
  text: "",
  detail: "",
  path: "",
  line: 0,
  stop: 0,
  printed: 0,
  isBad: false,
  rows: [],
};

export function stopEntry(
  of: Pick<TimelineEntry, "session" | "at" | "stop" | "path" | "line" | "detail">,
  reason: string,
): TimelineEntry {
  return { ...PLAIN, ...of, text: t("stopped: {reason}", { reason: t(reason) }), isBad: isException(reason) };
}

/** What was printed up to a position. */
export function outputEntry(session: string, at: number, printed: number, words: string): TimelineEntry {
  const lines = words.split("\n").filter((it) => it.trim());
  const text =
    lines.length > 1
      ? t("printed {count} lines: {text}", { count: lines.length, text: lines[0]! })
      : t("printed {text}", { text: lines[0] ?? "" });
  return { ...PLAIN, kind: "output", session, at, printed, text, detail: words };
}

/** The actor with what they did, or what the program did. */
export function entryText(it: TimelineEntry): string {
  return it.actor ? t("{who} {what}", { who: it.actor, what: it.text }) : it.text;
}

/** The value of what was evaluated, and what was raised. */
export function detailText({ kind, detail }: TimelineEntry): string {
  if (!detail || !(kind === "evaluation" || kind === "question" || kind === "stop")) return "";
  return `${kind === "stop" ? ":" : " ="} ${detail.split("\n")[0]}`;
}

function isException(reason: unknown): boolean {
  return reason === "exception";
}

function breakpointEntry(body: Body): Partial<TimelineEntry> {
  const breakpoint = (body["breakpoint"] ?? {}) as Body;
  return {
    kind: "breakpoint",
    actor: actorName(breakpoint["owner"]),
    path: text(breakpoint["path"]),
    line: Number(breakpoint["line"] ?? 0),
  };
}

function endText(code: unknown): string {
  return typeof code === "number" ? t("ended with exit code {code}", { code }) : t("ended");
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}
