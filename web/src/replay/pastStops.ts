/** Stops that are over, as the daemon keeps them: where each was, and what its variables held. */
import { t } from "../link";
import type { Stop } from "../debugger/toolResults";
import type { TimelineEntry } from "./timelineEntries";
import { callToolIn } from "../debugger/tools";
import type { VariableNode } from "../debugger/variables/variableTree";

export interface PastFrame {
  function: string;
  file_path: string | null;
  line: number | null;
}

export interface PastStop {
  session: string;
  number: number;
  reason: string;
  exception: string | null;
  /** The path as the folder names it. */
  path: string;
  line: number;
  frames: PastFrame[];
  variables: VariableNode[];
}

const LOCATION = /^(.*):(\d+) /;
const MOST = 200;

type StoredStop = {
  reason: string;
  exception?: string | null;
  place: string;
  frames: PastFrame[];
  variables: Record<string, string>;
};

export async function fetchPastStop(workspace: string, session: string, number: number): Promise<PastStop> {
  const { data, text, is_error } = await callToolIn(workspace, "stop_history", { at: `${session}:${number}` });
  if (is_error) throw new Error(String(data["message"] ?? text));
  const kept = data["at"] as StoredStop;
  const [, path = "", line = "0"] = LOCATION.exec(kept.place) ?? [];
  const variables = Object.entries(kept.variables).map(([name, value]) => ({ name, value, type: "", reference: 0 }));
  return {
    session,
    number,
    reason: kept.reason,
    exception: kept.exception ?? null,
    path,
    line: Number(line),
    frames: kept.frames,
    variables,
  };
}

type StopSummary = { id: string; at: string; reason: string; place: string };

/** The stops of one session, including those from before this page was opened. */
export async function fetchPastStops(workspace: string, session: string): Promise<TimelineEntry[]> {
  const { data } = await callToolIn(workspace, "stop_history", { session_id: session, limit: MOST });
  return ((data["stops"] ?? []) as StopSummary[]).map(({ id, at, reason, place }) => {
    const [, path = "", line = "0"] = LOCATION.exec(place) ?? [];
    const text = t("stopped: {reason}", { reason: t(reason) });
    return {
      sequence: 0,
      at: Date.parse(at),
      session,
      actor: "",
      text,
      path,
      line: Number(line),
      stop: Number(id.slice(id.lastIndexOf(":") + 1)),
    };
  });
}

export function pastStopReason(stop: PastStop): string {
  return stop.exception ?? t(stop.reason);
}

export function stopReason(stop: Stop): string {
  return stop.exception ? `${stop.exception.type}: ${stop.exception.message}` : t(stop.reason);
}
