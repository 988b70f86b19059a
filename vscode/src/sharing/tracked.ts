/** What is known of one debug session of the person's, from the messages that pass between the editor and its adapter. */
import type { Json } from "../bridge/link";

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
const LIVES = new Set(["stopped", "continued", "thread"]);
const TOLD = new Set(["stopped", "continued", "thread", "output", "exited", "breakpoint", "capabilities"]);
/** Of one output event: the daemon takes no message of a mebibyte, and a character may need six. */
const MOST_PRINTED = 40_000;

interface Asked {
  threadId: unknown;
  /** Where that thread stood, and how often anything had stopped. */
  stop: Json | undefined;
  stops: number;
}

export class Tracked {
  capabilities: Json = {};
  /** It has a program: what only starts others, as the parents of js-debug do, has none. */
  isLive = false;
  isEnded = false;
  private stopCount = 0;
  /** By thread, the last one last. */
  private readonly standing = new Map<unknown, Json>();
  private readonly asked = new Map<number, Asked>();
  private readonly counts = new Map<string, number>();

  /** `leftOut` says that so many characters of a print are not told. */
  constructor(
    private readonly tell: (event: string, body: Json) => void,
    private readonly leftOut: (count: number) => string,
  ) {}

  /** Where it stands. */
  get stops(): Json[] {
    return [...this.standing.values()];
  }

  /** How often the editor sent such a request. */
  sentSoFar(command: string): number {
    return this.counts.get(command) ?? 0;
  }

  /** To the adapter. */
  sent({ type, command, seq, arguments: given }: DapMessage): void {
    if (type !== "request" || command === undefined) return;
    this.counts.set(command, this.sentSoFar(command) + 1);
    const threadId = given?.threadId;
    if (RUNS.has(command) && seq !== undefined) this.asked.set(seq, { threadId, stop: this.standing.get(threadId), stops: this.stopCount });
  }

  /** From the adapter. */
  received({ type, command, request_seq, success, event, body = {} }: DapMessage): void {
    if (type === "event" && event !== undefined) this.happened(event, body);
    else if (type === "response" && command === "initialize" && success) this.capabilities = body;
    else if (type === "response" && request_seq !== undefined) this.answered(request_seq, success === true, body);
  }

  private happened(event: string, body: Json): void {
    if (event === "stopped") this.stopped(body);
    if (event === "continued") this.wentOn(body.threadId, body.allThreadsContinued !== false);
    if (event === "capabilities") this.capabilities = { ...this.capabilities, ...(body.capabilities as Json) };
    if (event === "terminated") this.isEnded = true;
    this.isLive ||= LIVES.has(event);
    if (TOLD.has(event) && body.category !== "telemetry") this.tell(event, event === "output" ? this.printed(body) : body);
  }

  private stopped(body: Json): void {
    this.stopCount += 1;
    if (body.allThreadsStopped === true) this.standing.clear();
    this.standing.delete(body.threadId);
    this.standing.set(body.threadId, body);
  }

  private wentOn(threadId: unknown, isAll: boolean): void {
    if (isAll) this.standing.clear();
    else this.standing.delete(threadId);
  }

  /** Who stepped has the answer to it; most adapters tell nobody else that the program went on. */
  private answered(seq: number, success: boolean, body: Json): void {
    const asked = this.asked.get(seq);
    this.asked.delete(seq);
    if (!asked || !success || this.hasStoppedSince(asked)) return;
    const isAll = body.allThreadsContinued ?? (this.standing.size <= 1 || asked.stop?.allThreadsStopped === true);
    this.wentOn(asked.threadId, isAll === true);
    this.tell("continued", { threadId: asked.threadId, allThreadsContinued: isAll });
  }

  private hasStoppedSince({ threadId, stop, stops }: Asked): boolean {
    return stop ? stop !== this.standing.get(threadId) : stops !== this.stopCount;
  }

  private printed({ category, output }: Json): Json {
    const text = typeof output === "string" ? output : "";
    if (text.length <= MOST_PRINTED) return { category, output: text };
    const half = MOST_PRINTED / 2;
    return { category, output: `${text.slice(0, half)}\n${this.leftOut(text.length - MOST_PRINTED)}\n${text.slice(-half)}` };
  }
}
