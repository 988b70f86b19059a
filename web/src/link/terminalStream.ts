/** The live stream of a terminal. It is read only: the page sends back only how much it has drawn. */
import type { Channel, CloseReason } from "./proof";
import { openDaemonChannel } from "./session";

export interface TerminalView {
  /** The screen is drawn again from what follows; `missed` is how much was left out before. */
  begin(columns: number, rows: number, missed: number): void;
  /** To be drawn; `drawn` is called when it is, and asks for more. */
  data(bytes: Uint8Array, drawn: () => void): void;
  state(state: StreamState): void;
}

export type StreamState = "connecting" | "live" | "lost" | "ended";

type StreamMessage = { type: "begin"; columns: number; rows: number; missed: number } | { type: "end" };

const OVER = new Set([1000, 4401, 4404]);
const LONGEST_MS = 5000;

export class TerminalStream {
  private channel: Channel | null = null;
  private timer = 0;
  private attempt = 0;
  private isOver = false;

  constructor(
    private readonly terminal: string,
    private readonly view: TerminalView,
  ) {
    this.open();
  }

  stop(): void {
    this.isOver = true;
    clearTimeout(this.timer);
    this.channel?.close();
  }

  private open(): void {
    this.view.state("connecting");
    this.channel = openDaemonChannel("/link/terminal", {
      proved: (line) => line.send(this.terminal),
      message: (data) => this.handleMessage(data),
      closed: (why, code) => this.closed(why, code),
    });
    if (!this.channel) this.closed("foreign", 0);
  }

  private handleMessage(data: string | ArrayBuffer): void {
    if (this.isOver) return;
    if (typeof data !== "string") {
      const { channel: line } = this;
      this.view.data(new Uint8Array(data), () => line?.send(String(data.byteLength)));
      return;
    }
    const parsed = JSON.parse(data) as StreamMessage;
    if (parsed.type === "end") return; // the close says it
    this.attempt = 0;
    this.view.begin(parsed.columns, parsed.rows, parsed.missed);
    this.view.state("live");
  }

  private closed(why: CloseReason, code: number): void {
    if (this.isOver) return;
    this.isOver = why === "foreign" || OVER.has(code);
    this.view.state(why !== "foreign" && this.isOver ? "ended" : "lost");
    if (!this.isOver)
      this.timer = window.setTimeout(() => this.open(), Math.min(300 * 2 ** this.attempt++, LONGEST_MS));
  }
}
