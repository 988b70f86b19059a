/** The debug tools, in the folder that a session belongs to: paths and configurations mean something only there. */
import { RequestError, request, post, type ToolResult } from "../link";
import type { ErrorNotice, Session } from "./toolResults";

export interface Folders {
  /** The folder in which the daemon was started. */
  own: string;
  /** That, and whatever else has sessions. */
  all: string[];
}

export function folders(): Promise<Folders> {
  return request<Folders>("/api/debug/folders");
}

/** No folder is the daemon's own. */
export function callToolIn(workspace: string, tool: string, args: Record<string, unknown> = {}): Promise<ToolResult> {
  return post<ToolResult>("/api/call", { tool, arguments: args, workspace });
}

export async function sessionsIn(workspace: string): Promise<Session[]> {
  const { data } = await callToolIn(workspace, "list_sessions");
  const now = performance.now();
  const resumesAt = (seconds?: number) => (seconds === undefined ? null : now + 1000 * seconds);
  return ((data["sessions"] ?? []) as Session[]).map((it) => ({
    ...it,
    workspace,
    resumesAt: resumesAt(it.resumes_in_s),
  }));
}

/** Why a tool failed, in the daemon's words. */
export function toolErrorNotice(data: Record<string, unknown>, text: string): ErrorNotice {
  const { shown: wouldRun = "", folder = "" } = (data["details"] ?? {}) as { shown?: string; folder?: string };
  const untrusted = data["code"] === "needs_trust" ? folder : "";
  return { message: String(data["message"] ?? text), hint: String(data["hint"] ?? ""), wouldRun, untrusted };
}

export function errorNotice(error: unknown): ErrorNotice {
  return error instanceof RequestError
    ? { message: error.message, hint: error.hint }
    : { message: (error as Error).message, hint: "" };
}
