/** What a terminal shows, as it shows it. Read only: nothing goes back but how much was drawn. */
import type { Line, Why } from "./proof";
import { dialHome } from "./session";

export interface Shown {
  /** The screen is drawn anew from what follows; `missed` is how much was left out before. */
  begin(columns: number, rows: number, missed: number): void;
  /** To be drawn; `drawn` is called when it is, and asks for more. */
  data(bytes: Uint8Array, drawn: () => void): void;
  state(state: WatchState): void;
}

export type WatchState = "connecting" | "live" | "lost" | "ended";

type Told = { type: "begin"; columns: number; rows: number; missed: number } | { type: "end" };

const OVER = new Set([1000, 4401, 4404]);
const LONGEST_MS = 5000;

export class Watching {
  private line: Line | null = null;
  private timer = 0;
  private attempt = 0;
  private isOver = false;

  constructor(
    private readonly terminal: string,
    private readonly shown: Shown,
  ) {
    this.open();
  }

  stop(): void {
    this.isOver = true;
    clearTimeout(this.timer);
    this.line?.close();
  }

  private open(): void {
    this.shown.state("connecting");
    this.line = dialHome("/link/terminal", {
      proved: (line) => line.send(this.terminal),
      message: (data) => this.heard(data),
      closed: (why, code) => this.closed(why, code),
    });
    if (!this.line) this.closed("stranger", 0);
  }

  private heard(data: string | ArrayBuffer): void {
    if (this.isOver) return;
    if (typeof data !== "string") {
      const { line } = this;
      this.shown.data(new Uint8Array(data), () => line?.send(String(data.byteLength)));
      return;
    }
    const told = JSON.parse(data) as Told;
    if (told.type === "end") return; // the close says it
    this.attempt = 0;
    this.shown.begin(told.columns, told.rows, told.missed);
    this.shown.state("live");
  }

  private closed(why: Why, code: number): void {
    if (this.isOver) return;
    this.isOver = why === "stranger" || OVER.has(code);
    this.shown.state(why !== "stranger" && this.isOver ? "ended" : "lost");
    if (!this.isOver) this.timer = window.setTimeout(() => this.open(), Math.min(300 * 2 ** this.attempt++, LONGEST_MS));
  }
}
