/** What the debug tools answer, as far as this view reads it. */

export interface Thread {
  thread_id: number;
  name: string;
  state: string;
  function_name?: string;
  file_path?: string;
  line_number?: number;
}

/** A thread or a task of a program that was paused, with what it waits for. */
export interface DumpedThread {
  name: string;
  state: string;
  thread_id?: number;
  function_name?: string;
  file_path?: string;
  line_number?: number;
  waits_for?: string;
  held_by?: string;
  held_at?: string;
  isTask?: boolean;
}

export interface Session {
  session_id: string;
  /** The place of the stop. */
  workspace: string;
  name: string;
  state: "Idle" | "Starting" | "Running" | "Stopped" | "Terminating" | "Terminated";
  /** When it entered this state. */
  since: string;
  stop_number?: number;
  /** How long the program still stands, when the list was read. */
  resumes_in_s?: number;
  /** When it runs on, on the clock of `performance`. */
  resumesAt?: number | null;
  threads?: Thread[];
  exit_code?: number;
  signal?: string;
  ended_by?: string;
}

export interface Frame {
  frame_id: number;
  function_name: string;
  file_path: string;
  line_number: number;
}

export interface Stop {
  session_id: string;
  stop_number: number;
  reason: string;
  thread_id?: number;
  description: string | null;
  source: { path: string } | null;
  line: number | null;
  call_stack: Frame[];
  total_frames: number;
  at_frame_id?: number;
  top_frame_variables?: { variables: Variable[] } | null;
  exception?: { type: string; message: string; uncaught: boolean };
  /** Variables that changed since the last stop in this frame, with what they were. */
  changed?: Record<string, string | null>;
}

export interface Breakpoint {
  id: number;
  kind: string;
  verified: boolean;
  enabled: boolean;
  source: { path: string } | null;
  line: number | null;
  actual_line?: number;
  condition?: string;
  hit_condition?: string;
  log_message?: string;
  message?: string;
  function_name?: string;
  exception?: string;
  variable?: string;
  column?: number;
  set_by?: string;
  /** The id of the client that set it, which only people are told. */
  owner?: string;
}

export interface Scope {
  name: string;
  variables_reference: number;
  expensive: boolean;
}

export interface Variable {
  name: string;
  value: string;
  type: string | null;
  variables_reference: number;
  evaluate_name?: string;
  truncated?: boolean;
  length?: number;
}

export interface Page {
  variables: Variable[];
  total: number | null;
}

export interface Configuration {
  name: string;
  type?: string;
  program?: string;
}

export interface ErrorNotice {
  message: string;
  hint: string;
  /** For a folder that is not trusted yet: everything that decides what runs, with hidden characters made visible. */
  wouldRun?: string;
  /** The untrusted folder, if that was the reason. */
  untrusted?: string;
}
