/** The demo: an agent finds a bug in a folder of its own. It goes on while the person looks at other views. */
import { RequestError, Unreachable, feed, stream, type FeedRow } from "../link";

export interface DemoLine {
  kind: "folder" | "intro" | "heading" | "asks" | "gets" | "thinks" | "writes" | "done" | "failed";
  text: string;
}

export type DemoState = "none" | "running" | "done" | "failed";

class Demo extends EventTarget {
  state: DemoState = "none";
  lines: readonly DemoLine[] = [];
  /** The session in which the agent stopped: it can be watched in the debugger. */
  session = "";
  private folder = "";
  private rest = "";
  private running: AbortController | null = null;

  constructor() {
    super();
    feed.subscribe("debug.stopped", { events: (rows) => this.handleStops(rows) });
  }

  async start(): Promise<void> {
    if (this.isRunning) return;
    Object.assign(this, { lines: [], session: "", folder: "", rest: "" });
    this.running = new AbortController();
    this.setState("running");
    try {
      for await (const piece of stream("/api/demo", {}, this.running.signal)) this.add(piece);
      if (this.isRunning) this.setState("failed");
    } catch (error) {
      if (error instanceof RequestError) this.lines = [...this.lines, { kind: "failed", text: error.message }];
      if (this.running)
        this.setState(error instanceof RequestError || error instanceof Unreachable ? "failed" : "none");
    }
    this.running = null;
  }

  /** The agent ends with the request. */
  stop(): void {
    const running = this.running;
    this.running = null;
    running?.abort();
    this.close();
  }

  close(): void {
    if (this.isRunning) this.lines = [];
    this.setState("none");
  }

  get isRunning(): boolean {
    return this.state === "running";
  }

  get latestHeading(): string {
    return this.lines.findLast(({ kind }) => kind === "heading")?.text ?? "";
  }

  /** What it concluded last, or does now. */
  get latestText(): string {
    return this.lines.findLast(({ kind }) => kind === "thinks" || kind === "asks")?.text ?? "";
  }

  private add(piece: string): void {
    const lines = (this.rest + piece).split("\n");
    this.rest = lines.pop()!;
    const added = lines.filter(Boolean).map((line) => JSON.parse(line) as DemoLine);
    this.lines = [...this.lines, ...added];
    this.folder = added.find(({ kind }) => kind === "folder")?.text ?? this.folder;
    const end = added.find(({ kind }) => kind === "done" || kind === "failed");
    this.setState(end ? (end.kind as DemoState) : this.state);
  }

  private handleStops(rows: readonly FeedRow[]): void {
    const stop = rows.find(({ event }) => this.folder && event.workspace === this.folder);
    if (!this.isRunning || this.session || !stop) return;
    this.session = stop.event.session ?? "";
    this.dispatchEvent(new Event("stopped"));
  }

  private setState(state: DemoState): void {
    this.state = state;
    this.dispatchEvent(new Event("change"));
  }
}

export const demo = new Demo();
