/** Stops that are over: where each was, and what its variables held. */
import { t } from "../link";
import type { Stop } from "../debugger/toolResults";
import { callToolIn } from "../debugger/tools";
import type { VariableNode } from "../debugger/variables/variableTree";
import { changeText, type Change } from "./stopRecords";

export interface PastFrame {
  function: string;
  file_path: string | null;
  line: number | null;
}

export interface PastStop {
  session: string;
  /** Zero before the first one. */
  number: number;
  reason: string;
  exception: string | null;
  /** The path as the folder names it. */
  path: string;
  line: number;
  frames: PastFrame[];
  variables: VariableNode[];
  /** What is different from the stop before it, in the same frame. */
  changes: Change[];
}

const SHOWN_CHANGES = 3;
const LOCATION = /^(.*):(\d+) /;

type StoredStop = {
  reason: string;
  exception?: string | null;
  place: string;
  frames: PastFrame[];
  variables: Record<string, string>;
};

/** One that is not among those that were loaded: of a file that was handed over, say. */
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
    changes: [],
  };
}

/** Of a moment at which nothing had stopped yet. */
export function beforeStops(session: string): PastStop {
  return {
    session,
    number: 0,
    reason: "",
    exception: null,
    path: "",
    line: 0,
    frames: [],
    variables: [],
    changes: [],
  };
}

/** Which stop it is, why the program stopped there, and what had changed. */
export function pastStopText(stop: PastStop): string {
  if (!stop.number) return t("Before the first stop");
  const said = t("Stop {number} (past): {reason}", { number: stop.number, reason: pastStopReason(stop) });
  const changes = stop.changes.slice(0, SHOWN_CHANGES).map(changeText);
  return [said, ...(changes.length ? [changes.join(", ")] : [])].join(" · ");
}

export function pastStopReason(stop: PastStop): string {
  return stop.exception ?? t(stop.reason);
}

export function stopReason(stop: Stop): string {
  return stop.exception ? `${stop.exception.type}: ${stop.exception.message}` : t(stop.reason);
}
