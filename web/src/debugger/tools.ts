/** The debug tools, in the folder that a session belongs to: paths and configurations mean something only there. */
import { ask, post, type Answer } from "../link";
import type { Session } from "./answers";

export interface Folders {
  /** Where the daemon was started. */
  own: string;
  /** That, and whatever else has sessions. */
  all: string[];
}

export function folders(): Promise<Folders> {
  return ask<Folders>("/api/debug/folders");
}

/** No folder is the daemon's own. */
export function callIn(workspace: string, tool: string, args: Record<string, unknown> = {}): Promise<Answer> {
  return post<Answer>("/api/call", { tool, arguments: args, workspace });
}

export async function sessionsIn(workspace: string): Promise<Session[]> {
  const { data } = await callIn(workspace, "list_sessions");
  return ((data["sessions"] ?? []) as Session[]).map((it) => ({ ...it, workspace }));
}
