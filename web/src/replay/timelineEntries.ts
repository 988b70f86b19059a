/** The actions of people and agents in the debugger, from the feed. */
import { t, type FeedRow } from "../link";
import { rememberActor, actorName } from "../parts/actors";

export interface TimelineEntry {
  /** Zero for a stop that only the daemon's history of stops still knows. */
  sequence: number;
  at: number;
  session: string;
  actor: string;
  text: string;
  path: string;
  line: number;
  /** Its number, of a stop. */
  stop: number;
}

const COMMANDS: Record<string, string> = {
  continue: "continued",
  next: "stepped over",
  stepIn: "stepped into",
  stepOut: "stepped out",
  reverseContinue: "continued backwards",
  stepBack: "stepped back",
};
type Body = Record<string, unknown>;
const DESCRIPTIONS: Record<string, (body: Body) => Partial<TimelineEntry>> = {
  "debug.started": (body) => ({
    actor: actorName(body["by"]),
    text: t("started {name}", { name: text(body["title"]) }),
  }),
  "debug.failed": (body) => ({ text: t("could not start: {name}", { name: text(body["code"]) }) }),
  "debug.resumed": (body) => ({
    actor: actorName(body["by"]),
    text: t(COMMANDS[text(body["command"])] ?? text(body["command"])),
  }),
  "debug.paused": (body) => ({ actor: actorName(body["by"]), text: t("paused") }),
  "debug.stopped": (body) => ({
    text: t("stopped: {reason}", { reason: t(text(body["reason"])) }),
    path: text(body["path"]),
    line: Number(body["line"] ?? 0),
    stop: Number(body["stop"] ?? 0),
  }),
  "debug.evaluated": (body) => ({
    actor: actorName(body["by"]),
    text: t("evaluated {name}", { name: text(body["expression"]) }),
  }),
  "debug.traced": (body) => ({ actor: actorName(body["by"]), text: t("traced {name}", { name: text(body["place"]) }) }),
  "debug.variable_set": (body) => ({
    actor: actorName(body["by"]),
    text: t("set {name}", { name: text(body["name"]) }),
  }),
  "debug.ended": (body) => ({ actor: actorName(body["by"]), text: endText(body["exit_code"]) }),
  "breakpoint.set": (body) => ({ ...breakpointEntry(body), text: t("set a breakpoint") }),
  "breakpoint.changed": (body) => ({ ...breakpointEntry(body), text: t("changed a breakpoint") }),
  "breakpoint.removed": (body) => ({
    ...breakpointEntry(body),
    actor: actorName(body["by"]),
    text: t("removed a breakpoint"),
  }),
};

export const FEED_KINDS = ["debug.", "breakpoint.", "mcp.connected", "mcp.disconnected"];
/** The kinds of events that the timeline shows. */
export const TIMELINE_KINDS: readonly string[] = [...Object.keys(DESCRIPTIONS), "mcp.connected"];
const KEPT = 500;

/**
 * The newest first, each once: earlier events may be read after new ones arrived, and stops are kept longer than
 * events.
 */
export function mergeEntries(known: readonly TimelineEntry[], more: readonly TimelineEntry[]): TimelineEntry[] {
  const every = [...known, ...more];
  const knownStops = new Set(every.filter(({ sequence }) => sequence).map(stopKey));
  const all = new Map(
    every.filter((it) => it.sequence || !knownStops.has(stopKey(it))).map((it) => [entryKey(it), it]),
  );
  return [...all.values()].sort((a, b) => b.at - a.at || b.sequence - a.sequence).slice(0, KEPT);
}

/** The key of an entry: a stop has its number, whether it came from the feed or from the history of stops. */
export function entryKey(it: TimelineEntry): number | string {
  return it.stop ? stopKey(it) : it.sequence;
}

function stopKey({ session, stop }: TimelineEntry): string {
  return `${session}:${stop}`;
}

/** The text of an event. Watches that this page evaluates automatically are left out. */
export function timelineEntry(row: FeedRow): TimelineEntry | null {
  const { sequence, at_ns, event } = row;
  const body = event.body ?? {};
  rememberActor(row);
  const description = DESCRIPTIONS[event.kind]?.(body);
  if (!description || (event.kind === "debug.evaluated" && body["by"] === "page")) return null;
  const plain = { actor: "", text: "", path: "", line: 0, stop: 0 };
  return { ...plain, sequence, at: at_ns / 1e6, session: event.session ?? "", ...description };
}

function breakpointEntry(body: Body): Partial<TimelineEntry> {
  const breakpoint = (body["breakpoint"] ?? {}) as Body;
  return {
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
