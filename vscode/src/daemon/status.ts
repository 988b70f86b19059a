/** The daemon's status, and what a window knows about it. */

export interface LiveSession {
  id: string;
  kind: string;
  title: string;
  /** With the daemon: not where it is a session of a person's, in an editor. */
  ends?: boolean;
}

export interface Status {
  version: string;
  pid: number;
  address: string;
  port: number;
  wanted_port: number;
  workspace: string;
  started_at: string;
  sessions: LiveSession[];
}

/** `silent`: a process holds the port and does not answer. */
export type ServerState = { state: "unknown" | "stopped" | "silent" } | { state: "running"; status: Status };

export interface FeedRow {
  sequence: number;
  event: { kind: string; session?: string; cause?: string; text?: string; body?: Record<string, unknown> };
}
