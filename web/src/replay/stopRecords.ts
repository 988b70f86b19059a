/** The stops of a session as the daemon keeps them, all at once: where each was, and what its variables held. */
import { request, t } from "../link";
import type { VariableNode } from "../debugger/variables/variableTree";
import type { PastStop } from "./pastStops";
import { stopEntry, type TimelineEntry } from "./timelineEntries";

type FrameRecord = [name: string, path: string, line: number, isLibrary: boolean];
type VariableRecord = [name: string, value: string, type: string];

export interface StopRecord {
  number: number;
  at_ns: number;
  reason: string;
  seen: [
    frames: FrameRecord[],
    variables: VariableRecord[],
    changed: string[],
    at: number,
    raised: [type: string, message: string],
  ];
}

/** As many as a page holds well; a session with more shows its first ones. */
const MOST = 20_000;

/** Those after a number, as they come: a session may have thousands. */
export async function* fetchStopRecords(session: string, after: number): AsyncGenerator<StopRecord[]> {
  for (let [at, more] = [after, true]; more && at < MOST;) {
    const path = `/api/replay/stops?session=${encodeURIComponent(session)}&after=${at}`;
    const answer = await request<{ stops: StopRecord[]; more: boolean }>(path);
    yield answer.stops;
    at = answer.stops.at(-1)?.number ?? MOST;
    ({ more } = answer);
  }
}

export function shortPath(path: string, workspace: string): string {
  return workspace && path.startsWith(`${workspace}/`) ? path.slice(workspace.length + 1) : path;
}

/** The frame that the variables belong to. */
export function frameOf({ seen: [frames, , , at] }: StopRecord): FrameRecord | undefined {
  return frames[at] ?? frames[0];
}

export function recordEntry(session: string, workspace: string, record: StopRecord): TimelineEntry {
  const [, path = "", line = 0] = frameOf(record) ?? [];
  const place = { path: shortPath(path, workspace), line };
  const [type, message] = record.seen[4];
  const detail = type ? `${type}: ${message}` : "";
  return stopEntry({ session, at: record.at_ns / 1e6, stop: record.number, detail, ...place }, record.reason);
}

/** With what is different marked: what changed at this stop, and what it holds at a later one. */
export function pastStop(
  session: string,
  workspace: string,
  record: StopRecord,
  before: StopRecord | undefined,
): PastStop {
  const [frames, variables, changed, , [type, message]] = record.seen;
  const [, path = "", line = 0] = frameOf(record) ?? [];
  const earlier = new Map(before?.seen[1].map(([name, value]) => [name, value]));
  return {
    session,
    number: record.number,
    reason: record.reason,
    exception: type ? `${type}: ${message}` : null,
    path: shortPath(path, workspace),
    line,
    frames: frames.map(([name, file, at]) => ({
      function: name,
      file_path: file ? shortPath(file, workspace) : null,
      line: at || null,
    })),
    variables: variables.map(([name, value, kind]): VariableNode => ({
      name,
      value,
      type: kind,
      reference: 0,
      isChanged: changed.includes(name),
    })),
    changes: changed
      .map((name) => ({ name, before: earlier.get(name), after: variables.find((it) => it[0] === name)?.[1] }))
      .filter((it): it is Change => it.after !== undefined && it.before !== it.after),
  };
}

export interface Change {
  name: string;
  /** Undefined for a variable that was not there. */
  before: string | undefined;
  after: string;
}

export function changeText({ name, before, after }: Change): string {
  return before === undefined
    ? t("{name} = {after}", { name, after })
    : t("{name}: {before} → {after}", { name, before, after });
}
