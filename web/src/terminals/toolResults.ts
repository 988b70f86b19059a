/** What the terminal tools answer, as far as this view reads it. */

export interface Command {
  command_id: string;
  terminal: string;
  command: string;
  cwd: string;
  exit_code: number | null;
  started_at: string;
  duration_s: number | null;
  verified: boolean;
  lost_bytes: number;
}

export interface Terminal {
  terminal: string;
  owner: "person" | "agent";
  state: "live" | "lost" | "ended";
  shell: string;
  cwd: string;
  agent: string;
  commands: number;
  running: Command | null;
}

export interface Hit {
  command_id: string;
  terminal: string;
  line: string;
  /** The command that printed it. */
  command: string;
}
