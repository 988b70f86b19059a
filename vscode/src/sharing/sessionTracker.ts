/**
 * What is known of one debug session of the person's, from the messages that pass between the editor and its adapter.
 */
import type { Json } from "../bridge/rpcConnection";

export interface DapMessage {
  type: string;
  seq?: number;
  command?: string;
  request_seq?: number;
  success?: boolean;
  event?: string;
  body?: Json;
  arguments?: Json;
}

const RUNS = new Set(["continue", "next", "stepIn", "stepOut", "stepBack", "reverseContinue", "goto", "restartFrame"]);
const LIVE_EVENTS = new Set(["stopped", "continued", "thread"]);
const REPORTED = new Set(["stopped", "continued", "thread", "output", "exited", "breakpoint", "capabilities"]);
/** The limit of one output event: the daemon accepts no message of a mebibyte, and a character may need six bytes. */
const MOST_PRINTED = 40_000;

interface PendingRun {
  threadId: unknown;
  /** Where that thread stopped, and the number of stops before. */
  stop: Json | undefined;
  stops: number;
}

export class SessionTracker {
  capabilities: Json = {};
  /** It has a program: what only starts others, as the parents of js-debug do, has none. */
  isLive = false;
  isEnded = false;
  private stopCount = 0;
  /** By thread, the latest one last. */
  private readonly stopsByThread = new Map<unknown, Json>();
  private readonly pendingRuns = new Map<number, PendingRun>();
  private readonly counts = new Map<string, number>();

  /** `leftOut`: how many characters of the output were dropped. */
  constructor(
    private readonly report: (event: string, body: Json) => void,
    private readonly leftOut: (count: number) => string,
  ) {}

  /** The place of the stop. */
  get stops(): Json[] {
    return [...this.stopsByThread.values()];
  }

  /** How often the editor sent such a request. */
  sentCount(command: string): number {
    return this.counts.get(command) ?? 0;
  }

  /** To the adapter. */
  sent({ type, command, seq, arguments: given }: DapMessage): void {
    if (type !== "request" || command === undefined) return;
    this.counts.set(command, this.sentCount(command) + 1);
    const threadId = given?.threadId;
    if (RUNS.has(command) && seq !== undefined)
      this.pendingRuns.set(seq, { threadId, stop: this.stopsByThread.get(threadId), stops: this.stopCount });
  }

  /** From the adapter. */
  received({ type, command, request_seq, success, event, body = {} }: DapMessage): void {
    if (type === "event" && event !== undefined) this.handleEvent(event, body);
    else if (type === "response" && command === "initialize" && success) this.capabilities = body;
    else if (type === "response" && request_seq !== undefined) this.handleResponse(request_seq, success === true, body);
  }

  private handleEvent(event: string, body: Json): void {
    if (event === "stopped") this.stopped(body);
    if (event === "continued") this.continued(body.threadId, body.allThreadsContinued !== false);
    if (event === "capabilities") this.capabilities = { ...this.capabilities, ...(body.capabilities as Json) };
    if (event === "terminated") this.isEnded = true;
    this.isLive ||= LIVE_EVENTS.has(event);
    if (REPORTED.has(event) && body.category !== "telemetry")
      this.report(event, event === "output" ? this.cutOutput(body) : body);
  }

  private stopped(body: Json): void {
    this.stopCount += 1;
    if (body.allThreadsStopped === true) this.stopsByThread.clear();
    this.stopsByThread.delete(body.threadId);
    this.stopsByThread.set(body.threadId, body);
  }

  private continued(threadId: unknown, isAll: boolean): void {
    if (isAll) this.stopsByThread.clear();
    else this.stopsByThread.delete(threadId);
  }

  /** Only the client that stepped gets a response; most adapters send no `continued` event to others. */
  private handleResponse(seq: number, success: boolean, body: Json): void {
    const pendingRun = this.pendingRuns.get(seq);
    this.pendingRuns.delete(seq);
    if (!pendingRun || !success || this.hasStoppedSince(pendingRun)) return;
    const isAll =
      body.allThreadsContinued ?? (this.stopsByThread.size <= 1 || pendingRun.stop?.allThreadsStopped === true);
    this.continued(pendingRun.threadId, isAll === true);
    this.report("continued", { threadId: pendingRun.threadId, allThreadsContinued: isAll });
  }

  private hasStoppedSince({ threadId, stop, stops }: PendingRun): boolean {
    return stop ? stop !== this.stopsByThread.get(threadId) : stops !== this.stopCount;
  }

  private cutOutput({ category, output }: Json): Json {
    const text = typeof output === "string" ? output : "";
    if (text.length <= MOST_PRINTED) return { category, output: text };
    const half = MOST_PRINTED / 2;
    return {
      category,
      output: `${text.slice(0, half)}\n${this.leftOut(text.length - MOST_PRINTED)}\n${text.slice(-half)}`,
    };
  }
}
