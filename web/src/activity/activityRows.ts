/** The list of the activity: which events belong together, which failed, and where each can be looked at. */
import type { FeedRow } from "../link";
import type { IconName } from "../parts/icons";

/** Consecutive events of one session by one actor. */
export interface ActivityGroup {
  key: string;
  session: string;
  actor: string;
  rows: readonly FeedRow[];
}

/** A line of the list: the head of a group, or an event, with whether it stands below such a head. */
export type ActivityLine =
  { kind: "group"; group: ActivityGroup; isFolded: boolean } | { kind: "event"; row: FeedRow; isInGroup: boolean };

/** Newest first, as the rows are. */
export function groupRows(rows: readonly FeedRow[], actorOf: (row: FeedRow) => string): ActivityGroup[] {
  const groups: { session: string; actor: string; rows: FeedRow[] }[] = [];
  for (const row of rows) {
    const session = row.event.session ?? "";
    const actor = actorOf(row);
    const last = groups.at(-1);
    // What a program does by itself belongs to whoever is at work in its session.
    const isSame = last?.session === session && session && (!actor || !last.actor || last.actor === actor);
    if (last && isSame) {
      last.rows.push(row);
      last.actor ||= actor;
    } else groups.push({ session, actor, rows: [row] });
  }
  // The oldest row of a group stays as newer ones arrive.
  return groups.map((group) => ({ ...group, key: `${group.session} ${group.rows.at(-1)!.sequence}` }));
}

export function activityLines(groups: readonly ActivityGroup[], folded: ReadonlySet<string>): ActivityLine[] {
  return groups.flatMap((group): ActivityLine[] => {
    const hasHead = group.rows.length > 1;
    const isFolded = folded.has(group.key);
    const rows = isFolded ? [] : group.rows;
    return [
      ...(hasHead ? [{ kind: "group", group, isFolded } as const] : []),
      ...rows.map((row) => ({ kind: "event", row, isInGroup: hasHead }) as const),
    ];
  });
}

export function hasFailed({ event: { kind, body = {} } }: FeedRow): boolean {
  if (kind.endsWith("_failed") || kind === "debug.failed" || kind === "terminal.pattern_seen") return true;
  if (kind === "debug.stopped") return body["reason"] === "exception";
  const code = body["exit_code"];
  return (kind === "debug.ended" || kind === "terminal.command_ended") && typeof code === "number" && code !== 0;
}

/** The address of the moment; empty for what has no place of its own. */
export function addressOf({ event: { kind, session = "", body = {} } }: FeedRow): string {
  const area = kind.slice(0, kind.indexOf("."));
  const parts: Record<string, readonly unknown[]> = {
    debug: ["debugger", session, ...(kind === "debug.stopped" ? [body["stop"]] : [])],
    terminal: ["terminals", session],
    chat: kind === "chat.session_removed" ? [] : ["chat", session.replace(/^agent:main:/, "")],
    canvas: kind === "canvas.surface_updated" ? ["canvas", body["drawer"] ?? session, firstSurface(body)] : [],
  };
  const found = parts[area] ?? [];
  if (found.length < 2 || found.some((part) => part === undefined || part === "")) return "";
  return `#${found.map((part) => encodeURIComponent(String(part))).join("/")}`;
}

function firstSurface(body: Record<string, unknown>): string | undefined {
  return Object.keys((body["versions"] as Record<string, unknown> | undefined) ?? {})[0];
}

const ICONS: Record<string, IconName> = {
  "debug.stopped": "pause",
  "debug.started": "play",
  "debug.resumed": "step",
  "debug.evaluated": "eye",
  "debug.traced": "list",
  "debug.variable_set": "pencil",
  "debug.ended": "flag",
  "chat.file_changed": "pencil",
  "agents.paused": "stop",
};
const AREA_ICONS: Record<string, IconName> = {
  debug: "bug",
  breakpoint: "dot",
  terminal: "terminal",
  chat: "chat",
  canvas: "canvas",
  mcp: "plug",
  workspace: "shield",
  agents: "play",
};

export function iconOf({ event: { kind } }: FeedRow): IconName {
  return ICONS[kind] ?? AREA_ICONS[kind.slice(0, kind.indexOf("."))] ?? "gear";
}

/** The path inside of its folder, as a person there would write it. */
export function relativePath(path: string, folder: string | undefined): string {
  return folder && path.startsWith(`${folder}/`) ? path.slice(folder.length + 1) : path;
}

/** What a session is called: by its program, shell or conversation, as its events say it. */
export function sessionTitles(rows: readonly FeedRow[]): Map<string, string> {
  const titles = new Map<string, string>();
  for (const { event } of rows) {
    const { kind, session, body = {}, text = "" } = event;
    if (!session) continue;
    if (kind === "debug.started") titles.set(session, String(body["title"] ?? ""));
    if (kind === "terminal.began")
      titles.set(session, String((body["attributes"] as Record<string, unknown> | undefined)?.["shell"] ?? ""));
    if (kind.startsWith("chat.session_")) titles.set(session, text);
    if (kind === "mcp.connected") titles.set(session, String(body["client"] ?? ""));
  }
  return titles;
}
