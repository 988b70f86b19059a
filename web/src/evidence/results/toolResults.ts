/** What the evidence tools answer, as far as this view reads it. */
import type { CallRecord } from "./callRecord";

export interface RunEnd {
  how: "exited" | "exception" | "stopped" | "limit" | "lost";
  limit?: string;
  exit_code?: number;
  signal?: string;
  exception?: Exception;
  frames?: Frame[];
  output?: string;
  threads?: WaitingThread[];
  tasks?: WaitingThread[];
  threads_left_out?: number;
  deadlock?: string;
}

export interface Exception {
  type: string;
  message: string;
}

export interface Frame {
  function: string;
  file_path?: string;
  line?: number;
}

export interface WaitingThread {
  name: string;
  state?: string;
  function_name?: string;
  file_path?: string;
  line_number?: number;
  waits_for?: string;
  held_at?: string;
}

export interface FailureFrame extends Frame {
  locals: Record<string, string>;
  source?: string;
  values?: Record<string, string>;
  more_locals?: number;
}

export interface Cause extends Exception {
  at?: string;
  locals?: Record<string, string>;
}

export interface Failure {
  frames: FailureFrame[];
  test?: string;
  more_frames?: number;
  exception?: Exception;
  caused_by?: Cause[];
}

export interface ExplainedFailure {
  verdict: "failed" | "crashed" | "passed" | "no tests" | "limit";
  runs: number;
  ended: RunEnd;
  command?: string;
  test?: { verdict: string; seconds: number; failed?: string[]; failures?: Failure[] };
  crash?: Failure & { crashed: boolean; ended: RunEnd };
}

export interface ExplainedPage {
  records?: CallRecord[];
}

export interface TracedCallResult {
  call_ended: "returned" | "raised" | "suspended" | "running" | "not called";
  calls: number;
  text: string;
  ended: RunEnd;
  place?: string;
  value?: string;
  error?: string;
}

export interface TracedCallPage {
  record?: CallRecord;
}

export interface TracePoint {
  place: string;
  expressions: string[];
  hits: number;
  condition?: string;
  not_bound?: string;
}

export interface RawTraceRow {
  hit: number;
  /** From 1; absent if there is only one point. */
  point?: number;
  thread?: number;
  /** Only what changed since the row before of the same point. */
  values?: Record<string, string>;
  errors?: Record<string, string>;
}

export interface TraceResult {
  hits: number;
  points: TracePoint[];
  rows: RawTraceRow[];
  rows_left_out?: number;
  ended: RunEnd;
}

export interface ComparedRuns {
  verdict: "same" | "different";
  hits: [number, number];
  ended: RunEnd;
  other_ended: RunEnd;
  hit?: number;
  place?: string;
  one?: Record<string, string>;
  other?: Record<string, string>;
}

export interface RunRow {
  hit: number;
  point: number;
  cells: string[];
}

export interface ComparedPage {
  points: TracePoint[];
  one: RunRow[];
  other: RunRow[];
}

export interface CheckedClaim {
  verdict: "holds" | "broken" | "never reached";
  hits: number;
  place: string;
  not_bound?: string;
  error?: string;
  before?: Record<string, string>;
  at_break?: Record<string, string>;
  ended: RunEnd;
}

export interface FoundChange {
  verdict: "changed" | "unchanged" | "never reached";
  by: "data breakpoint" | "steps";
  steps: number;
  place?: string;
  source?: string;
  old?: string;
  new?: string;
  frames?: Frame[];
  not_bound?: string;
  ended: RunEnd;
}

/** Where something is, as the tools write it: `cart.py:12`. */
export function splitPlace(place: string): { path: string; line: number } | null {
  const found = /^(.+):(\d+)$/.exec(place);
  return found && { path: found[1]!, line: Number(found[2]) };
}

export function placeOf({ file_path: path, line }: Frame): string {
  return path ? `${path}:${line ?? 0}` : "";
}
