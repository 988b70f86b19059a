/** Every thread of a session, the stack of the one that is looked at, and where each waits if the program hangs. */
import { request } from "../link";
import type { DumpedThread, Frame, Thread } from "./toolResults";

interface ThreadAnswer {
  id: number;
  name: string;
  state: string;
  path: string;
  line: number;
  function: string;
}

interface FrameAnswer {
  id: number;
  name: string;
  path: string;
  line: number;
}

/** What each thread and task waits for, as a pause found it. */
export interface WaitReport {
  session: string;
  at: number;
  rows: DumpedThread[];
  deadlock: string;
  leftOut: number;
}

export interface ThreadStack {
  thread: number;
  frames: Frame[];
  total: number;
}

export class Threads {
  all: Thread[] = [];
  waits: WaitReport | null = null;
  /** Null while the stack of the stop itself is shown. */
  stack: ThreadStack | null = null;
  /** Counts what was asked: an older answer is not shown. */
  private round = 0;

  /** Of another stop, or another session. */
  forget(): void {
    this.round++;
    this.all = [];
    this.stack = null;
  }

  async read(session: string): Promise<void> {
    const round = ++this.round;
    const { threads } = await request<{ threads: ThreadAnswer[] }>(`/api/debug/threads?session=${session}`);
    if (round !== this.round) return;
    this.all = threads.map(({ id, path, line, function: name, ...rest }) => ({
      ...rest,
      thread_id: id,
      function_name: name,
      file_path: path,
      line_number: line,
    }));
  }

  /** The frames of one thread; null if something else was asked for in the meantime. */
  async readStack(session: string, thread: number): Promise<ThreadStack | null> {
    const round = this.round;
    const { frames, total } = await request<{ frames: FrameAnswer[]; total: number }>(
      `/api/debug/stack?session=${session}&thread=${thread}`,
    );
    if (round !== this.round) return null;
    const shown = frames.map(({ id, name, path, line }) => ({
      frame_id: id,
      function_name: name,
      file_path: path,
      line_number: line,
    }));
    return (this.stack = { thread, frames: shown, total });
  }
}

/** What a pause answered, as one table: those that wait for each other first. */
export function waitReport(session: string, data: Record<string, unknown>): WaitReport | null {
  const tasks = ((data["tasks"] ?? []) as DumpedThread[]).map((it) => ({ ...it, isTask: true }));
  const rows = [...((data["threads"] ?? []) as DumpedThread[]), ...tasks];
  if (!rows.length) return null;
  const rank = (it: DumpedThread) => (it.held_by ? 0 : it.waits_for ? 1 : 2);
  rows.sort((a, b) => rank(a) - rank(b));
  return {
    session,
    at: Date.now(),
    rows,
    deadlock: String(data["deadlock"] ?? ""),
    leftOut: Number(data["threads_left_out"] ?? 0),
  };
}
