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

export class Tracked {
  capabilities: Json = {};
  /** Where it stands. */
  stopped: Json | undefined;
  /** It has a program: what only starts others, as the parents of js-debug do, has none. */
  isLive = false;
  isEnded = false;
  private stops = 0;
  private readonly asked = new Map<number, { threadId: unknown; stops: number }>();
  private readonly counts = new Map<string, number>();

  constructor(private readonly tell: (event: string, body: Json) => void) {}

  /** How often the editor sent such a request. */
  sentSoFar(command: string): number {
    return this.counts.get(command) ?? 0;
  }

  /** To the adapter. */
  sent({ type, command, seq, arguments: given }: DapMessage): void {
    if (type !== "request" || command === undefined) return;
    this.counts.set(command, this.sentSoFar(command) + 1);
    if (RUNS.has(command) && seq !== undefined) this.asked.set(seq, { threadId: given?.threadId, stops: this.stops });
  }

  /** From the adapter. */
  received({ type, command, request_seq, success, event, body = {} }: DapMessage): void {
    if (type === "event" && event !== undefined) this.happened(event, body);
    else if (type === "response" && command === "initialize" && success) this.capabilities = body;
    else if (type === "response" && request_seq !== undefined) this.answered(request_seq, success === true, body);
  }

  private happened(event: string, body: Json): void {
    if (event === "stopped") {
      this.stops += 1;
      this.stopped = body;
    }
    if (event === "continued") this.stopped = undefined;
    if (event === "capabilities") this.capabilities = { ...this.capabilities, ...(body.capabilities as Json) };
    if (event === "terminated") this.isEnded = true;
    this.isLive ||= LIVES.has(event);
    if (TOLD.has(event) && body.category !== "telemetry") this.tell(event, body);
  }

  /** Who stepped has the answer to it; most adapters tell nobody else that the program went on. */
  private answered(seq: number, success: boolean, body: Json): void {
    const asked = this.asked.get(seq);
    this.asked.delete(seq);
    if (!asked || !success || asked.stops !== this.stops) return;
    this.stopped = undefined;
    this.tell("continued", { threadId: asked.threadId, allThreadsContinued: body.allThreadsContinued ?? true });
  }
}
