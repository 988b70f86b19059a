/** Stops that are over, as the daemon keeps them: where each was, and what its variables held. */
import { t } from "../link";
import type { Stop } from "./answers";
import type { Doing } from "./doings";
import { callIn } from "./tools";
import type { Node } from "./values";

export interface PastFrame {
  function: string;
  file_path: string | null;
  line: number | null;
}

export interface Past {
  session: string;
  number: number;
  reason: string;
  exception: string | null;
  /** As the folder calls it. */
  path: string;
  line: number;
  frames: PastFrame[];
  variables: Node[];
}

const PLACE = /^(.*):(\d+) /;
const MOST = 200;

type Kept = { reason: string; exception?: string | null; place: string; frames: PastFrame[]; variables: Record<string, string> };

export async function pastStop(workspace: string, session: string, number: number): Promise<Past> {
  const { data, text, is_error } = await callIn(workspace, "stop_history", { at: `${session}:${number}` });
  if (is_error) throw new Error(String(data["message"] ?? text));
  const kept = data["at"] as Kept;
  const [, path = "", line = "0"] = PLACE.exec(kept.place) ?? [];
  const variables = Object.entries(kept.variables).map(([name, value]) => ({ name, value, type: "", reference: 0 }));
  return { session, number, reason: kept.reason, exception: kept.exception ?? null, path, line: Number(line), frames: kept.frames, variables };
}

type Listed = { id: string; at: string; reason: string; place: string };

/** Of one session, also those that happened long before this page was opened. */
export async function pastStops(workspace: string, session: string): Promise<Doing[]> {
  const { data } = await callIn(workspace, "stop_history", { session_id: session, limit: MOST });
  return ((data["stops"] ?? []) as Listed[]).map(({ id, at, reason, place }) => {
    const [, path = "", line = "0"] = PLACE.exec(place) ?? [];
    const what = t("stopped: {reason}", { reason: t(reason) });
    return { sequence: 0, at: Date.parse(at), session, who: "", what, path, line: Number(line), stop: Number(id.slice(id.lastIndexOf(":") + 1)) };
  });
}

export function toldPast(stop: Past): string {
  return stop.exception ?? t(stop.reason);
}

export function toldStop(stop: Stop): string {
  return stop.exception ? `${stop.exception.type}: ${stop.exception.message}` : t(stop.reason);
}
