/** Who did what in the debugger, out of the feed. */
import { t, type Row } from "../link";
import { learn, who } from "../parts/who";

export interface Doing {
  /** Zero for a stop that only the daemon's history of stops still knows. */
  sequence: number;
  at: number;
  session: string;
  who: string;
  what: string;
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
const TOLD: Record<string, (body: Body) => Partial<Doing>> = {
  "debug.started": (body) => ({ who: who(body["by"]), what: t("started {name}", { name: text(body["title"]) }) }),
  "debug.failed": (body) => ({ what: t("could not start: {name}", { name: text(body["code"]) }) }),
  "debug.resumed": (body) => ({ who: who(body["by"]), what: t(COMMANDS[text(body["command"])] ?? text(body["command"])) }),
  "debug.paused": (body) => ({ who: who(body["by"]), what: t("paused") }),
  "debug.stopped": (body) => ({
    what: t("stopped: {reason}", { reason: t(text(body["reason"])) }), path: text(body["path"]), line: Number(body["line"] ?? 0),
    stop: Number(body["stop"] ?? 0),
  }),
  "debug.evaluated": (body) => ({ who: who(body["by"]), what: t("evaluated {name}", { name: text(body["expression"]) }) }),
  "debug.traced": (body) => ({ who: who(body["by"]), what: t("traced {name}", { name: text(body["place"]) }) }),
  "debug.variable_set": (body) => ({ who: who(body["by"]), what: t("set {name}", { name: text(body["name"]) }) }),
  "debug.ended": (body) => ({ who: who(body["by"]), what: ended(body["exit_code"]) }),
  "breakpoint.set": (body) => ({ ...owned(body), what: t("set a breakpoint") }),
  "breakpoint.changed": (body) => ({ ...owned(body), what: t("changed a breakpoint") }),
  "breakpoint.removed": (body) => ({ ...owned(body), who: who(body["by"]), what: t("removed a breakpoint") }),
};

export const KINDS = ["debug.", "breakpoint.", "mcp.connected"];
/** Of those, what the timeline is made of. */
export const TOLD_KINDS: readonly string[] = [...Object.keys(TOLD), "mcp.connected"];
const KEPT = 500;

/** The newest first, each once: the past may be read after something new was heard, and stops are kept longer than events. */
export function merged(known: readonly Doing[], more: readonly Doing[]): Doing[] {
  const every = [...known, ...more];
  const heard = new Set(every.filter(({ sequence }) => sequence).map(ofStop));
  const all = new Map(every.filter((it) => it.sequence || !heard.has(ofStop(it))).map((it) => [keyOf(it), it]));
  return [...all.values()].sort((a, b) => b.at - a.at || b.sequence - a.sequence).slice(0, KEPT);
}

/** What it is known by among all others. */
export function keyOf(it: Doing): number | string {
  return it.sequence || ofStop(it);
}

function ofStop({ session, stop }: Doing): string {
  return `${session}:${stop}`;
}

/** What an event tells a person; watches that this page evaluates by itself are nobody's doing. */
export function doing(row: Row): Doing | null {
  const { sequence, at_ns, event } = row;
  const body = event.body ?? {};
  learn(row);
  const told = TOLD[event.kind]?.(body);
  if (!told || (event.kind === "debug.evaluated" && body["by"] === "page")) return null;
  const plain = { who: "", what: "", path: "", line: 0, stop: 0 };
  return { ...plain, sequence, at: at_ns / 1e6, session: event.session ?? "", ...told };
}

function owned(body: Body): Partial<Doing> {
  const breakpoint = (body["breakpoint"] ?? {}) as Body;
  return { who: who(breakpoint["owner"]), path: text(breakpoint["path"]), line: Number(breakpoint["line"] ?? 0) };
}

function ended(code: unknown): string {
  return typeof code === "number" ? t("ended with exit code {code}", { code }) : t("ended");
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}
